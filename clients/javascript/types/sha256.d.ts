/**
 * The digest of a text's UTF-8 bytes, in hexadecimal digits.
 * @param {string} text
 */
export function sha256(text: string): string;

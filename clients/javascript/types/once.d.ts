/**
 * The canonical encoding: the same bytes for equal items, other bytes for all others.
 * @param {Item} item
 * @returns {Uint8Array}
 */
export function encoded(item: Item): Uint8Array;
/**
 * SHA-256 of an item's encoding.
 * @param {Item} item
 */
export function digestOf(item: Item): Promise<Uint8Array<ArrayBuffer>>;
/**
 * The first 52 bits of HMAC-SHA256(key, message).
 * @param {Uint8Array | CryptoKey} key at least 16 bytes
 * @param {Item} message
 */
export function stableWord(key: Uint8Array | CryptoKey, message: Item): Promise<number>;
/**
 * Who a row is about, as a text that is the same in every client.
 * @param {unknown} id
 */
export function identifier(id: unknown): string;
/**
 * what can be encoded; lists hold items
 */
export type Item = string | number | bigint | boolean | null | Uint8Array | readonly any[];

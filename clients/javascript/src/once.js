// Draws that stay: words from a secret key, as docs/file-format.md says under "Drawn once".
import { DataError } from "./errors.js";

/** @typedef {string | number | bigint | boolean | null | Uint8Array | readonly any[]} Item what can be encoded; lists hold items */

const utf8 = new TextEncoder();

/**
 * The canonical encoding: the same bytes for equal items, other bytes for all others.
 * @param {Item} item
 * @returns {Uint8Array}
 */
export function encoded(item) {
  if (item === null) return utf8.encode("n");
  if (typeof item === "string") return joined("s", utf8.encode(item));
  if (item instanceof Uint8Array) return joined("b", item);
  if (typeof item === "object") return joined("l", ...item.map(encoded));
  if (typeof item !== "number" || Number.isInteger(item)) return utf8.encode(`i${BigInt(item)};`);
  const float = new DataView(new ArrayBuffer(9));
  float.setUint8(0, 102); // f
  float.setFloat64(1, item);
  return new Uint8Array(float.buffer);
}

/**
 * A letter, how many bytes or items follow, and these.
 * @param {string} letter
 * @param {Uint8Array[]} parts
 */
function joined(letter, ...parts) {
  const head = utf8.encode(`${letter}${letter === "l" ? parts.length : parts[0].length}:`);
  const whole = new Uint8Array(parts.reduce((size, part) => size + part.length, head.length));
  let at = 0;
  for (const part of [head, ...parts]) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/**
 * SHA-256 of an item's encoding.
 * @param {Item} item
 */
export async function digestOf(item) {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", /** @type {BufferSource} */ (encoded(item))));
}

/**
 * The first 52 bits of HMAC-SHA256(key, message).
 * @param {Uint8Array | CryptoKey} key at least 16 bytes
 * @param {Item} message
 */
export async function stableWord(key, message) {
  if (key instanceof Uint8Array && key.length < 16) throw new RangeError("key must have at least 16 bytes");
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const hmac =
    key instanceof Uint8Array
      ? await crypto.subtle.importKey("raw", /** @type {BufferSource} */ (key), algorithm, false, ["sign"])
      : key;
  const bytes = /** @type {BufferSource} */ (encoded(message));
  const digest = new DataView(await crypto.subtle.sign("HMAC", hmac, bytes));
  return digest.getUint32(0) * 2 ** 20 + (digest.getUint32(4) >>> 12);
}

/**
 * Who a row is about, as a text that is the same in every client.
 * @param {unknown} id
 */
export function identifier(id) {
  if (typeof id === "bigint" || Number.isSafeInteger(id)) return String(id);
  const text = typeof id === "string" ? id.normalize("NFC").replace(/^[ \t\r\n]+|[ \t\r\n]+$/g, "") : "";
  if (!text || /\p{Cs}/u.test(text)) throw new DataError("id must be a text or a whole number that identifies a person");
  return text;
}

// SHA-256 at once, for files that hold digests of tables: crypto.subtle has it only for those who can wait.

/** The first 32 bits of the fractional part of a number. @param {number} x */
const fraction = (x) => ((x - Math.floor(x)) * 2 ** 32) | 0;
const PRIMES = Array.from({ length: 310 }, (_, i) => i + 2).filter((n) => {
  for (let d = 2; d * d <= n; d++) if (n % d === 0) return false;
  return true;
});
const ROUNDS = PRIMES.map((p) => fraction(Math.cbrt(p)));
const START = PRIMES.slice(0, 8).map((p) => fraction(Math.sqrt(p)));

/**
 * The digest of a text's UTF-8 bytes, in hexadecimal digits.
 * @param {string} text
 */
export function sha256(text) {
  const bytes = new TextEncoder().encode(text);
  const blocks = new DataView(new ArrayBuffer(64 * Math.ceil((bytes.length + 9) / 64)));
  new Uint8Array(blocks.buffer).set(bytes);
  blocks.setUint8(bytes.length, 128);
  blocks.setBigUint64(blocks.byteLength - 8, 8n * BigInt(bytes.length));
  const state = Int32Array.from(START);
  const words = new Int32Array(64);
  for (let at = 0; at < blocks.byteLength; at += 64) {
    let [a, b, c, d, e, f, g, h] = state;
    for (let i = 0; i < 64; i++) {
      words[i] =
        i < 16
          ? blocks.getInt32(at + 4 * i)
          : words[i - 16] + words[i - 7] + mixed(words[i - 15], 7, 18, 3) + mixed(words[i - 2], 17, 19, 10);
      const one = h + turned(e, 6, 11, 25) + ((e & f) ^ (~e & g)) + ROUNDS[i] + words[i];
      const two = turned(a, 2, 13, 22) + ((a & b) ^ (a & c) ^ (b & c));
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0];
    }
    for (const [i, word] of [a, b, c, d, e, f, g, h].entries()) state[i] += word;
  }
  return Array.from(state, (word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
}

/**
 * @param {number} x
 * @param {number} n
 */
const rotated = (x, n) => (x >>> n) | (x << (32 - n));

/**
 * @param {number} x
 * @param {number} a
 * @param {number} b
 * @param {number} c
 */
const turned = (x, a, b, c) => rotated(x, a) ^ rotated(x, b) ^ rotated(x, c);

/**
 * @param {number} x
 * @param {number} a
 * @param {number} b
 * @param {number} c
 */
const mixed = (x, a, b, c) => rotated(x, a) ^ rotated(x, b) ^ (x >>> c);

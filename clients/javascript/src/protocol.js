import { DataError, ProtocolFileError } from "./errors.js";
import { DENOMINATOR, tableOf } from "./format.js";
import { placesOf, plain, waysToWrite } from "./labels.js";
import { freshWord } from "./randomness.js";

/** @typedef {import("./labels.js").Label} Label */

const MOST_BYTES = 500_000_000; // of a file, as in Python

/**
 * A release protocol: for each secret and value, the exact probability of each output.
 *
 * It is a table. What its file claims is neither checked nor shown here: `rldp verify` does that, where the
 * file is made.
 */
export class Protocol {
  /** @type {Map<unknown, number>} */ #places;
  /** @type {Map<unknown, number>} */ #columns;
  /** Where the interval of each output ends, row by row. @type {Float64Array} */ #ends;

  /**
   * Labels of what must not leak, of what is published, and of what is sent. An integer beyond ±(2^53 − 1)
   * is a bigint.
   * @readonly @type {readonly Label[]}
   */
  secrets;
  /** @readonly @type {readonly Label[]} */
  values;
  /** @readonly @type {readonly Label[]} */
  outputs;
  /**
   * Whether any probability depends on the secret. If not, `release(null, value)` draws without it.
   * @readonly @type {boolean}
   */
  readsSecret;

  /**
   * @private
   * @param {import("./format.js").Table} table
   */
  constructor(table) {
    this.#places = /** @type {Map<unknown, number>} */ (placesOf(table.secrets));
    this.#columns = /** @type {Map<unknown, number>} */ (placesOf(table.values));
    this.secrets = Object.freeze(table.secrets.map(plain));
    this.values = Object.freeze(table.values.map(plain));
    this.outputs = Object.freeze(table.outputs.map(plain));
    this.#ends = new Float64Array(this.secrets.length * this.values.length * this.outputs.length);
    let at = 0;
    for (const row of table.numerators.flat()) {
      let end = 0; // integers up to 2^52: exact
      for (const numerator of row) this.#ends[at++] = end += Number(numerator);
    }
    const block = this.values.length * this.outputs.length;
    this.readsSecret = this.#ends.some((end, i) => end !== this.#ends[i % block]);
    Object.freeze(this);
  }

  /**
   * The protocol in a file, or in what `rldp export` writes.
   *
   * It refuses just what Python's reader refuses. Give it the bytes where you have them: a text has lost what
   * was wrong with its encoding.
   *
   * @param {string | ArrayBuffer | ArrayBufferView} file
   * @returns {Protocol}
   * @throws {ProtocolFileError} with the place where it shows
   */
  static parse(file) {
    const size = typeof file === "string" ? file.length : file.byteLength;
    if (size > MOST_BYTES) throw new ProtocolFileError("it has more than 500 MB");
    return new Protocol(tableOf(typeof file === "string" ? wellFormed(file) : decoded(file)));
  }

  /**
   * Draw an output for a person, with exactly the probabilities of the protocol and fresh randomness of the
   * system (`crypto.getRandomValues`).
   *
   * @param {Label | null | undefined} secret null or undefined where the protocol does not read it
   * @param {Label} value
   * @returns {Label}
   * @throws {DataError} if one is no label of the protocol; the message does not show it
   */
  release(secret, value) {
    return this.outputs[this.#drawn(this.#row(secret, value), freshWord())];
  }

  /**
   * The output that a word stands for, the same in every client: Python's `Protocol.output_for`. To release
   * data, use `release`, which takes a fresh word.
   *
   * @param {Label | null | undefined} secret null or undefined where the protocol does not read it
   * @param {Label} value
   * @param {number} word an integer from 0 to 2^52 − 1
   * @returns {Label}
   * @throws {DataError} if secret or value is no label of the protocol
   * @throws {RangeError} if the word is no integer in that range
   */
  outputFor(secret, value, word) {
    if (!Number.isInteger(word) || word < 0 || word >= DENOMINATOR) {
      throw new RangeError("word must be an integer from 0 to 2^52 - 1");
    }
    return this.outputs[this.#drawn(this.#row(secret, value), word)];
  }

  /**
   * The probabilities of the outputs, in their order: doubles that are exact.
   *
   * @param {Label | null | undefined} secret null or undefined where the protocol does not read it
   * @param {Label} value
   * @returns {number[]}
   * @throws {DataError} if one is no label of the protocol
   */
  probabilities(secret, value) {
    const row = this.#row(secret, value);
    return this.outputs.map((_, y) => (this.#ends[row + y] - (y ? this.#ends[row + y - 1] : 0)) / DENOMINATOR);
  }

  /**
   * Where the row of a secret and a value starts.
   * @param {unknown} secret
   * @param {unknown} value
   */
  #row(secret, value) {
    const isLeftOut = !this.readsSecret && (secret === null || secret === undefined);
    const s = isLeftOut ? 0 : this.#places.get(secret);
    const u = this.#columns.get(Array.isArray(value) ? waysToWrite(value)[0] : value);
    if (s === undefined) throw unknown("secret", this.secrets.length);
    if (u === undefined) throw unknown("value", this.values.length);
    return (s * this.values.length + u) * this.outputs.length;
  }

  /**
   * The first output whose interval ends above the word, by bisection.
   * @param {number} row
   * @param {number} word
   */
  #drawn(row, word) {
    let low = 0;
    let high = this.outputs.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#ends[row + middle] > word) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}

/**
 * @param {string} name
 * @param {number} count
 */
function unknown(name, count) {
  return new DataError(`${name} must be one of the protocol's ${count} ${name}s, got another entry`);
}

/** @param {string} text */
function wellFormed(text) {
  if (/\p{Cs}/u.test(text)) throw new ProtocolFileError("it is no valid Unicode");
  return text;
}

/** @param {ArrayBuffer | ArrayBufferView} bytes */
function decoded(bytes) {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new ProtocolFileError("it is no UTF-8");
  }
}

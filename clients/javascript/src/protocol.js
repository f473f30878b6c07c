import { DataError, ProtocolFileError } from "./errors.js";
import { DENOMINATOR, tableOf } from "./format.js";
import { plain } from "./labels.js";
import { freshWord } from "./randomness.js";
import { placeIn } from "./reading.js";

/** @typedef {import("./labels.js").Label} Label */
/** @typedef {import("./labels.js").Scalar} Scalar */
/** @typedef {Label | readonly (Scalar | null | undefined)[] | null | undefined} Entry what stands in the data */

const MOST_BYTES = 500_000_000; // of a file, as in Python

/**
 * A release protocol: for each secret and value, the exact probability of each output.
 *
 * It is a table. What its file claims is neither checked nor shown here: `rldp verify` does that, where the
 * file is made.
 */
export class Protocol {
  /** @type {import("./reading.js").Place} */ #secret;
  /** @type {import("./reading.js").Place} */ #value;
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
    const { reading } = table;
    this.#secret = placeIn(table.secrets, reading?.secret, !!reading?.withMissing);
    this.#value = placeIn(table.values, reading?.value, !!reading?.withMissing);
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
   * The protocol in what `rldp export` writes, or with `full: true` in any protocol file.
   *
   * It refuses what Python's reader refuses. It also refuses a file that holds the counts of the sample and
   * the proof, which do not belong in a browser, unless it is told. Give it the bytes where you have them: a
   * text has lost what was wrong with its encoding.
   *
   * @param {string | ArrayBuffer | ArrayBufferView} file
   * @param {{ full?: boolean }} [options]
   * @returns {Protocol}
   * @throws {ProtocolFileError} with the place where it shows
   * @throws {TypeError} if it is neither text nor bytes
   */
  static parse(file, { full = false } = {}) {
    requireTextOrBytes(file);
    const size = typeof file === "string" ? file.length : file.byteLength;
    if (size > MOST_BYTES) throw new ProtocolFileError("it has more than 500 MB");
    const table = tableOf(typeof file === "string" ? wellFormed(file) : decoded(file));
    if (table.isFull && !full) {
      throw new ProtocolFileError(
        "it holds the counts of a sample and a proof: give parse what rldp export writes, or { full: true }",
      );
    }
    return new Protocol(table);
  }

  /**
   * Draw an output for a person, with exactly the probabilities of the protocol and fresh randomness of the
   * system (`crypto.getRandomValues`).
   *
   * Entries are read as the protocol's columns were: a number falls into its bin, null or undefined is a
   * category where the protocol has one, and a secret of several columns is a list of their entries.
   *
   * @param {Entry} secret null or undefined where the protocol does not read it
   * @param {Entry} value
   * @returns {Label}
   * @throws {DataError} if one is no label of the protocol; the message does not show it
   */
  release(secret, value) {
    return this.outputs[this.#drawn(this.#row(secret, value), freshWord())];
  }

  /**
   * Draw an output for each of many people, or for nobody: every entry is looked up before anything is drawn.
   *
   * @param {readonly Entry[] | null} secrets null where the protocol does not read the secret
   * @param {readonly Entry[]} values as many as there are secrets
   * @returns {Label[]}
   * @throws {DataError} with the number of the first row, from 1, that cannot be released
   * @throws {RangeError} if there are more of one than of the other
   */
  releaseAll(secrets, values) {
    if (secrets !== null && secrets.length !== values.length) {
      throw new RangeError(`secrets and values must have the same length, got ${secrets.length} and ${values.length}`);
    }
    const rows = Array.from(values, (value, i) => {
      try {
        return this.#row(secrets?.[i], value);
      } catch (error) {
        throw new DataError(`row ${i + 1}: ${/** @type {Error} */ (error).message}`);
      }
    });
    return rows.map((row) => this.outputs[this.#drawn(row, freshWord())]);
  }

  /**
   * The output that a word stands for, the same in every client: Python's `Protocol.output_for`. To release
   * data, use `release`, which takes a fresh word.
   *
   * @param {Entry} secret null or undefined where the protocol does not read it
   * @param {Entry} value
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
   * @param {Entry} secret null or undefined where the protocol does not read it
   * @param {Entry} value
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
    const s = isLeftOut ? 0 : this.#secret(secret);
    const u = this.#value(value);
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

/** @param {unknown} file */
function requireTextOrBytes(file) {
  const isBuffer = Object.prototype.toString.call(file) === "[object ArrayBuffer]"; // of another page, too
  if (typeof file !== "string" && !isBuffer && !ArrayBuffer.isView(file)) {
    throw new TypeError("file must be text or bytes; an object that JSON.parse made has lost what 1.0 and 2^60 are");
  }
}

/** @param {ArrayBuffer | ArrayBufferView} bytes */
function decoded(bytes) {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new ProtocolFileError("it is no UTF-8");
  }
}

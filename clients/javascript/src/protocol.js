import { DENOMINATOR } from "./checks.js";
import { DataError, ProtocolFileError } from "./errors.js";
import { tableOf } from "./format.js";
import { plain } from "./labels.js";
import { digestOf, identifier, stableWord } from "./once.js";
import { freshWord } from "./randomness.js";
import { placeIn } from "./reading.js";

/** @typedef {import("./labels.js").Label} Label */
/** @typedef {import("./labels.js").Scalar} Scalar */
/** @typedef {Label | readonly (Scalar | null | undefined)[] | null | undefined} Entry what stands in the data */

const MOST_BYTES = 500_000_000; // of a file, as in Python

/**
 * A table to draw from.
 * @typedef {object} Drawn
 * @property {Float64Array} ends where the interval of each output ends, row by row
 * @property {number} outputs
 * @property {number} values
 * @property {number} valueStep
 * @property {number} outputStep
 * @property {number} [place] the place of a stage's column among those of a row
 * @property {readonly Label[]} [own] of a chain: the labels of its values
 * @property {() => bigint[][][][]} [fixed] of a stage that is not drawn: its table
 */

/**
 * A release protocol: for each secret and value, the exact probability of each output.
 *
 * It is a table, or the tables of a chain, whose columns are drawn one after the other: values and outputs are
 * then lists with an entry for each column. What its file claims is neither checked nor shown here: `rldp verify` does that, where the
 * file is made.
 */
export class Protocol {
  /** @type {import("./reading.js").Place} */ #secret;
  /** @type {import("./reading.js").Place} */ #value;
  /** In the order in which they are drawn. @type {Drawn[]} */ #stages;
  /** Names of the value columns. @type {string[]} */ #columns;
  /** The digest of the table, once it was needed. @type {Promise<Uint8Array> | undefined} */ #digest;

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
    this.#columns = (reading?.value ?? []).map(({ name }) => /** @type {string} */ (name));
    this.secrets = Object.freeze(table.secrets.map(plain));
    this.values = Object.freeze(table.values.map(plain));
    this.outputs = Object.freeze(table.outputs.map(plain));
    this.#stages = table.stages.map(({ numerators, own, readsSecret, ...stage }) => {
      return { ...stage, own: own?.map(plain), ends: endsOf(numerators) };
    });
    const fixed = table.stages.some((stage) => stage.readsSecret);
    this.readsSecret = fixed || this.#stages.some((stage) => readsSecret(stage, this.secrets.length));
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
    return this.outputs[this.#drawn(this.#row(secret, value), freshWord)];
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
    return rows.map((row) => this.outputs[this.#drawn(row, freshWord)]);
  }

  /**
   * Draw an output for a person once: with the same key, the same person with the same secret and value gets the
   * same output for ever, from every client. A changed secret or value gets a fresh draw. Whoever has the key can
   * undo every draw.
   *
   * @param {Entry} secret null or undefined where the protocol does not read it
   * @param {Entry} value
   * @param {{ id: string | number | bigint, key: Uint8Array | CryptoKey }} who the person, and the secret key: at
   *   least 16 bytes, or a CryptoKey for HMAC with SHA-256
   * @returns {Promise<Label>}
   * @throws {DataError} if secret or value is no label of the protocol, or the id identifies nobody
   * @throws {RangeError} if the key is too short
   * @throws {TypeError} if the protocol does not name its columns: two columns would then share their draws
   */
  async releaseOnce(secret, value, { id, key }) {
    const row = this.#row(secret, value);
    const person = identifier(id);
    if (!this.#columns.length) throw new TypeError("releaseOnce needs a protocol that names its value columns");
    const digest = await (this.#digest ??= this.#digested());
    const s = this.readsSecret ? this.secrets[Math.floor(row / this.values.length)] : null;
    const out = [];
    let context = 0;
    let joint = 0;
    for (const [number, stage] of this.#stages.entries()) {
      const columns = stage.place === undefined ? this.#columns : [this.#columns[stage.place]];
      const u = part(this.values[row % this.values.length], stage.place);
      /** @type {import("./once.js").Item[]} */
      const message = ["rldp-draw-1", digest, columns, number, [...out], person, s, u];
      /** @type {number} */
      const y = stage.fixed
        ? this.#own(stage, row)
        : placeOf(stage, this.#start(stage, context, row), await stableWord(key, message));
      out.push(part(this.outputs[y * stage.outputStep], stage.place));
      context = context * stage.outputs + y;
      joint += y * stage.outputStep;
    }
    return this.outputs[joint];
  }

  /** The digest of the table, or of the tables of a chain. */
  #digested() {
    const stages = this.#stages.map(({ place, fixed, own, outputs, values, valueStep, outputStep, ...stage }) => {
      const ends = fixed ? endsOf(fixed()) : stage.ends;
      const numerators = new DataView(new ArrayBuffer(8 * ends.length));
      for (const [i, end] of ends.entries()) {
        const numerator = end - (i % outputs ? ends[i - 1] : 0);
        numerators.setUint32(8 * i, Math.floor(numerator / 2 ** 32));
        numerators.setUint32(8 * i + 4, numerator % 2 ** 32);
      }
      const labels = [
        own ?? Array.from({ length: values }, (_, u) => part(this.values[u * valueStep], place)),
        Array.from({ length: outputs }, (_, y) => part(this.outputs[y * outputStep], place)),
      ];
      return [...labels, new Uint8Array(numerators.buffer)];
    });
    if (this.#stages[0].place === undefined) return digestOf(["rldp-table-1", this.secrets, ...stages[0]]);
    const named = this.#stages.map(({ place }, i) => [this.#columns[/** @type {number} */ (place)], ...stages[i]]);
    return digestOf(["rldp-chain-1", this.secrets, named]);
  }

  /**
   * The output that a word stands for, the same in every client: Python's `Protocol.output_for`. To release
   * data, use `release`, which takes a fresh word.
   *
   * @param {Entry} secret null or undefined where the protocol does not read it
   * @param {Entry} value
   * @param {number | readonly number[]} word an integer from 0 to 2^52 − 1; of a chain, one for each column in
   *   the order in which columns are drawn
   * @returns {Label}
   * @throws {DataError} if secret or value is no label of the protocol
   * @throws {RangeError} if a word is no integer in that range, or if there are more or fewer than are needed
   */
  outputFor(secret, value, word) {
    const words = Array.isArray(word) ? word : [word];
    const needed = this.#stages.filter(({ fixed }) => !fixed).length;
    if (words.length !== needed) {
      throw new RangeError(`word must hold ${needed} words, one for each column, got ${words.length}`);
    }
    for (const each of words) {
      if (!Number.isInteger(each) || each < 0 || each >= DENOMINATOR) {
        throw new RangeError("word must be an integer from 0 to 2^52 - 1");
      }
    }
    let next = 0;
    return this.outputs[this.#drawn(this.#row(secret, value), () => words[next++])];
  }

  /**
   * The probabilities of the outputs, in their order: doubles that are exact, and of a chain rounded products.
   *
   * @param {Entry} secret null or undefined where the protocol does not read it
   * @param {Entry} value
   * @returns {number[]}
   * @throws {DataError} if one is no label of the protocol
   */
  probabilities(secret, value) {
    const row = this.#row(secret, value);
    return this.outputs.map((_, joint) => {
      let context = 0;
      let product = 1;
      for (const stage of this.#stages) {
        const y = Math.floor(joint / stage.outputStep) % stage.outputs;
        const at = this.#start(stage, context, row) + y;
        if (stage.fixed) product *= Number(y === this.#own(stage, row));
        else product *= (stage.ends[at] - (y ? stage.ends[at - 1] : 0)) / DENOMINATOR;
        context = context * stage.outputs + y;
      }
      return product;
    });
  }

  /**
   * The number of a secret and a value among all pairs of them.
   * @param {unknown} secret
   * @param {unknown} value
   */
  #row(secret, value) {
    const isLeftOut = !this.readsSecret && (secret === null || secret === undefined);
    const s = isLeftOut ? 0 : this.#secret(secret);
    const u = this.#value(value);
    if (s === undefined) throw unknown("secret", this.secrets.length);
    if (u === undefined) throw unknown("value", this.values.length);
    return s * this.values.length + u;
  }

  /**
   * Where the row of a stage starts that a context, a secret and a value select.
   * @param {Drawn} stage
   * @param {number} context
   * @param {number} row
   */
  #start({ outputs, values, valueStep }, context, row) {
    const s = Math.floor(row / this.values.length);
    const u = this.#own({ values, valueStep }, row);
    return ((context * this.secrets.length + s) * values + u) * outputs;
  }

  /**
   * The place of what a row has for the column of a stage.
   * @param {Pick<Drawn, "values" | "valueStep">} stage
   * @param {number} row
   */
  #own({ values, valueStep }, row) {
    return Math.floor((row % this.values.length) / valueStep) % values;
  }

  /**
   * The number of the output that words stand for: of each stage the first whose interval ends above its word.
   * @param {number} row
   * @param {() => number} word
   */
  #drawn(row, word) {
    const [only] = this.#stages;
    if (this.#stages.length === 1) return placeOf(only, row * only.outputs, word());
    let context = 0;
    let joint = 0;
    for (const stage of this.#stages) {
      const y = stage.fixed ? this.#own(stage, row) : placeOf(stage, this.#start(stage, context, row), word());
      context = context * stage.outputs + y;
      joint += y * stage.outputStep;
    }
    return joint;
  }
}

/**
 * Where the interval of each output ends, row by row.
 * @param {bigint[][][][]} numerators
 */
function endsOf(numerators) {
  const rows = numerators.flat(2);
  const ends = new Float64Array(rows.length && rows.length * rows[0].length);
  let at = 0;
  for (const row of rows) {
    let end = 0; // integers up to 2^52: exact
    for (const numerator of row) ends[at++] = end += Number(numerator);
  }
  return ends;
}

/**
 * A label, or what it has for one of several columns.
 * @param {Label} label
 * @param {number | undefined} place
 * @returns {Label}
 */
function part(label, place) {
  return place === undefined ? label : /** @type {readonly Scalar[]} */ (label)[place];
}

/**
 * The first output of a row whose interval ends above the word, by bisection.
 * @param {Drawn} stage
 * @param {number} row where it starts
 * @param {number} word
 */
function placeOf({ ends, outputs }, row, word) {
  let low = 0;
  let high = outputs - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ends[row + middle] > word) high = middle;
    else low = middle + 1;
  }
  return low;
}

/**
 * Whether a probability of the stage depends on the secret.
 * @param {Drawn} stage
 * @param {number} secrets
 */
function readsSecret({ ends, values, outputs }, secrets) {
  const block = values * outputs;
  return ends.some((end, i) => end !== ends[i - (Math.floor(i / block) % secrets) * block]);
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
  const kind = Object.prototype.toString.call(file).slice(8, -1); // instanceof fails for buffers of another page
  if (typeof file !== "string" && kind !== "ArrayBuffer" && !ArrayBuffer.isView(file)) {
    throw new TypeError(`file must be text or bytes that JSON.parse has not read, got ${kind}`);
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

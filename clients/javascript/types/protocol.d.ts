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
    static parse(file: string | ArrayBuffer | ArrayBufferView, { full }?: {
        full?: boolean;
    }): Protocol;
    /**
     * @private
     * @param {import("./format.js").Table} table
     */
    private constructor();
    /**
     * Labels of what must not leak, of what is published, and of what is sent. An integer beyond ±(2^53 − 1)
     * is a bigint.
     * @readonly @type {readonly Label[]}
     */
    readonly secrets: readonly Label[];
    /** @readonly @type {readonly Label[]} */
    readonly values: readonly Label[];
    /** @readonly @type {readonly Label[]} */
    readonly outputs: readonly Label[];
    /**
     * Whether any probability depends on the secret. If not, `release(null, value)` draws without it.
     * @readonly @type {boolean}
     */
    readonly readsSecret: boolean;
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
    release(secret: Entry, value: Entry): Label;
    /**
     * Draw an output for each of many people, or for nobody: every entry is looked up before anything is drawn.
     *
     * @param {readonly Entry[] | null} secrets null where the protocol does not read the secret
     * @param {readonly Entry[]} values as many as there are secrets
     * @returns {Label[]}
     * @throws {DataError} with the number of the first row, from 1, that cannot be released
     * @throws {RangeError} if there are more of one than of the other
     */
    releaseAll(secrets: readonly Entry[] | null, values: readonly Entry[]): Label[];
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
    releaseOnce(secret: Entry, value: Entry, { id, key }: {
        id: string | number | bigint;
        key: Uint8Array | CryptoKey;
    }): Promise<Label>;
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
    outputFor(secret: Entry, value: Entry, word: number | readonly number[]): Label;
    /**
     * The probabilities of the outputs, in their order: doubles that are exact, and of a chain rounded products.
     *
     * @param {Entry} secret null or undefined where the protocol does not read it
     * @param {Entry} value
     * @returns {number[]}
     * @throws {DataError} if one is no label of the protocol
     */
    probabilities(secret: Entry, value: Entry): number[];
    #private;
}
export type Label = import("./labels.js").Label;
export type Scalar = import("./labels.js").Scalar;
/**
 * what stands in the data
 */
export type Entry = Label | readonly (Scalar | null | undefined)[] | null | undefined;
/**
 * A table to draw from.
 */
export type Drawn = {
    /**
     * where the interval of each output ends, row by row
     */
    ends: Float64Array;
    outputs: number;
    values: number;
    valueStep: number;
    outputStep: number;
    /**
     * the place of a stage's column among those of a row
     */
    place?: number | undefined;
    /**
     * of a chain: the labels of its values
     */
    own?: readonly import("./labels.js").Label[] | undefined;
    /**
     * of a stage that is not drawn: its table
     */
    fixed?: (() => bigint[][][][]) | undefined;
};

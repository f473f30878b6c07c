/** @typedef {import("./json.js").Tree} Tree */
/** @typedef {import("./labels.js").Label} Label */
/** @typedef {import("./checks.js").Check} Check */
/**
 * What a client needs of a file: its tables, and how entries are read.
 * @typedef {object} Table
 * @property {Label[]} secrets
 * @property {Label[]} values
 * @property {Label[]} outputs
 * @property {Stage[]} stages in the order in which they are drawn; one if the file is no chain
 * @property {Reading | undefined} reading
 * @property {boolean} isFull whether the file also holds the counts of a sample and a proof
 */
/**
 * The table of one column of a chain, or of the whole row.
 * @typedef {object} Stage
 * @property {bigint[][][][]} numerators by context (the outputs of the stages before), secret, value and output; of
 *   a stage that is not drawn, none
 * @property {() => bigint[][][][]} [fixed] of a stage that is not drawn, because what a row has is its output: its table
 * @property {Label[]} [own] of a chain: the labels that the values of the column have
 * @property {boolean} [readsSecret] of a stage that is not drawn
 * @property {number} values how many labels its column has in a row that is released
 * @property {number} valueStep how far apart its values are among those of the whole row
 * @property {number} outputs how many it has
 * @property {number} outputStep
 * @property {number} [place] of a stage of a chain: the place of its column among the value columns
 */
/**
 * @typedef {object} Reading
 * @property {import("./columns.js").Column[]} secret
 * @property {import("./columns.js").Column[]} value
 * @property {boolean} withMissing whether missing entries have a label of their own
 */
/**
 * The tables in the text of a file, of a protocol or of a chain.
 * @param {string} text
 * @returns {Table}
 */
export function tableOf(text: string): Table;
export type Tree = import("./json.js").Tree;
export type Label = import("./labels.js").Label;
export type Check = import("./checks.js").Check;
/**
 * What a client needs of a file: its tables, and how entries are read.
 */
export type Table = {
    secrets: Label[];
    values: Label[];
    outputs: Label[];
    /**
     * in the order in which they are drawn; one if the file is no chain
     */
    stages: Stage[];
    reading: Reading | undefined;
    /**
     * whether the file also holds the counts of a sample and a proof
     */
    isFull: boolean;
};
/**
 * The table of one column of a chain, or of the whole row.
 */
export type Stage = {
    /**
     * by context (the outputs of the stages before), secret, value and output; of
     * a stage that is not drawn, none
     */
    numerators: bigint[][][][];
    /**
     * of a stage that is not drawn, because what a row has is its output: its table
     */
    fixed?: (() => bigint[][][][]) | undefined;
    /**
     * of a chain: the labels that the values of the column have
     */
    own?: import("./labels.js").Label[] | undefined;
    /**
     * of a stage that is not drawn
     */
    readsSecret?: boolean | undefined;
    /**
     * how many labels its column has in a row that is released
     */
    values: number;
    /**
     * how far apart its values are among those of the whole row
     */
    valueStep: number;
    /**
     * how many it has
     */
    outputs: number;
    outputStep: number;
    /**
     * of a stage of a chain: the place of its column among the value columns
     */
    place?: number | undefined;
};
export type Reading = {
    secret: import("./columns.js").Column[];
    value: import("./columns.js").Column[];
    /**
     * whether missing entries have a label of their own
     */
    withMissing: boolean;
};

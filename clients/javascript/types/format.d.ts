/**
 * The table in the text of a file.
 * @param {string} text
 * @returns {Table}
 */
export function tableOf(text: string): Table;
/** @typedef {import("./json.js").Tree} Tree */
/** @typedef {import("./labels.js").Label} Label */
/** @typedef {(item: Tree, path: string) => void} Check */
/**
 * The table of a file and how entries are read, which is all that a client needs.
 * @typedef {object} Table
 * @property {Label[]} secrets
 * @property {Label[]} values
 * @property {Label[]} outputs
 * @property {bigint[][][]} numerators
 * @property {Reading | undefined} reading
 * @property {boolean} isFull whether the file also holds the counts of a sample and a proof
 */
/**
 * @typedef {object} Reading
 * @property {Column[]} secret
 * @property {Column[]} value
 * @property {boolean} withMissing whether missing entries have a label of their own
 */
export const DENOMINATOR: number;
export type Column = {
    name: Tree;
    labels: Label[];
    header?: import("./json.js").Tree | undefined;
    edges?: number[] | undefined;
};
export type Tree = import("./json.js").Tree;
export type Label = import("./labels.js").Label;
export type Check = (item: Tree, path: string) => void;
/**
 * The table of a file and how entries are read, which is all that a client needs.
 */
export type Table = {
    secrets: Label[];
    values: Label[];
    outputs: Label[];
    numerators: bigint[][][];
    reading: Reading | undefined;
    /**
     * whether the file also holds the counts of a sample and a proof
     */
    isFull: boolean;
};
export type Reading = {
    secret: Column[];
    value: Column[];
    /**
     * whether missing entries have a label of their own
     */
    withMissing: boolean;
};

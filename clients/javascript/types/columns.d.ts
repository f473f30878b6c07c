/** @typedef {import("./json.js").Tree} Tree */
/** @typedef {import("./labels.js").Label} Label */
/**
 * The columns, and whether they need the third version of the format.
 * @param {Tree} tree
 * @param {Label[]} secrets
 * @param {Label[]} [values] those that the columns of the value combine to; a chain does not list them
 */
export function columns(tree: Tree, secrets: Label[], values?: Label[]): {
    inLists: boolean;
    given: Column[];
    reading: {
        secret: Column[];
        value: Column[];
        withMissing: boolean;
    };
};
/**
 * @typedef {object} Column
 * @property {Tree} name
 * @property {Label[]} labels
 * @property {Tree} [header]
 * @property {number[]} [edges]
 * @property {boolean} [isGiven] whether an entry without a label is read as "(other)", where there is one
 * @property {boolean} [withMissing] whether a missing entry is read as "(missing)", if other than in other columns
 */
/**
 * @param {Tree} tree
 * @param {string} path
 * @param {Tree} missing
 * @param {string[]} may
 * @returns {Column[]}
 */
export function columnsIn(tree: Tree, path: string, missing: Tree, may: string[]): Column[];
/**
 * Whether the values are the labels of a single column, or all combinations of several.
 * @param {Label[][]} labels
 * @param {Label[]} values
 */
export function areCombined(labels: Label[][], values: Label[]): boolean;
/**
 * Whether the secrets are the labels of a single column, or the texts of all combinations of several.
 * @param {Label[][]} labels
 * @param {Label[]} secrets
 */
export function combineTo(labels: Label[][], secrets: Label[]): boolean;
export type Tree = import("./json.js").Tree;
export type Label = import("./labels.js").Label;
export type Column = {
    name: Tree;
    labels: Label[];
    header?: import("./json.js").Tree | undefined;
    edges?: number[] | undefined;
    /**
     * whether an entry without a label is read as "(other)", where there is one
     */
    isGiven?: boolean | undefined;
    /**
     * whether a missing entry is read as "(missing)", if other than in other columns
     */
    withMissing?: boolean | undefined;
};

/** @typedef {import("./labels.js").Label} Label */
/** @typedef {import("./columns.js").Column} Column */
/** @typedef {(entry: unknown) => number | undefined} Place */
/**
 * Where the label stands that an entry is read as; undefined where there is none. What is a label of the
 * protocol stands for itself, where it is not read otherwise.
 * @param {Label[]} labels
 * @param {Column[] | undefined} columns
 * @param {boolean} withMissing
 * @returns {Place}
 */
export function placeIn(labels: Label[], columns: Column[] | undefined, withMissing: boolean): Place;
export type Label = import("./labels.js").Label;
export type Column = import("./columns.js").Column;
export type Place = (entry: unknown) => number | undefined;

/** @typedef {string | number | bigint | boolean} Scalar */
/** @typedef {Scalar | readonly Scalar[]} Label one entry, or one for each of several columns */
/**
 * Every way to write a label in JavaScript; labels are equal if they share one.
 * @param {Label} label
 * @returns {Label[]}
 */
export function waysToWrite(label: Label): Label[];
/**
 * Label → its place; undefined where two labels are equal.
 * @param {Label[]} labels
 * @returns {Map<unknown, number> | undefined}
 */
export function placesOf(labels: Label[]): Map<unknown, number> | undefined;
/**
 * An integer as the number that it is, if it is safe; floats, strings and booleans as they are.
 * @param {Label} label
 * @returns {Label}
 */
export function plain(label: Label): Label;
/**
 * Python's str().
 * @param {Label} label
 */
export function str(label: Label): string;
/**
 * Python's repr().
 * @param {Label} label
 */
export function repr(label: Label): string;
export type Scalar = string | number | bigint | boolean;
/**
 * one entry, or one for each of several columns
 */
export type Label = Scalar | readonly Scalar[];

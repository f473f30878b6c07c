/**
 * @param {string} sentence
 * @returns {never}
 */
export function fail(sentence: string): never;
/**
 * The parts of an object that has just these keys.
 * @param {Tree} tree
 * @param {string} path
 * @param {string[]} names
 * @returns {Record<string, Tree>}
 */
export function fieldsOf(tree: Tree, path: string, names: string[]): Record<string, Tree>;
/**
 * Nested lists of a shape, with every entry checked.
 * @param {Tree} tree
 * @param {string} path
 * @param {number[]} shape
 * @param {Check} check
 */
export function array(tree: Tree, path: string, [length, ...rest]: number[], check: Check): void;
/**
 * @param {Tree} item
 * @param {string} path
 */
export function number(item: Tree, path: string): number;
/**
 * Distinct labels; of several columns, they may be lists of one length.
 * @param {Tree} tree
 * @param {string} path
 * @param {boolean} [ofColumns]
 * @returns {Label[]}
 */
export function labelsIn(tree: Tree, path: string, ofColumns?: boolean): Label[];
/**
 * Rows of integers that sum to 2^52, in nested lists of a shape.
 * @param {Tree} tree
 * @param {string} path
 * @param {number[]} shape
 * @returns {any}
 */
export function rowsIn(tree: Tree, path: string, shape: number[]): any;
/**
 * The counts of a sample, whose sum is n.
 * @param {Record<string, Tree>} fields
 * @param {string} path
 * @param {number[]} shape
 * @param {Check} check
 */
export function countsIn(fields: Record<string, Tree>, path: string, shape: number[], check: Check): void;
/**
 * The keys of a guarantee that need not be there and are.
 * @param {Tree} tree
 */
export function optionalIn(tree: Tree): string[];
/**
 * The level of the noise that counts have, if any, and how many rows a person has.
 * @param {Record<string, Tree>} fields
 * @param {string} path
 */
export function noiseIn(fields: Record<string, Tree>, path: string): void;
/** @typedef {import("./json.js").Tree} Tree */
/** @typedef {import("./labels.js").Label} Label */
/** @typedef {(item: Tree, path: string) => void} Check */
export const DENOMINATOR: number;
export const WHOLE: bigint;
export const MOST_DRAWS: bigint;
export const MOST_SEEDS: bigint;
export function that(needed: string, condition: (x: number) => boolean): Check;
export const nonNegative: Check;
export const positive: Check;
export const order: Check;
export const credibleOrder: Check;
export const level: Check;
export const risk: Check;
export function signed(most: bigint): Check;
export function integer(most: bigint): Check;
export function oneOf(...words: string[]): Check;
export function centreOf(shape: number[]): Check;
export type Tree = import("./json.js").Tree;
export type Label = import("./labels.js").Label;
export type Check = (item: Tree, path: string) => void;

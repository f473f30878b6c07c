// The parts of a file's tree: objects of given keys, lists of a shape, entries that satisfy a condition.
import { ProtocolFileError } from "./errors.js";
import { placesOf } from "./labels.js";

/** @typedef {import("./json.js").Tree} Tree */
/** @typedef {import("./labels.js").Label} Label */
/** @typedef {(item: Tree, path: string) => void} Check */

export const DENOMINATOR = 2 ** 52;
export const WHOLE = BigInt(DENOMINATOR);
export const MOST_DRAWS = 2n ** 53n;
export const MOST_SEEDS = 2n ** 128n - 1n;

/**
 * @param {string} sentence
 * @returns {never}
 */
export function fail(sentence) {
  throw new ProtocolFileError(sentence);
}

/** @param {bigint[]} integers */
function sum(integers) {
  return integers.reduce((total, item) => total + item, 0n);
}

/**
 * The parts of an object that has just these keys.
 * @param {Tree} tree
 * @param {string} path
 * @param {string[]} names
 * @returns {Record<string, Tree>}
 */
export function fieldsOf(tree, path, names) {
  if (!(tree instanceof Map)) fail(`${path} must be an object`);
  for (const name of names) {
    if (!tree.has(name)) fail(`${path}${path && "."}${name} is missing`);
  }
  if (tree.size > names.length) fail(`${path || "it"} has a key that is not one of this format`);
  return Object.fromEntries(tree);
}

/**
 * Nested lists of a shape, with every entry checked.
 * @param {Tree} tree
 * @param {string} path
 * @param {number[]} shape
 * @param {Check} check
 */
export function array(tree, path, [length, ...rest], check) {
  if (!Array.isArray(tree) || tree.length !== length) fail(`${path} must be a list of ${length}`);
  for (const [i, item] of tree.entries()) {
    if (rest.length) array(item, `${path}[${i}]`, rest, check);
    else check(item, path);
  }
}

// Entries

/**
 * @param {Tree} item
 * @param {string} path
 */
export function number(item, path) {
  const isNumber = typeof item === "number" || typeof item === "bigint";
  if (!isNumber || !Number.isFinite(Number(item))) fail(`${path} must be a number that a double can hold`);
  return Number(item);
}

/**
 * A check that a number satisfies a condition, in words.
 * @param {string} needed
 * @param {(x: number) => boolean} condition
 * @returns {Check}
 */
export const that = (needed, condition) => (item, path) => {
  if (!condition(number(item, path))) fail(`${path} must be ${needed}`);
};
export const nonNegative = that("a number that is not negative", (x) => x >= 0);
export const positive = that("a positive number", (x) => x > 0);
export const order = that("from 0 to 100", (x) => x >= 0 && x <= 100);
export const credibleOrder = that("0, or from 1e-6 to 100", (x) => x === 0 || (x >= 1e-6 && x <= 100));
export const level = that("at least 1e-300 and below 1", (x) => x >= 1e-300 && x < 1);
export const risk = that("at least 1e-5 and below 1", (x) => x >= 1e-5 && x < 1);

const noiseLevel = that("from 0.001 to 1000", (x) => x >= 1e-3 && x <= 1e3);

/**
 * @param {bigint} most
 * @returns {Check}
 */
export const signed = (most) => (item, path) => {
  if (typeof item !== "bigint" || item < -most || item > most) fail(`${path} must be an integer up to ${most}`);
};

/**
 * @param {bigint} most
 * @returns {Check}
 */
export const integer = (most) => (item, path) => {
  if (typeof item !== "bigint" || item < 0n || item > most) fail(`${path} must be an integer from 0 to ${most}`);
};

/**
 * @param {string[]} words
 * @returns {Check}
 */
export const oneOf = (...words) => (item, path) => {
  if (!words.includes(/** @type {string} */ (item))) fail(`${path} must be one of ${words.join(", ")}`);
};

/**
 * Distinct labels; of several columns, they may be lists of one length.
 * @param {Tree} tree
 * @param {string} path
 * @param {boolean} [ofColumns]
 * @returns {Label[]}
 */
export function labelsIn(tree, path, ofColumns = false) {
  if (!Array.isArray(tree) || !tree.length) fail(`${path} must be a list of labels, at least one`);
  const tuples = ofColumns && Array.isArray(tree[0]);
  if (tuples && tree.some((item) => !Array.isArray(item) || item.length < 2 || item.length !== tree[0].length)) {
    fail(`${path} must hold lists of one length, at least two, or no lists`);
  }
  for (const item of tuples ? tree.flat() : tree) {
    if (item === null || typeof item === "object") fail(`${path} must hold strings, numbers or booleans`);
    if (typeof item === "number" && !Number.isFinite(item)) fail(`${path} must hold finite labels`);
    if (typeof item === "string" && /\p{Cs}/u.test(item)) fail(`${path} must hold labels of valid Unicode`);
  }
  const labels = /** @type {Label[]} */ (tree);
  if (!placesOf(labels)) fail(`${path} must hold distinct labels`);
  return labels;
}

/**
 * Rows of integers that sum to 2^52, in nested lists of a shape.
 * @param {Tree} tree
 * @param {string} path
 * @param {number[]} shape
 * @returns {any}
 */
export function rowsIn(tree, path, shape) {
  array(tree, path, shape, integer(WHOLE));
  const rows = /** @type {bigint[][]} */ (/** @type {Tree[]} */ (tree).flat(shape.length - 2));
  if (rows.some((row) => sum(row) !== WHOLE)) fail("its rows do not sum to the denominator 2^52");
  return tree;
}

/**
 * The counts of a sample, whose sum is n.
 * @param {Record<string, Tree>} fields
 * @param {string} path
 * @param {number[]} shape
 * @param {Check} check
 */
export function countsIn(fields, path, shape, check) {
  array(fields.counts, `${path}.counts`, shape, check);
  const n = sum(/** @type {bigint[][]} */ (fields.counts).flat());
  if (fields.n !== n || n <= 0n || n >= MOST_DRAWS) {
    fail(`${path}.n must be the sum of the counts, positive and below 2^53`);
  }
}

/**
 * Integers of a shape that sum to 2^52.
 * @param {number[]} shape
 * @returns {Check}
 */
export const centreOf = (shape) => (item, where) => {
  array(item, where, shape, integer(WHOLE));
  if (sum(/** @type {bigint[][]} */ (item).flat()) !== WHOLE) fail(`${where} must hold integers that sum to 2^52`);
};

/**
 * The keys of a guarantee that need not be there and are.
 * @param {Tree} tree
 */
export function optionalIn(tree) {
  if (!(tree instanceof Map)) return [];
  const names = tree.has("noise") ? ["epsilon_known", "noise", "rows_a_person"] : ["epsilon_known"];
  return names.filter((name) => tree.has(name));
}

/**
 * The level of the noise that counts have, if any, and how many rows a person has.
 * @param {Record<string, Tree>} fields
 * @param {string} path
 */
export function noiseIn(fields, path) {
  if (!("noise" in fields)) return;
  noiseLevel(fields.noise, `${path}.noise`);
  if (!("rows_a_person" in fields)) return;
  const rows = `${path}.rows_a_person`;
  integer(1_000_000n)(fields.rows_a_person, rows);
  const most = Number(fields.rows_a_person);
  if (most < 2 || Number(fields.noise) / most < 1e-3) {
    fail(`${rows} must be at least 2, and noise / rows_a_person at least 0.001`);
  }
}

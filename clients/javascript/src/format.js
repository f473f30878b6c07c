// The one strict reading of a protocol file: it refuses what Python's reader refuses (docs/file-format.md),
// and proves nothing of what the file claims.
import { ProtocolFileError } from "./errors.js";
import { treeOf } from "./json.js";
import { placesOf, repr, str, waysToWrite } from "./labels.js";

/** @typedef {import("./json.js").Tree} Tree */
/** @typedef {import("./labels.js").Label} Label */
/** @typedef {(item: Tree, path: string) => void} Check */

/**
 * The table of a file, which is all that a client needs.
 * @typedef {object} Table
 * @property {Label[]} secrets
 * @property {Label[]} values
 * @property {Label[]} outputs
 * @property {bigint[][][]} numerators
 */

export const DENOMINATOR = 2 ** 52;
const WHOLE = BigInt(DENOMINATOR);
const MOST_DRAWS = 2n ** 53n;
const MOST_SEEDS = 2n ** 128n - 1n;

/**
 * The table in the text of a file.
 * @param {string} text
 * @returns {Table}
 */
export function tableOf(text) {
  const tree = treeOf(text);
  if (!(tree instanceof Map) || tree.get("format") !== "rldp-protocol") fail("it holds other JSON");
  const version = tree.get("version");
  if (version !== 1n && version !== 2n) fail("its version must be 1 or 2");
  const withColumns = tree.has("columns");
  const names = ["format", "version", "generator", "secrets", "values", "outputs", "denominator", "numerators"];
  const fields = fieldsOf(tree, "", [...names, "guarantee", ...(withColumns ? ["columns"] : [])]);
  if (typeof fields.generator !== "string") fail("generator must be a string");
  if (fields.denominator !== WHOLE) fail(`denominator must be ${DENOMINATOR}`);
  const secrets = labelsIn(fields.secrets, "secrets");
  const values = labelsIn(fields.values, "values");
  const outputs = labelsIn(fields.outputs, "outputs");
  const shape = [secrets.length, values.length, outputs.length];
  array(fields.numerators, "numerators", shape, integer(WHOLE));
  const numerators = /** @type {bigint[][][]} */ (fields.numerators);
  if (numerators.flat().some((row) => sum(row) !== WHOLE)) fail("its rows do not sum to the denominator 2^52");
  const isNew = fields.guarantee !== null && claim(fields.guarantee, shape);
  if (withColumns) columns(fields.columns, secrets, values);
  const needed = isNew || withColumns ? 2n : 1n;
  if (version !== needed) fail(`its version must be ${needed} for what it claims`);
  return { secrets, values, outputs, numerators };
}

/**
 * @param {string} sentence
 * @returns {never}
 */
function fail(sentence) {
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
function fieldsOf(tree, path, names) {
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
function array(tree, path, [length, ...rest], check) {
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
function number(item, path) {
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
const that = (needed, condition) => (item, path) => {
  if (!condition(number(item, path))) fail(`${path} must be ${needed}`);
};
const nonNegative = that("a number that is not negative", (x) => x >= 0);
const positive = that("a positive number", (x) => x > 0);
const order = that("from 0 to 100", (x) => x >= 0 && x <= 100);
const credibleOrder = that("0, or from 1e-6 to 100", (x) => x === 0 || (x >= 1e-6 && x <= 100));
const level = that("at least 1e-300 and below 1", (x) => x >= 1e-300 && x < 1);
const risk = that("at least 1e-5 and below 1", (x) => x >= 1e-5 && x < 1);

/**
 * @param {bigint} most
 * @returns {Check}
 */
const integer = (most) => (item, path) => {
  if (typeof item !== "bigint" || item < 0n || item > most) fail(`${path} must be an integer from 0 to ${most}`);
};

/**
 * @param {string[]} words
 * @returns {Check}
 */
const oneOf = (...words) => (item, path) => {
  if (!words.includes(/** @type {string} */ (item))) fail(`${path} must be one of ${words.join(", ")}`);
};

/**
 * @param {Tree} tree
 * @param {string} path
 * @returns {Label[]}
 */
function labelsIn(tree, path) {
  if (!Array.isArray(tree) || !tree.length) fail(`${path} must be a list of labels, at least one`);
  for (const item of tree) {
    if (item === null || typeof item === "object") fail(`${path} must hold strings, numbers or booleans`);
    if (typeof item === "number" && !Number.isFinite(item)) fail(`${path} must hold finite labels`);
    if (typeof item === "string" && /\p{Cs}/u.test(item)) fail(`${path} must hold labels of valid Unicode`);
  }
  const labels = /** @type {Label[]} */ (tree);
  if (!placesOf(labels)) fail(`${path} must hold distinct labels`);
  return labels;
}

// The guarantee

/**
 * Whether a claim needs the second version of the format; whether it is true is for `rldp verify` to say.
 * @param {Tree} tree
 * @param {number[]} shape
 */
function claim(tree, [secrets, values, outputs]) {
  const path = "guarantee";
  const names = ["epsilon", "n", "counts", "privacy", "utility", "distortion", "objective", "lower_bound"];
  const fields = fieldsOf(tree, path, [...names, "certificate"]);
  array(fields.counts, `${path}.counts`, [secrets, values], integer(MOST_DRAWS));
  const n = sum(/** @type {bigint[][]} */ (fields.counts).flat());
  if (fields.n !== n || n <= 0n || n >= MOST_DRAWS) {
    fail(`${path}.n must be the sum of the counts, positive and below 2^53`);
  }
  if (fields.epsilon !== "infinity") nonNegative(fields.epsilon, `${path}.epsilon`);
  array(fields.distortion, `${path}.distortion`, [values, outputs], nonNegative);
  number(fields.objective, `${path}.objective`);
  number(fields.lower_bound, `${path}.lower_bound`);
  proof(fields.certificate, `${path}.certificate`, secrets, values, outputs);
  const kinds = [promise(fields.privacy, `${path}.privacy`, secrets), promise(fields.utility, `${path}.utility`)];
  return kinds.some((kind) => kind !== "nominal" && kind !== "power-divergence");
}

/**
 * The kind of a promise; without a number of secrets, one that can stand for utility.
 * @param {Tree} tree
 * @param {string} path
 * @param {number} [secrets]
 */
function promise(tree, path, secrets) {
  const kind = tree instanceof Map ? tree.get("kind") : undefined;
  const size = tree instanceof Map && tree.has("radius") ? "radius" : "alpha";
  const pairs = [((secrets ?? 0) * ((secrets ?? 0) - 1)) / 2];
  /** @type {Record<string, Record<string, Check>>} */
  const kinds = {
    nominal: {},
    "power-divergence": { lambda: order, [size]: size === "radius" ? nonNegative : level },
    credible: { alpha: risk, prior: positive, lambda: credibleOrder, radius: nonNegative, seed: integer(MOST_SEEDS) },
  };
  if (secrets !== undefined) {
    kinds.all = {};
    kinds.pairs = {
      alpha: level,
      radii: (item, where) => array(item, where, pairs, nonNegative),
      methods: (item, where) => array(item, where, pairs, oneOf("A1", "A2")),
    };
  }
  if (typeof kind !== "string" || !Object.hasOwn(kinds, kind)) {
    return fail(`${path}.kind must be one of ${Object.keys(kinds).join(", ")}`);
  }
  const fields = fieldsOf(tree, path, ["kind", ...Object.keys(kinds[kind])]);
  for (const [name, check] of Object.entries(kinds[kind])) check(fields[name], `${path}.${name}`);
  return kind;
}

/**
 * @param {Tree} tree
 * @param {string} path
 * @param {number} secrets
 * @param {number} values
 * @param {number} outputs
 */
function proof(tree, path, secrets, values, outputs) {
  const pairs = secrets * (secrets - 1);
  /** @type {Record<string, [number[], Check]>} */
  const witnesses = {
    eta: [[outputs, pairs, 2], number],
    multipliers: [[outputs, pairs], nonNegative],
    members: [[outputs, pairs, 2, values], nonNegative],
    distribution: [[secrets, values], nonNegative],
  };
  const fields = fieldsOf(tree, path, [...Object.keys(witnesses), "eta_utility"]);
  for (const [name, [shape, check]] of Object.entries(witnesses)) {
    if (fields[name] !== null) array(fields[name], `${path}.${name}`, shape, check);
  }
  if (fields.eta_utility !== null) number(fields.eta_utility, `${path}.eta_utility`);
}

// The columns

/**
 * @param {Tree} tree
 * @param {Label[]} secrets
 * @param {Label[]} values
 */
function columns(tree, secrets, values) {
  const fields = fieldsOf(tree, "columns", ["secret", "value", "missing"]);
  oneOf("refuse", "skip", "category")(fields.missing, "columns.missing");
  if (!Array.isArray(fields.secret) || !fields.secret.length) fail("columns.secret must be a list of columns");
  const parts = fields.secret.map((item, i) => fieldsOf(item, `columns.secret[${i}]`, ["name", "labels"]));
  const labels = parts.map((part, i) => labelsIn(part.labels, `columns.secret[${i}].labels`));
  const names = [...parts.map((part) => part.name), valueColumn(fields.value, values, fields.missing)];
  if (names.some((name) => typeof name !== "string")) fail("columns must have names that are strings");
  if (new Set(names).size < names.length) fail("columns must be about columns of distinct names");
  if (!combineTo(labels, secrets)) fail("columns.secret must be columns whose labels combine to the secrets");
}

/**
 * The name of the value's column.
 * @param {Tree} tree
 * @param {Label[]} values
 * @param {Tree} missing
 */
function valueColumn(tree, values, missing) {
  const path = "columns.value";
  if (!(tree instanceof Map) || !tree.has("edges")) return fieldsOf(tree, path, ["name"]).name;
  const fields = fieldsOf(tree, path, ["name", "edges"]);
  const bins = values.length - (missing === "category" && values.at(-1) === "(missing)" ? 1 : 0);
  array(fields.edges, `${path}.edges`, [bins - 1], number);
  const edges = /** @type {Tree[]} */ (fields.edges).map(Number);
  if (edges.some((edge, i) => i && edge <= edges[i - 1])) fail(`${path}.edges must be numbers that increase`);
  return fields.name;
}

/**
 * Whether the secrets are the labels of a single column, or the texts of all combinations of several.
 * @param {Label[][]} labels
 * @param {Label[]} secrets
 */
function combineTo(labels, secrets) {
  if (labels.reduce((product, list) => product * list.length, 1) !== secrets.length) return false;
  if (labels.length === 1) return labels[0].every((label, i) => areEqual(label, secrets[i]));
  const joint = joined(labels, str);
  const distinct = new Set(joint).size === joint.length;
  return (distinct ? joint : joined(labels, repr)).every((text, i) => text === secrets[i]);
}

/**
 * @param {Label} one
 * @param {Label} other
 */
function areEqual(one, other) {
  return waysToWrite(one)[0] === waysToWrite(other)[0];
}

/**
 * @param {Label[][]} labels
 * @param {(label: Label) => string} text
 * @returns {string[]}
 */
function joined([first, ...rest], text) {
  const heads = first.map(text);
  if (!rest.length) return heads;
  const tails = joined(rest, text);
  return heads.flatMap((head) => tails.map((tail) => `${head}, ${tail}`));
}

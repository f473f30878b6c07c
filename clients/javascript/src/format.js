// The one strict reading of a protocol file: it refuses what Python's reader refuses (docs/file-format.md),
// and proves nothing of what the file claims.
import { ProtocolFileError } from "./errors.js";
import { treeOf } from "./json.js";
import { placesOf, repr, str, waysToWrite } from "./labels.js";

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
  if (version !== 1n && version !== 2n && version !== 3n) fail("its version must be 1, 2 or 3");
  const withColumns = tree.has("columns");
  const names = ["format", "version", "generator", "secrets", "values", "outputs", "denominator", "numerators"];
  const fields = fieldsOf(tree, "", [...names, "guarantee", ...(withColumns ? ["columns"] : [])]);
  if (typeof fields.generator !== "string") fail("generator must be a string");
  if (fields.denominator !== WHOLE) fail(`denominator must be ${DENOMINATOR}`);
  const secrets = labelsIn(fields.secrets, "secrets");
  const values = labelsIn(fields.values, "values", true);
  const outputs = labelsIn(fields.outputs, "outputs", true);
  const shape = [secrets.length, values.length, outputs.length];
  array(fields.numerators, "numerators", shape, integer(WHOLE));
  const numerators = /** @type {bigint[][][]} */ (fields.numerators);
  if (numerators.flat().some((row) => sum(row) !== WHOLE)) fail("its rows do not sum to the denominator 2^52");
  const claimed = fields.guarantee === null ? 1n : claim(fields.guarantee, shape);
  const read = withColumns ? columns(fields.columns, secrets, values) : undefined;
  const tuples = [values[0], outputs[0]].some(Array.isArray);
  const needed = tuples || read?.inLists ? 3n : withColumns && claimed === 1n ? 2n : claimed;
  if (version !== needed) fail(`its version must be ${needed} for what it claims`);
  return { secrets, values, outputs, numerators, reading: read?.reading, isFull: fields.guarantee !== null };
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

const noiseLevel = that("from 0.001 to 1000", (x) => x >= 1e-3 && x <= 1e3);

/**
 * @param {bigint} most
 * @returns {Check}
 */
const signed = (most) => (item, path) => {
  if (typeof item !== "bigint" || item < -most || item > most) fail(`${path} must be an integer up to ${most}`);
};

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
 * Distinct labels; of several columns, they may be lists of one length.
 * @param {Tree} tree
 * @param {string} path
 * @param {boolean} [ofColumns]
 * @returns {Label[]}
 */
function labelsIn(tree, path, ofColumns = false) {
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

// The guarantee

/**
 * The version of the format that a claim needs; whether it is true is for `rldp verify` to say.
 * @param {Tree} tree
 * @param {number[]} shape
 */
function claim(tree, [secrets, values, outputs]) {
  const path = "guarantee";
  const names = ["epsilon", "n", "counts", "privacy", "utility", "distortion", "objective", "lower_bound"];
  const known = tree instanceof Map && tree.has("epsilon_known");
  const noisy = tree instanceof Map && tree.has("noise");
  const optional = [...(known ? ["epsilon_known"] : []), ...(noisy ? ["noise"] : [])];
  const fields = fieldsOf(tree, path, [...names, "certificate", ...optional]);
  array(fields.counts, `${path}.counts`, [secrets, values], noisy ? signed(MOST_DRAWS) : integer(MOST_DRAWS));
  const n = sum(/** @type {bigint[][]} */ (fields.counts).flat());
  if (fields.n !== n || n <= 0n || n >= MOST_DRAWS) {
    fail(`${path}.n must be the sum of the counts, positive and below 2^53`);
  }
  if (fields.epsilon !== "infinity") nonNegative(fields.epsilon, `${path}.epsilon`);
  if (known) nonNegative(fields.epsilon_known, `${path}.epsilon_known`);
  array(fields.distortion, `${path}.distortion`, [values, outputs], nonNegative);
  number(fields.objective, `${path}.objective`);
  number(fields.lower_bound, `${path}.lower_bound`);
  proof(fields.certificate, `${path}.certificate`, secrets, values, outputs, known);
  const needed = [
    promise(fields.privacy, `${path}.privacy`, secrets, values, true),
    promise(fields.utility, `${path}.utility`, secrets, values, false),
  ];
  if (noisy) {
    noiseLevel(fields.noise, `${path}.noise`);
    const privacy = /** @type {Map<string, Tree>} */ (fields.privacy);
    const utility = /** @type {Map<string, Tree>} */ (fields.utility);
    const kinds = [privacy.get("kind"), utility.get("kind")];
    const isKnown = kinds[0] === "all" || (kinds[0] === "credible" && privacy.has("centre"));
    if (!isKnown) fail(`${path}.privacy must be a promise that knows the noise, with a centre`);
    if (!["credible", "nominal"].includes(/** @type {string} */ (kinds[1])) || !utility.has("centre")) {
      fail(`${path}.utility must be a promise that knows the noise, with a centre`);
    }
  }
  if (known || noisy || needed.includes(3n)) return 3n;
  return needed.includes(2n) ? 2n : 1n;
}

/**
 * The version of the format that a promise needs.
 * @param {Tree} tree
 * @param {string} path
 * @param {number} secrets
 * @param {number} values
 * @param {boolean} ofPrivacy
 */
function promise(tree, path, secrets, values, ofPrivacy) {
  const kind = tree instanceof Map ? tree.get("kind") : undefined;
  const size = tree instanceof Map && tree.has("radius") ? "radius" : "alpha";
  const adaptive = tree instanceof Map && tree.get("prior") === "adaptive";
  const centred = tree instanceof Map && tree.has("centre");
  const pairs = [(secrets * (secrets - 1)) / 2];
  /** @type {Check} */
  const centre = (item, where) => {
    array(item, where, [secrets, values], integer(WHOLE));
    if (sum(/** @type {bigint[][]} */ (item).flat()) !== WHOLE) fail(`${where} must hold integers that sum to 2^52`);
  };
  /** @type {Record<string, Check>} */
  const around = centred ? { centre } : {};
  const prior = adaptive ? oneOf("adaptive") : positive;
  const found = { radius: nonNegative, seed: integer(MOST_SEEDS) };
  /** @type {Record<string, Record<string, Check>>} */
  const kinds = {
    nominal: { ...around },
    "power-divergence": { lambda: order, ...(size === "radius" ? { radius: nonNegative, ...around } : { alpha: level }) },
    credible: { alpha: risk, prior, lambda: credibleOrder, ...found, ...around },
  };
  if (ofPrivacy) {
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
  if (centred || adaptive) return 3n;
  return kind === "nominal" || kind === "power-divergence" ? 1n : 2n;
}

/**
 * @param {Tree} tree
 * @param {string} path
 * @param {number} secrets
 * @param {number} values
 * @param {number} outputs
 * @param {boolean} known
 */
function proof(tree, path, secrets, values, outputs, known) {
  const pairs = secrets * (secrets - 1);
  /** @type {Record<string, [number[], Check]>} */
  const witnesses = {
    eta: [[outputs, pairs, 2], number],
    multipliers: [[outputs, pairs], nonNegative],
    members: [[outputs, pairs, 2, values], nonNegative],
    distribution: [[secrets, values], nonNegative],
  };
  if (known) witnesses.known = [[outputs, secrets, values], number];
  const fields = fieldsOf(tree, path, [...Object.keys(witnesses), "eta_utility"]);
  for (const [name, [shape, check]] of Object.entries(witnesses)) {
    if (fields[name] !== null) array(fields[name], `${path}.${name}`, shape, check);
  }
  if (fields.eta_utility !== null) number(fields.eta_utility, `${path}.eta_utility`);
}

// The columns

/**
 * Whether the columns need the third version of the format.
 * @param {Tree} tree
 * @param {Label[]} secrets
 * @param {Label[]} values
 */
function columns(tree, secrets, values) {
  const fields = fieldsOf(tree, "columns", ["secret", "value", "missing"]);
  oneOf("refuse", "skip", "category")(fields.missing, "columns.missing");
  const secret = columnsIn(fields.secret, "columns.secret", fields.missing, ["header"]);
  const listed = Array.isArray(fields.value);
  const value = listed
    ? columnsIn(fields.value, "columns.value", fields.missing, ["header", "edges"])
    : [valueColumn(fields.value, values, fields.missing)];
  const all = [...secret, ...value];
  if (all.some((column) => typeof column.name !== "string")) fail("columns must have names that are strings");
  if (new Set(all.map((column) => column.name)).size < all.length) fail("columns must have distinct names");
  const inLists = value.length > 1 || all.some((column) => column.header !== undefined);
  if (listed && !inLists) fail("columns.value must be an object, where a single column is found by its name");
  if (!listed && inLists) fail("columns.value must be a list of columns");
  if (!combineTo(secret.map((column) => column.labels), secrets)) {
    fail("columns.secret must be columns whose labels combine to the secrets");
  }
  if (!areCombined(value.map((column) => column.labels), values)) {
    fail("columns.value must be columns whose labels combine to the values");
  }
  return { inLists, reading: { secret, value, withMissing: fields.missing === "category" } };
}

/**
 * @typedef {object} Column
 * @property {Tree} name
 * @property {Label[]} labels
 * @property {Tree} [header]
 * @property {number[]} [edges]
 */

/**
 * @param {Tree} tree
 * @param {string} path
 * @param {Tree} missing
 * @param {string[]} may
 * @returns {Column[]}
 */
function columnsIn(tree, path, missing, may) {
  if (!Array.isArray(tree) || !tree.length) fail(`${path} must be a list of columns`);
  return tree.map((item, i) => {
    const at = `${path}[${i}]`;
    const optional = may.filter((key) => item instanceof Map && item.has(key));
    const fields = fieldsOf(item, at, ["name", "labels", ...optional]);
    const labels = labelsIn(fields.labels, `${at}.labels`);
    const cut = "edges" in fields ? edges(fields.edges, `${at}.edges`, labels, missing) : undefined;
    if ("header" in fields && typeof fields.header !== "string") fail(`${at}.header must be a string`);
    return { name: fields.name, labels, header: fields.header, edges: cut };
  });
}

/**
 * The one column of a value whose labels are those of the table.
 * @param {Tree} tree
 * @param {Label[]} values
 * @param {Tree} missing
 * @returns {Column}
 */
function valueColumn(tree, values, missing) {
  const path = "columns.value";
  const optional = tree instanceof Map && tree.has("edges") ? ["edges"] : [];
  const fields = fieldsOf(tree, path, ["name", ...optional]);
  if (values.some(Array.isArray)) fail(`${path} must be a list of columns`);
  const cut = "edges" in fields ? edges(fields.edges, `${path}.edges`, values, missing) : undefined;
  return { name: fields.name, labels: values, edges: cut };
}

/**
 * @param {Tree} tree
 * @param {string} path
 * @param {Label[]} labels
 * @param {Tree} missing
 */
function edges(tree, path, labels, missing) {
  const bins = labels.length - (missing === "category" && labels.at(-1) === "(missing)" ? 1 : 0);
  array(tree, path, [bins - 1], number);
  const numbers = /** @type {Tree[]} */ (tree).map(Number);
  if (numbers.some((edge, i) => i && edge <= numbers[i - 1])) fail(`${path} must be numbers that increase`);
  return numbers;
}

/**
 * Whether the values are the labels of a single column, or all combinations of several.
 * @param {Label[][]} labels
 * @param {Label[]} values
 */
function areCombined(labels, values) {
  if (labels.reduce((product, list) => product * list.length, 1) !== values.length) return false;
  return values.every((value, place) => {
    let rest = place;
    const parts = [...labels].reverse().map((list) => {
      const part = list[rest % list.length];
      rest = Math.floor(rest / list.length);
      return part;
    });
    const combined = labels.length === 1 ? parts[0] : /** @type {Label} */ (parts.reverse());
    return areEqual(combined, value);
  });
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

// The one strict reading of a protocol file: it refuses what Python's reader refuses (docs/file-format.md),
// and proves nothing of what the file claims.
import { chainOf } from "./chains.js";
import {
  array, centreOf, countsIn, credibleOrder, DENOMINATOR, fail, fieldsOf, integer, labelsIn, level, MOST_DRAWS,
  MOST_SEEDS, noiseIn, nonNegative, number, oneOf, optionalIn, order, positive, risk, rowsIn, signed, WHOLE,
} from "./checks.js";
import { columns } from "./columns.js";
import { treeOf } from "./json.js";

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
export function tableOf(text) {
  const tree = treeOf(text);
  if (tree instanceof Map && tree.get("format") === "rldp-chain") return chainOf(tree);
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
  const numerators = rowsIn(fields.numerators, "numerators", shape);
  const claimed = fields.guarantee === null ? 1n : claim(fields.guarantee, shape);
  const read = withColumns ? columns(fields.columns, secrets, values) : undefined;
  const tuples = [values[0], outputs[0]].some(Array.isArray);
  const needed = tuples || read?.inLists ? 3n : withColumns && claimed === 1n ? 2n : claimed;
  if (version !== needed) fail(`its version must be ${needed} for what it claims`);
  const sizes = { values: values.length, outputs: outputs.length };
  const stages = [{ numerators: [numerators], ...sizes, valueStep: 1, outputStep: 1 }];
  return { secrets, values, outputs, stages, reading: read?.reading, isFull: fields.guarantee !== null };
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
  const optional = optionalIn(tree);
  const [known, noisy] = ["epsilon_known", "noise"].map((name) => optional.includes(name));
  const fields = fieldsOf(tree, path, [...names, "certificate", ...optional]);
  countsIn(fields, path, [secrets, values], noisy ? signed(MOST_DRAWS) : integer(MOST_DRAWS));
  const ofPairs = Array.isArray(fields.epsilon);
  (ofPairs ? levelsOfPairs(secrets) : levelOfPrivacy)(fields.epsilon, `${path}.epsilon`);
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
    noiseIn(fields, path);
    const privacy = /** @type {Map<string, Tree>} */ (fields.privacy);
    const utility = /** @type {Map<string, Tree>} */ (fields.utility);
    const kinds = [privacy.get("kind"), utility.get("kind")];
    const isKnown = kinds[0] === "all" || (kinds[0] === "credible" && privacy.has("centre"));
    if (!isKnown) fail(`${path}.privacy must be a promise that knows the noise, with a centre`);
    if (!["credible", "nominal"].includes(/** @type {string} */ (kinds[1])) || !utility.has("centre")) {
      fail(`${path}.utility must be a promise that knows the noise, with a centre`);
    }
  }
  if (known || noisy || ofPairs || needed.includes(3n)) return 3n;
  return needed.includes(2n) ? 2n : 1n;
}

/** @type {Check} */
function levelOfPrivacy(item, path) {
  if (item !== "infinity") nonNegative(item, path);
}

/**
 * Levels of ordered pairs of secrets, which differ, with zeros on the diagonal.
 * @param {number} secrets
 * @returns {Check}
 */
const levelsOfPairs = (secrets) => (tree, path) => {
  array(tree, path, [secrets, secrets], levelOfPrivacy);
  const rows = /** @type {Tree[][]} */ (tree);
  const levels = rows.flatMap((row, s) => row.filter((_, t) => t !== s).map(Number)); // "infinity" is NaN
  if (rows.some((row, s) => Number(row[s]) !== 0)) fail(`${path} must have zeros on its diagonal`);
  if (new Set(levels).size < 2) fail(`${path} must be one number where all pairs of secrets have the same`);
};

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
  /** @type {Record<string, Check>} */
  const around = centred ? { centre: centreOf([secrets, values]) } : {};
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

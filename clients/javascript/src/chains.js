// The strict reading of the file of a chain, whose columns are drawn one after the other (docs/file-format.md).
import {
  array, centreOf, countsIn, DENOMINATOR, fail, fieldsOf, integer, labelsIn, MOST_DRAWS, MOST_SEEDS, noiseIn,
  nonNegative, number, oneOf, optionalIn, positive, risk, rowsIn, signed, WHOLE,
} from "./checks.js";
import { columns } from "./columns.js";
import { str } from "./labels.js";
import { sha256 } from "./sha256.js";

/** @typedef {import("./json.js").Tree} Tree */
/** @typedef {import("./labels.js").Label} Label */
/** @typedef {import("./labels.js").Scalar} Scalar */

const MOST = 2 ** 20; // combinations
const MOST_NUMBERS = 2 ** 25; // in the table of a stage that is not drawn, for all outputs before it

/**
 * The tables of a chain.
 * @param {Map<string, Tree>} tree
 * @returns {import("./format.js").Table}
 */
export function chainOf(tree) {
  if (tree.get("version") !== 1n) fail("its version must be 1");
  const names = ["format", "version", "generator", "secrets", "columns", "denominator", "stages", "guarantee"];
  const fields = fieldsOf(tree, "", names);
  if (typeof fields.generator !== "string") fail("generator must be a string");
  if (fields.denominator !== WHOLE) fail(`denominator must be ${DENOMINATOR}`);
  const secrets = labelsIn(fields.secrets, "secrets");
  const { reading, given } = columns(fields.columns, secrets);
  const row = [...given, ...reading.value];
  if (row.length < 2) fail("columns must be about two columns or more");
  const labels = row.map((column) => column.labels);
  if (sizeOf(labels) > MOST) fail("columns must have at most 2^20 combinations of values");
  const found = stagesIn(fields.stages, secrets, given, reading.value);
  const isFull = fields.guarantee !== null;
  if (isFull) claim(fields.guarantee, secrets.length, sizeOf(labels), found, given.length > 0);
  const { value, stages } = inRows(found, given, reading.value);
  const values = combinations(value.map((column) => column.labels));
  const outputs = combinations(value.map(({ name }) => outputsOf(found, name)));
  return { secrets, values, outputs, stages, reading: { ...reading, value }, isFull };
}

/**
 * What a file says of a stage.
 * @typedef {object} Found
 * @property {Tree} column
 * @property {Label[]} own the labels of its values
 * @property {Label[]} outputs
 * @property {bigint[][][][]} numerators of a stage that is not drawn, none
 * @property {() => bigint[][][][]} [fixed]
 * @property {boolean} [readsSecret]
 * @property {boolean} [absent] of an earlier release: whether people may have had no part in it
 */

/**
 * @param {Found[]} found
 * @param {Tree} name
 */
function outputsOf(found, name) {
  return /** @type {Found} */ (found.find(({ column }) => column === name)).outputs;
}

/**
 * The columns of a row that is released, and where in it each stage finds its own. Given columns come first, then
 * those of earlier releases, which have outputs in place of values.
 * @param {Found[]} found
 * @param {import("./columns.js").Column[]} given
 * @param {import("./columns.js").Column[]} value
 */
function inRows(found, given, value) {
  const earlier = found.filter((stage) => stage.fixed).slice(given.length);
  const drawn = value.filter(({ name }) => !earlier.some(({ column }) => column === name));
  const row = [
    ...given.map((column) => ({ ...column, isGiven: true })),
    ...earlier.map(({ column, outputs, absent }) => ({ name: column, labels: outputs, withMissing: absent })),
    ...drawn,
  ];
  const stages = found.map(({ column, outputs, absent, ...stage }) => {
    const place = row.findIndex(({ name }) => name === column);
    const after = row.slice(place + 1);
    return {
      ...stage,
      place,
      values: row[place].labels.length,
      outputs: outputs.length,
      valueStep: sizeOf(after.map(({ labels }) => labels)),
      outputStep: sizeOf(after.map(({ name }) => outputsOf(found, name))),
    };
  });
  return { value: row, stages };
}

/** @param {Label[][]} lists */
function sizeOf(lists) {
  return lists.reduce((product, list) => product * list.length, 1);
}

/**
 * All combinations of labels, the last column fastest.
 * @param {Label[][]} lists
 * @returns {Label[]}
 */
function combinations(lists) {
  /** @type {Scalar[][]} */
  let found = [[]];
  for (const list of lists) {
    found = found.flatMap((head) => list.map((label) => [...head, /** @type {Scalar} */ (label)]));
  }
  return found;
}

/**
 * The stages, those that are not drawn first.
 * @param {Tree} tree
 * @param {Label[]} secrets
 * @param {import("./columns.js").Column[]} given
 * @param {import("./columns.js").Column[]} value
 */
function stagesIn(tree, secrets, given, value) {
  const count = given.length + value.length;
  if (!Array.isArray(tree) || tree.length !== count) {
    fail(`stages must be a list of ${count}, a stage for each given and each value column`);
  }
  const left = new Map(value.map((column) => [column.name, column.labels]));
  /** @type {Found[]} */
  const found = [];
  for (const [i, item] of tree.entries()) {
    const path = `stages[${i}]`;
    const stage = i < given.length ? kept(item, path, given[i], found, secrets) : stageIn(item, path, left, [...found], secrets);
    if (stage.fixed && found.some(({ fixed }) => !fixed)) fail(`${path} must be drawn, behind a stage that is drawn`);
    found.push(stage);
    if (contextsOf(found) > MOST) fail("stages must have at most 2^20 combinations of outputs");
    if (stage.fixed && contextsOf(found) * stage.own.length * secrets.length > MOST_NUMBERS) {
      fail(`${path} must have fewer labels: its table would be too large`);
    }
  }
  if (found[count - 1].fixed) fail("stages must be stages of which the last is drawn");
  const out = found.slice(given.length).filter(({ fixed }) => fixed);
  if (out.some(({ column }, i) => column !== value[i].name)) {
    fail("stages must be about columns of earlier releases in the order of columns.value, where they come first");
  }
  return found;
}

/** @param {Found[]} stages */
function contextsOf(stages) {
  return sizeOf(stages.map(({ outputs }) => outputs));
}

/**
 * The stage of a given column, which is its mark alone.
 * @param {Tree} tree
 * @param {string} path
 * @param {import("./columns.js").Column} column
 * @param {Found[]} before
 * @param {Label[]} secrets
 * @returns {Found}
 */
function kept(tree, path, { name, labels }, before, secrets) {
  const fields = fieldsOf(tree, path, ["column", "kept"]);
  if (fields.column !== name) fail(`${path}.column must be the given column in its place: given columns come first`);
  if (fields.kept !== true) fail(`${path}.kept must be true`);
  const contexts = contextsOf(before);
  const fixed = () => {
    const same = labels.map((_, u) => labels.map((_, y) => (y === u ? WHOLE : 0n)));
    return Array(contexts).fill(Array(secrets.length).fill(same));
  };
  return { column: name, own: labels, outputs: labels, numerators: [], fixed, readsSecret: false };
}

/**
 * The stage of a value column, which leaves `left`.
 * @param {Tree} tree
 * @param {string} path
 * @param {Map<Tree, Label[]>} left
 * @param {Found[]} before
 * @param {Label[]} secrets
 * @returns {Found}
 */
function stageIn(tree, path, left, before, secrets) {
  const isEarlier = tree instanceof Map && tree.has("earlier");
  const fields = fieldsOf(tree, path, ["column", "outputs", ...(isEarlier ? ["earlier"] : []), "numerators"]);
  const { column } = fields;
  const own = left.get(column);
  if (!own) return fail(`${path}.column must be a value column that no other stage is about`);
  left.delete(column);
  const outputs = labelsIn(fields.outputs, `${path}.outputs`);
  if (isEarlier) return { column, own, outputs, ...earlier(fields, path, own, outputs, before, secrets) };
  const shape = [contextsOf(before), secrets.length, own.length, outputs.length];
  return { column, own, outputs, numerators: rowsIn(fields.numerators, `${path}.numerators`, shape) };
}

/**
 * The table that outputs were drawn from before, for the contexts of this chain.
 * @param {Record<string, Tree>} fields
 * @param {string} path
 * @param {Label[]} own
 * @param {Label[]} outputs
 * @param {Found[]} before
 * @param {Label[]} secrets
 */
function earlier(fields, path, own, outputs, before, secrets) {
  const at = `${path}.earlier`;
  const { sha256: file, digest, context, absent } = fieldsOf(fields.earlier, at, ["sha256", "digest", "context", "absent"]);
  if (file !== null) digits(file, `${at}.sha256`);
  digits(digest, `${at}.digest`);
  const known = Array.isArray(context) ? before.filter(({ column }) => context.includes(column)) : [];
  if (!Array.isArray(context) || known.length !== context.length || known.some(({ column }, i) => column !== context[i])) {
    fail(`${at}.context must be a list of columns before it, in their order`);
  }
  if (typeof absent !== "boolean") fail(`${at}.absent must be true or false`);
  const isLabelled = own.at(-1) === "(missing)" && outputs.at(-1) === "(missing)" && own.length > 1 && outputs.length > 1;
  if (absent && !isLabelled) fail(`${path}.outputs must be labels of which the last is "(missing)", as that of the values is`);
  const [values, others] = [own, outputs].map((labels) => (absent ? labels.slice(0, -1) : labels));
  const shape = [contextsOf(known), secrets.length, values.length, others.length];
  /** @type {bigint[][][][]} */
  const table = rowsIn(fields.numerators, `${path}.numerators`, shape);
  const contexts = known.length ? [known.map((stage) => [stage.column, stage.outputs])] : [];
  if (sha256(json([secrets, values, others, table, ...contexts])) !== digest) {
    fail(`${at} must be about the table in the file, which has another digest`);
  }
  /** @param {bigint[][]} rows */
  const whole = (rows) => (absent ? [...rows.map((row) => [...row, 0n]), [...others.map(() => 0n), WHOLE]] : rows);
  const fixed = () =>
    Array.from({ length: contextsOf(before) }, (_, number) => {
      let rest = number;
      let [place, step] = [0, 1];
      for (const stage of [...before].reverse()) {
        if (known.includes(stage)) {
          place += (rest % stage.outputs.length) * step;
          step *= stage.outputs.length;
        }
        rest = Math.floor(rest / stage.outputs.length);
      }
      return table[place].map(whole);
    });
  const readsSecret = table.some(([first, ...rest]) =>
    rest.some((rows) => rows.some((row, u) => row.some((numerator, y) => numerator !== first[u][y]))),
  );
  return { numerators: [], fixed, readsSecret, absent: absent === true };
}

/**
 * @param {Tree} item
 * @param {string} path
 */
function digits(item, path) {
  if (typeof item !== "string" || !/^[0-9a-f]{64}$/.test(item)) fail(`${path} must be 64 hexadecimal digits`);
}

/**
 * Lists of labels and integers as Python writes them, without spaces.
 * @param {any} item
 * @returns {string}
 */
function json(item) {
  if (Array.isArray(item)) return `[${item.map(json).join()}]`;
  return typeof item === "number" ? str(item) : typeof item === "bigint" ? String(item) : JSON.stringify(item);
}

/**
 * Whether it is true is for `rldp verify` to say.
 * @param {Tree} tree
 * @param {number} secrets
 * @param {number} values
 * @param {Found[]} found
 * @param {boolean} isGiven
 */
function claim(tree, secrets, values, found, isGiven) {
  const path = "guarantee";
  const names = ["epsilon", "n", "counts", "alpha", "prior", "seed", "centre", "columns", "objective", "lower_bound"];
  const isKnown = tree instanceof Map && tree.has("given_known");
  const fields = fieldsOf(tree, path, [...names, ...optionalIn(tree), ...(isKnown ? ["given_known"] : [])]);
  if (isKnown && (fields.given_known !== true || !isGiven)) {
    fail(`${path}.given_known must be true, where columns are given, or be left out`);
  }
  const stages = found.filter(({ fixed }) => !fixed);
  const fixed = found.filter(({ fixed }) => fixed);
  const contexts = fixed.length ? [contextsOf(fixed)] : [];
  countsIn(fields, path, [secrets, values], "noise" in fields ? signed(MOST_DRAWS) : integer(MOST_DRAWS));
  noiseIn(fields, path);
  if ("epsilon_known" in fields) nonNegative(fields.epsilon_known, `${path}.epsilon_known`);
  nonNegative(fields.epsilon, `${path}.epsilon`);
  risk(fields.alpha, `${path}.alpha`);
  (typeof fields.prior === "string" ? oneOf("adaptive") : positive)(fields.prior, `${path}.prior`);
  integer(MOST_SEEDS)(fields.seed, `${path}.seed`);
  centreOf([secrets, values])(fields.centre, `${path}.centre`);
  number(fields.objective, `${path}.objective`);
  number(fields.lower_bound, `${path}.lower_bound`);
  array(fields.columns, `${path}.columns`, [stages.length], () => {});
  for (const [i, item] of /** @type {Tree[]} */ (fields.columns).entries()) {
    const at = `${path}.columns[${i}]`;
    const outputs = stages[i].outputs.length;
    const column = fieldsOf(item, at, ["weight", "distortion", "multipliers"]);
    positive(column.weight, `${at}.weight`);
    array(column.distortion, `${at}.distortion`, [stages[i].own.length, outputs], nonNegative);
    array(column.multipliers, `${at}.multipliers`, [...contexts, outputs, secrets * (secrets - 1)], nonNegative);
  }
}

// The columns of a file: their names, labels and edges, and whether their labels combine to those of the table.
import { array, fail, fieldsOf, labelsIn, number, oneOf } from "./checks.js";
import { repr, str, waysToWrite } from "./labels.js";

/** @typedef {import("./json.js").Tree} Tree */
/** @typedef {import("./labels.js").Label} Label */

/**
 * The columns, and whether they need the third version of the format.
 * @param {Tree} tree
 * @param {Label[]} secrets
 * @param {Label[]} [values] those that the columns of the value combine to; a chain does not list them
 */
export function columns(tree, secrets, values) {
  const isGiven = !values && tree instanceof Map && tree.has("given"); // only chains have given columns
  const fields = fieldsOf(tree, "columns", ["secret", "value", "missing", ...(isGiven ? ["given"] : [])]);
  oneOf("refuse", "skip", "category")(fields.missing, "columns.missing");
  const secret = columnsIn(fields.secret, "columns.secret", fields.missing, ["header"]);
  const listed = Array.isArray(fields.value);
  const value = listed
    ? columnsIn(fields.value, "columns.value", fields.missing, ["header", "edges"])
    : [valueColumn(fields.value, values ?? [], fields.missing)];
  const given = isGiven ? columnsIn(fields.given, "columns.given", fields.missing, ["header"]) : [];
  const all = [...secret, ...given, ...value];
  if (all.some((column) => typeof column.name !== "string")) fail("columns must have names that are strings");
  if (new Set(all.map((column) => column.name)).size < all.length) fail("columns must have distinct names");
  const inLists = !values || value.length > 1 || all.some((column) => column.header !== undefined);
  if (listed && !inLists) fail("columns.value must be an object, where a single column is found by its name");
  if (!listed && inLists) fail("columns.value must be a list of columns");
  if (!combineTo(secret.map((column) => column.labels), secrets)) {
    fail("columns.secret must be columns whose labels combine to the secrets");
  }
  if (values && !areCombined(value.map((column) => column.labels), values)) {
    fail("columns.value must be columns whose labels combine to the values");
  }
  return { inLists, given, reading: { secret, value, withMissing: fields.missing === "category" } };
}

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
export function columnsIn(tree, path, missing, may) {
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
export function areCombined(labels, values) {
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
export function combineTo(labels, secrets) {
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

// Entries → places of labels, as the columns of the protocol were read: bins, missing entries, several columns.
import { placesOf, waysToWrite } from "./labels.js";

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
export function placeIn(labels, columns, withMissing) {
  const places = /** @type {Map<unknown, number>} */ (placesOf(labels));
  const sizes = columns?.map(({ labels }) => labels.length) ?? [];
  const parts = columns?.map((column) => placeInColumn(column, withMissing)) ?? [];
  return (entry) => {
    const entries = parts.length === 1 ? [entry] : entry;
    if (parts.length && Array.isArray(entries) && entries.length === parts.length) {
      /** @type {number | undefined} */
      let joint = 0;
      for (const [i, place] of parts.entries()) {
        const part = place(entries[i]);
        joint = joint === undefined || part === undefined ? undefined : joint * sizes[i] + part;
      }
      if (joint !== undefined) return joint;
    }
    return places.get(Array.isArray(entry) && entry.every(isScalar) ? waysToWrite(entry)[0] : entry);
  };
}

/**
 * @param {Column} column
 * @param {boolean} withMissing
 * @returns {Place}
 */
function placeInColumn({ labels, edges, isGiven, withMissing: own }, withMissing) {
  const places = /** @type {Map<unknown, number>} */ (placesOf(labels));
  const other = isGiven ? places.get("(other)") : undefined;
  return (entry) => {
    if (entry === null || entry === undefined || Number.isNaN(entry)) {
      return (own ?? withMissing) ? places.get("(missing)") : undefined;
    }
    if (!edges) return places.get(entry) ?? (isScalar(entry) ? other : undefined);
    const isNumber = typeof entry === "number" || typeof entry === "bigint";
    const number = isNumber ? Number(entry) : NaN;
    return Number.isFinite(number) ? edges.filter((edge) => edge <= number).length : undefined;
  };
}

/** @param {unknown} part */
function isScalar(part) {
  return ["string", "number", "bigint", "boolean"].includes(typeof part);
}

// The vectors that all clients share; they are part of the Python package.
import { readFileSync } from "node:fs";

const place = new URL("../../../src/rldp/protocol_file/vectors.json", import.meta.url);

/**
 * @typedef {object} Vectors
 * @property {Record<string, string>} files
 * @property {[string, string, number, number, string, boolean][]} changes
 * @property {[string, string, boolean][]} bytes
 * @property {{file: string, secret: number, value: number, words: (number | number[])[], outputs: number[]}[]} draws
 * @property {[string, any, any, [number, number] | null][]} entries
 * @property {{file: string, key: string, id: string | number, secret: any, value: any, word: number, output: number}[]} once
 */

/** @type {Vectors} */
export const vectors = JSON.parse(readFileSync(place, "utf8"));

/**
 * Every file of the vectors: name, content, whether it is accepted. This runs in browsers, too.
 * @param {Vectors} vectors
 * @returns {[string, string | Uint8Array, boolean][]}
 */
export function filesOf({ files, changes, bytes }) {
  return [
    ...Object.entries(files).map(([name, text]) => /** @type {const} */ ([name, text, true])),
    ...changes.map(([name, file, start, end, text, accepted]) => {
      const old = files[file];
      return /** @type {const} */ ([`${file}: ${name}`, old.slice(0, start) + text + old.slice(end), accepted]);
    }),
    ...bytes.map(([name, digits, accepted]) => {
      const content = Uint8Array.from(digits.match(/../g) ?? [], (pair) => parseInt(pair, 16));
      return /** @type {const} */ ([name, content, accepted]);
    }),
  ].map(([name, content, accepted]) => [name, content, accepted]);
}

// JSON as the protocol file needs it: 1 is not 1.0, no integer is rounded, and no key is there twice.
import { ProtocolFileError } from "./errors.js";

/**
 * What stands in the text: integers are bigints, other numbers are numbers.
 * @typedef {null | boolean | string | number | bigint | any[] | Map<string, any>} Tree
 */

const DEEPEST = 16; // lists and objects in each other; the format has 7
const MOST_DIGITS = 4300; // of an integer, as Python has it
const SPACE = /[ \t\n\r]*/y;
const SCALAR = /[-+.\w]+/y;

/**
 * @param {string} text
 * @returns {Tree}
 */
export function treeOf(text) {
  try {
    JSON.parse(text); // from here on, the text is known to be JSON
  } catch {
    throw new ProtocolFileError("it is no JSON");
  }
  let at = 0;

  /** @param {RegExp} pattern */
  const take = (pattern) => {
    pattern.lastIndex = at;
    const [found] = /** @type {RegExpExecArray} */ (pattern.exec(text));
    at += found.length;
    return found;
  };

  /** The next character that is no space. */
  const next = () => {
    take(SPACE);
    return text[at];
  };

  const string = () => {
    const start = at;
    do {
      at = text.indexOf('"', at + 1);
    } while (isEscaped(text, at));
    return JSON.parse(text.slice(start, ++at));
  };

  /**
   * What stands between commas, up to the closing bracket.
   * @param {string} close
   * @param {() => void} item
   */
  const items = (close, item) => {
    at++;
    while (next() !== close) {
      if (text[at] === ",") at++;
      next();
      item();
    }
    at++;
  };

  /**
   * @param {number} depth
   * @returns {Tree}
   */
  const value = (depth) => {
    if (depth > DEEPEST) throw new ProtocolFileError("it holds lists too deep in each other");
    const first = next();
    if (first === '"') return string();
    if (first === "[") {
      /** @type {Tree[]} */
      const list = [];
      items("]", () => list.push(value(depth + 1)));
      return list;
    }
    if (first === "{") {
      /** @type {Map<string, Tree>} */
      const map = new Map();
      items("}", () => {
        const key = string();
        if (map.has(key)) throw new ProtocolFileError("an object holds a key twice");
        next();
        at++; // the colon
        map.set(key, value(depth + 1));
      });
      return map;
    }
    const scalar = take(SCALAR);
    if (!/^-?\d+$/.test(scalar)) return JSON.parse(scalar);
    if (scalar.replace("-", "").length > MOST_DIGITS) {
      throw new ProtocolFileError(`it holds an integer of more than ${MOST_DIGITS} digits`);
    }
    return BigInt(scalar);
  };

  return value(1);
}

/**
 * Whether an odd number of backslashes stands before a place.
 * @param {string} text
 * @param {number} at
 */
function isEscaped(text, at) {
  let start = at;
  while (text[start - 1] === "\\") start--;
  return (at - start) % 2 === 1;
}

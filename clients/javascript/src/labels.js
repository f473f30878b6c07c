// Labels are equal where Python calls them equal: 1 is 1.0 and true, and none of them is "1".

/** @typedef {string | number | bigint | boolean} Scalar */
/** @typedef {Scalar | readonly Scalar[]} Label one entry, or one for each of several columns */

/**
 * Every way to write a label in JavaScript; labels are equal if they share one.
 * @param {Label} label
 * @returns {Label[]}
 */
export function waysToWrite(label) {
  if (typeof label === "object") return [label.map((part) => repr(waysToWrite(part)[0])).join(", ")];
  if (typeof label === "string") return [label];
  const number = Number(label);
  if (number != label) return [label]; // a large integer; between bigint and number, != is exact
  if (!Number.isInteger(number)) return [number];
  const whole = BigInt(number);
  return number === 0 || number === 1 ? [number, whole, number === 1] : [number, whole];
}

/**
 * Label → its place; undefined where two labels are equal.
 * @param {Label[]} labels
 * @returns {Map<unknown, number> | undefined}
 */
export function placesOf(labels) {
  /** @type {Map<unknown, number>} */
  const places = new Map();
  for (const [place, label] of labels.entries()) {
    for (const way of waysToWrite(label)) {
      if (places.has(way)) return undefined;
      places.set(way, place);
    }
  }
  return places;
}

/**
 * An integer as the number that it is, if it is safe; floats, strings and booleans as they are.
 * @param {Label} label
 * @returns {Label}
 */
export function plain(label) {
  if (typeof label === "object") return Object.freeze(label.map((part) => /** @type {Scalar} */ (plain(part))));
  return typeof label === "bigint" && Number.isSafeInteger(Number(label)) ? Number(label) : label;
}

// Python's text of labels, for the combinations of several columns

/**
 * Python's str().
 * @param {Label} label
 */
export function str(label) {
  switch (typeof label) {
    case "boolean":
      return label ? "True" : "False";
    case "number":
      return float(label);
    default:
      return String(label);
  }
}

/**
 * Python's repr().
 * @param {Label} label
 */
export function repr(label) {
  if (typeof label !== "string") return str(label);
  const quote = label.includes("'") && !label.includes('"') ? '"' : "'";
  const escaped = label.replace(/[\\'"]|(?! )[\p{C}\p{Z}]/gu, (c) => {
    if (c === "'" || c === '"') return c === quote ? "\\" + c : c;
    return SHORT[c] ?? code(/** @type {number} */ (c.codePointAt(0)));
  });
  return quote + escaped + quote;
}

/** @type {Record<string, string>} */
const SHORT = { "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** @param {number} point */
function code(point) {
  const [letter, width] = point < 0x100 ? ["x", 2] : point < 0x10000 ? ["u", 4] : ["U", 8];
  return `\\${letter}${point.toString(16).padStart(width, "0")}`;
}

/** @param {number} x */
function float(x) {
  const [digits, exponent] = x.toExponential().split("e");
  const power = Number(exponent);
  if (power < -4 || power >= 16) {
    return `${digits}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
  }
  const text = Object.is(x, -0) ? "-0" : String(x);
  return Number.isInteger(x) ? text + ".0" : text;
}

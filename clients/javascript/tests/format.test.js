// What is read and what is refused: exactly what Python's reader reads and refuses.
import assert from "node:assert/strict";
import { test } from "node:test";
import { DataError, Protocol, ProtocolFileError } from "../src/index.js";
import { treeOf } from "../src/json.js";
import { repr, str } from "../src/labels.js";
import { filesOf, vectors } from "./vectors.js";

/**
 * Whether a file is read; an error of another kind is a fault of the client.
 * @param {any} content
 */
function isRead(content) {
  try {
    Protocol.parse(content, { full: true });
    return true;
  } catch (error) {
    if (!(error instanceof ProtocolFileError)) throw error;
    return false;
  }
}

test("every file is read or refused as the shared vectors say", () => {
  const files = filesOf(vectors);
  assert.ok(files.length > 1000);
  const wrong = files.filter(([, content, accepted]) => isRead(content) !== accepted);
  assert.deepEqual(wrong.map(([name]) => name), []);
});

test("a file that is too large is refused before it is read", () => {
  const tooLarge = new Uint8Array(500_000_001); // zeros, which are no JSON
  assert.throws(() => Protocol.parse(tooLarge), new ProtocolFileError("it has more than 500 MB"));
});

test("bytes are read as their text is", () => {
  const encoder = new TextEncoder();
  const wrong = filesOf(vectors).filter(
    ([, content, accepted]) => typeof content === "string" && isRead(encoder.encode(content)) !== accepted,
  );
  assert.deepEqual(wrong.map(([name]) => name), []);
  const bytes = encoder.encode(`  ${vectors.files.table}`);
  assert.ok(isRead(bytes.buffer));
  assert.ok(isRead(new DataView(bytes.buffer, 2)));
});

test("a text that could not be a file is refused", () => {
  const half = vectors.files.table.replace('"by hand"', '"\ud83d"');
  assert.throws(() => Protocol.parse(half), new ProtocolFileError("it is no valid Unicode"));
});

test("a refusal names the place where it shows", () => {
  /** @type {[string, string, string, string][]} */
  const refusals = [
    ["table", '"ill"', "null", "secrets must hold strings, numbers or booleans"],
    ["table", '"version":1', '"version":7', "its version must be 1, 2 or 3"],
    ["table", "[[[4503599627370496,0,0]", "[[[4503599627370496,0]", "numerators[0][0] must be a list of 3"],
    ["table", "4503599627370496,0,0]", "4503599627370496,1,0]", "its rows do not sum to the denominator 2^52"],
    ["table", '"generator"', '"author"', "generator is missing"],
    ["proved", '"n":26', '"n":27', "guarantee.n must be the sum of the counts, positive and below 2^53"],
    ["proved", '"eta_utility":2.2', '"eta_utility":"2', "it is no JSON"],
    ["credible", '"seed":0', '"seed":-1', `guarantee.utility.seed must be an integer from 0 to ${2n ** 128n - 1n}`],
    ["columns", '"category"', '"guess"', "columns.missing must be one of refuse, skip, category"],
    ["chain", '"column":"age"', '"column":"job"', "stages[1].column must be a value column that no other stage is about"],
    ["chain", '"version":1', '"version":2', "its version must be 1"],
    ["claimed chain", '"alpha":0.05', '"alpha":1', "guarantee.alpha must be at least 1e-5 and below 1"],
  ];
  for (const [file, old, text, sentence] of refusals) {
    assert.ok(vectors.files[file].includes(old));
    assert.throws(() => Protocol.parse(vectors.files[file].replace(old, text), { full: true }), new ProtocolFileError(sentence));
  }
});

test("integers are never rounded, and other numbers are doubles", () => {
  const text = ' {"a" : [1, 1.0, -0, 9007199254740993, "\\"\\\\", {}, [ ], true,false ,null], "__proto__": 2e3 } ';
  const tree = /** @type {Map<string, any>} */ (treeOf(text));
  assert.deepEqual(tree.get("a"), [1n, 1, 0n, 9007199254740993n, '"\\', new Map(), [], true, false, null]);
  assert.equal(tree.get("__proto__"), 2000);
});

test("JSON of any shape is read as the language reads it", () => {
  let state = 1;
  const random = (/** @type {number} */ below) => (state = (state * 48271) % 2147483647) % below;
  const words = ["", 'a"b', "\\", '\\"', "\n\t", "é🙂\u2028", "{}[],:", "\u0000"];
  /**
   * @param {number} depth
   * @returns {any}
   */
  const some = (depth) => {
    const kind = random(depth ? 7 : 5);
    if (kind === 5) return Array.from({ length: random(4) }, () => some(depth - 1));
    if (kind === 6) return Object.fromEntries(words.slice(random(8)).map((key) => [key, some(depth - 1)]));
    return [null, random(2) === 1, random(1000) / 7 + 1e-9, words[random(8)], -random(1e6) / 3 - 1e-9][kind];
  };
  /** @returns {any} */
  const plainTree = (/** @type {any} */ tree) =>
    tree instanceof Map
      ? Object.fromEntries([...tree].map(([key, item]) => [key, plainTree(item)]))
      : Array.isArray(tree)
        ? tree.map(plainTree)
        : tree;
  for (let i = 0; i < 500; i++) {
    const tree = some(5);
    const text = JSON.stringify(tree, null, random(3));
    assert.deepEqual(plainTree(treeOf(text)), tree);
  }
});

test("labels are spelled as Python spells them", () => {
  /** @type {[any, string, string][]} */
  const spelled = [
    ["it's", "it's", '"it\'s"'],
    ["it's \"it\"", "it's \"it\"", "'it\\'s \"it\"'"],
    ['"', '"', "'\"'"],
    ["a b\\\n\r\t\u0000\u007f", "a b\\\n\r\t\u0000\u007f", "'a b\\\\\\n\\r\\t\\x00\\x7f'"],
    ["é🙂\u2028\u00ad\u{e0001}", "é🙂\u2028\u00ad\u{e0001}", "'é🙂\\u2028\\xad\\U000e0001'"],
    [true, "True", "True"],
    [12n, "12", "12"],
    [12, "12.0", "12.0"],
    [-0, "-0.0", "-0.0"],
    [1e16, "1e+16", "1e+16"],
    [9999999999999998, "9999999999999998.0", "9999999999999998.0"],
    [0.0001, "0.0001", "0.0001"],
    [0.00001234, "1.234e-05", "1.234e-05"],
    [1e-7, "1e-07", "1e-07"],
    [1.5e300, "1.5e+300", "1.5e+300"],
  ];
  for (const [label, text, quoted] of spelled) assert.deepEqual([str(label), repr(label)], [text, quoted]);
});

test("the labels of a protocol are those of its file", () => {
  const protocol = Protocol.parse(vectors.files.labels);
  const labels = [-1, 0.5, 10n ** 30n, "1", true, "", 'say "hi"\\\n\0', "größe 日本 🙂", 2n ** 53n + 1n, 2 ** 53, 1e300];
  assert.deepEqual(protocol.values, labels);
  assert.deepEqual(protocol.outputs, labels.toReversed());
  assert.throws(() => /** @type {any} */ (protocol.values).push(3), TypeError);
  assert.ok(!(new ProtocolFileError("") instanceof DataError));
});

test("a file with counts and proof is read only if that is meant", () => {
  const sentence =
    "it holds the counts of a sample and a proof: give parse what rldp export writes, or { full: true }";
  assert.throws(() => Protocol.parse(vectors.files.proved), new ProtocolFileError(sentence));
  assert.ok(Protocol.parse(vectors.files.proved, { full: true }));
  assert.ok(Protocol.parse(vectors.files.table));
});

test("what is neither text nor bytes is refused in a sentence that says so", () => {
  const files = { Object: JSON.parse(vectors.files.table), Array: [1], Number: 3, Undefined: undefined, Response: new Response() };
  for (const [kind, file] of Object.entries(/** @type {Record<string, any>} */ (files))) {
    const message = `file must be text or bytes that JSON.parse has not read, got ${kind}`;
    assert.throws(() => Protocol.parse(file), { name: "TypeError", message });
  }
});

// What is drawn: the same word gives the same output as in Python, and words are fresh, uniform and secure.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mock, test } from "node:test";
import { DataError, Protocol, ProtocolFileError } from "../src/index.js";
import { freshWord } from "../src/randomness.js";
import { sha256 } from "../src/sha256.js";
import { vectors } from "./vectors.js";

const table = Protocol.parse(vectors.files.table);

/**
 * A file of one secret whose values have these rows.
 * @param {number[][]} rows
 */
function protocolOf(rows) {
  const tree = JSON.parse(vectors.files.table);
  tree.secrets = ["all"];
  tree.values = rows.map((_, u) => u);
  tree.outputs = rows[0].map((_, y) => y);
  tree.numerators = [rows];
  return Protocol.parse(JSON.stringify(tree));
}

test("every word gives the output that the shared vectors say", () => {
  assert.ok(vectors.draws.length > 30);
  for (const { file, secret, value, words, outputs } of vectors.draws) {
    const protocol = Protocol.parse(vectors.files[file], { full: true });
    const found = words.map((word) => protocol.outputFor(protocol.secrets[secret], protocol.values[value], word));
    assert.deepEqual(found, outputs.map((y) => protocol.outputs[y]), file);
  }
});

test("a word gives the first output whose sum is above it, with any number of outputs", () => {
  for (let outputs = 1; outputs < 40; outputs++) {
    const row = Array.from({ length: outputs }, (_, y) => (y % 3 ? 2 ** (y % 20) : 0));
    row[outputs - 1] = 2 ** 52 - row.slice(0, -1).reduce((a, b) => a + b, 0);
    const protocol = protocolOf([row]);
    let start = 0;
    for (const [y, numerator] of row.entries()) {
      if (numerator) {
        assert.equal(protocol.outputFor("all", 0, start), y);
        assert.equal(protocol.outputFor("all", 0, start + numerator - 1), y);
      }
      start += numerator;
    }
  }
});

test("probabilities are those of the file", () => {
  assert.deepEqual(table.probabilities("ill", 1), [0, 1, 0]);
  assert.deepEqual(table.probabilities("well", 0), [2 ** -52, 0, 1 - 2 ** -52]);
  assert.throws(() => table.probabilities("well", 3), DataError);
});

test("equal labels are the same, whatever their type, and a number is not its text", () => {
  const numbers = Protocol.parse(vectors.files.labels);
  const last = numbers.outputs.length - 1;
  for (const [given, place] of /** @type {[any, number][]} */ ([
    [-1, 0], [-1n, 0], [0.5, 1], [10n ** 30n, 2], ["1", 3], [true, 4], [1, 4], [1n, 4], ["", 5],
    [2n ** 53n + 1n, 8], [2 ** 53, 9], [2n ** 53n, 9], [1e300, 10], [BigInt(1e300), 10],
  ])) {
    assert.equal(numbers.outputFor("all", given, 0), numbers.outputs[place]);
    assert.ok(place <= last);
  }
  assert.equal(table.outputFor("ill", -0, 0), "no");
});

test("an entry that is no label is refused, and not shown", () => {
  const entries = ["ILL", "ill ", null, undefined, NaN, {}, [], ["ill"], new String("ill"), 1e30, 3n, () => 0];
  for (const entry of /** @type {any[]} */ (entries)) {
    const secret = new DataError("secret must be one of the protocol's 2 secrets, got another entry");
    const value = new DataError("value must be one of the protocol's 3 values, got another entry");
    for (const draw of [table.release.bind(table), (/** @type {any} */ s, /** @type {any} */ u) => table.outputFor(s, u, 0)]) {
      assert.throws(() => draw(entry, 0), secret);
      assert.throws(() => draw("ill", entry), value);
    }
  }
});

test("a word is an integer of 52 bits", () => {
  for (const word of /** @type {any[]} */ ([-1, 2 ** 52, 0.5, NaN, Infinity, "0", 0n, null, undefined])) {
    assert.throws(() => table.outputFor("ill", 0, word), new RangeError("word must be an integer from 0 to 2^52 - 1"));
  }
});

test("every word is fresh: 52 bits of the system's generator, each used once", () => {
  /** @type {Set<number>[]} */
  const given = [];
  let counter = 0;
  const generator = mock.method(crypto, "getRandomValues", (/** @type {Uint32Array} */ halves) => {
    for (let i = 0; i < halves.length; i++) halves[i] = Math.imul(++counter, 0x9e3779b1);
    const words = Array.from({ length: halves.length / 2 }, (_, i) => [halves[2 * i], halves[2 * i + 1]]);
    given.push(new Set(words.map(([high, low]) => Number((BigInt(high) >> 12n << 32n) | BigInt(low)))));
    return halves;
  });
  const chance = mock.method(Math, "random", () => assert.fail("Math.random is not secure"));
  try {
    while (given.length < 1) freshWord(); // what was left of the true generator's
    const first = Array.from({ length: given[0].size - 1 }, freshWord);
    const second = Array.from({ length: given[0].size }, freshWord);
    assert.equal(given.length, 2);
    assert.equal(new Set(first).size, first.length);
    assert.ok(first.every((word) => given[0].has(word)));
    assert.deepEqual(new Set(second), given[1]);
    assert.ok(Math.max(...second) > 2 ** 51.9 && Math.min(...second) < 2 ** 45);
  } finally {
    generator.mock.restore();
    chance.mock.restore();
  }
});

test("without the system's generator nothing is released", () => {
  const broken = mock.method(crypto, "getRandomValues", () => {
    throw new Error("no entropy");
  });
  try {
    assert.throws(() => {
      for (let i = 0; i < 2000; i++) table.release("ill", 0);
    }, /no entropy/);
    assert.throws(() => table.release("ill", 0), /no entropy/);
  } finally {
    broken.mock.restore();
  }
});

/**
 * Pr(χ² with an even number of degrees of freedom > x), a finite sum.
 * @param {number} x
 * @param {number} degrees
 */
function tail(x, degrees) {
  let term = Math.exp(-x / 2);
  let sum = 0;
  for (let k = 0; k < degrees / 2; k++) {
    sum += term;
    term *= x / 2 / (k + 1);
  }
  return sum;
}

test("ten million releases have the protocol's probabilities (wrong alarm: one in a million)", (t) => {
  assert.ok(Math.abs(tail(18.307, 10) - 0.05) < 1e-5);
  const whole = 2 ** 52;
  const shares = [[0.5, 0.25, 0.25, 0], [0.125, 0.6, 0.1, 0.175], [0.001, 0.01, 0, 0.989], [0, 0.3, 0, 0.7]];
  const rows = shares.map((row) => row.map((share) => Math.round(share * whole)));
  for (const row of rows) row[1] += whole - row.reduce((sum, numerator) => sum + numerator, 0);
  const protocol = protocolOf(rows);
  const draws = 1e7;
  const counts = rows.map(() => [0, 0, 0, 0]);
  const start = performance.now();
  for (let i = 0; i < draws; i++) counts[i & 3][/** @type {number} */ (protocol.release("all", i & 3))]++;
  const seconds = (performance.now() - start) / 1000;
  t.diagnostic(`${(draws / seconds / 1e6).toFixed(1)} million releases a second`);
  let statistic = 0;
  let degrees = 0;
  for (const [u, row] of rows.entries()) {
    degrees += row.filter((numerator) => numerator > 0).length - 1;
    for (const [y, numerator] of row.entries()) {
      const expected = ((draws / rows.length) * numerator) / whole;
      if (numerator === 0) assert.equal(counts[u][y], 0);
      else statistic += (counts[u][y] - expected) ** 2 / expected;
    }
  }
  assert.equal(degrees, 8);
  assert.ok(tail(statistic, degrees) > 1e-6, `χ² = ${statistic} with ${degrees} degrees of freedom`);
});

test("a table that does not read the secret draws without it, and only then", () => {
  const tree = JSON.parse(vectors.files.table);
  tree.numerators[1] = tree.numerators[0];
  const blind = Protocol.parse(JSON.stringify(tree));
  assert.equal(blind.readsSecret, false);
  assert.equal(table.readsSecret, true);
  for (const secret of [null, undefined]) {
    assert.ok(blind.outputs.includes(blind.release(secret, 0)));
    assert.equal(blind.outputFor(secret, 1, 5), blind.outputFor("ill", 1, 5));
    assert.throws(() => table.release(secret, 0), DataError);
  }
  assert.equal(blind.releaseAll(null, [0, 1, 2]).length, 3);
  assert.throws(() => table.releaseAll(null, [0, 1]), DataError);
});

test("entries are read as the shared vectors say: bins, missing entries, several columns", () => {
  assert.ok(vectors.entries.length > 30);
  for (const [file, secret, value, places] of vectors.entries) {
    const protocol = Protocol.parse(vectors.files[file]);
    const name = JSON.stringify([file, secret, value]);
    if (places === null) {
      assert.throws(() => protocol.probabilities(secret, value), DataError, name);
      assert.throws(() => protocol.releaseAll([secret], [value]), /^DataError: row 1: .* got another entry$/, name);
      continue;
    }
    const [s, u] = places;
    const wanted = protocol.probabilities(protocol.secrets[s], protocol.values[u]);
    assert.deepEqual(protocol.probabilities(secret, value), wanted, name);
    if (file === "reading") assert.equal(protocol.outputFor(secret, value, 0), 4 * s + u, name);
  }
});

test("bigints fall into bins, and what is no finite number does not", () => {
  const protocol = Protocol.parse(vectors.files.reading);
  assert.equal(protocol.outputFor(["f", true], 35n, 0), 1);
  assert.equal(protocol.outputFor(["f", true], undefined, 0), 3);
  assert.equal(protocol.outputFor(["f", true], NaN, 0), 3);
  for (const entry of /** @type {any[]} */ ([Infinity, 10n ** 400n, {}, "x", Symbol("x")])) {
    assert.throws(() => protocol.outputFor(["f", true], entry, 0), DataError);
  }
});

test("a chain draws its columns one after the other, with a word for each", () => {
  const chain = Protocol.parse(vectors.files.chain);
  assert.deepEqual(chain.values.slice(0, 3), [[20, true], [20, "1"], [35.5, true]]);
  assert.deepEqual(chain.outputs.slice(1, 3), [[1, "y"], [2.5, "x"]]);
  assert.deepEqual(chain.outputFor("f", [20, true], [2 ** 50 - 1, 0]), [1, "x"]);
  assert.deepEqual(chain.outputFor("f", [20, true], [2 ** 50, 0]), [0, "y"]);
  assert.deepEqual(chain.probabilities("f", [20, true]), [0.25, 0, 0, 0, 0, 0.75]);
  for (const word of /** @type {any[]} */ ([0, [0], [0, 0, 0], []])) {
    assert.throws(() => chain.outputFor("f", [20, true], word), { name: "RangeError", message: /^word must hold 2 words/ });
  }
  assert.throws(() => chain.outputFor("f", [20, true], [0, 2 ** 52]), RangeError);
  assert.throws(() => Protocol.parse(vectors.files["claimed chain"]), ProtocolFileError);
  assert.equal(chain.readsSecret, true);
});

test("a chain whose stages do not read the secret draws without it", () => {
  const tree = JSON.parse(vectors.files.chain);
  for (const stage of tree.stages) for (const rows of stage.numerators) rows[1] = rows[0];
  const blind = Protocol.parse(JSON.stringify(tree));
  assert.equal(blind.readsSecret, false);
  assert.deepEqual(blind.outputFor(null, [20, true], [2 ** 50, 0]), [0, "y"]);
  tree.stages[1].numerators[1][1] = tree.stages[1].numerators[0][1];
  assert.equal(Protocol.parse(JSON.stringify(tree)).readsSecret, true);
});

test("rows of a chain have the joint law of its stages (wrong alarm: one in a million)", () => {
  const chain = Protocol.parse(vectors.files.chain);
  const each = 100_000;
  let statistic = 0;
  let degrees = 0;
  for (const secret of ["f", "m"]) {
    for (const value of [[20, true], [40, "1"], [null, true]]) {
      const expected = chain.probabilities(secret, value).map((probability) => each * probability);
      const counts = expected.map(() => 0);
      const rows = chain.releaseAll(Array(each).fill(secret), Array(each).fill(value));
      for (const row of rows) counts[chain.outputs.findIndex((output) => output === row)]++;
      degrees += expected.filter((e) => e > 1).length - 1;
      for (const [y, e] of expected.entries()) {
        if (e > 1) statistic += (counts[y] - e) ** 2 / e;
        else assert.ok(counts[y] <= 2);
      }
    }
  }
  assert.ok(degrees > 4);
  assert.ok(tail(statistic, degrees + (degrees % 2)) > 1e-6, `χ² = ${statistic} with ${degrees} degrees of freedom`);
});

test("many rows are released at once, or none", () => {
  const protocol = Protocol.parse(vectors.files.reading);
  const secrets = [["f", true], ["m", 0], "m, 1e-05"];
  assert.deepEqual(protocol.releaseAll(secrets, [20, null, 99]), [0, 31, 26]);
  assert.deepEqual(protocol.releaseAll([], []), []);
  assert.throws(() => protocol.releaseAll(secrets, [20, "x", 99]), {
    name: "DataError",
    message: "row 2: value must be one of the protocol's 4 values, got another entry",
  });
  assert.throws(() => protocol.releaseAll(secrets, [20]), RangeError);
});

test("a protocol with bins, two secrets and a missing category is drawn from as its table says (wrong alarm: 1e-6)", () => {
  const shares = [0.5, 0.25, 0.125, 0.125];
  const rows = Array.from({ length: 8 }, (_, s) =>
    Array.from({ length: 4 }, (_, u) => shares.map((_, y) => shares[(y + s + u) % 4] * 2 ** 52)),
  );
  const text = vectors.files.reading
    .replace(/"outputs":.*?\]/, '"outputs":["a","b","c","d"]')
    .replace(/"numerators":.*?\]\]\]/, `"numerators":${JSON.stringify(rows)}`);
  const protocol = Protocol.parse(text);
  const doses = [true, 1e16, 1e-5, -0];
  const ages = [29, 35, 45, null];
  const each = 20_000;
  let statistic = 0;
  for (let s = 0; s < 8; s++) {
    for (let u = 0; u < 4; u++) {
      const secret = [s < 4 ? "f" : "m", doses[s % 4]];
      const drawn = protocol.releaseAll(Array(each).fill(secret), Array(each).fill(ages[u]));
      for (let y = 0; y < 4; y++) {
        const expected = each * shares[(y + s + u) % 4];
        const found = drawn.filter((output) => output === "abcd"[y]).length;
        statistic += (found - expected) ** 2 / expected;
      }
    }
  }
  assert.ok(tail(statistic, 96) > 1e-6, `χ² = ${statistic} with 96 degrees of freedom`);
});

test("kept entries and earlier outputs stay, and the rest is drawn given them", () => {
  const chain = Protocol.parse(vectors.files["later chain"]);
  assert.deepEqual(chain.outputFor("f", ["né", "lo", true], 2 ** 45 - 1), ["né", "lo", "x"]);
  assert.deepEqual(chain.outputFor("f", ["né", "lo", true], 2 ** 45), ["né", "lo", "y"]);
  assert.deepEqual(chain.outputFor("m", [1, "hi", true], 30 * 2 ** 45 - 1), [1, "hi", "x"]); // 7 · 4 + 1 + 1
  assert.deepEqual(chain.outputFor("m", [1, "hi", true], 30 * 2 ** 45), [1, "hi", "y"]);
  assert.deepEqual(chain.release("f", ["elsewhere", null, "1"]), ["(other)", "(missing)", "y"]);
  const all = chain.releaseAll(["f", "m"], [["né", "lo", "1"], ["?", "hi", "1"]]);
  assert.deepEqual(all, [["né", "lo", "y"], ["(other)", "hi", "y"]]);
  const chances = chain.probabilities("f", ["né", "lo", true]);
  assert.deepEqual(chances.slice(0, 2), [2 ** -7, 1 - 2 ** -7]);
  assert.equal(chances.slice(2).some(Boolean), false);
  for (const value of [["né", 20, true], ["né", "lo"], [null, "lo", true], ["né", "lo", null], [["né"], "lo", true]]) {
    assert.throws(() => chain.release("f", /** @type {any} */ (value)), DataError);
  }
  assert.throws(() => chain.outputFor("f", ["né", "lo", true], [0, 0]), { message: /^word must hold 1 words/ });
});

test("a missing earlier output is a label only of people who had no part in the release", () => {
  const text = vectors.files["later chain"];
  const known = /** @type {any} */ (Protocol.parse(text).release("f", ["né", null, "1"]));
  assert.equal(known[1], "(missing)");
  const tree = JSON.parse(text);
  const stage = tree.stages[1]; // the same outputs, of a release in which missing values were a category
  stage.numerators = stage.numerators.map((/** @type {number[][][]} */ rows) =>
    rows.map((row) => [...row.map((each) => [...each, 0]), [0, 0, 2 ** 52]]),
  );
  const region = tree.columns.given[0];
  const contexts = [[region.name, region.labels]];
  const table = [tree.secrets, tree.columns.value[0].labels, stage.outputs, stage.numerators, contexts];
  const digest = createHash("sha256").update(JSON.stringify(table)).digest("hex");
  stage.earlier = { ...stage.earlier, absent: false, digest };
  const chain = Protocol.parse(JSON.stringify(tree));
  const asLabel = /** @type {any} */ (chain.release("f", ["né", "(missing)", "1"]));
  assert.equal(asLabel[1], "(missing)");
  assert.throws(() => chain.release("f", ["né", null, "1"]), DataError);
});

test("digests of texts are those of the system", async () => {
  for (const length of [0, 1, 55, 56, 63, 64, 65, 1000]) {
    const text = "aé€😀".repeat(length).slice(0, length - (length % 2));
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
    assert.equal(sha256(text), Buffer.from(digest).toString("hex"));
  }
});

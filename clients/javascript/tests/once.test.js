// Draws that stay: the same words, and so the same outputs, as in Python.
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import { DataError, Protocol } from "../src/index.js";
import { encoded, stableWord } from "../src/once.js";
import { vectors } from "./vectors.js";

const table = Protocol.parse(vectors.files.once);
const key = Uint8Array.from({ length: 32 }, (_, i) => i);
const hex = (/** @type {Uint8Array} */ bytes) => Buffer.from(bytes).toString("hex");

test("people get the outputs of the shared vectors, from a key in bytes and from one that cannot be read", async () => {
  assert.ok(vectors.once.length > 30);
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  for (const { file, key, id, secret, value, word, output } of vectors.once) {
    const protocol = Protocol.parse(vectors.files[file]);
    const bytes = Uint8Array.from(Buffer.from(key, "hex"));
    const hidden = await crypto.subtle.importKey("raw", bytes, algorithm, false, ["sign"]);
    assert.equal(await protocol.releaseOnce(secret, value, { id, key: bytes }), protocol.outputs[output]);
    assert.equal(await protocol.releaseOnce(secret, value, { id, key: hidden }), protocol.outputs[output]);
    assert.equal(protocol.outputFor(secret, value, word), protocol.outputs[output]);
  }
});

test("encodings are those of the specification", () => {
  for (const [item, wanted] of /** @type {[any, string][]} */ ([
    [null, "n"], ["", "s0:"], ["größe", "s7:größe"], [12, "i12;"], [-12n, "i-12;"], [true, "i1;"], [-0, "i0;"],
    [1e21, "i1000000000000000000000;"], [[], "l0:"], [["a", ["b", null]], "l2:s1:al2:s1:bn"],
  ])) {
    assert.equal(Buffer.from(encoded(item)).toString("utf8"), wanted);
  }
  assert.equal(hex(encoded(0.5)), "663fe0000000000000");
  assert.equal(hex(encoded(new Uint8Array([0, 255]))), hex(Buffer.from("b2:")) + "00ff");
});

test("a word is the first 52 bits of the code, to the last of them", async () => {
  for (let i = 0; i < 50; i++) {
    const code = createHmac("sha256", key).update(encoded(["a message", i])).digest("hex");
    assert.equal(await stableWord(key, ["a message", i]), Number(BigInt(`0x${code.slice(0, 13)}`)));
  }
});

test("a changed secret, value, person or key is another draw", async () => {
  const draw = async (/** @type {any} */ secret, /** @type {any} */ value, /** @type {any} */ id, first = 0) =>
    table.releaseOnce(secret, value, { id, key: Uint8Array.from([first, ...key.subarray(1)]) });
  const people = Array.from({ length: 200 }, (_, i) => i);
  const all = async (/** @type {(id: number) => Promise<unknown>} */ one) => Promise.all(people.map(one));
  const first = await all((id) => draw("f", [20, true], id));
  assert.deepEqual(await all((id) => draw("f", [25, true], id)), first); // another number in the same bin
  for (const changed of [
    await all((id) => draw("m", [20, true], id)),
    await all((id) => draw("f", [50, true], id)),
    await all((id) => draw("f", [20, true], `x${id}`)),
    await all((id) => draw("f", [20, true], id, 1)),
  ]) {
    const same = changed.filter((output, i) => output === first[i]).length;
    assert.ok(same < 20, `${same} of 200 have the same of 64 outputs`); // 3 are expected; more than 19: 1e-10
  }
});

test("what identifies nobody, and a key that is too short, are refused", async () => {
  const message = "id must be a text or a whole number that identifies a person";
  for (const id of /** @type {any[]} */ (["", " \t", null, undefined, NaN, 0.5, 2 ** 53, true, ["a"], "\ud800"])) {
    await assert.rejects(table.releaseOnce("f", [20, true], { id, key }), new DataError(message));
  }
  for (const entry of [["x", [20, true]], ["f", [20]]]) {
    await assert.rejects(table.releaseOnce(entry[0], /** @type {any} */ (entry[1]), { id: 1, key }), DataError);
  }
  const short = { id: 1, key: key.subarray(0, 15) };
  await assert.rejects(table.releaseOnce("f", [20, true], short), new RangeError("key must have at least 16 bytes"));
});

test("a table that does not name its columns is refused: two columns would share their draws", async () => {
  const nameless = Protocol.parse(vectors.files.table);
  const needed = new TypeError("releaseOnce needs a protocol that names its value columns");
  await assert.rejects(nameless.releaseOnce("ill", 0, { id: 1, key }), needed);
});

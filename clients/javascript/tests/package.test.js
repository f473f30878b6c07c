// What is published: complete, small, without dependencies, and as its README says.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { Protocol } from "../src/index.js";
import { vectors } from "./vectors.js";

const ROOT = fileURLToPath(new URL("../", import.meta.url));
const read = (/** @type {string} */ name) => readFileSync(join(ROOT, name), "utf8");
const manifest = JSON.parse(read("package.json"));
const modules = readdirSync(join(ROOT, "src"));
const folder = mkdtempSync(join(tmpdir(), "robust-ldp-"));
const app = join(folder, "app");
const installed = join(app, "node_modules", "robust-ldp");

/** The types as they lie in the folder, before anything is made. */
const types = Object.fromEntries(readdirSync(join(ROOT, "types")).map((name) => [name, read(join("types", name))]));

before(() => {
  run("npm", ["pack", "--pack-destination", folder], ROOT);
  const [archive] = readdirSync(folder).filter((name) => name.endsWith(".tgz"));
  run("tar", ["-xzf", archive], folder);
  mkdirSync(join(app, "node_modules"), { recursive: true });
  renameSync(join(folder, "package"), installed);
});

after(() => rmSync(folder, { recursive: true }));

/**
 * What a command prints; npm and tar are scripts on some systems.
 * @param {string} command
 * @param {string[]} words
 * @param {string} cwd
 */
function run(command, words, cwd) {
  const shell = process.platform === "win32";
  return execFileSync(command, words, { cwd, shell, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

test("the package holds its modules, their types, README and licence, and nothing else", () => {
  const entries = readdirSync(installed, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const found = files.map(({ parentPath, name }) => relative(installed, join(parentPath, name)).replaceAll("\\", "/"));
  const types = modules.map((name) => `types/${name.replace(".js", ".d.ts")}`);
  const wanted = ["LICENSE", "README.md", "package.json", ...modules.map((name) => `src/${name}`), ...types];
  assert.deepEqual(found.sort(), wanted.sort());
});

test("who installs the folder itself has the types, which are those of the sources", () => {
  for (const [name, text] of Object.entries(types)) {
    assert.equal(text, readFileSync(join(installed, "types", name), "utf8"), `npm run types writes ${name} anew`);
  }
  assert.equal(Object.keys(types).length, modules.length);
});

test("who installs it can import it, with types", () => {
  const program = [
    'import { DataError, Protocol, ProtocolFileError, type Label } from "robust-ldp";',
    'const protocol: Protocol = Protocol.parse(new Uint8Array([1]));',
    'const output: Label = protocol.release("ill", 2);',
    'const same: Label = protocol.outputFor("ill", 2, 0);',
    "const labels: readonly Label[] = protocol.outputs;",
    "const chances: number[] = protocol.probabilities(true, 3n);",
    "export const all = [output, same, labels, chances, DataError, ProtocolFileError];",
    "// @ts-expect-error a protocol is parsed, never made",
    "export const made = new Protocol({});",
    "const many: Label[] = protocol.releaseAll([null, ['f', true]], [1, null]);",
    "const full: Protocol = Protocol.parse('', { full: true });",
    "// @ts-expect-error an entry is no object",
    "protocol.release({}, 2);",
  ];
  writeFileSync(join(app, "program.ts"), program.join("\n"));
  const tsc = join(ROOT, "node_modules", "typescript", "bin", "tsc");
  const options = ["--strict", "--noEmit", "--module", "nodenext", "--target", "es2022", "program.ts"];
  run(process.execPath, [tsc, ...options], app);
  const code = 'import * as all from "robust-ldp"; console.log(Object.keys(all).sort().join())';
  const names = run(process.execPath, ["--input-type=module", "--eval", code], app).trim();
  assert.equal(names, "DataError,Protocol,ProtocolFileError");
});

test("it is under 25 kB minified", async (t) => {
  const options = { bundle: true, minify: true, write: false, format: /** @type {const} */ ("esm") };
  const { outputFiles } = await build({ entryPoints: [join(ROOT, "src", "index.js")], ...options });
  const size = outputFiles?.[0].contents.length ?? Infinity;
  t.diagnostic(`${size} bytes minified`);
  assert.ok(size < 25_000);
});

test("it needs nothing at run time, and uses neither the network nor unsafe randomness", () => {
  assert.equal(manifest.dependencies, undefined);
  assert.equal(manifest.peerDependencies, undefined);
  for (const name of modules) {
    const text = read(join("src", name));
    const imported = [...text.matchAll(/from "([^"]+)"/g)].map((match) => match[1]);
    assert.deepEqual(imported.filter((path) => !path.startsWith("./")), [], name);
    assert.doesNotMatch(text, /\b(fetch|XMLHttpRequest|WebSocket|eval|Function|Math\.random|localStorage)\b/, name);
  }
});

test("licence and version are those of the whole project", () => {
  assert.equal(read("LICENSE"), read("../../LICENSE"));
  assert.equal(manifest.license, "Apache-2.0");
  const [, version] = /** @type {RegExpExecArray} */ (/"(.+)"/.exec(read("../../src/rldp/_version.py").split("=")[1]));
  assert.equal(manifest.version, version.replace(/\.dev(\d+)$/, "-dev.$1"));
});

test("the lock file names no host", () => {
  assert.doesNotMatch(read("package-lock.json"), /"resolved"|https?:/);
});

test("the README has no link to a file beside it, which a package page does not have", () => {
  const text = read("README.md");
  const targets = [...text.matchAll(/\]\(([^)]*)\)/g)].map((match) => match[1]);
  const anchors = [...text.matchAll(/^#+ (.*)$/gm)].map((match) => `#${match[1].toLowerCase().replaceAll(" ", "-")}`);
  assert.deepEqual(targets.filter((target) => !/^https?:/.test(target) && !anchors.includes(target)), []);
});

test("the calls in the README give what it says", () => {
  const protocol = Protocol.parse(vectors.files.table);
  const calls = [...read("README.md").matchAll(/^protocol\.(\w+)\((.*)\); \/\/ (.*)$/gm)].map((match) => match.slice(1));
  assert.ok(calls.length >= 4);
  for (const [name, words, said] of calls) {
    const given = words.split(", ").map((word) => (word === "2 ** 51" ? 2 ** 51 : JSON.parse(word)));
    const found = JSON.stringify(/** @type {any} */ (protocol)[name](...given));
    assert.ok(name === "release" ? said.includes(found) : said === found.replaceAll(",", ", "), `${name}: ${found}`);
  }
});

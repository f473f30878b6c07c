// Plant known faults, one at a time, in copies of the client, and see that its tests in Node notice each.
// The list is faults.json: which text of which module, there exactly once, becomes which other text.
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const CLIENT = join("clients", "javascript");
const PARTS = [join("src", "rldp", "protocol_file", "vectors.json")];
PARTS.push(...["src", "tests", "package.json"].map((name) => join(CLIENT, name)));
const TESTS = ["format", "once", "release"].map((name) => join("tests", `${name}.test.js`));

/** @type {{name: string, file: string, find: string, replace: string}[]} */
const faults = JSON.parse(readFileSync(new URL("faults.json", import.meta.url), "utf8"));
const folder = mkdtempSync(join(tmpdir(), "robust-ldp-faults-"));
let missed = 0;
try {
  for (const part of PARTS) cpSync(join(ROOT, part), join(folder, part), { recursive: true });
  const client = join(folder, CLIENT);
  const fails = () => spawnSync(process.execPath, ["--test", ...TESTS], { cwd: client }).status !== 0;
  if (fails()) throw new Error("the tests fail without a fault");
  for (const { name, file, find, replace } of faults) {
    const path = join(client, "src", file);
    const text = readFileSync(path, "utf8");
    let outcome = "stale: its text must be there once";
    if (text.split(find).length === 2) {
      writeFileSync(path, text.replace(find, () => replace));
      outcome = fails() ? "caught" : "SURVIVED";
      writeFileSync(path, text);
    }
    missed += outcome === "caught" ? 0 : 1;
    console.log(`${outcome}: ${name}`);
  }
} finally {
  rmSync(folder, { recursive: true });
}
console.log(`${faults.length} faults, ${faults.length - missed} caught`);
process.exitCode = missed ? 1 : 0;

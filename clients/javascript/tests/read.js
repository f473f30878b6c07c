// For tests/fuzz.py: a file a line in base64 comes in, and whether it is read, 1 or 0, goes out.
import { createInterface } from "node:readline";
import { Protocol, ProtocolFileError } from "../src/index.js";

for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  let verdict = "1";
  try {
    Protocol.parse(Buffer.from(line, "base64"), { full: true });
  } catch (error) {
    verdict = error instanceof ProtocolFileError ? "0" : `a fault of the client: ${error}`;
  }
  console.log(verdict);
}

// A static server for this folder's page: node example/serve.js [port]. It answers this machine alone.
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname } from "node:path";
import { argv } from "node:process";
import { fileURLToPath } from "node:url";

const ROOT = new URL("../", import.meta.url);
/** @type {Record<string, string>} */
const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json",
};

/**
 * Serve the package's folders src and example.
 * @param {number} [port] any free one by default
 * @returns {Promise<{address: string, close: () => void}>}
 */
export async function serve(port = 0) {
  const server = createServer(async (request, response) => {
    const place = new URL((request.url ?? "/").replace(/\/(\?.*)?$/, "/index.html"), "http://localhost");
    const type = TYPES[extname(place.pathname)];
    const known = /^\/(src|example)\/[\w.-]+$/.test(place.pathname) && type !== undefined;
    try {
      if (!known) throw new Error("no file of the page");
      const content = await readFile(new URL(`.${place.pathname}`, ROOT));
      response.writeHead(200, { "content-type": type, "cache-control": "no-store" }).end(content);
    } catch {
      response.writeHead(404, { "content-type": "text/plain" }).end("not found\n");
    }
  });
  await new Promise((done) => server.listen(port, "127.0.0.1", () => done(undefined)));
  const bound = /** @type {import("node:net").AddressInfo} */ (server.address());
  return { address: `http://127.0.0.1:${bound.port}/example/`, close: () => server.close() };
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  console.log(`The example is at ${(await serve(Number(argv[2] ?? 8000))).address}`);
}

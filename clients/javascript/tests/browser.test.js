// The client and the example in headless Chromium. Where there is none, the test says so and is skipped;
// CHROMIUM names one that is not on the path.
import assert from "node:assert/strict";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { after, before, test } from "node:test";
import { chromium } from "playwright-core";
import { serve } from "../example/serve.js";
import { filesOf, vectors } from "./vectors.js";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "chrome"];
const QUIET = ["--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"];
const FLAGS = [...QUIET, "--disable-component-update", "--disable-sync"];

/** The path of a browser, if one is at hand. */
function browserPath() {
  const folders = (process.env.PATH ?? "").split(delimiter);
  const places = [process.env.CHROMIUM, ...NAMES.flatMap((name) => folders.map((folder) => join(folder, name)))];
  return places.find((path) => {
    try {
      accessSync(path ?? "", constants.X_OK);
      return Boolean(path);
    } catch {
      return false;
    }
  });
}

const executablePath = browserPath();
const skip = executablePath ? false : "no Chromium on the path; install it, or name one in CHROMIUM";
if (skip) console.log(`The tests in a browser are skipped: ${skip}`);

/** @type {{address: string, close: () => void}} */
let site;
/** @type {import("playwright-core").Browser} */
let browser;

before(async () => {
  if (skip) return;
  site = await serve();
  browser = await chromium.launch({ executablePath, args: FLAGS, chromiumSandbox: process.getuid?.() !== 0 });
});

after(async () => {
  await browser?.close();
  site?.close();
});

/**
 * The example in a window, and what it asked for and complained of.
 * @param {import("playwright-core").BrowserContextOptions} [options]
 */
async function opened(options) {
  const page = await browser.newPage(options);
  /** @type {string[]} */
  const requests = [];
  /** @type {string[]} */
  const complaints = [];
  page.on("request", (request) => requests.push(request.url()));
  page.on("console", (message) => complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("requestfailed", (request) => complaints.push(`no answer from ${request.url()}`));
  page.on("response", (answer) => answer.ok() || complaints.push(`${answer.status()} from ${answer.url()}`));
  await page.goto(site.address, { waitUntil: "networkidle" });
  return { page, requests, complaints };
}

test("the form randomises on the device and shows what leaves it", { skip }, async () => {
  const { page, requests, complaints } = await opened();
  const loaded = requests.length;
  assert.equal(await page.locator("#sent").innerText(), "Nothing yet.");
  await page.getByRole("button", { name: "Randomise" }).click();
  assert.equal(await page.locator("#sent").innerText(), "Nothing yet.", "nothing is drawn before both are answered");
  const groups = ["18–29", "30–44", "45–59", "60–74", "75+"];
  const sent = new Set();
  for (let person = 0; person < 20; person++) {
    await page.getByRole("radio", { name: "yes" }).check();
    await page.getByRole("radio", { name: "60–74" }).check();
    await page.getByRole("button", { name: "Randomise" }).click();
    const body = JSON.parse(await page.locator("#sent").innerText());
    assert.deepEqual(Object.keys(body), ["age_group"]);
    assert.ok(groups.includes(body.age_group));
    sent.add(body.age_group);
    assert.equal(await page.locator("tr.drawn th").innerText(), `${body.age_group} – sent`);
    assert.ok(await page.getByRole("button", { name: "Randomise" }).isDisabled(), "one draw for each person");
    await page.getByRole("button", { name: "Try as another person" }).click();
  }
  assert.ok(sent.size > 1, "twenty draws of one output have a probability below 1e-6");
  assert.equal(requests.length, loaded, "drawing asks for nothing and sends nothing");
  assert.deepEqual(requests.filter((url) => new URL(url).origin !== new URL(site.address).origin), []);
  assert.deepEqual(complaints, []);
  await page.close();
});

test("the keyboard alone is enough, and screen readers hear the result", { skip }, async () => {
  const { page, complaints } = await opened();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Space");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Space");
  await page.keyboard.press("Enter");
  assert.match(await page.locator("#sent").innerText(), /^\{"age_group":"/);
  assert.equal(await page.locator("#sent").getAttribute("aria-live"), "polite");
  assert.equal(await page.locator(":focus").innerText(), "Try as another person");
  for (const name of ["Have you been diagnosed with diabetes?", "How old are you?"]) {
    assert.equal(await page.getByRole("group", { name }).count(), 1);
  }
  assert.deepEqual(complaints, []);
  await page.close();
});

test("nothing is wider than the window, on a desk and in a hand", { skip }, async () => {
  for (const width of [1400, 400, 320]) {
    const { page } = await opened({ viewport: { width, height: 900 } });
    await page.getByRole("radio", { name: "yes" }).check();
    await page.getByRole("radio", { name: "60–74" }).check();
    await page.getByRole("button", { name: "Randomise" }).click();
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width);
    if (process.env.SCREENSHOTS) {
      await page.screenshot({ path: join(process.env.SCREENSHOTS, `example-${width}.png`), fullPage: true });
    }
    await page.close();
  }
});

test("a table that cannot be read stops the page with a sentence", { skip }, async () => {
  const page = await browser.newPage();
  await page.route("**/table.json", (route) => route.fulfill({ body: '{"format":"rldp-protocol","version":9}' }));
  await page.goto(site.address, { waitUntil: "networkidle" });
  const sentence = "This page cannot be used: its version must be 1, 2 or 3.";
  assert.equal(await page.getByRole("alert").innerText(), sentence);
  assert.ok(await page.getByRole("button", { name: "Randomise" }).isDisabled());
  await page.close();
});

test("the browser reads, refuses and draws what the shared vectors say", { skip }, async () => {
  const { page } = await opened();
  const files = filesOf(vectors).map(([name, content, accepted]) => ({
    name,
    text: typeof content === "string" ? content : null,
    bytes: typeof content === "string" ? [] : Array.from(content),
    accepted,
  }));
  const wrong = await page.evaluate(
    async ({ files, vectors, module }) => {
      const { Protocol, ProtocolFileError } = await import(module);
      const wrong = [];
      for (const { name, text, bytes, accepted } of files) {
        let read = true;
        try {
          Protocol.parse(text ?? Uint8Array.from(bytes), { full: true });
        } catch (error) {
          read = !(error instanceof ProtocolFileError);
        }
        if (read !== accepted) wrong.push(name);
      }
      for (const { file, secret, value, words, outputs } of vectors.draws) {
        const protocol = Protocol.parse(vectors.files[file], { full: true });
        for (const [i, word] of words.entries()) {
          const found = protocol.outputFor(protocol.secrets[secret], protocol.values[value], word);
          if (found !== protocol.outputs[outputs[i]]) wrong.push(`${file} ${secret} ${value} ${word}`);
        }
      }
      return wrong;
    },
    { files, vectors, module: new URL("../src/index.js", site.address).href },
  );
  assert.deepEqual(wrong, []);
  await page.close();
});

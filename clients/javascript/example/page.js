// A survey that publishes age groups without leaking a diagnosis. Everything but the result stays here.
import { Protocol } from "../src/index.js";

/** @typedef {import("../src/index.js").Label} Label */

/**
 * @template {HTMLElement} T
 * @param {string} id
 * @returns {T}
 */
const element = (id) => /** @type {T} */ (document.getElementById(id));

const form = /** @type {HTMLFormElement} */ (element("form"));
const draw = /** @type {HTMLButtonElement} */ (element("draw"));
const again = /** @type {HTMLButtonElement} */ (element("again"));

try {
  // In a deployment, pin the table: compare its SHA-256 with the one you expect, or ship it with the page.
  const answer = await fetch("table.json");
  if (!answer.ok) throw new Error(`table.json cannot be loaded (${answer.status})`);
  start(Protocol.parse(await answer.arrayBuffer()));
} catch (error) {
  element("problem").textContent = `This page cannot be used: ${/** @type {Error} */ (error).message}.`;
}

/** @param {Protocol} protocol */
function start(protocol) {
  offer("secrets", protocol.secrets);
  offer("values", protocol.values);
  draw.disabled = false;

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const answers = new FormData(form);
    const secret = protocol.secrets[Number(answers.get("secrets"))];
    const value = protocol.values[Number(answers.get("values"))];
    const output = protocol.release(secret, value);
    element("sent").textContent = JSON.stringify({ age_group: output });
    show(protocol, secret, value, output);
    lock(true);
  });

  form.addEventListener("reset", () => {
    element("sent").innerHTML = '<span class="nothing">Nothing yet.</span>';
    element("chances").hidden = true;
    lock(false);
    draw.focus();
  });
}

/**
 * One draw for each person: the answers are fixed once it is made.
 * @param {boolean} isDrawn
 */
function lock(isDrawn) {
  for (const fieldset of form.querySelectorAll("fieldset")) fieldset.disabled = isDrawn;
  draw.disabled = isDrawn;
  again.hidden = !isDrawn;
  if (isDrawn) again.focus();
}

/**
 * @param {string} name
 * @param {readonly Label[]} labels
 */
function offer(name, labels) {
  element(name).replaceChildren(
    ...labels.map((label, place) => {
      const choice = document.createElement("label");
      const button = Object.assign(document.createElement("input"), { type: "radio", name, required: true });
      button.value = String(place);
      choice.append(button, String(label));
      return choice;
    }),
  );
}

/**
 * The probabilities that the output was drawn with.
 * @param {Protocol} protocol
 * @param {Label} secret
 * @param {Label} value
 * @param {Label} output
 */
function show(protocol, secret, value, output) {
  const chances = protocol.probabilities(secret, value);
  element("chances-text").textContent =
    `With the answers “${secret}” and “${value}”, each age group had this probability of being sent.`;
  element("rows").replaceChildren(
    ...protocol.outputs.map((label, y) => {
      const row = document.createElement("tr");
      const name = Object.assign(document.createElement("th"), { scope: "row", textContent: String(label) });
      if (label === output) {
        row.className = "drawn";
        name.append(" – sent");
      }
      const text = inWords(chances[y]);
      const number = Object.assign(document.createElement("td"), { className: "number", textContent: text });
      const bar = document.createElement("td");
      const length = Object.assign(document.createElement("progress"), { max: 1, value: chances[y] });
      length.setAttribute("aria-label", `${label}: ${text}`);
      bar.append(length);
      row.append(name, number, bar);
      return row;
    }),
  );
  element("chances").hidden = false;
}

/** @param {number} chance */
function inWords(chance) {
  if (chance > 0 && chance < 0.001) return "below 0.1%";
  if (chance > 0.999 && chance < 1) return "above 99.9%";
  return new Intl.NumberFormat("en", { style: "percent", maximumFractionDigits: 1 }).format(chance);
}

"use strict";
(async () => {
  const place = (id) => document.getElementById(id);
  const packed = place("data").textContent.trim();
  if (!packed || typeof DecompressionStream === "undefined") return; // the page says everything without it

  const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
  const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  const facts = JSON.parse(await new Response(unpacked).text());
  const slider = place("level");
  slider.max = facts.levels.length - 1;
  slider.value = facts.own;

  function made(name, text) {
    const element = document.createElement(name);
    element.textContent = text;
    return element;
  }

  const chosen = () => facts.levels[Number(slider.value)];

  function note(level) {
    const whose = level.own ? "This is the protocol of the report" : "This is not the protocol of the report";
    const proofs = { true: "the judge proves every claim of it", false: "the judge does not prove it" };
    const proof = proofs[level.proved] || "the judge was not asked about it";
    const file = level.file ? `The downloaded file has the SHA-256 ${level.file.sha256}.` : "Its file is not on this page.";
    return `${whose}; ${proof}. ${file}`;
  }

  // Markup comes from the page itself, where every label was escaped when it was written.
  function show() {
    const level = chosen();
    place("level-name").textContent = `ε = ${level.epsilon}`;
    slider.setAttribute("aria-valuetext", `ε = ${level.epsilon}, ${level.figures[1][0]} ${level.figures[1][1]}`);
    place("level-note").textContent = note(level);
    place("level-figures").replaceChildren(
      ...level.figures.map(([name, figure]) => {
        const pair = document.createElement("div");
        pair.append(made("dt", name), made("dd", figure));
        return pair;
      }),
    );
    for (const size of ["wide", "narrow"]) {
      place(`level-histogram-${size}`).innerHTML = level.histogram[size];
      const spot = document.querySelector(`#frontier .${size} .shown-marker`);
      if (spot) spot.innerHTML = level.own ? "" : level.marker[size];
    }
    place("level-heat").replaceChildren(
      ...level.heat.map((drawn, s) => {
        const figure = document.createElement("figure");
        figure.innerHTML = drawn;
        figure.prepend(made("figcaption", facts.secrets[s]));
        return figure;
      }),
    );
    for (const id of ["download", "draw", "draw-many"]) place(id).disabled = !level.file;
    place("back").disabled = level.own;
    place("drawn").replaceChildren();
  }

  function download() {
    const { name, text } = chosen().file;
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  }

  // 52 random bits are an integer that a number holds exactly; so are the sums of a row, up to 2^52.
  function uniform() {
    const [high, low] = crypto.getRandomValues(new Uint32Array(2));
    return (high % 2 ** 20) * 2 ** 32 + low;
  }

  function outputFor(row, integer) {
    let end = 0;
    return row.findIndex((numerator) => (end += numerator) > integer);
  }

  function row() {
    const table = JSON.parse(chosen().file.text).numerators;
    return table[Number(place("try-secret").value)][Number(place("try-value").value)];
  }

  function drawOne() {
    const chances = row();
    const y = outputFor(chances, uniform());
    const chance = (100 * chances[y]) / 2 ** 52;
    place("drawn").replaceChildren(
      made("strong", facts.outputs[y]),
      made("span", ` is released. It had a chance of ${chance.toPrecision(3)} %.`),
    );
  }

  function drawMany(count) {
    const chances = row();
    const seen = chances.map(() => 0);
    for (let i = 0; i < count; i++) seen[outputFor(chances, uniform())] += 1;
    const table = document.createElement("table");
    const head = table.createTHead().insertRow();
    for (const name of ["output", `drawn, of ${count}`, "expected"]) {
      const cell = made("th", name);
      cell.scope = "col";
      head.append(cell);
    }
    const body = table.createTBody();
    seen.forEach((times, y) => {
      if (!times && chances[y] * count < 2 ** 51) return;
      const line = body.insertRow();
      const name = made("th", facts.outputs[y]);
      name.scope = "row";
      line.append(name, made("td", times), made("td", ((chances[y] / 2 ** 52) * count).toFixed(1)));
    });
    place("drawn").replaceChildren(table);
  }

  for (const [id, labels] of [["try-secret", facts.secrets], ["try-value", facts.values]]) {
    labels.forEach((label, i) => place(id).add(new Option(label, i)));
  }
  slider.addEventListener("input", show);
  place("back").addEventListener("click", () => {
    slider.value = facts.own;
    show();
    slider.focus();
  });
  place("download").addEventListener("click", download);
  place("draw").addEventListener("click", drawOne);
  place("draw-many").addEventListener("click", () => drawMany(1000));
  show();
  for (const element of document.querySelectorAll(".scripted")) element.hidden = false;
})();

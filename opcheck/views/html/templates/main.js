/* The filters, the heat map's buttons, the address; then the first drawing. */

const filters = document.getElementById("filters");
const counted = document.getElementById("count");

const search = make("input", {
  type: "search", placeholder: words.search, "aria-label": words.search, autocomplete: "off",
  spellcheck: "false", oninput: () => choose({ text: search.value }),
});
const targets = choice(
  words.target,
  [[ALL, words.all_targets], ...data.targets.map(({ short }, i) => [i, short])],
  state.target,
  (value) => choose({ target: Number(value) }),
);
targets.hidden = !many;
const kinds = choice(
  words.kind,
  [["", words.all_families], ...[...new Set(data.findings.map((f) => f.family))].sort().map((k) => [k, called(k)])],
  "",
  (value) => choose({ family: value }),
);
const moduleChip = make("button", { type: "button", class: "chip", "aria-pressed": "true", onclick: () => choose({ module: "" }) });
const clear = make(
  "button",
  { type: "button", class: "quiet", onclick: () => choose({ family: "", module: "", verdicts: new Set(), text: "", target: many ? ALL : 0 }) },
  words.clear,
);
const chips = new Map(
  data.verdicts.map((verdict) => {
    const flip = () => {
      const verdicts = new Set(state.verdicts);
      if (!verdicts.delete(verdict)) verdicts.add(verdict);
      choose({ verdicts });
    };
    return [verdict, make("button", { type: "button", class: `chip v-${verdict}`, onclick: flip }, sign(verdict), called(verdict), make("b", {}))];
  }),
);
filters.append(search, targets, kinds, ...chips.values(), moduleChip, clear);

function drawFilters() {
  if (search.value !== state.text) search.value = state.text;
  targets.value = String(state.target);
  kinds.value = state.family;
  moduleChip.hidden = !state.module;
  moduleChip.textContent = `${state.module} \u00d7`;
  clear.hidden = !(state.family || state.module || state.verdicts.size || state.text || (many && state.target !== ALL));
  const counts = new Map(data.verdicts.map((verdict) => [verdict, 0]));
  for (const finding of fitting("verdicts")) counts.set(finding.verdict, counts.get(finding.verdict) + 1);
  for (const [verdict, chip] of chips) {
    chip.setAttribute("aria-pressed", String(state.verdicts.has(verdict)));
    chip.lastChild.textContent = figure(counts.get(verdict));
    chip.hidden = !counts.get(verdict) && !state.verdicts.has(verdict);
  }
  counted.textContent = fill(words.shown, { shown: figure(list.rows.length), all: figure(data.findings.length) });
}

const cells = [...document.querySelectorAll("button.cell")];
function drawCells() {
  for (const cell of cells) {
    const here = cell.dataset.family === state.family && Number(cell.dataset.target) === state.target;
    cell.setAttribute("aria-pressed", String(here));
  }
}
for (const cell of cells)
  cell.addEventListener("click", () => {
    const chosen = cell.getAttribute("aria-pressed") === "true";
    choose({ family: chosen ? "" : cell.dataset.family, target: chosen && many ? ALL : Number(cell.dataset.target) });
  });
for (const name of document.querySelectorAll("button[data-target].link"))
  name.addEventListener("click", () => choose({ target: Number(name.dataset.target) }));

/* The address after # says what is chosen, so that it can be sent to somebody. */
const kept = { q: "text", kind: "family", module: "module", sort: "sort" };
function writeAddress() {
  const said = new URLSearchParams();
  for (const [name, key] of Object.entries(kept)) if (state[key] && state[key] !== "verdict") said.set(name, state[key]);
  if (many && state.target !== ALL) said.set("target", data.targets[state.target].name);
  if (state.verdicts.size) said.set("verdicts", [...state.verdicts].join(" "));
  if (state.down) said.set("down", "1");
  if (state.open) said.set("finding", `${data.targets[state.open.target].name} ${state.open.id}`);
  writeHash(said);
}

function readAddress() {
  const said = new URLSearchParams(location.hash.slice(1));
  for (const [name, key] of Object.entries(kept)) if (said.get(name)) state[key] = said.get(name);
  state.down = said.get("down") === "1";
  const target = data.targets.findIndex(({ name }) => name === said.get("target"));
  if (target >= 0) state.target = target;
  const verdicts = (said.get("verdicts") || "").split(" ").filter((verdict) => rank.has(verdict));
  state.verdicts = new Set(verdicts);
  return said.get("finding");
}

followKeys(search);
followPrinting(counted);

listeners.push((change) => {
  const looks = Object.keys(change).filter((key) => key !== "open");
  if (looks.length) {
    drawTable();
    drawFilters();
    drawCells();
  }
  if ("target" in change || "module" in change) drawPicture();
  if ("open" in change) drawDetail();
  writeAddress();
});

const wanted = readAddress();
drawTable();
drawFilters();
drawCells();
drawPicture();
if (wanted) {
  const at = list.rows.findIndex((f) => `${data.targets[f.target].name} ${f.id}` === wanted);
  if (at >= 0) openRow(at);
}
root.dataset.ready = "1";

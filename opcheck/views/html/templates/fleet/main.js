/* The filters, what leads to the models from above, the address; then the first drawing. */

const filters = document.getElementById("filters");
const counted = document.getElementById("count");

const search = make("input", {
  type: "search", placeholder: words.search, "aria-label": words.search, autocomplete: "off",
  spellcheck: "false", oninput: () => choose({ text: search.value }),
});
const vendors = choice(
  words.vendor,
  [["", words.all_vendors], ...[...new Set(data.targets.map(({ vendor }) => vendor))].map((vendor) => [vendor, vendor])],
  "",
  (vendor) => choose({ vendor, target: ALL }),
);
vendors.hidden = vendors.options.length < 3;
const targets = choice(
  words.target,
  [[ALL, words.all_targets], ...data.targets.map(({ short }, i) => [i, short])],
  ALL,
  (value) => choose({ target: Number(value) }),
);
targets.hidden = !many;
const endings = choice(
  words.ending,
  [["", words.all_endings], ...[...new Set(models.map((model) => model.ending))].map((ending) => [ending, called(ending)])],
  "",
  (ending) => choose({ ending }),
);
endings.hidden = endings.options.length < 3;
const need = make("button", { type: "button", class: "chip need", "aria-pressed": "true", onclick: () => choose({ op: "" }) });
const nobody = { text: "", target: ALL, vendor: "", ending: "", op: "", standings: new Set() };
const clear = make("button", { type: "button", class: "quiet", onclick: () => choose({ ...nobody, standings: new Set() }) }, words.clear);
const chips = new Map(
  data.verdicts.map((name) => {
    const flip = () => {
      const standings = new Set(state.standings);
      if (!standings.delete(name)) standings.add(name);
      choose({ standings });
    };
    return [name, make("button", { type: "button", class: `chip v-${name}`, onclick: flip }, sign(name), called(name), make("b", {}))];
  }),
);
filters.append(search, vendors, targets, endings, ...chips.values(), need, clear);

function drawFilters() {
  if (search.value !== state.text) search.value = state.text;
  vendors.value = state.vendor;
  targets.value = String(state.target);
  endings.value = state.ending;
  need.hidden = !state.op;
  need.textContent = `${state.op} \u00d7`;
  clear.hidden = !(state.text || state.target !== ALL || state.vendor || state.ending || state.op || state.standings.size);
  const shown = columns();
  const counts = new Map(data.verdicts.map((name) => [name, 0]));
  for (const model of fitting("standings"))
    for (const name of new Set(shown.map((target) => standing(model, target)))) counts.set(name, counts.get(name) + 1);
  for (const [name, chip] of chips) {
    chip.setAttribute("aria-pressed", String(state.standings.has(name)));
    chip.lastChild.textContent = figure(counts.get(name));
    chip.hidden = !counts.get(name) && !state.standings.has(name);
  }
  counted.textContent = fill(words.shown, { shown: figure(list.rows.length), all: figure(models.length) });
}

function leadTo(change) {
  choose(change);
  document.getElementById("models").scrollIntoView();
}
for (const button of document.querySelectorAll("button[data-target]"))
  button.addEventListener("click", () => leadTo({ target: Number(button.dataset.target) }));
for (const button of document.querySelectorAll("button[data-op]"))
  button.addEventListener("click", () => leadTo({ op: button.dataset.op }));

/* The address after # says what is chosen, so that it can be sent to somebody. */
const kept = { q: "text", vendor: "vendor", ending: "ending", op: "op" };
function writeAddress() {
  const said = new URLSearchParams();
  for (const [name, key] of Object.entries(kept)) if (state[key]) said.set(name, state[key]);
  if (state.target !== ALL) said.set("target", data.targets[state.target].name);
  if (state.standings.size) said.set("standings", [...state.standings].join(" "));
  const sort = data.targets[state.sort]?.name ?? state.sort;
  if (sort !== "order") said.set("sort", sort);
  if (state.down) said.set("down", "1");
  if (state.open) said.set("model", state.open.name);
  writeHash(said);
}

function readAddress() {
  const said = new URLSearchParams(location.hash.slice(1));
  for (const [name, key] of Object.entries(kept)) if (said.get(name)) state[key] = said.get(name);
  const place = (name) => data.targets.findIndex((target) => target.name === name);
  state.target = place(said.get("target"));
  const sort = said.get("sort");
  if (["name", "runs"].includes(sort)) state.sort = sort;
  else if (place(sort) >= 0) state.sort = String(place(sort));
  state.down = said.get("down") === "1";
  state.standings = new Set((said.get("standings") || "").split(" ").filter((name) => rank.has(name)));
  return said.get("model");
}

followKeys(search);
followPrinting(counted);

listeners.push((change) => {
  if (Object.keys(change).some((key) => key !== "open" && key !== "column")) {
    drawGrid();
    drawFilters();
  }
  if ("open" in change) drawDetail();
  writeAddress();
});

const wanted = readAddress();
drawGrid();
drawFilters();
if (wanted) {
  const at = list.rows.findIndex((model) => model.name === wanted);
  if (at >= 0) openRow(at);
}
root.dataset.ready = "1";

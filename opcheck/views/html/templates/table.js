/* Every finding in a table; only the rows that are in sight exist. */

const SPARE = 6;
const PRINTED = 22;
const grid = document.getElementById("grid");
const many = data.targets.length > 1;

const COLUMNS = [
  { key: "verdict", label: words.verdict, of: (f) => rank.get(f.verdict) },
  { key: "operator", label: words.operator, of: (f) => f.op },
  { key: "where", label: words.where, of: (f) => (f.uses.length ? where(mostCalled(f)) : ""), wide: true },
  ...(many ? [{ key: "target", label: words.target, of: (f) => f.target, wide: true }] : []),
  { key: "count", label: words.count, of: (f) => -f.count, number: true },
  { key: "confidence", label: words.confidence, of: (f) => sure.get(f.confidence), wide: true },
];

const mostCalled = (finding) =>
  finding.uses.reduce((most, place) => (better(place, most) ? place : most));
const better = (one, other) =>
  !!one.file === !!other.file ? one.count > other.count : !!one.file;

const searched = new Map();
function textOf(finding) {
  if (!searched.has(finding)) {
    const places = finding.uses.flatMap((place) => [place.module, code(place)]);
    const ways = finding.suggestions.flatMap((way) => [way.rule, way.summary]);
    const parts = [finding.op, finding.reason.code, finding.reason.text, finding.family, finding.id];
    searched.set(finding, [...parts, ...places, ...ways].join("\n").toLowerCase());
  }
  return searched.get(finding);
}

/* What fits all that is chosen; ``but`` leaves one choice out, for the counts beside it. */
function fitting(but = "") {
  const sought = state.text.toLowerCase().split(/\s+/).filter(Boolean);
  return data.findings.filter(
    (f) =>
      (state.target === ALL || f.target === state.target) &&
      (!state.family || f.family === state.family) &&
      (!state.module || f.uses.some((place) => under(place.module, state.module))) &&
      (but === "verdicts" || !state.verdicts.size || state.verdicts.has(f.verdict)) &&
      sought.every((word) => textOf(f).includes(word)),
  );
}

function sorted(findings) {
  const { of } = COLUMNS.find((column) => column.key === state.sort) || COLUMNS[0];
  const way = state.down ? -1 : 1;
  const keyed = findings.map((finding, i) => [of(finding), i, finding]);
  keyed.sort(([a, i], [b, j]) => (a < b ? -way : a > b ? way : i - j));
  return keyed.map(([, , finding]) => finding);
}

const list = { rows: [], here: 0 };
const space = make("div", { class: "space", role: "rowgroup" });
const scroller = make("div", { class: "scroller" }, space);
const heads = make("div", { class: "row head", role: "row" });
const table = make("div", { class: many ? "many" : "", role: "grid", tabindex: "0", "aria-label": words.findings }, heads, scroller);
const nothing = make("p", { class: "empty" }, words.none);
grid.append(table, nothing);

function drawHeads() {
  const cells = COLUMNS.map(({ key, label, number, wide }) => {
    const order = state.sort === key ? (state.down ? "descending" : "ascending") : undefined;
    const classes = [number && "number", wide && "wide"].filter(Boolean).join(" ");
    const press = () => choose({ sort: key, down: state.sort === key && !state.down });
    const text = key === "verdict" ? "\u2022" : label;
    const button = make("button", { type: "button", title: label, "aria-label": label, onclick: press }, text);
    return make("div", { role: "columnheader", class: classes, "aria-sort": order }, button);
  });
  heads.replaceChildren(...cells);
}

function drawRow(index) {
  const finding = list.rows[index];
  const place = finding.uses.length ? mostCalled(finding) : null;
  const at = place ? where(place) : words.itself;
  const others = finding.uses.length - 1;
  const rest = others > 0 ? ` \u00b7 ${fill(words.more, { count: figure(others) })}` : "";
  const short = data.targets[finding.target].short;
  const cells = {
    verdict: [sign(finding.verdict)],
    operator: [
      make("div", { class: "line op" }, finding.op),
      make("div", { class: "line faint tall" }, `${many ? `${short} \u00b7 ` : ""}${at}${rest}`),
      make("div", { class: "line faint" }, finding.reason.text),
    ],
    where: [
      make("div", { class: "line" }, (place && code(place)) || at),
      make("div", { class: "line faint" }, place && code(place) ? `${place.module || words.itself}${rest}` : rest.slice(3)),
    ],
    target: [make("div", { class: "line" }, short)],
    count: [figure(finding.count)],
    confidence: [make("span", { class: "faint" }, called(finding.confidence))],
  };
  const row = make(
    "div",
    {
      role: "row", id: `row-${index}`, class: `row${index === list.here ? " here" : ""}`,
      "aria-rowindex": index + 2, onclick: () => openRow(index),
    },
    COLUMNS.map(({ key, number, wide, label }) =>
      make(
        "div",
        {
          role: "gridcell", class: [number && "number", wide && "wide"].filter(Boolean).join(" "),
          title: key === "verdict" ? called(finding.verdict) : undefined,
          "aria-label": key === "verdict" ? `${label}: ${called(finding.verdict)}` : undefined,
        },
        cells[key],
      ),
    ),
  );
  row.style.transform = `translateY(${index * rowHeight()}px)`;
  return row;
}

let height = 0;
const rowHeight = () =>
  (height ||= parseFloat(getComputedStyle(scroller).getPropertyValue("--row")) || 56);

function drawRows() {
  const first = Math.max(0, Math.floor(scroller.scrollTop / rowHeight()) - SPARE);
  const count = Math.ceil(scroller.clientHeight / rowHeight()) + 2 * SPARE;
  drawSome(first, Math.min(list.rows.length, first + count));
}

function drawSome(first, end) {
  const rows = [];
  for (let index = first; index < end; index++) rows.push(drawRow(index));
  space.replaceChildren(...rows);
  const seen = list.here >= first && list.here < end;
  if (seen) table.setAttribute("aria-activedescendant", `row-${list.here}`);
  else table.removeAttribute("aria-activedescendant");
}

function drawTable() {
  list.rows = sorted(fitting());
  list.here = 0;
  drawHeads();
  table.hidden = !list.rows.length;
  nothing.hidden = !!list.rows.length;
  table.setAttribute("aria-rowcount", list.rows.length + 1);
  space.style.height = `${list.rows.length * rowHeight()}px`;
  scroller.scrollTop = 0;
  drawRows();
}

function moveTo(index) {
  list.here = Math.max(0, Math.min(list.rows.length - 1, index));
  const top = list.here * rowHeight();
  const bottom = top + rowHeight() - scroller.clientHeight;
  if (scroller.scrollTop > top) scroller.scrollTop = top;
  else if (scroller.scrollTop < bottom) scroller.scrollTop = bottom;
  drawRows();
}

function openRow(index) {
  moveTo(index);
  choose({ open: list.rows[list.here] });
}

scroller.addEventListener("scroll", () => requestAnimationFrame(drawRows), { passive: true });
table.addEventListener("keydown", (event) => {
  if (event.target !== table && event.target !== scroller) return;
  const page = Math.max(1, Math.floor(scroller.clientHeight / rowHeight()) - 1);
  const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page };
  if (event.key in steps) moveTo(list.here + steps[event.key]);
  else if (event.key === "Home") moveTo(0);
  else if (event.key === "End") moveTo(list.rows.length - 1);
  else if (event.key === "Enter" || event.key === " ") openRow(list.here);
  else return;
  event.preventDefault();
});
new ResizeObserver(() => {
  height = 0;
  space.style.height = `${list.rows.length * rowHeight()}px`;
  drawRows();
}).observe(grid);

/* Models down, targets across; only the rows that are in sight exist. */

const SPARE = 8;
const PRINTED = 200;
const list = { rows: [], shown: [], here: 0, at: 0 };
const grid = document.getElementById("grid");
const heads = make("div", { class: "line-of heads", role: "row" });
const space = make("div", { class: "models", role: "rowgroup" });
const plane = make("div", { class: "plane", role: "grid", tabindex: "0", "aria-label": words.models }, heads, space);
const nothing = make("p", { class: "empty" }, words.none);
const reading = document.getElementById("reading");
grid.append(plane, nothing);

function drawHeads() {
  const head = (key, label, classes, title) => {
    const order = state.sort === key ? (state.down ? "descending" : "ascending") : undefined;
    /* pressed once more it turns round, and then it is as before */
    const press = () =>
      choose(state.sort !== key ? { sort: key, down: false } : state.down ? { sort: "order", down: false } : { down: true });
    const button = make("button", { type: "button", title, "aria-label": title, onclick: press }, label);
    return make("div", { role: "columnheader", class: classes, "aria-sort": order }, button);
  };
  heads.replaceChildren(
    head("name", words.model, "first", words.model),
    ...list.shown.map((target) => head(String(target), data.targets[target].short, "turned", data.targets[target].name)),
    head("runs", words.runs_on, "tail", words.runs_on),
  );
}

const told = (model, target) => {
  const causes = causesOf(model, target);
  const first = causes.length ? ` \u00b7 ${causes[0].op}${causes.length > 1 ? ` \u00b7 ${fill(words.more, { count: figure(causes.length - 1) })}` : ""}` : "";
  return `${model.name}, ${data.targets[target].short}: ${called(standing(model, target))}${first}`;
};

function drawRow(index) {
  const model = list.rows[index];
  const here = index === list.here;
  const boxes = list.shown.map((target, at) => {
    const stands = standing(model, target);
    const said = told(model, target);
    const classes = `box f-${stands}${here && at === list.at ? " at" : ""}`;
    return make("div", { role: "gridcell", id: `cell-${index}-${at}`, class: classes, title: said, "aria-label": said, "data-at": at }, data.signs[model.stands[target]]);
  });
  const count = fill(words.runs_of, { count: figure(runsOn(model, list.shown)), all: figure(list.shown.length) });
  const row = make(
    "div",
    { role: "row", id: `row-${index}`, class: `line-of${here ? " here" : ""}`, "aria-rowindex": index + 2, "data-index": index },
    make("div", { role: "rowheader", class: "first", title: model.name }, make("span", {}, model.name)),
    ...boxes,
    make("div", { role: "gridcell", class: "tail" }, count),
  );
  row.style.transform = `translateY(${index * rowHeight()}px)`;
  return row;
}

let height = 0;
const rowHeight = () => (height ||= parseFloat(getComputedStyle(plane).getPropertyValue("--row")) || 30);

function drawRows() {
  const first = Math.max(0, Math.floor(plane.scrollTop / rowHeight()) - SPARE);
  const count = Math.ceil(plane.clientHeight / rowHeight()) + 2 * SPARE;
  drawSome(first, Math.min(list.rows.length, first + count));
}

function drawSome(first, end) {
  const rows = [];
  for (let index = first; index < end; index++) rows.push(drawRow(index));
  space.replaceChildren(...rows);
  const seen = list.here >= first && list.here < end;
  if (seen) plane.setAttribute("aria-activedescendant", `cell-${list.here}-${list.at}`);
  else plane.removeAttribute("aria-activedescendant");
}

function drawGrid() {
  list.rows = sorted(fitting());
  list.shown = columns();
  list.here = 0;
  list.at = Math.min(list.at, list.shown.length - 1);
  plane.style.setProperty("--columns", list.shown.length);
  drawHeads();
  plane.hidden = !list.rows.length;
  nothing.hidden = !!list.rows.length;
  plane.setAttribute("aria-rowcount", list.rows.length + 1);
  space.style.height = `${list.rows.length * rowHeight()}px`;
  plane.scrollTop = 0;
  drawRows();
  reading.textContent = "";
}

function moveTo(index, at = list.at) {
  list.here = Math.max(0, Math.min(list.rows.length - 1, index));
  list.at = Math.max(0, Math.min(list.shown.length - 1, at));
  const top = list.here * rowHeight();
  const bottom = top + rowHeight() + heads.offsetHeight - plane.clientHeight;
  if (plane.scrollTop > top) plane.scrollTop = top;
  else if (plane.scrollTop < bottom) plane.scrollTop = bottom;
  drawRows();
  const box = document.getElementById(`cell-${list.here}-${list.at}`);
  if (box && plane.scrollWidth > plane.clientWidth) box.scrollIntoView({ block: "nearest", inline: "center" });
  reading.textContent = told(list.rows[list.here], list.shown[list.at]);
}

function openRow(index, at = list.at, column = ALL) {
  moveTo(index, at);
  choose({ open: list.rows[list.here], column });
}

plane.addEventListener("scroll", () => requestAnimationFrame(drawRows), { passive: true });
space.addEventListener("click", (event) => {
  const row = event.target.closest("[data-index]");
  const box = event.target.closest("[data-at]");
  if (!row) return;
  const at = box ? Number(box.dataset.at) : list.at;
  openRow(Number(row.dataset.index), at, box ? list.shown[at] : ALL);
});
plane.addEventListener("keydown", (event) => {
  if (event.target !== plane) return;
  const page = Math.max(1, Math.floor((plane.clientHeight - heads.offsetHeight) / rowHeight()) - 1);
  const down = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page };
  const across = { ArrowRight: 1, ArrowLeft: -1 };
  if (event.key in down) moveTo(list.here + down[event.key]);
  else if (event.key in across) moveTo(list.here, list.at + across[event.key]);
  else if (event.key === "Home") moveTo(0);
  else if (event.key === "End") moveTo(list.rows.length - 1);
  else if (event.key === "Enter" || event.key === " ") openRow(list.here, list.at, list.shown[list.at]);
  else return;
  event.preventDefault();
});
new ResizeObserver(() => {
  height = 0;
  space.style.height = `${list.rows.length * rowHeight()}px`;
  drawRows();
}).observe(grid);

/* One model whole: how it stands where, what is in the way, and where its report is. */

const panel = document.getElementById("detail");

function drawDetail() {
  if (!state.open) {
    if (panel.open) panel.close();
    return;
  }
  panel.replaceChildren(drawBar(), drawBody(state.open));
  if (!panel.open) panel.showModal();
  panel.scrollTop = 0;
}

function drawBar() {
  const button = (text, press, off) => make("button", { type: "button", class: "quiet", onclick: press, disabled: off }, text);
  return make(
    "div",
    { class: "bar-top" },
    make("span", { class: "faint" }, `${figure(list.here + 1)} / ${figure(list.rows.length)}`),
    button(words.previous, () => openRow(list.here - 1, list.at, state.column), list.here <= 0),
    button(words.next, () => openRow(list.here + 1, list.at, state.column), list.here >= list.rows.length - 1),
    button(words.close, () => panel.close(), false),
  );
}

function drawBody(model) {
  const facts = [
    make("span", {}, called(model.ending)),
    model.kind ? make("span", { class: "faint" }, model.kind) : null,
    model.calls ? make("span", { class: "faint" }, fill(words.calls, { count: figure(model.calls) })) : null,
    model.operators ? make("span", { class: "faint" }, fill(words.operators, { count: figure(model.operators) })) : null,
    model.gaps ? make("span", { class: "t-unknown" }, fill(words.gaps, { count: figure(model.gaps) })) : null,
  ];
  return make(
    "div",
    { class: "body" },
    make("h3", { id: "detail-title" }, model.name),
    model.source ? make("p", { class: "code faint" }, model.source) : null,
    make("p", { class: "badges" }, facts),
    model.reason ? make("p", { class: "partial" }, model.reason) : null,
    model.hint ? make("p", { class: "faint" }, model.hint) : null,
    model.reason ? null : drawReport(model),
    make("ul", { class: "answers" }, groups(model).map((group) => make("li", {}, drawGroup(model, group)))),
  );
}

/* A link where the report stands beside this page, else the command that writes it. */
function drawReport(model) {
  if (model.report) return make("p", {}, make("a", { href: model.report }, words.report));
  const quoted = (text) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
  const command = `opcheck fleet report ${quoted(data.store)} ${quoted(model.name)} --run ${data.run} --format html -o report.html`;
  return [make("p", { class: "faint" }, words.command), make("pre", { tabindex: "0" }, command)];
}

/* Targets that have the same in the way together: what was chosen first, then the worst. */
function groups(model) {
  const found = new Map();
  for (const target of columns()) {
    const key = `${model.stands[target]} ${model.sets[target]}`;
    if (!found.has(key)) found.set(key, []);
    found.get(key).push(target);
  }
  const first = (targets) => (targets.includes(state.column) ? 1 : 0);
  return [...found.values()].sort((a, b) => first(b) - first(a) || badness(model, b[0]) - badness(model, a[0]));
}

const badness = (model, target) => model.stands[target];

function drawGroup(model, targets) {
  const stands = standing(model, targets[0]);
  const names = targets.map((target) => make("span", { title: data.targets[target].name }, data.targets[target].short));
  const rates = [...new Set(targets.map((target) => rateOf(model, target)))].filter((rate) => rate >= 0);
  const share = rates.length === 1 ? `${rates[0] / 10}%` : rates.length ? `${Math.min(...rates) / 10}\u2013${Math.max(...rates) / 10}%` : "";
  const causes = causesOf(model, targets[0]);
  return [
    make("div", {}, make("span", { class: `badge v-${stands}` }, sign(stands), called(stands)), share ? make("span", { class: "faint" }, fill(words.on_device, { rate: share })) : null),
    make("div", { class: "where" }, names.flatMap((name, i) => (i ? [", ", name] : [name]))),
    ...causes.map(drawCause),
    causes.length || stands !== "unknown" ? null : make("p", { class: "faint" }, words.unseen),
  ];
}

function drawCause(cause) {
  const press = () => {
    panel.close();
    choose({ op: cause.op });
  };
  return make(
    "div",
    { class: "cause" },
    make("button", { type: "button", class: "link code", onclick: press }, cause.op),
    " ",
    make("span", { class: "tag" }, cause.cause === "condition" ? cause.code : words.causes[cause.cause]),
    make("p", {}, cause.text, cause.confidence === "high" ? null : ` (${fill(words.sure, { level: called(cause.confidence) })})`),
  );
}

panel.addEventListener("close", () => {
  if (state.open) choose({ open: null });
  plane.focus({ preventScroll: true });
});
panel.addEventListener("click", (event) => {
  if (event.target === panel) panel.close();
});
panel.addEventListener("keydown", (event) => {
  if (event.key === "ArrowRight" || event.key === "j") openRow(list.here + 1, list.at, state.column);
  else if (event.key === "ArrowLeft" || event.key === "k") openRow(list.here - 1, list.at, state.column);
});

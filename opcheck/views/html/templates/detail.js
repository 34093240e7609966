/* One finding whole: why, where, how that is known, and the suggestion. */

const panel = document.getElementById("detail");

function drawDetail() {
  const finding = state.open;
  if (!finding) {
    if (panel.open) panel.close();
    return;
  }
  panel.replaceChildren(drawBar(), drawBody(finding));
  if (!panel.open) panel.showModal();
  panel.scrollTop = 0;
}

function drawBar() {
  const button = (text, press, off) =>
    make("button", { type: "button", class: "quiet", onclick: press, disabled: off }, text);
  return make(
    "div",
    { class: "bar-top" },
    make("span", { class: "faint" }, `${figure(list.here + 1)} / ${figure(list.rows.length)}`),
    button(words.previous, () => openRow(list.here - 1), list.here <= 0),
    button(words.next, () => openRow(list.here + 1), list.here >= list.rows.length - 1),
    button(words.close, () => panel.close(), false),
  );
}

function drawBody(finding) {
  const badge = make("span", { class: `badge v-${finding.verdict}` }, sign(finding.verdict), called(finding.verdict));
  const phase = finding.phase === "forward" ? null : make("span", { class: "faint" }, called(finding.phase));
  return make(
    "div",
    { class: "body" },
    make("h3", { id: "detail-title" }, finding.op),
    make(
      "p",
      { class: "badges" },
      badge,
      make("span", {}, data.targets[finding.target].name),
      make("span", { class: "faint" }, calls(finding.count)),
      make("span", { class: "faint" }, fill(words.sure, { level: called(finding.confidence) })),
      phase,
    ),
    section(words.why, [
      make("p", {}, finding.reason.text),
      make("p", {}, make("span", { class: "tag" }, finding.reason.code), " ", make("span", { class: "tag" }, finding.id)),
    ]),
    section(words.where, [listOf(finding.uses.map(drawPlace))]),
    section(words.evidence, [
      finding.evidence.length ? listOf(finding.evidence.map(drawEvidence)) : make("p", { class: "faint" }, words.no_evidence),
    ]),
    drawPlan(finding),
    finding.declined.length ? section(words.declined, [listOf(finding.declined.map(drawDeclined))]) : null,
  );
}

const named = (name, text) => make("div", { class: "faint" }, `${name} `, make("span", { class: "code" }, text));

function drawPlace(place) {
  const parts = [
    make("div", {}, make("b", { class: "code" }, code(place) || place.module || words.itself), ` \u00b7 ${calls(place.count)}`),
  ];
  if (code(place) && place.module) parts.push(named(words.in, place.module));
  if (place.inputs.length) parts.push(named(words.inputs, place.inputs.join(", ")));
  if (place.decomposed_into.length) parts.push(named(words.runs_as, place.decomposed_into.join(", ")));
  return parts;
}

function drawEvidence(fact) {
  const line = fact.line === null ? "" : `:${fact.line}`;
  const commit = fact.commit ? `@${fact.commit}` : "";
  const said = [fact.date, fact.origin].filter(Boolean).join(" \u00b7 ");
  return [
    make("span", { class: "tag" }, called(fact.method)),
    " ",
    make("span", { class: "code" }, `${fact.source}${commit}`),
    fact.path ? make("div", { class: "code" }, `${fact.path}${line}`) : null,
    said ? make("div", { class: "faint" }, said) : null,
  ];
}

function drawPlan(finding) {
  const ok = finding.verdict === "native" || finding.verdict === "decomposed";
  if (!finding.suggestions.length && (ok || finding.declined.length)) return null;
  const ways = finding.suggestions.map(drawWay);
  return section(words.plan, ways.length ? [listOf(ways)] : [make("p", { class: "faint" }, words.no_plan)]);
}

function drawWay(way) {
  const tag = (text) => make("span", { class: "tag" }, text);
  const parts = [
    make("div", {}, make("b", {}, way.summary)),
    make("div", { class: "badges" }, make("span", { class: "code" }, way.rule), tag(fill(words.tier, { tier: way.tier })), tag(called(way.label)), way.on_device ? null : tag(words.on_host), way.by_hand ? tag(words.by_hand) : null),
  ];
  if (way.gives_up) parts.push(named(words.gives_up, way.gives_up));
  if (way.runs_as.length) parts.push(named(words.runs_as, way.runs_as.join(", ")));
  if (way.measured) parts.push(named(words.off, measured(way.measured)));
  if (way.unmeasured) parts.push(named(words.unmeasured, way.unmeasured));
  if (way.proof) parts.push(named(words.proof, `${way.proof.how} ${way.proof.target}: ${words.holds[way.proof.holds]}`));
  if (way.patch) parts.push(make("details", {}, make("summary", {}, words.code), make("pre", { tabindex: "0" }, way.patch)));
  if (way.evidence.length) parts.push(listOf(way.evidence.map(drawEvidence)));
  if (way.declined.length) parts.push(make("details", {}, make("summary", {}, words.declined), listOf(way.declined.map(drawDeclined))));
  return parts;
}

function measured({ forward, backward }) {
  const told = (side, name) =>
    side === null ? null : `${name} ${side.absolute === 0 ? words.equal : Number(side.relative).toExponential(1)}`;
  return [told(forward, words.forward), told(backward, words.backward)].filter(Boolean).join(", ");
}

const drawDeclined = (way) => [make("span", { class: "code" }, way.rule), make("div", { class: "faint" }, way.reason)];

panel.addEventListener("close", () => {
  if (state.open) choose({ open: null });
  table.focus({ preventScroll: true });
});
panel.addEventListener("click", (event) => {
  if (event.target === panel) panel.close();
});
panel.addEventListener("keydown", (event) => {
  if (event.key === "ArrowRight" || event.key === "j") openRow(list.here + 1);
  else if (event.key === "ArrowLeft" || event.key === "k") openRow(list.here - 1);
});

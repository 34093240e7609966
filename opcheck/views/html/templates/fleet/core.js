/* The models, and what is chosen of them. */

const ALL = -1;
const FIELDS = ["name", "source", "kind", "ending", "reason", "hint", "calls", "operators", "gaps", "stands", "rates", "sets", "report"];
const many = data.targets.length > 1;
const RUNS = 1; /* the last standing, best first, of a model that runs */

const models = data.models.map((values, order) => {
  const model = Object.fromEntries(FIELDS.map((field, i) => [field, values[i]]));
  model.stands = [...model.stands].map(Number);
  return Object.assign(model, { order });
});
const standing = (model, target) => data.verdicts[model.stands[target]];
const rateOf = (model, target) => model.rates[model.rates.length > 1 ? target : 0];
const causesOf = (model, target) => data.sets[model.sets[target]].map((place) => data.causes[place]);
const runsOn = (model, targets) => targets.filter((target) => model.stands[target] <= RUNS).length;

const state = { text: "", target: ALL, vendor: "", ending: "", op: "", standings: new Set(), sort: "order", down: false, open: null, column: ALL };

/* The columns: all targets, those of a vendor, or one. */
function columns() {
  const all = data.targets.map((_, target) => target);
  if (state.target !== ALL) return [state.target];
  return state.vendor ? all.filter((target) => data.targets[target].vendor === state.vendor) : all;
}

const searched = new Map();
function textOf(model) {
  if (!searched.has(model)) {
    const met = [...new Set(model.sets)].flatMap((set) => data.sets[set].map((place) => data.causes[place]));
    const parts = [model.name, model.source, model.kind, model.ending, model.reason, ...met.flatMap((cause) => [cause.op, cause.code])];
    searched.set(model, parts.join("\n").toLowerCase());
  }
  return searched.get(model);
}

const withOp = new Map();
/* Which sets of causes have an operator in them. */
function setsWith(op) {
  if (!withOp.has(op)) {
    const places = new Set(data.causes.flatMap((cause, place) => (cause.op === op ? [place] : [])));
    withOp.set(op, data.sets.map((causes) => causes.some((place) => places.has(place))));
  }
  return withOp.get(op);
}

/* What fits all that is chosen; ``but`` leaves one choice out, for the counts beside it. */
function fitting(but = "") {
  const sought = state.text.toLowerCase().split(/\s+/).filter(Boolean);
  const shown = columns();
  const has = state.op ? setsWith(state.op) : null;
  return models.filter(
    (model) =>
      (!state.ending || model.ending === state.ending) &&
      (!has || shown.some((target) => has[model.sets[target]])) &&
      (but === "standings" || !state.standings.size || shown.some((target) => state.standings.has(standing(model, target)))) &&
      sought.every((word) => textOf(model).includes(word)),
  );
}

function sorted(found) {
  const shown = columns();
  const keys = {
    order: (model) => model.order,
    name: (model) => model.name,
    runs: (model) => -runsOn(model, shown),
  };
  const target = Number(state.sort);
  const of = keys[state.sort] || ((model) => -model.stands[target]);
  const way = state.down ? -1 : 1;
  return found
    .map((model) => [of(model), model])
    .sort(([a, one], [b, other]) => (a < b ? -way : a > b ? way : one.order - other.order))
    .map(([, model]) => model);
}

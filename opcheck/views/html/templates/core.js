/* The findings, and what is chosen of them. */

const ALL = -1;
const sure = new Map(["high", "medium", "low"].map((level, i) => [level, i]));

for (const finding of data.findings)
  for (const key of Object.keys(data.tables))
    finding[key] = finding[key].map((place) => data.tables[key][place]);

const state = {
  target: data.targets.length === 1 ? 0 : ALL,
  family: "",
  module: "",
  verdicts: new Set(),
  text: "",
  sort: "verdict",
  down: false,
  open: null,
};

const calls = (count) => (count === 1 ? words.call : fill(words.calls, { count: figure(count) }));

const code = (place) => (place.file ? `${place.file}:${place.line}` : "");

/* The line of code and the module, as far as they are known. */
function where(place) {
  const module = place.module ? (code(place) ? `${words.in} ${place.module}` : place.module) : "";
  return [code(place), module].filter(Boolean).join(" ") || words.itself;
}

const under = (module, outer) =>
  outer === "" || module === outer || module.startsWith(`${outer}.`);

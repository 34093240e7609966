"use strict";
/* The data of the page, what is chosen in it, and how elements are made: text only, never HTML. */

const data = JSON.parse(document.getElementById("data").textContent);
const words = data.words;
const ALL = -1;
const rank = new Map(data.verdicts.map((verdict, i) => [verdict, i]));
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
const listeners = [];

/* Change what is chosen, and let every part of the page follow. */
function choose(change) {
  Object.assign(state, change);
  for (const listener of listeners) listener(change);
}

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === undefined || value === null) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

function fill(sentence, values) {
  return sentence.replace(/\{(\w+)\}/g, (_, name) => String(values[name]));
}

const numbers = new Intl.NumberFormat("en");
const figure = (count) => numbers.format(count);
/* What people call a name that the page works with. */
const called = (name) => words.names[name] ?? name;
const calls = (count) => (count === 1 ? words.call : fill(words.calls, { count: figure(count) }));

function sign(verdict) {
  return make("i", { class: `sign v-${verdict}`, "aria-hidden": "true" }, data.signs[rank.get(verdict)]);
}

const code = (place) => (place.file ? `${place.file}:${place.line}` : "");

/* The line of code and the module, as far as they are known. */
function where(place) {
  const module = place.module ? (code(place) ? `${words.in} ${place.module}` : place.module) : "";
  return [code(place), module].filter(Boolean).join(" ") || words.itself;
}

const under = (module, outer) =>
  outer === "" || module === outer || module.startsWith(`${outer}.`);

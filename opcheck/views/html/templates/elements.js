"use strict";
/* The data of the page, and how elements are made of it: text only, never HTML. */

const data = JSON.parse(document.getElementById("data").textContent);
const words = data.words;
const rank = new Map(data.verdicts.map((verdict, i) => [verdict, i]));

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

function sign(verdict) {
  return make("i", { class: `sign v-${verdict}`, "aria-hidden": "true" }, data.signs[rank.get(verdict)]);
}

function choice(label, values, chosen, choosing) {
  const options = values.map(([value, text]) => make("option", { value }, text));
  const element = make("select", { "aria-label": label, onchange: () => choosing(element.value) }, options);
  element.value = String(chosen);
  return element;
}

const section = (title, content) => make("section", {}, make("h4", {}, title), content);
const listOf = (items) => make("ul", {}, items.map((item) => make("li", {}, item)));

const listeners = [];

/* Change what is chosen, and let every part of the page follow. */
function choose(change) {
  Object.assign(state, change);
  for (const listener of listeners) listener(change);
}

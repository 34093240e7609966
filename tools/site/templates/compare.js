/* Targets side by side, each in any of its releases: the overloads that fare otherwise on some. */
"use strict";
{
  const form = document.getElementById("compare");
  const words = window.opcheckWords;
  const { ops, targets } = window.opcheckMatrix;
  const known = window.opcheckTargets;
  const output = document.querySelector("main output");
  const table = document.getElementById("table");
  const most = 500;
  for (const [name, [, releases]] of Object.entries(known)) {
    for (const release of ["", ...releases]) {
      document.getElementById("every-target").append(new Option("", release ? `${name}@${release}` : name));
    }
  }

  /* the letters of a target in a release, or nothing where there is none */
  function column(text) {
    const [name, release] = text.split("@");
    if (!targets[name]) return null;
    const [newest, older] = targets[name];
    if (!release || known[name][1].at(-1) === release) return newest;
    if (!(release in older)) return null;
    const letters = [...newest];
    let place = 0;
    for (const [, step, letter] of older[release].matchAll(/(\d*)([a-z.])/g)) {
      place += Number(step || 0);
      letters[place] = letter;
    }
    return letters.join("");
  }

  function cell(letter) {
    const made = document.createElement("td");
    made.className = letter === "." ? "" : `${letter} cell`;
    made.textContent = letter === "." ? "–" : words.verdicts[letter];
    return made;
  }

  function row(place, columns, names) {
    const made = document.createElement("tr");
    const head = document.createElement("th");
    const link = document.createElement("a");
    const [base, ...overload] = ops[place].split(".");
    const which = names.map((name) => name.split("@")[0]).join(",");
    link.href = `operators/${base.replace("::", ".")}.html?targets=${which}#${overload.join(".") || "default"}`;
    link.textContent = ops[place];
    head.append(link);
    made.append(head, ...columns.map((one) => cell(one[place])));
    return made;
  }

  window.opcheckFilters(form, ({ targets: text, named, alike }) => {
    const names = text.split(",").map((one) => one.trim()).filter(Boolean);
    const unknown = names.filter((name) => !column(name));
    const chosen = names.filter((name) => column(name));
    const columns = chosen.map(column);
    const some = [...ops.keys()].filter((place) =>
      ops[place].includes(named) && columns.some((one) => one[place] !== "."));
    const differ = some.filter((place) => new Set(columns.map((one) => one[place])).size > 1);
    const shown = alike || chosen.length < 2 ? some : differ;
    const head = document.createElement("tr");
    for (const name of ["", ...chosen]) {
      const made = document.createElement("th");
      if (name) {
        const link = document.createElement("a");
        link.href = `targets/${name.split("@")[0]}.html`;
        link.textContent = name;
        made.append(link);
      }
      head.append(made);
    }
    const top = document.createElement("thead");
    const rest = document.createElement("tbody");
    if (chosen.length) {
      top.append(head);
      rest.append(...shown.slice(0, most).map((place) => row(place, columns, chosen)));
    }
    table.replaceChildren(top, rest);
    const told = unknown.map((name) => words.unknown_target.replace("{target}", name));
    if (chosen.length) {
      told.push(words.differ.replace("{count}", differ.length).replace("{all}", some.length));
      if (shown.length > most) told.push(words.first.replace("{count}", most));
    }
    output.textContent = told.join(" · ");
  });
}

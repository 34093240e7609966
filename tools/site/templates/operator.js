/* The table of one operator, filtered: by targets, by a release, by a dtype. */
"use strict";
{
  const filters = document.getElementById("filters");
  filters.innerHTML = window.opcheckWords.filters;
  const tables = JSON.parse(document.getElementById("dtypes").textContent);
  const targets = window.opcheckTargets;
  const verdicts = window.opcheckWords.verdicts;
  const note = filters.querySelector("output");
  /* names of targets lead to their pages */
  for (const head of document.querySelectorAll(".grid th.targets")) {
    const links = head.textContent.split(" ").map((name) => {
      const link = document.createElement("a");
      link.href = `${document.body.dataset.root}targets/${name}.html`;
      link.textContent = name;
      return link;
    });
    head.replaceChildren(...links.flatMap((link) => [link, " "]));
  }
  const about = [...document.querySelectorAll(".group, .condition")].map((one) => ({
    one,
    names: [...one.querySelectorAll(".names")].flatMap((names) => names.lastChild.textContent.split(/[:, ]+/)),
  }));
  const rows = [...document.querySelectorAll(".grid tbody tr")].map((row) => ({
    row,
    names: [...row.querySelectorAll("th a")].map((link) => ({ link, name: link.textContent })),
    cells: [...row.querySelectorAll("td")].map((cell) => ({
      cell,
      letter: cell.className,
      html: cell.innerHTML,
      history: (cell.dataset.h ?? "").split(" ").filter(Boolean).map((one) => one.split("@")),
      dtypes: Object.fromEntries(tables[cell.dataset.d] ?? []),
    })),
  }));

  const order = (a, b) => a.localeCompare(b, "en", { numeric: true });
  const releases = [...new Set(rows.flatMap(({ names }) => names.flatMap(({ name }) => targets[name]?.[1] ?? [])))];
  for (const release of releases.sort(order).reverse()) filters.release.append(new Option(release, release));

  const named = (name, wanted) =>
    !wanted.length || wanted.some((one) => name === one || targets[name]?.[0] === one || name.startsWith(one));

  /* the verdict of a cell in a release of one of its targets */
  function letterIn({ letter, history }, release, every) {
    let found = letter;
    if (!release || !history.length) return found;
    const place = every.indexOf(release);
    for (const [since, one] of history) if (every.indexOf(since) <= place) found = one;
    return found;
  }

  function draw(one, letter) {
    if (!one.letter) return;
    one.cell.innerHTML = one.html;
    one.cell.className = letter;
    if (letter === one.letter) return;
    const link = one.cell.querySelector("a");
    if (letter === ".") one.cell.textContent = "–";
    else link.textContent = verdicts[letter];
    one.cell.querySelector("small")?.remove();
  }

  window.opcheckFilters(filters, ({ dtype, release, targets: text }) => {
    const wanted = text.split(",").map((one) => one.trim()).filter(Boolean);
    const shown = new Set();
    for (const { row, names, cells } of rows) {
      let every = [];
      for (const { link, name } of names) {
        const known = targets[name]?.[1] ?? [];
        link.hidden = !named(name, wanted) || (release !== "" && !known.includes(release));
        if (!link.hidden) {
          every = known;
          shown.add(name).add(targets[name][0]);
        }
      }
      row.hidden = names.every(({ link }) => link.hidden);
      for (const one of cells) {
        const letter = letterIn(one, release, every);
        draw(one, dtype && letter === one.letter && one.dtypes[dtype] ? one.dtypes[dtype] : letter);
      }
    }
    for (const { one, names } of about) {
      one.hidden = wanted.length > 0 && !names.some((name) => shown.has(name));
    }
    note.textContent = rows.every(({ row }) => row.hidden) ? window.opcheckWords.no_targets
      : dtype && release ? window.opcheckWords.of_newest : "";
  });
  filters.hidden = false;
}

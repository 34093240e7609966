/* What every page does: search while one types, light or dark, and the way to the other language. */
"use strict";
{
  const body = document.body;
  const said = window.opcheckWords;
  const fill = (text, values) => text.replace(/\{(\w+)\}/g, (place, name) => values[name] ?? place);

  /* the word beside a sign says it */
  for (const sign of document.querySelectorAll('i[class^="v-"]')) sign.ariaHidden = "true";

  /* an address keeps its filters and its place in the other language */
  const language = document.querySelector("a.language");
  language.addEventListener("click", () => {
    language.href = language.href.split(/[?#]/)[0] + location.search + location.hash;
  });

  const theme = document.getElementById("theme");
  const themes = Object.keys(said.themes);
  theme.hidden = false;
  function nameTheme() {
    theme.title = said.themes[document.documentElement.dataset.theme] ?? said.themes.auto;
  }
  theme.addEventListener("click", () => {
    const root = document.documentElement;
    root.dataset.theme = themes[(themes.indexOf(root.dataset.theme) + 1) % themes.length];
    nameTheme();
    try {
      localStorage.setItem("opcheck-theme", root.dataset.theme);
    } catch {
      /* not kept where nothing can be kept */
    }
  });
  nameTheme();

  /* names of operators in long lists lead to their pages, once they are looked at */
  for (const list of document.querySelectorAll(".operators")) {
    const linked = () => list.replaceChildren(...list.textContent.trim().split(/\s+/).flatMap((text) => {
      const [base] = text.split(".");
      const link = document.createElement("a");
      const page = base.includes("::") ? base.replace("::", ".") : `aten.${base}`;
      link.href = `${body.dataset.root}operators/${page}.html`;
      link.textContent = text;
      return [link, " "];
    }));
    list.closest("details").addEventListener("toggle", linked, { once: true });
  }

  /* every script has run */
  addEventListener("DOMContentLoaded", () => {
    document.documentElement.dataset.ready = "1";
  });

  /* a place inside of something folded is shown */
  function unfold() {
    const place = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!place) return;
    for (let one = place; one; one = one.parentElement) if (one.tagName === "DETAILS") one.open = true;
    place.scrollIntoView();
  }
  addEventListener("hashchange", unfold);
  unfold();
  addEventListener("beforeprint", () => {
    for (const one of document.querySelectorAll("details.condition")) one.open = true;
  });

  const form = document.getElementById("search");
  const field = form.q;
  const results = document.getElementById("results");
  let index;
  let chosen = 0;

  function loaded() {
    if (window.opcheckSearch) return Promise.resolve();
    return new Promise((done) => {
      const script = document.createElement("script");
      script.src = `${body.dataset.top}assets/search.js`;
      script.onload = done;
      document.head.append(script);
    });
  }

  const plain = (text) => text.toLowerCase().replace(/^torch\.ops\./, "").replace(/[^\p{L}\p{N}]+/gu, "");

  function prepare() {
    const found = window.opcheckSearch;
    index = {
      operators: found.operators.map((name, place) => ({ name, place, key: plain(name), bare: plain(name.split("::")[1]) })),
      targets: found.targets.map(([name, device, vendor, also]) => ({
        name, device, vendor, keys: [name, device, vendor, ...also.split(" ")].map(plain), key: plain(name),
      })),
      others: [
        ...found.vendors.map((name) => ["v", "vendors", name, name]),
        ...found.rules.map(([name, about]) => ["r", "rules", name, `${name} ${about}`]),
        ...found.advisories.map(([name, about]) => ["a", "advisories", name, `${name} ${about}`]),
        ...found.models.map(([slug, name]) => ["m", "models", slug, name]),
      ].map(([kind, folder, page, text]) => ({ kind, folder, page, text, key: plain(text) })),
    };
  }

  /* how well a name fits a word: the whole, its beginning, somewhere inside; 9 does not */
  function fit(key, word) {
    if (key === word) return 0;
    if (key.startsWith(word)) return 1 + Math.min(key.length - word.length, 50) / 100;
    if (key.includes(word)) return 2 + Math.min(key.length - word.length, 50) / 100;
    return 9;
  }

  function targetsOf(words) {
    const named = words.filter((word) => index.targets.some((one) => one.keys.includes(word) || (word.length > 2 && one.key.includes(word))));
    if (!named.length) return { named, targets: [] };
    const targets = index.targets.filter((one) =>
      named.every((word) => one.keys.includes(word) || (word.length > 2 && one.key.includes(word))));
    return { named, targets };
  }

  function operatorFor(text) {
    const word = plain(text.replace(/^(torch\.)?(nn\.)?(functional\.|F\.)?/i, ""));
    if (!word) return [];
    return index.operators
      .map((one) => ({ one, rank: Math.min(fit(one.bare, word), fit(one.key, word) + 0.1) }))
      .filter(({ rank }) => rank < 9)
      .sort((a, b) => a.rank - b.rank || a.one.name.localeCompare(b.one.name));
  }

  function answers(text) {
    const words = text.trim().split(/\s+/).map(plain).filter(Boolean);
    if (!words.length) return [];
    const found = [];
    const letters = window.opcheckSearch.letters;
    const { named, targets } = targetsOf(words);
    const rest = text.trim().split(/\s+/).filter((word) => !named.includes(plain(word))).join("");
    for (const { one } of rest ? operatorFor(rest).slice(0, targets.length ? 3 : 12) : []) {
      const page = `operators/${one.name.replace("::", ".")}.html`;
      for (const target of targets.slice(0, 6)) {
        found.push({ kind: "o", href: `${page}?targets=${target.name}`, text: `${one.name} · ${target.name}`, letter: letters[target.name][one.place] });
      }
      if (!targets.length) found.push({ kind: "o", href: page, text: one.name });
    }
    if (!rest || !found.length) {
      for (const one of targets.slice(0, 12)) found.push({ kind: "t", href: `targets/${one.name}.html`, text: `${one.name} · ${one.device}` });
    }
    const whole = plain(text);
    const others = index.others
      .map((one) => ({ one, rank: fit(one.key, whole) }))
      .filter(({ one, rank }) => rank < 9 || (words.length > 1 && words.every((word) => one.key.includes(word))))
      .sort((a, b) => a.rank - b.rank);
    for (const { one } of others.slice(0, 8)) {
      found.push({ kind: one.kind, href: `${one.folder}/${one.page}.html`, text: one.text });
    }
    return found;
  }

  function show() {
    const found = answers(field.value);
    chosen = 0;
    results.hidden = !field.value.trim();
    results.replaceChildren(...found.map((one, place) => {
      const link = document.createElement("a");
      link.href = body.dataset.root + one.href;
      link.setAttribute("aria-selected", place === 0);
      const kind = document.createElement("small");
      kind.textContent = one.letter && one.letter !== "." ? said.verdicts[one.letter] : said.kinds[one.kind];
      if (one.letter) kind.className = one.letter;
      link.append(one.text, kind);
      return link;
    }));
    if (!found.length) results.append(Object.assign(document.createElement("p"), { textContent: said.none }));
  }

  function choose(step) {
    const links = [...results.querySelectorAll("a")];
    if (!links.length) return;
    links[chosen]?.setAttribute("aria-selected", false);
    chosen = (chosen + step + links.length) % links.length;
    links[chosen].setAttribute("aria-selected", true);
    links[chosen].scrollIntoView({ block: "nearest" });
  }

  async function typed() {
    await loaded();
    index ?? prepare();
    show();
  }
  field.addEventListener("input", typed);
  field.addEventListener("focus", () => field.value && typed());
  field.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") choose(1);
    else if (event.key === "ArrowUp") choose(-1);
    else if (event.key === "Escape") results.hidden = true;
    else return;
    event.preventDefault();
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    await typed();
    const link = results.querySelectorAll("a")[chosen];
    if (link) location.href = link.href;
  });
  addEventListener("keydown", (event) => {
    if (event.key === "/" && !/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) {
      event.preventDefault();
      field.focus();
    }
  });
  addEventListener("click", (event) => {
    if (!form.contains(event.target)) results.hidden = true;
  });
  const asked = new URLSearchParams(location.search).get("q");
  if (asked) {
    field.value = asked;
    typed();
  }

  /* filters that stand in the address, which a button copies */
  window.opcheckFilters = (filters, changed) => {
    const asked = new URLSearchParams(location.search);
    const fields = [...filters.elements].filter((one) => one.name && one.type !== "button" && one.type !== "reset");
    for (const one of fields) {
      if (one.type === "checkbox") one.checked = asked.get(one.name) === "1";
      else if (asked.has(one.name)) one.value = asked.get(one.name);
    }
    const read = () => {
      const values = {};
      for (const one of fields) values[one.name] = one.type === "checkbox" ? (one.checked ? "1" : "") : one.value.trim();
      return values;
    };
    const update = () => {
      const values = read();
      const kept = Object.entries(values).filter(([, value]) => value);
      const query = kept.map(([name, value]) => `${name}=${encodeURIComponent(value).replace(/%2C/g, ",").replace(/%40/g, "@")}`).join("&");
      try {
        history.replaceState(null, "", (query ? `?${query}` : location.pathname) + location.hash);
      } catch {
        /* some browsers keep the addresses of files as they are */
      }
      changed(values);
    };
    filters.addEventListener("input", update);
    filters.addEventListener("reset", () => setTimeout(update));
    filters.addEventListener("submit", (event) => event.preventDefault());
    filters.share.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(location.href);
        filters.share.textContent = said.copied;
        setTimeout(() => (filters.share.textContent = said.share), 1500);
      } catch {
        prompt(said.share, location.href);
      }
    });
    changed(read());
  };
}

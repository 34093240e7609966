/* What every page with a list does: its address, its keys, and what is printed of the list. */

function writeHash(said) {
  const text = said.toString();
  try {
    history.replaceState(null, "", text ? `#${text}` : location.pathname + location.search);
  } catch {
    /* some viewers of local files do not allow it, and the page does without */
  }
}

function followKeys(search) {
  document.addEventListener("keydown", (event) => {
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName);
    if (event.key === "/" && !typing && !panel.open) {
      event.preventDefault();
      search.focus();
    } else if (event.key === "Escape" && document.activeElement === search) choose({ text: "" });
  });
}

function followPrinting(counted) {
  let counting = "";
  addEventListener("beforeprint", () => {
    counting = counted.textContent;
    if (list.rows.length > PRINTED)
      counted.textContent = fill(words.printed, { shown: figure(PRINTED), all: figure(list.rows.length) });
    drawSome(0, Math.min(PRINTED, list.rows.length));
  });
  addEventListener("afterprint", () => {
    counted.textContent = counting;
    drawRows();
  });
}

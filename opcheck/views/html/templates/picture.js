/* The model as an icicle: outer modules above, what they hold below, as wide as they have calls. */

const ROW = 30;
const DEEPEST = 14;
const THINNEST = 4;
const icicle = document.getElementById("icicle");
const trail = document.getElementById("trail");
const reading = document.getElementById("reading");
const picture = { tree: null, top: null, target: null };

function drawPicture() {
  if (picture.target !== state.target) {
    picture.tree = growTree(state.target);
    picture.target = state.target;
  }
  picture.top = nodeAt(picture.tree, state.module);
  drawTrail();
  if (!picture.tree.calls) {
    icicle.replaceChildren(make("p", { class: "faint" }, words.no_calls));
    return;
  }
  const boxes = layOut(picture.top, icicle.clientWidth, DEEPEST, THINNEST);
  icicle.style.height = `${ROW * (1 + Math.max(...boxes.map((box) => box.depth)))}px`;
  icicle.replaceChildren(...boxes.map(drawBox));
}

/* The module that is chosen, or the nearest one around it that the picture has. */
function nodeAt(tree, module) {
  let node = tree;
  for (;;) {
    const inner = node.children.find((child) => !child.op && under(module, child.path));
    if (!inner || module === "") return node;
    node = inner;
  }
}

/* A share of the picture's width: paper is narrower than the window that it was laid out for. */
const ofWidth = (size) => `${(100 * size) / icicle.clientWidth}%`;

function drawBox(box) {
  const { node, few } = box;
  const thin = box.width < 26;
  const name = few ? fill(words.more, { count: figure(few.length) }) : node.name;
  const total = few ? few.reduce((sum, child) => sum + child.calls, 0) : node.calls;
  const said = `${few || node.op ? name : node.path || name}: ${called(node.verdict)}, ${calls(total)}`;
  const element = make(
    "button",
    {
      type: "button",
      class: `${node.op ? "op " : ""}${thin ? "thin " : ""}f-${node.verdict}`,
      title: said,
      "aria-label": said,
      tabindex: box.depth ? -1 : 0,
      onclick: () => enter(box),
      onfocus: () => (reading.textContent = said),
      onmouseenter: () => (reading.textContent = said),
    },
    thin ? "" : brief(name),
  );
  Object.assign(element.style, {
    left: ofWidth(box.x),
    top: `${box.depth * ROW}px`,
    width: ofWidth(Math.max(box.width, 1)),
    height: `${ROW}px`,
  });
  element.box = box;
  return element;
}

function enter({ node, few }) {
  if (few) return choose({ module: node.parent ? node.parent.path : "" });
  if (node.op) return choose({ module: node.path, text: node.name });
  const out = node === picture.top && node.parent;
  return choose({ module: out ? node.parent.path : node.path });
}

function drawTrail() {
  const steps = [];
  for (let node = picture.top; node; node = node.parent) steps.unshift(node);
  const items = steps.map((node, i) =>
    i === steps.length - 1
      ? make("span", { "aria-current": "true" }, node.name)
      : make("button", { type: "button", class: "link", onclick: () => choose({ module: node.path }) }, node.name),
  );
  trail.replaceChildren(...items.flatMap((item, i) => (i ? [make("span", {}, "\u203a"), item] : [item])));
  trail.hidden = steps.length < 2;
}

/* Arrows move between boxes, Escape goes out. */
icicle.addEventListener("keydown", (event) => {
  const here = document.activeElement.box;
  if (!here) return;
  if (event.key === "Escape" && picture.top.parent) {
    choose({ module: picture.top.parent.path });
    icicle.querySelector("button").focus();
    return;
  }
  const next = neighbour(here, event.key);
  if (!next) return;
  event.preventDefault();
  for (const element of icicle.children) element.tabIndex = element === next ? 0 : -1;
  next.focus();
});

function neighbour(here, key) {
  const boxes = [...icicle.children].filter((element) => element.box);
  const middle = here.x + Math.min(here.width, 8) / 2;
  const level = { ArrowUp: here.depth - 1, ArrowDown: here.depth + 1 }[key];
  if (level !== undefined)
    return boxes.find(
      ({ box }) => box.depth === level && box.x <= middle + 0.5 && middle < box.x + box.width + 0.5,
    );
  const side = boxes.filter(({ box }) => box.depth === here.depth).sort((a, b) => a.box.x - b.box.x);
  const at = side.findIndex(({ box }) => box === here);
  return { ArrowLeft: side[at - 1], ArrowRight: side[at + 1] }[key];
}

new ResizeObserver(() => drawPicture()).observe(icicle);

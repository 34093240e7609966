/* The tree of modules, the operators that each calls below it, and where each stands in a picture. */

function branch(name, path) {
  return { name, path, op: false, calls: 0, verdict: "native", children: new Map() };
}

/* All calls of the chosen target; of all targets, each call once and at its worst. */
function growTree(target) {
  const root = branch(words.model, "");
  for (const finding of data.findings) {
    if (target !== ALL && finding.target !== target) continue;
    for (const place of finding.uses) addCalls(descend(root, place.module), finding, place);
  }
  settle(root);
  return shorten(root);
}

function descend(root, module) {
  let node = root;
  const parts = module === "" ? [] : module.startsWith("(") ? [module] : module.split(".");
  parts.forEach((part, i) => {
    if (!node.children.has(part))
      node.children.set(part, branch(part, parts.slice(0, i + 1).join(".")));
    node = node.children.get(part);
  });
  return node;
}

/* PyTorch's own need not say so. */
const brief = (op) => op.replace(/^aten::/, "");

function addCalls(node, finding, place) {
  const key = `${finding.op} `;  // a module has no space at its end
  if (!node.children.has(key))
    node.children.set(key, { ...branch(finding.op, node.path), op: true, counts: new Map() });
  const leaf = node.children.get(key);
  leaf.counts.set(finding.target, (leaf.counts.get(finding.target) || 0) + place.count);
  leaf.verdict = worse(leaf.verdict, finding.verdict);
}

const worse = (one, other) => (rank.get(one) <= rank.get(other) ? one : other);

/* Sum up from the leaves; without recursion, since names may be nested a thousand deep. */
function settle(root) {
  for (const node of everyNode(root).reverse()) {
    if (node.op) node.calls = Math.max(...node.counts.values());
    const children = [...node.children.values()];
    for (const child of children) {
      node.calls += child.calls;
      node.verdict = worse(node.verdict, child.verdict);
    }
    node.children = children.sort((a, b) => b.calls - a.calls || (a.name < b.name ? -1 : 1));
  }
}

function everyNode(root) {
  const nodes = [root];
  for (let i = 0; i < nodes.length; i++) nodes.push(...nodes[i].children.values());
  return nodes;
}

/* A module that only holds one other is drawn as one with it: ``model.layers.*``. */
function shorten(root) {
  for (const node of everyNode(root)) {
    if (node !== root)
      while (node.children.length === 1 && !node.children[0].op) {
        const only = node.children[0];
        node.name = `${node.name}.${only.name}`;
        node.path = only.path;
        node.children = only.children;
      }
    for (const child of node.children) child.parent = node;
  }
  return root;
}

/* Boxes of all that is wide enough to be seen; neighbours that are not share one. */
function layOut(top, width, deepest, thinnest) {
  const boxes = [];
  const waiting = [{ node: top, x: 0, width, depth: 0 }];
  while (waiting.length) {
    const box = waiting.shift();
    boxes.push(box);
    if (box.depth + 1 >= deepest || !box.node.calls) continue;
    let x = box.x;
    let few = null;
    for (const child of box.node.children) {
      const wide = (box.width * child.calls) / box.node.calls;
      if (wide >= thinnest) waiting.push({ node: child, x, width: wide, depth: box.depth + 1 });
      else {
        few ||= { few: [], node: { ...child, op: true }, x, width: 0, depth: box.depth + 1 };
        few.few.push(child);
        few.width += wide;
        few.node.verdict = worse(few.node.verdict, child.verdict);
      }
      x += wide;
    }
    if (few && few.width >= 1) boxes.push(few);
  }
  return boxes;
}

"""Calls in an exported program replaced, each by the calls that a function comes down to.

``ExportedProgram.run_decompositions`` would do it too, and more: it makes the whole program
functional, and takes batch norms and dropouts apart, into overloads that not every target has.
"""

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.fx import Graph, GraphModule, Node
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_leaves, tree_unflatten

from opcheck.errors import TraceError
from opcheck.model.trace import Composite
from opcheck.model.work import Replacement
from opcheck.rewrite.base import Rule
from opcheck.rewrite.call import Call
from opcheck.rewrite.candidates import candidates
from opcheck.rewrite.variants import functional
from opcheck.trace.dispatcher import facts, run_composite

if TYPE_CHECKING:
    from torch.export import ExportedProgram

# The imports from modules with an underscore, ``ExportedProgram._update`` and
# ``torch._C._AutoDispatchBelowAutograd`` are private; checked on 2.13.0.

_KEPT = ("stack_trace", "nn_module_stack", "source_fn_stack", "torch_fn")
"""What nodes say of where they come from."""


@dataclass(frozen=True, slots=True)
class Rewritten:
    """What came of a program."""

    program: "ExportedProgram"
    left: Mapping[str, str]
    """Overload that was to be replaced -> why some call of it stays, as one sentence."""


def rewritten(
    program: "ExportedProgram", replacements: Sequence[Replacement], extra: Iterable[Rule] = ()
) -> Rewritten:
    """Replace overloads in ``program``, and take composites on the way down to them apart.

    Args:
        program: is changed itself; its weights are not copied.
        replacements: what to replace by what.
        extra: rules of the user's.

    Raises:
        TraceError: a call cannot be replaced by what stands for it.
    """
    table = _Table(replacements, tuple(extra))
    signature = program.graph_signature
    for module in program.graph_module.modules():
        if not isinstance(module, GraphModule):
            continue
        # a composite that is taken apart shows the calls inside it
        while pending := [node for node in module.graph.nodes if table.stands_for(node)]:
            for node in pending:
                renamed = _replace(module.graph, node, table)
                if module is program.graph_module:  # a branch may use the same names
                    for old, new in renamed:
                        signature.replace_all_uses(old, new)
        module.graph.lint()
        module.recompile()
    return Rewritten(program._update(program.graph_module, signature), table.left)


class _Table:
    """What stands for the calls of a program."""

    def __init__(self, replacements: Sequence[Replacement], extra: Sequence[Rule]) -> None:
        self._rules = {one.replaces: one.rule for one in replacements}
        self._bases = {functional(one.replaces): one.rule for one in replacements}
        self._extra = extra
        self._kept: set[Node] = set()
        self.left: dict[str, str] = {}
        """Overload -> why some call of it stays."""

    def stands_for(self, node: Node) -> bool:
        """Whether a node is to be replaced."""
        if node in self._kept or not isinstance(node.target, torch._ops.OpOverload):
            return False
        return self.function(node) is not None

    def function(self, node: Node) -> Callable[..., Any] | None:
        """What to call for a node; None where the node stays."""
        func: Any = node.target
        rule = self._rules.get(func.name()) or self._bases.get(functional(func.name()))
        if rule is None:
            return self._composite(node)
        args, kwargs = _values(node)
        for candidate in candidates(func.name(), self._extra):
            if candidate.rule == rule:
                reason = candidate.refuses(Call(func, args, kwargs))
                if not reason:
                    return candidate.function
                self.left.setdefault(functional(func.name()) or func.name(), reason)
        self._kept.add(node)
        return None

    def keep(self, node: Node, reason: str) -> None:
        """Have a node stay."""
        self._kept.add(node)
        name = node.target.name()  # type: ignore[union-attr]  # an overload
        self.left.setdefault(functional(name) or name, reason)

    def _composite(self, node: Node) -> Callable[..., Any] | None:
        """The composite's own kernel, where it leads to an overload that has to go."""
        func: Any = node.target
        kind = facts(func).composite
        if kind is None or not _leads_to(node, self._bases):
            self._kept.add(node)
            return None
        return _Inside(func, kind)


@dataclass(frozen=True, slots=True)
class _Inside:
    """What PyTorch itself makes of a composite."""

    func: Any
    kind: Composite

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The same by the calls inside it."""
        return run_composite(self.func, self.kind, args, kwargs)


def _replace(graph: Graph, node: Node, table: _Table) -> Iterable[tuple[str, str]]:
    """Put the calls of a function in the place of a node; gives results' old and new names."""
    function = table.function(node)
    assert function is not None, "a node to replace"
    traced, given, decided = _traced(function, node)
    if decided:
        reason = f"its replacement decides by a size that the program leaves open ({decided})"
        table.keep(node, reason)
        return ()
    if any(item.target is node.target for item in traced.nodes):
        table.keep(node, "its replacement asks for the same again")
        return ()
    inner = [item for item in traced.nodes if item.op == "placeholder"]
    known: dict[Node, Any] = dict(zip(inner, given, strict=True))
    with graph.inserting_before(node):
        for item in traced.nodes:
            if item.op == "call_function":
                known[item] = made = graph.node_copy(item, lambda other: known[other])
                made.meta.update({key: node.meta[key] for key in _KEPT if key in node.meta})
            elif item.op not in ("placeholder", "output"):
                what = f"{node.target} would need a constant that the program has not"
                raise TraceError(what, "use --shim, or --diff for a Python file")
    (results,) = next(item for item in traced.nodes if item.op == "output").args
    return tuple(_rewire(graph, node, torch.fx.node.map_arg(results, lambda n: known[n])))


def _rewire(graph: Graph, node: Node, results: Any) -> Iterable[tuple[str, str]]:
    """Have everything that used a node use the results instead."""
    if isinstance(results, Node):
        node.replace_all_uses_with(results, propagate_meta=False)
        yield node.name, results.name
    else:
        for user in list(node.users):
            if user.target is not operator.getitem:
                raise TraceError(f"{node.target} gives several results at once", "use --shim")
            result = results[user.args[1]]
            user.replace_all_uses_with(result, propagate_meta=False)
            yield user.name, result.name
            graph.erase_node(user)
    graph.erase_node(node)


def _traced(function: Callable[..., Any], node: Node) -> tuple[Graph, list[Any], str]:
    """The calls that a function comes down to, and what stands for its placeholders.

    Last, what it has to be true of sizes for them, beyond what the program says; "" for nothing.
    """
    leaves, tree = tree_flatten((list(node.args), dict(node.kwargs)))
    places = [index for index, leaf in enumerate(leaves) if isinstance(leaf, Node)]

    def flat(*values: Any) -> Any:
        full = list(leaves)
        for index, value in zip(places, values, strict=True):
            full[index] = value
        args, kwargs = tree_unflatten(full, tree)
        return function(*args, **kwargs)

    values = [_value(leaves[index]) for index in places]
    fakes = [value for value in values if isinstance(value, FakeTensor)]
    shapes = fakes[0].fake_mode.shape_env
    before = len(shapes.guards) if shapes is not None else 0
    # before dispatch a composite would only be recorded as itself
    whole = not isinstance(function, _Inside)
    with fakes[0].fake_mode, torch.no_grad():
        made = make_fx(flat, tracing_mode="real", pre_dispatch=whole)(*values)
    made.graph.eliminate_dead_code()
    new = shapes.guards[before:] if shapes is not None else []
    if shapes is not None:
        del shapes.guards[before:]
    return made.graph, [leaves[index] for index in places], str(new[0].expr) if new else ""


# --- composites on the way -----------------------------------------------------------------------


def _leads_to(node: Node, wanted: Mapping[str, Any]) -> bool:
    """Whether a composite, called as a node calls it, runs as one of some overloads."""
    args, kwargs = _values(node)
    fakes = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, FakeTensor)]
    if not fakes:
        return False
    search = _Search(wanted)
    try:
        with fakes[0].fake_mode, torch._C._AutoDispatchBelowAutograd(), search:
            node.target(*args, **kwargs)  # type: ignore[operator]  # an overload
    except Exception:  # what cannot be run on shapes alone is left whole
        return False
    return search.found


def _values(node: Node) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a node, with tensors that have shapes alone."""
    args, kwargs = torch.fx.node.map_arg((node.args, dict(node.kwargs)), _value)
    return args, dict(kwargs)


def _value(node: Node) -> Any:
    return node.meta.get("val")


class _Search(TorchDispatchMode):
    """Runs composites by their parts, and looks for overloads among these."""

    def __init__(self, wanted: Mapping[str, Any]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # torch leaves it untyped
        self._wanted = wanted
        self.found = False

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """Run one call."""
        wanted = functional(func.name()) in self._wanted
        self.found = self.found or wanted
        kind: Composite | None = facts(func).composite
        if kind is None or wanted:
            return func(*args, **(kwargs or {}))
        with self:
            return run_composite(func, kind, args, kwargs or {})

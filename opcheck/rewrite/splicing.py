"""What a function comes down to for a call of an exported program, as nodes for its graph."""

from collections.abc import Callable, Collection, Mapping
from typing import Any

import torch
from msgspec import Struct
from torch._subclasses.fake_tensor import FakeTensor
from torch.fx import Graph, Node
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_leaves, tree_unflatten

from opcheck.errors import TraceError
from opcheck.lang.sentence import Sentence
from opcheck.model.trace import Composite
from opcheck.rewrite.variants import functional
from opcheck.trace.torch_internals.dispatcher import facts, run_composite

# The imports from modules with an underscore and ``torch._C._AutoDispatchBelowAutograd`` are
# private; checked on 2.13.0.

ORIGIN = ("stack_trace", "nn_module_stack", "source_fn_stack", "torch_fn")
"""What nodes say of where they come from."""


class Spliced(Struct, frozen=True):
    """The calls that a function comes down to."""

    graph: Graph
    """By themselves; its output is a list of results."""
    given: tuple[Any, ...]
    """Nodes that stand for its placeholders."""
    decided: str
    """What has to be true of sizes, beyond what the program says; "" for nothing."""
    shape: Any
    """How results were nested."""

    def copied_into(self, graph: Graph, source: Node) -> Any:
        """Put the calls into a graph, where it inserts; gives the results as they were nested.

        Raises:
            TraceError: they need a constant, which the graph has no place for.
        """
        inner = [item for item in self.graph.nodes if item.op == "placeholder"]
        known: dict[Node, Any] = dict(zip(inner, self.given, strict=True))
        for item in self.graph.nodes:
            if item.op == "call_function":
                known[item] = made = graph.node_copy(item, lambda other: known[other])
                made.meta.update({key: source.meta[key] for key in ORIGIN if key in source.meta})
            elif item.op not in ("placeholder", "output"):
                what = Sentence(
                    "{op} would need a constant that the program has not", op=source.target
                )
                raise TraceError(what, Sentence("use --shim, or --diff for a Python file"))
        return self.nested(lambda leaf: known[leaf])

    def nested(self, known: Callable[[Node], Any]) -> Any:
        """Results as the function nested them, by what stands for the nodes that give them."""
        (results,) = next(item for item in self.graph.nodes if item.op == "output").args
        leaves = [known(leaf) if isinstance(leaf, Node) else leaf for leaf in results]
        return tree_unflatten(leaves, self.shape)


def spliced(function: Callable[..., Any], node: Node, arguments: Any = None) -> Spliced:
    """Record what a function comes down to.

    Args:
        function: stands for the call of ``node``.
        node: of a program.
        arguments: positional and named ones, if not those of ``node``; nodes among them.
    """
    args, kwargs = arguments or (node.args, node.kwargs)
    leaves, tree = tree_flatten((list(args), dict(kwargs)))
    places = [index for index, leaf in enumerate(leaves) if isinstance(leaf, Node)]
    shape: Any = None

    def flat(*values: Any) -> Any:
        nonlocal shape
        full = list(leaves)
        for index, value in zip(places, values, strict=True):
            full[index] = value
        args, kwargs = tree_unflatten(full, tree)
        results, shape = tree_flatten(function(*args, **kwargs))
        return results

    values = [value_of(leaves[index]) for index in places]
    mode = _mode([*values, *tree_leaves(value_of(node))])
    shapes = mode.shape_env
    before = len(shapes.guards) if shapes is not None else 0
    # before dispatch a composite would only be recorded as itself
    whole = not isinstance(function, Inside)
    with mode, torch.no_grad():
        made = make_fx(flat, tracing_mode="real", pre_dispatch=whole)(*values)
    made.graph.eliminate_dead_code()
    new = shapes.guards[before:] if shapes is not None else []
    if shapes is not None:
        del shapes.guards[before:]
    decided = str(new[0].expr) if new else ""
    return Spliced(made.graph, tuple(leaves[index] for index in places), decided, shape)


def _mode(values: list[Any]) -> Any:
    return next(value.fake_mode for value in values if isinstance(value, FakeTensor))


class Inside(Struct, frozen=True):
    """What PyTorch itself makes of a composite."""

    func: Any
    kind: Composite

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The same by the calls inside it."""
        return run_composite(self.func, self.kind, args, kwargs)


def inside(node: Node, wanted: Collection[str]) -> Inside | None:
    """A composite's own kernel, where it runs as one of some overloads, called as a node does."""
    func: Any = node.target
    kind = facts(func).composite
    return None if kind is None or not _leads_to(node, wanted) else Inside(func, kind)


def _leads_to(node: Node, wanted: Collection[str]) -> bool:
    args, kwargs = values_of(node)
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


def values_of(node: Node) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a node, with tensors that have shapes alone."""
    args, kwargs = torch.fx.node.map_arg((node.args, dict(node.kwargs)), value_of)
    return args, dict(kwargs)


def value_of(node: Node) -> Any:
    """What a node gives, without values."""
    return node.meta.get("val")


class _Search(TorchDispatchMode):
    """Runs composites by their parts, and looks for overloads among these."""

    def __init__(self, wanted: Collection[str]) -> None:
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

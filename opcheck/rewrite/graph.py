"""Calls in an exported program replaced: by decompositions of exactly those overloads."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.fx import Node
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from opcheck.model.trace import Composite
from opcheck.model.work import Replacement
from opcheck.rewrite.base import Rule
from opcheck.rewrite.call import Call
from opcheck.rewrite.candidates import Candidate, candidates
from opcheck.rewrite.variants import functional
from opcheck.trace.dispatcher import facts, overload_named, run_composite

if TYPE_CHECKING:
    from torch.export import ExportedProgram

# run_decompositions and NotImplemented from a decomposition, which keeps the call, are those of
# torch 2.13; so are the imports from modules with an underscore.


@dataclass(frozen=True, slots=True)
class Rewritten:
    """What came of a program."""

    program: "ExportedProgram"
    left: Mapping[str, str]
    """Overload that was to be replaced -> why some call of it stays, as one sentence."""


def rewritten(
    program: "ExportedProgram", replacements: Sequence[Replacement], extra: Iterable[Rule] = ()
) -> Rewritten:
    """Replace overloads in ``program``, and decompose composites on the way down to them.

    Args:
        program: stays as it is.
        replacements: what to replace by what.
        extra: rules of the user's.
    """
    extra = tuple(extra)
    left: dict[str, str] = {}
    table: dict[Any, Callable[..., Any]] = {}
    wanted: set[Any] = set()
    for one in replacements:
        base = functional(one.replaces)
        found = [c for c in candidates(base, extra) if c.rule == one.rule] if base else []
        if not found:
            left[one.replaces] = f"{one.rule} stands for no overload that gives a new result"
            continue
        func = overload_named(base)
        wanted.add(func)
        table[func] = _Decomposition(func, found[0], one.replaces, left)
    for func in _on_the_way(program, wanted):
        table.setdefault(func, _Composite(func))
    return Rewritten(program.run_decompositions(table) if wanted else program, left)


class _Decomposition:
    """A candidate in the place of an overload, for the calls that it does not refuse."""

    def __init__(
        self, func: Any, candidate: Candidate, replaces: str, left: dict[str, str]
    ) -> None:
        self._func = func
        self._candidate = candidate
        self._replaces = replaces
        self._left = left
        self._inside = False

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The same result by other calls; ``NotImplemented`` keeps the call."""
        if self._inside:
            return NotImplemented
        reason = self._candidate.refuses(Call(self._func, args, kwargs))
        if reason:
            self._left.setdefault(self._replaces, reason)
            return NotImplemented
        self._inside = True
        try:
            return self._candidate.function(*args, **kwargs)
        finally:
            self._inside = False


class _Composite:
    """What PyTorch itself makes of a composite."""

    def __init__(self, func: Any) -> None:
        self._func = func

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The same by the calls inside it."""
        kind = facts(self._func).composite
        assert kind is not None, "a composite"
        return run_composite(self._func, kind, args, kwargs)


# --- composites on the way -----------------------------------------------------------------------


def _on_the_way(program: "ExportedProgram", wanted: set[Any]) -> list[Any]:
    """Composites that the program calls and that run as one of ``wanted``, outermost first."""
    found: dict[Any, None] = {}
    for module in program.graph_module.modules():
        for node in getattr(getattr(module, "graph", None), "nodes", ()):
            if _is_composite(node.target) and node.target not in wanted:
                found.update(dict.fromkeys(_path(node, wanted)))
    return list(found)


def _is_composite(target: Any) -> bool:
    return isinstance(target, torch._ops.OpOverload) and facts(target).composite is not None


def _path(node: Node, wanted: set[Any]) -> Sequence[Any]:
    """Composites between the call of a node and the first call of one of ``wanted`` inside it."""
    args, kwargs = torch.fx.node.map_arg((node.args, dict(node.kwargs)), _value)
    fakes = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, FakeTensor)]
    if not fakes:
        return ()
    search = _Search(wanted)
    try:
        with fakes[0].fake_mode, torch._C._AutoDispatchBelowAutograd(), search:
            node.target(*args, **kwargs)  # type: ignore[operator]  # an overload
    except Exception:  # what cannot be run on shapes alone is left whole
        return ()
    return search.found


def _value(node: Node) -> Any:
    return node.meta.get("val")


class _Search(TorchDispatchMode):
    """Runs composites by their parts, and notes those that lead to a wanted overload."""

    def __init__(self, wanted: set[Any]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # torch leaves it untyped
        self._wanted = {wanted_one.name() for wanted_one in wanted}
        self._open: list[Any] = []
        self.found: list[Any] = []

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """Run one call."""
        if functional(func.name()) in self._wanted:
            self.found += [outer for outer in self._open if outer not in self.found]
        kind: Composite | None = facts(func).composite
        if kind is None or functional(func.name()) in self._wanted:
            return func(*args, **(kwargs or {}))
        self._open.append(func)
        try:
            with self:
                return run_composite(func, kind, args, kwargs or {})
        finally:
            self._open.pop()

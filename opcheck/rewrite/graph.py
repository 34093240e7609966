"""Calls in an exported program replaced, each by the calls that a function comes down to.

``ExportedProgram.run_decompositions`` would do it too, and more: it makes the whole program
functional, and takes batch norms and dropouts apart, into overloads that not every target has.
"""

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch
from msgspec import Struct
from torch.fx import Graph, GraphModule, Node

from opcheck.errors import TraceError
from opcheck.lang.sentence import Sentence
from opcheck.model.jobs import Replacement
from opcheck.rewrite.base import Rule
from opcheck.rewrite.call import Call
from opcheck.rewrite.candidates import candidates
from opcheck.rewrite.parts.calls import NAME as ON_PARTS
from opcheck.rewrite.parts.program import on_parts
from opcheck.rewrite.splicing import inside, spliced, values_of
from opcheck.rewrite.variants import functional

if TYPE_CHECKING:
    from torch.export import ExportedProgram

# ``ExportedProgram._update`` is private; checked on 2.13.0.


class Rewritten(Struct, frozen=True):
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
    whole = [one.replaces for one in replacements if one.rule == ON_PARTS]
    left: dict[str, str] = {}
    if whole:
        changed = on_parts(program, whole)
        if isinstance(changed, str):
            left = dict.fromkeys(whole, changed)
        else:
            program = changed
    table = _Table([one for one in replacements if one.rule != ON_PARTS], tuple(extra), left)
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

    def __init__(
        self, replacements: Sequence[Replacement], extra: Sequence[Rule], left: dict[str, str]
    ) -> None:
        self._rules = {one.replaces: one.rule for one in replacements}
        self._bases = {functional(one.replaces): one.rule for one in replacements}
        self._extra = extra
        self._kept: set[Node] = set()
        self.left = left
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
        args, kwargs = values_of(node)
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
        found = inside(node, self._bases)
        if found is None:
            self._kept.add(node)
        return found


def _replace(graph: Graph, node: Node, table: _Table) -> Iterable[tuple[str, str]]:
    """Put the calls of a function in the place of a node; gives results' old and new names."""
    function = table.function(node)
    assert function is not None, "a node to replace"
    found = spliced(function, node)
    if found.decided:
        reason = Sentence(
            "its replacement decides by a size that the program leaves open ({text})",
            text=found.decided,
        )
        table.keep(node, reason)
        return ()
    if any(item.target is node.target for item in found.graph.nodes):
        table.keep(node, "its replacement asks for the same again")
        return ()
    with graph.inserting_before(node):
        results = found.copied_into(graph, node)
    return tuple(_rewire(graph, node, results))


def _rewire(graph: Graph, node: Node, results: Any) -> Iterable[tuple[str, str]]:
    """Have everything that used a node use the results instead."""
    if isinstance(results, Node):
        node.replace_all_uses_with(results, propagate_meta=False)
        yield node.name, results.name
    else:
        for user in list(node.users):
            if user.target is not operator.getitem:
                raise TraceError(
                    Sentence("{op} gives several results at once", op=node.target),
                    Sentence("use --shim"),
                )
            result = results[user.args[1]]
            user.replace_all_uses_with(result, propagate_meta=False)
            yield user.name, result.name
            graph.erase_node(user)
    graph.erase_node(node)

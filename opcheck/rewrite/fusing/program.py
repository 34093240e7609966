"""A program with calls fused: what was found, what was left and why, and what it comes to."""

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from torch import Tensor
from torch.fx import Graph, Node

from opcheck.lang.sentence import Sentence
from opcheck.model.fusing import LeftCalls
from opcheck.rewrite.fusing.base import Found, Fusion
from opcheck.rewrite.fusing.costs import cost
from opcheck.rewrite.fusing.folding import of_weights
from opcheck.rewrite.fusing.matching import Match, matches
from opcheck.rewrite.fusing.nodes import guards_of, is_check, writes
from opcheck.rewrite.splicing import spliced

if TYPE_CHECKING:
    from torch.export import ExportedProgram

# ``ExportedProgram._update`` is private; checked on 2.13.0.


_OPEN = Sentence("its kernel is called by a size that the program leaves open")
_CASTS = Sentence("it casts elsewhere than the ways to write it that are known")

FUSED = "opcheck_fused"
"""Mark of calls that came in the place of others."""
_ONCE = "opcheck_of_weights"
"""Mark of calls that depend on parameters alone."""


class Site(Struct, frozen=True):
    """One place where calls were fused."""

    fusion: Fusion
    match: Match
    module: str
    """Path of the module that made the calls."""
    before: tuple[int, int]
    """Calls, and the bytes that they move."""
    after: tuple[int, int]
    output: str
    """Name of the node whose value the fused call gives."""


class FusedProgram(Struct, frozen=True):
    """What came of a program."""

    program: "ExportedProgram"
    sites: tuple[Site, ...]
    left: tuple[LeftCalls, ...]
    of_weights: tuple[Node, ...] = ()
    """Calls that depend on parameters alone, in their order: they can be done once."""


def fused(
    program: "ExportedProgram",
    fusions: Sequence[Fusion],
    chip: str,
    modules: Collection[str] | None = None,
) -> FusedProgram:
    """Fuse calls of a program, wherever that moves fewer bytes.

    Args:
        program: is changed itself.
        fusions: what the target has kernels for, those to prefer first; their operators are known.
        chip: of the target.
        modules: paths of those whose own calls may be fused; None: all.
    """
    graph, signature = program.graph_module.graph, program.graph_signature
    sites: list[Site] = []
    left: list[LeftCalls] = []
    for fusion in fusions:
        for match in list(matches(fusion, graph)):
            reason = _elsewhere(match, modules) or _refusal(fusion, match, chip, graph)
            made = reason or _fused(program, fusion, match)
            if isinstance(made, Site):
                sites.append(made)
                signature.replace_all_uses(match.output.name, made.output)
            else:
                left.append(LeftCalls(fusion.name, module_of(match.output), made))
    graph.lint()
    program.graph_module.recompile()
    changed = program._update(program.graph_module, signature)
    constant = [node for node in graph.nodes if _ONCE in node.meta]
    return FusedProgram(changed, tuple(sites), tuple(left), tuple(constant))


def _elsewhere(match: Match, modules: Collection[str] | None) -> str:
    """Why calls are not asked for; "" where they are."""
    if modules is None or module_of(match.output) in modules:
        return ""
    return Sentence("it is not the whole forward of a class in your files; use --graph")


def _refusal(fusion: Fusion, match: Match, chip: str, graph: Graph) -> str:
    """Why the calls stay; "" where the kernel takes them and nothing else needs a part of them."""
    if not match.casts_alike:
        return _CASTS
    within = set(match.nodes)
    others = {
        user
        for node in match.nodes
        if node is not match.output
        for user in node.users
        if user not in within and not is_check(user)
    }
    if others:
        return Sentence("something else uses what is computed on the way")
    if any(map(writes, _from_to(graph, within, match.output))):
        return Sentence("a tensor is written to in between")
    tensors = {name: node.meta["val"] for name, node in match.tensors.items()}
    result = match.output.meta["val"]
    guards = guards_of(result)
    before = len(guards)
    reason = fusion.refuses(Found(tensors, match.numbers, result, chip))
    if not reason and len(guards) > before:
        reason = _OPEN
    del guards[before:]
    return reason


def _from_to(graph: Graph, within: Collection[Node], output: Node) -> Iterator[Node]:
    """The nodes from the first of some to the last."""
    begun = False
    for node in graph.nodes:
        begun = begun or node in within
        if begun:
            yield node
        if node is output:
            return


def _fused(program: "ExportedProgram", fusion: Fusion, match: Match) -> Site | Sentence:
    """Put the kernel's call in the place of the others; why not, where that brings nothing."""
    graph, output = program.graph_module.graph, match.output
    found = spliced(fusion.replace, output, ((), {**match.tensors, **match.numbers}))
    if found.decided:
        return _OPEN
    last = output.prev
    with graph.inserting_before(output):
        result = found.copied_into(graph, output)
    made = list(_since(last, output))
    once = of_weights(program, made)
    before, after = cost(match.nodes), cost(node for node in made if node not in once)
    reason = _no_gain(before, after)
    if not reason and not _alike(output.meta["val"], result.meta["val"]):
        reason = Sentence("the kernel's result has another shape or dtype")
    if reason:
        for node in reversed(made):
            graph.erase_node(node)
        return reason
    for node in made:
        node.meta[FUSED] = True
    for node in once:
        node.meta[_ONCE] = True
    output.replace_all_uses_with(result, propagate_meta=False)
    _erase(graph, match)
    return Site(fusion, match, module_of(output), before, after, result.name)


def _since(last: Node, end: Node) -> Iterator[Node]:
    node = last.next
    while node is not end:
        yield node
        node = node.next


def _no_gain(before: tuple[int, int], after: tuple[int, int]) -> Sentence | None:
    if after[1] < before[1]:
        return None
    return Sentence(
        "it would move {count} bytes, and as it is written {count_now}",
        count=f"{after[1]:,}",
        count_now=f"{before[1]:,}",
    )


def _alike(one: Any, other: Any) -> bool:
    both = isinstance(one, Tensor) and isinstance(other, Tensor)
    return both and one.shape == other.shape and one.dtype == other.dtype


def _erase(graph: Graph, match: Match) -> None:
    """Take out the calls that nothing uses any more, and what was asked of their results."""
    for node in sorted(match.nodes, reverse=True):
        for user in list(node.users):
            if is_check(user):
                graph.erase_node(user)
        if not node.users:
            graph.erase_node(node)


def module_of(node: Node) -> str:
    """Path of the innermost module that makes a call; "" for the model itself."""
    stack = node.meta.get("nn_module_stack") or {}
    path = str([*stack.values()][-1][0]) if stack else ""
    return path.removeprefix("L['self']").removeprefix(".").replace("['", ".").replace("']", "")

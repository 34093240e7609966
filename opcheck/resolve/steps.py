"""What was looked at for one call, in the order in which the dispatcher would."""

from collections.abc import Iterator

from opcheck.model.trace import Node
from opcheck.resolve.choices import chosen
from opcheck.resolve.collectives import NAMESPACE as COLLECTIVES
from opcheck.resolve.fate import PLAIN
from opcheck.resolve.mixed import mixes_host
from opcheck.resolve.version import absent_from
from opcheck.resolve.walk import Walk, listed, only_on_host

DEEPEST = 3
"""How far the worst of what a call runs as is followed."""


def steps(walk: Walk, node: Node) -> tuple[str, ...]:
    """One short line for each question: kernel, branch, composite, host fallback, conditions."""
    return tuple(_steps(walk, node, DEEPEST))


def _steps(walk: Walk, node: Node, depth: int) -> Iterator[str]:
    matrix, op = walk.matrix, str(node.op)
    if mixes_host(node, inside=matrix.takes_apart(op, node.composite)):
        yield "tensors: one is in host memory, where the others are on the device"
        return
    compiled = bool(matrix.fallback.elsewhere)
    what = "converter" if compiled else "kernel"
    entry = matrix.entries.get(op)
    if entry is None:
        yield f"{what}: none is registered for {op}"
        yield from _without_kernel(walk, node, depth)
    elif node.composite and only_on_host(node) and not compiled:
        yield f"{what}: not asked, for all tensors of this call are in host memory"
        yield from _without_kernel(walk, node, depth)
    else:
        how = f" ({', '.join(entry.implementation)})" if entry.implementation else ""
        yield f"{what}: registered for {op}{how}"
    yield _conditions(walk, node)


def _without_kernel(walk: Walk, node: Node, depth: int) -> Iterator[str]:
    """What comes after the question for a kernel of the target's own."""
    matrix = walk.matrix
    way = None if only_on_host(node) else chosen(node, walk)
    if way is not None:
        yield f"branch: PyTorch looks at the device here: {way.text}"
        return
    if absent := absent_from(matrix, node.op):
        yield f"torch: {absent}"
        return
    if node.composite in matrix.inherits:
        yield from _composite(walk, node, depth)
        return
    has = "PyTorch's is not one that this target inherits" if node.composite else "PyTorch has none"
    yield f"composite: {has}"
    if node.op.namespace == COLLECTIVES:
        yield "backend: PyTorch hands a collective to the target's backend of torch.distributed"
        return
    yield f"host: {_fallback(walk, node)}"


def _composite(walk: Walk, node: Node, depth: int) -> Iterator[str]:
    """What it runs as, and the same questions for the worst of that."""
    parts = walk.parts(node)
    if node.children is None:
        yield "composite: what it runs as could not be recorded"
    elif not parts:
        yield "composite: it asks the device for nothing"
    else:
        yield f"composite: runs as {listed(sorted({str(part.op) for part, _, _ in parts}))}"
        worst, fate, _ = max(parts, key=lambda part: part[1].severity)
        fine = fate.verdict.on_device and fate.code in PLAIN
        if depth and not fine and worst is not node:
            yield from (f"{worst.op} > {step}" for step in _steps(walk, worst, depth - 1))


def _fallback(walk: Walk, node: Node) -> str:
    fallback = walk.matrix.fallback
    on_cpu = walk.matrix.extensions.get(str(node.op), node.cpu_kernel)
    if fallback.elsewhere:
        return f"what has no converter is left to PyTorch, {fallback.elsewhere}"
    if fallback.to_cpu:
        return "a CPU kernel takes it" if on_cpu else "there is no CPU kernel to fall back to"
    if fallback.enable and on_cpu:
        return f"the target falls back with {fallback.enable} alone"
    return "the target has no fallback"


def _conditions(walk: Walk, node: Node) -> str:
    """How many conditions are known for the operator, and which of them hold for the call."""
    known = len(walk.matrix.conditions_for(str(node.op)))
    if not known:
        return "conditions: none is known for it"
    holding = [condition.code for condition, _ in walk.bitten(node, walk.plain(node))]
    if not holding:
        return f"conditions: none of {known} holds for this call"
    return f"conditions: of {known} known, this call meets {', '.join(sorted(holding))}"

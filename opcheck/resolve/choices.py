"""Which way PyTorch branches on a target's device, where a trace shows PrivateUse1's way."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from opcheck.model.matrix import Choice, SupportMatrix
from opcheck.model.names import OpName
from opcheck.model.trace import Node
from opcheck.model.verdict import Evidence, Verdict
from opcheck.resolve import fate as codes
from opcheck.resolve.conditions import bite
from opcheck.resolve.fate import Fate
from opcheck.resolve.version import absent_from

Ask = Callable[[Node], Fate]
"""Gives the fate of one call on the target."""


def chosen(node: Node, matrix: SupportMatrix, ask: Ask) -> Fate | None:
    """Give the fate of a call that goes another way on this device; None where it does not.

    A call of which only the operator is known, as in tables, may go any of the ways: the worst
    counts, and None means that one of them is the recorded one.
    """
    ways = list(_ways(node, matrix, ask))
    if not ways or None in ways:
        return None
    return max((way for way in ways if way is not None), key=lambda way: way.severity)


def _ways(node: Node, matrix: SupportMatrix, ask: Ask) -> Iterator[Fate | None]:
    """Fates of the ways that the call may go; None for the recorded one."""
    for choice in matrix.choices.get(str(node.op), ()):
        known = bool(node.arguments)
        if known and any(bite(test, node) is None for test in choice.tests):
            continue
        way = None if choice.asks is None else _taken(choice, choice.asks, node, matrix, ask)
        if way is None and choice.asks is not None:
            continue
        yield way
        if known or not (choice.tests or choice.preferred):
            return


def _taken(
    choice: Choice, asks: tuple[str, ...], node: Node, matrix: SupportMatrix, ask: Ask
) -> Fate | None:
    """The fate along one way; None where PyTorch passes it over on this target."""
    calls = [_call(choice, op, node) for op in asks]
    if any(absent_from(matrix, call.op) for call in calls):
        return None
    fates = [ask(call) for call in calls]
    if choice.preferred and not all(fate.verdict.on_device for fate in fates):
        return None
    worst = max(fates, key=lambda fate: fate.severity, default=None)
    device = matrix.target.device_type
    names = ", ".join(asks)
    if worst is not None and not (worst.verdict.on_device and worst.code in codes.PLAIN):
        return replace(
            worst,
            text=f"on {device} it runs as {names}, since {choice.text}: {worst.text}",
            confidence=max(choice.confidence, worst.confidence, key=lambda c: c.rank),
            evidence=_evidence(choice, fates),
            about=worst.about or asks[fates.index(worst)],
        )
    runs = f"runs as {names}, native" if asks else "asks the device for nothing"
    return Fate(
        Verdict.DECOMPOSED,
        codes.CHOSEN if asks else codes.NO_DEVICE_WORK,
        f"on {device} it {runs}: {choice.text}",
        choice.confidence,
        _evidence(choice, fates),
        frozenset(asks),
    )


def _call(choice: Choice, op: str, node: Node) -> Node:
    """The call of ``op`` that stands in place of ``node``, its arguments under the names there."""
    renamed = tuple((choice.renames.get(name, name), value) for name, value in node.arguments)
    return Node(OpName.parse(op), renamed, node.outputs, cpu_kernel=choice.host)


def _evidence(choice: Choice, fates: list[Fate]) -> tuple[Evidence, ...]:
    return (*choice.evidence, *(found for fate in fates for found in fate.evidence))

"""Which way PyTorch branches on a target's device, where a trace shows PrivateUse1's way."""

from collections.abc import Iterator, Mapping
from typing import Protocol

from msgspec.structs import replace

from opcheck.lang.sentence import Sentence, sentences
from opcheck.model.matrix import Choice, SupportMatrix
from opcheck.model.trace import Node, OpName
from opcheck.model.verdict import Evidence, Verdict
from opcheck.resolve import resolution as codes
from opcheck.resolve.kernels import absent_from
from opcheck.resolve.resolution import Resolution

_WANTED = ("gradient", "wanted")
"""The mode of a call that autograd follows."""
_SINCE = "{said}; on {device} {said_why}"


class Target(Protocol):
    """What answers for a call on the target."""

    matrix: SupportMatrix

    def unseen(self, call: Node) -> Resolution:
        """The resolution of a call that is in no trace."""

    def recast(self, node: Node, casts: Mapping[str, str]) -> Resolution | None:
        """The resolution of a composite whose tensors have other dtypes than in the trace."""


def chosen(node: Node, target: Target, *, apart: bool = False) -> Resolution | None:
    """Give the resolution of a call that goes another way on this device; None where it does not.

    A call of which only the operator is known, as in tables, may go any of the ways: the worst
    counts, and None means that one of them is the recorded one. ``apart``: autograd has taken the
    call apart, so that what it runs as is recorded beside it, and its gradient counts as well.
    """
    ways = list(_ways(node, target, apart=apart))
    if not ways or None in ways:
        return None
    taken = [way for way in ways if way is not None]
    worst = max(taken, key=lambda way: way.severity)
    if node.arguments:
        return worst
    return replace(worst, leaves=frozenset[str]().union(*(way.leaves for way in taken)))


def _ways(node: Node, target: Target, *, apart: bool) -> Iterator[Resolution | None]:
    """Resolutions of the ways that the call may go; None for the recorded one."""
    for choice in target.matrix.choices.get(str(node.op), ()):
        known = bool(node.arguments)
        if known and any(predicate.match(node) is None for predicate in choice.predicates):
            continue
        if choice.asks is None:
            way = _cast(choice, node, target) if choice.casts and not apart else None
        else:
            wanted = apart and _WANTED in node.modes
            asks = (*choice.asks, *choice.backward) if wanted else choice.asks
            way = _taken(choice, asks, node, target)
            if way is None:
                continue
        yield way
        if known or not (choice.predicates or choice.preferred):
            return


def _cast(choice: Choice, node: Node, target: Target) -> Resolution | None:
    """The resolution as recorded, but for dtypes; None of a call that is no composite there."""
    resolution = target.recast(node, choice.casts)
    if resolution is None:
        return None
    device = target.matrix.target.device_type
    text: str = Sentence(_SINCE, said=resolution.text, device=device, said_why=choice.text)
    return replace(
        resolution,
        text=resolution.text if _gives(resolution.text, choice) else text,
        confidence=max(choice.confidence, resolution.confidence, key=lambda c: c.rank),
        evidence=tuple(dict.fromkeys((*resolution.evidence, *choice.evidence))),
    )


def _gives(text: str, choice: Choice) -> bool:
    """Whether a reason gives what decides there already, as that of something inside of it."""
    return any(
        part.template == _SINCE and part.arguments["said_why"] == choice.text
        for part in sentences(text)
    )


def _taken(choice: Choice, asks: tuple[str, ...], node: Node, target: Target) -> Resolution | None:
    """The resolution along one way; None where PyTorch passes it over on this target."""
    matrix = target.matrix
    calls = [_call(choice, op, node) for op in asks]
    if any(absent_from(matrix, call.op) for call in calls):
        return None
    resolutions = [target.unseen(call) for call in calls]
    if choice.preferred and not all(resolution.verdict.on_device for resolution in resolutions):
        return None
    worst = max(resolutions, key=lambda resolution: resolution.severity, default=None)
    device = matrix.target.device_type
    leaves = tuple(
        dict.fromkeys(
            leaf for pair in zip(asks, resolutions, strict=True) for leaf in _leaves(*pair)
        )
    )
    if worst is not None and not (worst.verdict.on_device and worst.code in codes.PLAIN):
        decides = asks[resolutions.index(worst)]
        return replace(
            worst,
            verdict=Verdict.DECOMPOSED if worst.verdict.on_device else worst.verdict,
            text=_troubled(choice, decides, device, worst.text),
            confidence=max(choice.confidence, worst.confidence, key=lambda c: c.rank),
            evidence=_evidence(choice, resolutions),
            leaves=frozenset(leaves) if worst.verdict.on_device else worst.leaves,
            about=worst.about or decides,
            names_part=False,
        )  # fmt: skip
    if asks:
        code, text = codes.CHOSEN, Sentence(
            "on {device} it runs as {list}, native: {said}",
            device=device, list=", ".join(leaves), said=choice.text,
        )  # fmt: skip
    else:
        code, text = codes.NO_DEVICE_WORK, Sentence(
            "on {device} it asks the device for nothing: {said}", device=device, said=choice.text
        )  # fmt: skip
    return Resolution(
        Verdict.DECOMPOSED,
        code,
        text,
        choice.confidence,
        _evidence(choice, resolutions),
        frozenset(leaves),
    )


def _troubled(choice: Choice, op: str, device: str, why: str) -> str:
    """Why a call does not run well that way: ``op`` is what it asks for, or its gradient."""
    if op in choice.backward:
        return Sentence(
            "on {device} its gradient is {op}, since {said}: {said_why}",
            device=device, op=op, said=choice.text, said_why=why,
        )  # fmt: skip
    return Sentence(
        "on {device} it runs as {list}, since {said}: {said_why}",
        device=device, list=", ".join(choice.asks or ()), said=choice.text, said_why=why,
    )  # fmt: skip


def _leaves(op: str, resolution: Resolution) -> list[str]:
    """The kernels that one of the calls ends in."""
    return sorted(resolution.leaves) or ([] if resolution.code == codes.NO_DEVICE_WORK else [op])


def _call(choice: Choice, op: str, node: Node) -> Node:
    """The call of ``op`` that stands in place of ``node``, its arguments under the names there."""
    renamed = tuple((choice.renames.get(name, name), value) for name, value in node.arguments)
    return Node(OpName.parse(op), renamed, node.outputs, cpu_kernel=False, modes=node.modes)


def _evidence(choice: Choice, resolutions: list[Resolution]) -> tuple[Evidence, ...]:
    return (
        *choice.evidence,
        *(found for resolution in resolutions for found in resolution.evidence),
    )

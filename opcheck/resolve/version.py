"""Whether the target's torch has an overload that another torch recorded, and what if not."""

from opcheck.lang.sentence import Sentence
from opcheck.model.matrix import Earlier, SupportMatrix
from opcheck.model.names import OpName


def absent_from(matrix: SupportMatrix, op: OpName) -> str:
    """Say why the target's torch lacks the overload; "" where it has it or nobody knows."""
    seen = matrix.history.get(str(op))
    if seen is None or op.namespace != "aten":
        return ""
    first, last = seen
    torch = matrix.target.torch
    if number(torch) < number(first):
        return Sentence(
            "torch {version} on the target does not have {op} yet (first in {first}): "
            "there the same code takes another way",
            version=torch, op=str(op), first=first,
        )  # fmt: skip
    if number(torch) > number(last):
        text = "torch {version} on the target no longer has {op} (last in {last})"
        return Sentence(text, version=torch, op=str(op), last=last)
    return ""


def earlier(matrix: SupportMatrix, op: OpName) -> Earlier | None:
    """What the target's torch calls in place of an overload that it does not have yet."""
    seen = matrix.history.get(str(op))
    older = seen is not None and number(matrix.target.torch) < number(seen[0])
    return matrix.earlier.get(str(op)) if older else None


def torch_differs(running: str, matrix: SupportMatrix, done: str) -> str:
    """Say that what was ``done`` rests on another torch than the target's; "" where it does not."""
    if number(running) == number(matrix.target.torch):
        return ""
    return Sentence(
        f"{done} with torch {{version}}, while the target runs torch {{wanted}}: "
        "composites may be taken apart differently there",
        version=running, wanted=matrix.target.torch,
    )  # fmt: skip


def number(version: str) -> tuple[int, int]:
    """``2.13`` or ``2.13.0`` as (2, 13)."""
    major, minor = version.split(".")[:2]
    return int(major), int(minor)

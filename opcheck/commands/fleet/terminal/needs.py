"""Needs of a step that one sentence says, told together."""

from collections.abc import Iterable

from msgspec import Struct

from opcheck.commands.fleet.answers.values import Need
from opcheck.commands.fleet.values import Cause
from opcheck.views.terminal.groups import Sentence, sentence, shared

FEW = 3
"""So many operators of one sentence are told each by itself."""
MOST = 6
"""So many are named of more."""


class Alike(Struct, frozen=True):
    """Operators that one thing keeps off a target."""

    ops: tuple[str, ...]
    """Each once, in the order of the step."""
    cause: Cause
    code: str
    text: str
    """The most exact sentence that is true of all of them."""

    def lines(self, *, every: bool = False) -> tuple[tuple[str, ...], ...]:
        """The operators that are named, as they share lines; ``every``: leave none out."""
        if len(self.ops) <= FEW:
            return tuple((op,) for op in self.ops)
        return (self.ops if every else self.ops[:MOST],)

    def unnamed(self, *, every: bool = False) -> int:
        """How many are left out."""
        return len(self.ops) - sum(map(len, self.lines(every=every)))


def alike(needs: Iterable[Need]) -> tuple[Alike, ...]:
    """Needs put together that differ only in the operator or the tensor, in their order."""
    found: dict[tuple[Cause, str, str], list[tuple[str, Sentence]]] = {}
    for need in needs:
        said = sentence(need.text, need.op)
        found.setdefault((need.cause, need.code, said.of_any), []).append((need.op, said))
    return tuple(
        Alike(
            tuple(dict.fromkeys(op for op, _ in group)),
            cause,
            code,
            shared([said for _, said in group]),
        )
        for (cause, code, _), group in found.items()
    )

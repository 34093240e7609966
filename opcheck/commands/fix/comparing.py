"""Differences held against what the labels of suggestions promise. Pure."""

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from opcheck.commands.fix.writing_down import Way
from opcheck.model.emulation import Difference
from opcheck.model.plan import Compared, Label
from opcheck.model.work import Tolerance


class Limits(Struct, frozen=True):
    """How far each result and each gradient may be off."""

    promised: bool
    """Whether there is a figure; there is none where something else is computed."""
    moved: Mapping[str, float]
    """How far the unchanged model's move when what was replaced is off by what is stated."""
    own: Mapping[str, float] = field(default_factory=dict)
    """How far the device's are off without any change."""

    def allowed(self, name: str) -> float | None:
        """The largest difference of one; None: any figure."""
        if not self.promised:
            return None
        return self.moved.get(name, 0.0) + self.own.get(name, 0.0)

    def beside(self, plain: Iterable[Difference]) -> "Limits":
        """The same for a device that is off by so much without any change."""
        return replace(self, own={d.name: d.largest for d in plain if d.largest})

    def hold(self, found: Iterable[Difference]) -> bool:
        """Whether every one is as near as it is allowed to be."""
        return all(self._excess(difference) <= 1.0 for difference in found)

    def compared(self, results: int, found: Sequence[Difference]) -> Compared:
        """What came of comparing; ``found`` may hold one result several times."""
        worst = max(found, key=lambda d: (self._excess(d), d.largest or 0.0), default=None)
        if worst is None:
            return Compared(results)
        return Compared(
            results, worst.name, worst.dtype, worst.largest, self.allowed(worst.name),
            self.hold(found),
        )  # fmt: skip

    def _excess(self, found: Difference) -> float:
        """The difference in units of what is allowed."""
        if found.largest is None:
            return float("inf")
        allowed = self.allowed(found.name)
        if not found.largest or allowed is None:
            return 0.0
        return found.largest / allowed if allowed else float("inf")


def tolerances(ways: Iterable[Way]) -> Mapping[str, Tolerance]:
    """How far each replaced overload may be off; empty where something else is computed."""
    found: dict[str, Tolerance] = {}
    for op, way in ways:
        if way.label is Label.APPROXIMATE:
            return {}
        known = found.get(way.replaces, Tolerance(0.0, ()))
        calls = dict.fromkeys((*known.calls, op))
        found[way.replaces] = Tolerance(max(known.eps, way.tolerance), tuple(calls))
    return found


def named_as(found: Sequence[Difference], names: Iterable[str]) -> tuple[Difference, ...]:
    """Give results the names that the unchanged model's have: a saved graph's are in its order."""
    names = tuple(names)
    if len(names) != len(found):
        return tuple(found)
    return tuple(replace(d, name=name) for d, name in zip(found, names, strict=True))

"""How PyTorch branches on the devices that no trace can name, for one target."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from opcheck.db.conditions import read_test
from opcheck.db.evidence import Citations
from opcheck.db.lazy import LazyMapping
from opcheck.model.matrix import Choice
from opcheck.model.target import Target
from opcheck.model.verdict import Confidence, Method


def choices_of(target: Target, said: Mapping[str, Any]) -> Mapping[str, tuple[Choice, ...]]:
    """The ways of each overload that hold on the target's device type, in order."""
    cited = Citations(said["sources"])
    rows = {
        op: held
        for op, listed in said["choices"].items()
        if (held := [row for row in listed if _holds(row, target)])
    }
    return LazyMapping(rows, partial(_choices, cited))


def _holds(row: Mapping[str, Any], target: Target) -> bool:
    vendors = row.get("vendors")
    return target.device_type in row["devices"] and (vendors is None or target.vendor in vendors)


def _choices(cited: Citations, op: str, rows: list[Mapping[str, Any]]) -> tuple[Choice, ...]:
    return tuple(_choice(row, cited) for row in rows)


def _choice(row: Mapping[str, Any], cited: Citations) -> Choice:
    return Choice(
        asks=tuple(row["asks"]) if "asks" in row else None,
        tests=tuple(read_test(test) for test in row.get("when", ())),
        preferred=row.get("preferred", False),
        text=row["text"],
        confidence=Confidence(row.get("confidence", Confidence.MEDIUM)),
        evidence=cited.all(row["at"], Method.INFERRED),
        renames=row.get("renames", {}),
        host=row.get("host", False),
    )

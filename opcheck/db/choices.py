"""How PyTorch branches on the devices that no trace can name, for one target."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from opcheck.db.evidence import Citations
from opcheck.db.lazy import LateMapping, LazyMapping
from opcheck.db.predicates import read_predicate
from opcheck.db.tables import OperatorFacts, Tables
from opcheck.db.versions import version_key
from opcheck.model.matrix import Choice, Inherited
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


def inherited(tables: Tables, torch_version: str) -> Mapping[str, Inherited]:
    """What PyTorch has for each overload, by the tables that were recorded with one torch."""
    return LateMapping(partial(_inherited, tables, torch_version))


def _inherited(tables: Tables, torch_version: str) -> Mapping[str, Inherited]:
    branches = tables.composites(torch_version, "")

    def read(op: str, facts: OperatorFacts) -> Inherited:
        ways = branches.get(op)
        parts = None if ways is None else tuple(sorted({part for way in ways for part in way}))
        return Inherited(facts.composite, facts.cpu_kernel, parts)

    return LazyMapping(tables.operators(torch_version), read)


def _holds(row: Mapping[str, Any], target: Target) -> bool:
    vendors = row.get("vendors")
    of_target = target.device_type in row["devices"]
    named = vendors is None or target.vendor in vendors
    return of_target and named and version_key(target.torch) >= version_key(row.get("since", "0"))


def _choices(cited: Citations, op: str, rows: list[Mapping[str, Any]]) -> tuple[Choice, ...]:
    return tuple(_choice(row, cited) for row in rows)


def _choice(row: Mapping[str, Any], cited: Citations) -> Choice:
    return Choice(
        asks=tuple(row["asks"]) if "asks" in row else None,
        predicates=tuple(map(read_predicate, row.get("when", ()))),
        preferred=row.get("preferred", False),
        text=row["text"],
        confidence=Confidence(row.get("confidence", Confidence.MEDIUM)),
        evidence=cited.all(row["at"], Method.INFERRED),
        renames=row.get("renames", {}),
        casts=row.get("casts", {}),
    )

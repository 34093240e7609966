"""What a vendor's backend of ``torch.distributed`` does with each ``c10d`` operator."""

from collections.abc import Mapping
from typing import Any

from opcheck.db.reading import Citations, LazyMapping
from opcheck.model.matrix import Collective, Reduction, Transfers
from opcheck.model.target import Target
from opcheck.model.verdict import Evidence, Method


def collectives_of(target: Target, said: Mapping[str, Any]) -> Mapping[str, Collective]:
    """By ``c10d`` operator; nothing of those that nobody has said anything about."""
    for backend in said["backends"]:
        if _is_of(backend, target):
            return _of(backend, target, said)
    return {}


def _sent(name: str, method: str, target: Target, said: Mapping[str, Any]) -> Transfers | None:
    """The dtypes that a method of a backend sends; None where nobody has said."""
    for table in said["dtypes"].get(name, ()):
        if _holds_for(table, method, target):
            evidence = Citations(said["sources"]).all(table["at"], Method.REGISTERED)
            return Transfers(frozenset(table["takes"]), frozenset(table["unclear"]), evidence)
    return None


def _reductions(
    name: str, method: str, target: Target, said: Mapping[str, Any]
) -> tuple[Reduction, ...]:
    """What is known of the reductions of a backend's method; what it lacks goes first."""
    cited = Citations(said["sources"])
    rows = [
        Reduction(
            has="has" in row,
            names=frozenset(row["has"] if "has" in row else row["lacks"]),
            dtypes=frozenset(row.get("dtypes", ())),
            evidence=cited.all(row["at"], Method(row.get("method", Method.REGISTERED))),
        )
        for row in said["reductions"]
        if row["backend"] == name and _holds_for(row, method, target)
    ]
    return tuple(sorted(rows, key=lambda row: row.has))


def _holds_for(row: Mapping[str, Any], method: str, target: Target) -> bool:
    """Whether a row is about a method of a target's backend."""
    return (
        target.sdk in row.get("releases", (target.sdk,))
        and target.chip in row.get("chips", (target.chip,))
        and method in row.get("methods", (method,))
    )


def _is_of(backend: Mapping[str, Any], target: Target) -> bool:
    return (
        backend["vendor"] == target.vendor
        and target.sdk in backend["releases"]
        and target.chip in backend.get("chips", (target.chip,))
    )


def _cited(
    backend: Mapping[str, Any], target: Target, said: Mapping[str, Any]
) -> tuple[Evidence, ...]:
    """Its evidence: that of the very release, where each release has its own."""
    own = [name for name in backend["at"] if name.endswith(f"-{target.sdk}")]
    method = Method(backend.get("method", Method.REGISTERED))
    return Citations(said["sources"]).all(own or backend["at"], method)


def _of(
    backend: Mapping[str, Any], target: Target, said: Mapping[str, Any]
) -> Mapping[str, Collective]:
    name, evidence = backend["name"], _cited(backend, target, said)
    known = dict.fromkeys(backend["has"], True) | dict.fromkeys(backend["lacks"], False)

    def read(_: str, method: str) -> Collective:
        return Collective(
            has=known[method],
            backend=name,
            method=method,
            evidence=evidence,
            transfers=_sent(name, method, target, said),
            reductions=_reductions(name, method, target, said),
        )

    calls = {op: method for op, method in said["calls"].items() if method in known}
    return LazyMapping(calls, read)

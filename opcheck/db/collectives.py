"""Which collectives the backend of one target's release has, as far as its sources were read."""

from collections.abc import Mapping
from typing import Any

from opcheck.db.evidence import Citations
from opcheck.model.matrix import Collective, Transfers
from opcheck.model.target import Target
from opcheck.model.verdict import Method


def collectives_of(target: Target, said: Mapping[str, Any]) -> Mapping[str, Collective]:
    """By ``c10d`` operator; nothing of those that nobody has said anything about."""
    for backend in said["backends"]:
        if _is_of(backend, target):
            return _of(backend, said["calls"], _cited(backend, target, said), _sent(backend, said))
    return {}


def _sent(backend: Mapping[str, Any], said: Mapping[str, Any]) -> Transfers | None:
    """The dtypes that it sends; None where nobody has said."""
    table = said["dtypes"].get(backend["name"])
    if table is None:
        return None
    evidence = Citations(said["sources"]).all(table["at"], Method.REGISTERED)
    return Transfers(frozenset(table["takes"]), frozenset(table["unclear"]), evidence)


def _is_of(backend: Mapping[str, Any], target: Target) -> bool:
    return (
        backend["vendor"] == target.vendor
        and target.sdk in backend["releases"]
        and target.chip in backend.get("chips", (target.chip,))
    )


def _cited(backend: Mapping[str, Any], target: Target, said: Mapping[str, Any]) -> Any:
    """Its evidence: that of the very release, where each release has its own."""
    own = [name for name in backend["at"] if name.endswith(f"-{target.sdk}")]
    method = Method(backend.get("method", Method.REGISTERED))
    return Citations(said["sources"]).all(own or backend["at"], method)


def _of(
    backend: Mapping[str, Any],
    calls: Mapping[str, str],
    evidence: Any,
    transfers: Transfers | None,
) -> Mapping[str, Collective]:
    known = dict.fromkeys(backend["has"], True) | dict.fromkeys(backend["lacks"], False)
    return {
        op: Collective(known[method], backend["name"], method, evidence, transfers)
        for op, method in calls.items()
        if method in known
    }

"""What must hold for every vendor's files, whatever they say."""

from opcheck.db.store import Database
from opcheck.db.versions import version_key
from opcheck.model.matrix import SupportMatrix, Test
from opcheck.model.target import TargetSpec


def matrix(database: Database, target: str) -> SupportMatrix:
    return database.matrix(database.resolve(TargetSpec.parse(target)))


def newest_of_each_release(database: Database, name: str) -> tuple[SupportMatrix, ...]:
    found = {target.sdk: target for target in database.releases(name)}
    assert found
    return tuple(database.matrix(target) for target in found.values())


def check_evidence(found: SupportMatrix) -> None:
    """Every cell and condition names a source, a file in it and a commit; lists name a line."""
    assert found.entries
    for op, entry in found.entries.items():
        assert entry.evidence, op
        assert all(e.source and e.path and e.commit for e in entry.evidence), op
    for op in found.conditions:
        for condition in found.conditions[op]:
            assert condition.evidence, op
            assert all(e.source and e.path and e.commit for e in condition.evidence), op
    assert all(e.path and e.commit for e in found.fallback.evidence)


def check_names(found: SupportMatrix) -> None:
    """Every aten overload is one of PyTorch's, and of the target's own version."""
    torch = version_key(found.target.torch)
    strange = {
        op: found.history.get(op)
        for op in found.entries
        if op.startswith("aten::") and not _in(found.history.get(op), torch)
    }
    assert strange == {}


def _in(span: tuple[str, str] | None, torch: tuple[int, ...]) -> bool:
    return span is not None and version_key(span[0]) <= torch <= version_key(span[1])


def bites_of(found: SupportMatrix, op: str, code: str) -> list[tuple[Test, ...]]:
    """The tests of each condition of an overload that has a code, target-wide ones left out."""
    return [c.tests for c in found.conditions.get(op, ()) if c.code == code]

"""What must hold for every vendor's files, whatever they say."""

from opcheck.db.store import Database
from opcheck.db.versions import version_key
from opcheck.model.matrix import SupportMatrix
from opcheck.model.predicates import Predicate
from opcheck.model.target import TargetSpec
from opcheck.model.verdict import Evidence


def matrix(database: Database, target: str) -> SupportMatrix:
    return database.matrix(database.resolve(TargetSpec.parse(target)))


def newest_of_each_release(database: Database, name: str) -> tuple[SupportMatrix, ...]:
    found = {target.sdk: target for target in database.releases(name)}
    assert found
    return tuple(database.matrix(target) for target in found.values())


def check_evidence(found: SupportMatrix) -> None:
    """Every cell and condition names a source, and a file in it that stays as it is."""
    assert found.entries
    for op, entry in found.entries.items():
        assert entry.evidence, op
        assert all(map(_cited, entry.evidence)), op
    for op in found.conditions:
        for condition in found.conditions[op]:
            assert condition.evidence, op
            assert all(map(_cited, condition.evidence)), op
    assert all(map(_cited, found.fallback.evidence))


def is_thread(evidence: Evidence) -> bool:
    """Whether an issue or a pull request is named."""
    return evidence.path.startswith(("issues/", "pull/"))


def is_fixed(evidence: Evidence) -> bool:
    """Whether a commit, a file at one, or a file in the wheel of a release is named."""
    wheel, change = ".whl/" in evidence.path, evidence.path.startswith("commit/")
    return bool(evidence.commit) or wheel or change


def _cited(evidence: Evidence) -> bool:
    """Whether a file that stays as it is is named, or a thread, which has no commit."""
    lasting = is_fixed(evidence) or is_thread(evidence)
    return bool(evidence.source and evidence.path and lasting)


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


def bites_of(found: SupportMatrix, op: str, code: str) -> list[tuple[Predicate, ...]]:
    """The tests of each condition of an overload that has a code, target-wide ones left out."""
    return [c.predicates for c in found.conditions.get(op, ()) if c.code == code]

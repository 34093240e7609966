"""Which targets of its vendor one can move to from a target, the nearest first."""

from opcheck.commands.upgrade.values import Candidate, MoveKind
from opcheck.db.store import Database
from opcheck.db.versions import version_key
from opcheck.model.target import Target, target_name


def neighbours(database: Database, target: Target) -> tuple[Candidate, ...]:
    """Other torch versions of the release, then newer releases, then other chips."""
    return (
        *(Candidate(MoveKind.TORCH, found) for found in _other_torch(database, target)),
        *(Candidate(MoveKind.RELEASE, found) for found in _newer(database, target)),
        *(Candidate(MoveKind.CHIP, found) for found in _other_chips(database, target)),
    )


def _other_torch(database: Database, target: Target) -> list[Target]:
    """The same release with another torch version, newer before older."""
    served = [t for t in database.releases(target.name) if t.sdk == target.sdk and t != target]
    return sorted(served, key=lambda found: _torch_distance(found, target))


def _newer(database: Database, target: Target) -> list[Target]:
    """Later releases for the same chip, the first of them first, with each torch they serve."""
    today = version_key(target.sdk)
    served = [t for t in database.releases(target.name) if version_key(t.sdk) > today]
    return sorted(served, key=lambda t: (version_key(t.sdk), _torch_distance(t, target)))


def _other_chips(database: Database, target: Target) -> list[Target]:
    """The other chips with the same release and torch where they have it, then their newest."""
    vendor = database.vendors[target.vendor]
    names = sorted(target_name(target.vendor, chip) for chip in vendor.chips)
    others = [database.releases(name) for name in names if name != target.name]
    wanted = (target.sdk, target.torch)
    alike = [t for served in others for t in served if (t.sdk, t.torch) == wanted]
    newest = [served[-1] for served in others if served]
    return list(dict.fromkeys((*alike, *newest)))


def _torch_distance(found: Target, target: Target) -> tuple[bool, int]:
    """The same torch before newer ones, those before older ones, each by nearness."""
    there, today = (version_key(t.torch) for t in (found, target))
    major, minor = (a - b for a, b in zip(there, today, strict=True))
    return there < today, abs(major * _MINORS + minor)


_MINORS = 100
"""More than a major version of torch has minor ones."""

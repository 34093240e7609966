"""Which targets a command line names: one by one, all of a vendor's, or all there are."""

from collections.abc import Sequence

from msgspec.structs import replace

from opcheck.db.store import Database
from opcheck.db.vendor import Vendor
from opcheck.db.versions import completed
from opcheck.errors import UsageError
from opcheck.lang.sentence import Sentence
from opcheck.model.target import Target, TargetSpec, target_name

EVERY = "all"
"""Names every target at its newest release, where a target's name is expected."""


def select(database: Database, specs: Sequence[TargetSpec]) -> tuple[Target, ...]:
    """The targets named, each once, in the order given; the newest of every target for none.

    Raises:
        UsageError: a name that is neither a target's nor a vendor's, or a release that is unknown.
    """
    named = (target for spec in specs for target in _named(database, spec))
    return tuple(dict.fromkeys(named)) if specs else database.targets()


def names_groups(database: Database, specs: Sequence[TargetSpec]) -> bool:
    """Whether the user left it to the database which targets there are, and in which order."""
    return not specs or not {spec.name for spec in specs} <= set(database.names())


def _named(database: Database, spec: TargetSpec) -> tuple[Target, ...]:
    if spec.name == EVERY:
        if spec != TargetSpec(EVERY):
            raise UsageError(
                Sentence(
                    "{name} takes neither a release nor a torch version, got {text}",
                    name=repr(EVERY),
                    text=repr(str(spec)),
                ),
                Sentence("each vendor names its own: give VENDOR@SDK instead"),
            )
        return database.targets()
    if spec.name in database.names() or spec.name not in database.vendors:
        return (database.resolve(spec),)
    vendor = database.vendors[spec.name]
    chips = [chip for chip in vendor.chips if not spec.sdk or _knows(vendor, chip, spec.sdk)]
    names = sorted(target_name(spec.name, chip) for chip in chips or vendor.chips)
    return tuple(database.resolve(replace(spec, name=name)) for name in names)


def _knows(vendor: Vendor, chip: str, release: str) -> bool:
    releases = vendor.releases(chip)
    return completed(release, releases) in releases

"""Which targets a command line names: one by one, all of a vendor's, or all there are."""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from opcheck.db.releases import Meaning
from opcheck.db.store import Database
from opcheck.errors import UsageError
from opcheck.lang.sentence import Sentence
from opcheck.model.target import Target, TargetKind, TargetSpec, mode_of, target_name

EVERY = "all"
"""Names every target at its newest release, where a target's name is expected."""
_DEVICES = "devices"
GROUPS: Mapping[str, tuple[TargetKind, ...]] = {
    _DEVICES: (TargetKind.DEVICE,),
    "compilers": (TargetKind.COMPILER,),
    "export": (TargetKind.EXPORT,),
    EVERY: tuple(TargetKind),
}
"""Names that stand for all targets of these kinds: graph modes after what has none, and what
models are exported for last. Among devices each chip stands once, without a mode."""


def select(database: Database, specs: Sequence[TargetSpec]) -> tuple[Target, ...]:
    """The targets named, each once, in the order given; every device and compiler for none.

    Raises:
        UsageError: a name that is neither a target's nor a vendor's, or a release that is unknown.
    """
    named = (target for spec in specs for target in _named(database, spec))
    return tuple(dict.fromkeys(named)) if specs else database.targets()


def names_groups(database: Database, specs: Sequence[TargetSpec]) -> bool:
    """Whether the user left it to the database which targets there are, and in which order."""
    return not specs or any(_is_group(database, spec) for spec in specs)


def meaning(database: Database, spec: TargetSpec) -> Meaning | None:
    """What a target's name is taken for; None where it names several, or none that is known."""
    if _is_group(database, spec):
        return None
    try:
        return database.meaning(spec)
    except UsageError:
        return None


def _is_group(database: Database, spec: TargetSpec) -> bool:
    """Whether a name stands for all of a vendor's targets, or for all there are."""
    return spec.name in GROUPS or _folder(database, spec.name) is not None


def _folder(database: Database, name: str) -> str | None:
    """The vendor all of whose chips a name stands for: ``ascend``, ``ascend:torchair``."""
    owner, colon, mode = name.partition(":")
    folder = f"{owner}-{mode.casefold()}" if colon else name
    known = folder in database.vendors and name not in database.names()
    return folder if known and bool(colon) <= (mode_of(folder)[1] is not None) else None


def _named(database: Database, spec: TargetSpec) -> tuple[Target, ...]:
    if spec.name in GROUPS:
        if spec != TargetSpec(spec.name):
            raise UsageError(
                Sentence(
                    "{name} takes neither a release nor a torch version, got {text}",
                    name=repr(spec.name),
                    text=repr(str(spec)),
                ),
                Sentence("each vendor names its own: give VENDOR@SDK instead"),
            )
        exports = TargetKind.EXPORT
        every = database.of_kind(*GROUPS[spec.name])
        return tuple(
            sorted(
                (one for one in every if spec.name != _DEVICES or one.mode is None),
                key=lambda t: (database.vendors[t.vendor].kind is exports, t.mode is not None),
            )
        )
    folder = _folder(database, spec.name)
    if folder is None:
        return (database.resolve(spec),)
    named = [
        replace(spec, name=target_name(folder, chip))
        for chip in sorted(database.vendors[folder].chips)
    ]
    known = [one for one in named if not spec.sdk or _knows(database, one)]
    return tuple(map(database.resolve, known or named))


def _knows(database: Database, spec: TargetSpec) -> bool:
    """Whether a chip has a release, by its own number or by its toolkit's."""
    try:
        database.resolve(spec)
    except UsageError:
        return False
    return True

"""Targets as they were typed, put as the database names them; each is told on stderr."""

import sys
from collections.abc import Iterable, MutableMapping, Sequence
from typing import TYPE_CHECKING, Any

from opcheck.errors import OpcheckError
from opcheck.lang.sentence import Sentence
from opcheck.lang.speech import tell
from opcheck.model.target import TargetSpec
from opcheck.model.text import printable

if TYPE_CHECKING:
    from opcheck.db.releases import Meaning


def settle(parameters: MutableMapping[str, Any]) -> None:
    """Put the database's own names in the parameters of a command.

    What it does not know stays as it was typed: the command itself refuses it, with a reason.
    """
    typed = {name: value for name, value in parameters.items() if _specs(value)}
    specs = [spec for value in typed.values() for spec in _specs(value)]
    if not specs:
        return
    folders = tuple(parameters.get("database") or ())
    found = meant(specs, folders, quiet=bool(parameters.get("quiet")))
    for name, value in typed.items():
        several = [found.get(spec, spec) for spec in _specs(value)]
        parameters[name] = several if isinstance(value, list) else several[0]
    if parameters.get("product") == "" and len(specs) == len(found) == 1:
        parameters["product"] = _product(specs[0], found[specs[0]], folders)


def meant(
    specs: Iterable[TargetSpec], folders: Sequence[str] = (), *, quiet: bool = False
) -> dict[TargetSpec, TargetSpec]:
    """Of targets that are not named as the database names them, those that they stand for.

    Each is told on stderr, unless ``quiet``.
    """
    from opcheck.db.selection import meaning
    from opcheck.pipeline.database import open_database

    found: dict[TargetSpec, TargetSpec] = {}
    try:
        database = open_database(folders)
        taken = {spec: meaning(database, spec) for spec in specs}
    except OpcheckError:
        return found
    for spec, meaning_of in taken.items():
        if meaning_of is not None and meaning_of.spec != spec:
            found[spec] = meaning_of.spec
            if not quiet and sys.stderr is not None:
                print(printable(f"opcheck: {tell(_told(spec, meaning_of))}"), file=sys.stderr)
    return found


def _product(typed: TargetSpec, spec: TargetSpec, folders: Sequence[str]) -> str:
    """What a chip is sold as, where its target was named so: ``Ascend910B4``; else ""."""
    from opcheck.costs.roofline import product_of
    from opcheck.pipeline.database import open_database

    database = open_database(folders)
    try:
        word = database.called.without_vendor(typed.name)
        product = product_of(database.chip(database.resolve(spec)), word)
    except OpcheckError:
        return ""
    return product.name if product else ""


def _told(spec: TargetSpec, taken: "Meaning") -> Sentence:
    said = Sentence("took {text} for {target}", text=repr(str(spec)), target=taken.spec)
    if taken.paired is None or not taken.paired.others:
        return said
    return Sentence(
        "{said}; {name} goes with torch {list} too",
        said=said, name=taken.paired.toolkit, list=", ".join(taken.paired.others),
    )  # fmt: skip


def _specs(value: Any) -> list[TargetSpec]:
    """The targets in a value of a parameter."""
    listed = value if isinstance(value, list) else [value]
    return [each for each in listed if isinstance(each, TargetSpec)]

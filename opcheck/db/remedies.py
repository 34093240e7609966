"""Remedies: what a vendor ships against what it does not run, kept by hand, one file each."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from opcheck.db import document
from opcheck.db.addition import holds
from opcheck.db.evidence import Citations
from opcheck.db.layers import Layer
from opcheck.db.overlay import REMEDIES
from opcheck.db.shapes.advice import REMEDY_FILE
from opcheck.errors import DatabaseError
from opcheck.model.plan import Label
from opcheck.model.remedy import Remedy
from opcheck.model.target import Target
from opcheck.model.verdict import Confidence, Method

_HINT = "correct the remedy, or restore it from the release"


def remedies(layer: Layer, target: Target, cache: Path | None) -> Iterator[Remedy]:
    """The remedies of a layer for a target, by name.

    Raises:
        DatabaseError: a file is damaged, or is not named as it calls itself.
    """
    for path in sorted((layer.folder / REMEDIES).glob("*.yaml")):
        said = document.read(path, REMEDY_FILE, cache, _HINT).data
        if said["id"] != path.stem:
            message = f"{path}:1: expected the id {path.stem}, found {said['id']!r}"
            raise DatabaseError(message, _HINT)
        for where in said["for"]:
            if where["vendor"] == target.vendor and holds(where, target):
                yield _remedy(said)
                break


def _remedy(said: Mapping[str, Any]) -> Remedy:
    return Remedy(
        id=said["id"],
        summary=" ".join(said["summary"].split()),
        write=said["write"],
        codes=frozenset(said.get("codes", ())),
        ops=frozenset(said.get("ops", ())),
        dtypes=frozenset(said.get("dtypes", ())),
        on_device=said["on_device"],
        label=Label(said["label"]),
        gives_up=" ".join(said.get("gives_up", "").split()),
        confidence=Confidence(said["confidence"]),
        evidence=Citations(said["sources"]).all(said["at"], Method(said["method"])),
    )

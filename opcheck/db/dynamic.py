"""How targets take sizes that are not always the same: kept by hand, one file each."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from opcheck.db import document
from opcheck.db.addition import holds
from opcheck.db.evidence import Citations
from opcheck.db.layers import Layer
from opcheck.db.overlay import DYNAMIC
from opcheck.db.shapes.advice import DYNAMIC_FILE
from opcheck.errors import DatabaseError
from opcheck.model.dynamic import SiteKind, SizeRule, Taking
from opcheck.model.target import Target
from opcheck.model.verdict import Confidence, Method

_HINT = "correct the file, or restore it from the release"


def size_rules(layer: Layer, target: Target, cache: Path | None) -> Iterator[SizeRule]:
    """What a layer says of a target, file by file; those for certain operators first.

    Raises:
        DatabaseError: a file is damaged, or is not named as it calls itself.
    """
    for path in sorted((layer.folder / DYNAMIC).glob("*.yaml")):
        said = document.read(path, DYNAMIC_FILE, cache, _HINT).data
        if said["id"] != path.stem:
            message = f"{path}:1: expected the id {path.stem}, found {said['id']!r}"
            raise DatabaseError(message, _HINT)
        if any(where["vendor"] == target.vendor and holds(where, target) for where in said["for"]):
            rules = (_rule(one, said) for one in said["says"])
            yield from sorted(rules, key=lambda rule: not rule.ops)


def _rule(one: Mapping[str, Any], said: Mapping[str, Any]) -> SizeRule:
    return SizeRule(
        kinds=frozenset(map(SiteKind, one["sites"])),
        ops=frozenset(one.get("ops", ())),
        how=Taking(one["how"]),
        text=" ".join(one["text"].split()),
        confidence=Confidence(said["confidence"]),
        evidence=Citations(said["sources"]).all(one["at"], Method(said["method"])),
    )

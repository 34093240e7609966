"""What a page of rates rests on: the operators of its models, and what is said of them."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from typing import Any

from msgspec import Struct

from opcheck.model.matrix import SupportMatrix
from opcheck.model.report import Report
from opcheck.model.target import Target

_DIGITS = 16
_CITED = "evidence"


@dataclass(frozen=True, slots=True)
class Basis:
    """Operators, and by target a digest of what the database says of them."""

    operators: tuple[str, ...]
    digests: Mapping[Target, str]


def asked(reports: Iterable[Report]) -> tuple[str, ...]:
    """Every operator that models call, and all that those run as, sorted."""
    found: set[str] = set()
    for report in reports:
        for finding in (each for target in report.targets for each in target.findings):
            found.add(finding.op)
            found.update(op for use in finding.uses for op in use.decomposed_into)
    return tuple(sorted(found))


def digest(matrix: SupportMatrix, operators: Iterable[str]) -> str:
    """Of what a verdict on these operators rests on; where it was read does not count."""
    said = {
        "fallback": matrix.fallback,
        "inherits": matrix.inherits,
        "operators": {
            op: (
                matrix.entries.get(op),
                matrix.conditions_for(op),
                matrix.choices.get(op),
                matrix.history.get(op),
                matrix.extensions.get(op),
                matrix.earlier.get(op),
            )
            for op in operators
        },
    }
    text = json.dumps(_plain(said), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]


def _plain(value: Any) -> Any:
    """A value of JSON; sets sorted, and what is cited left out."""
    if isinstance(value, Struct):
        names = (name for name in value.__struct_fields__ if name != _CITED)
        return {name: _plain(getattr(value, name)) for name in names}
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, Set):
        return sorted(map(str, value))
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value

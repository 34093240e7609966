"""``opcheck.database/1``: what the database says of itself."""

from collections.abc import Mapping
from enum import Enum
from typing import assert_never

from msgspec import Struct
from msgspec.structs import replace

from opcheck.model.database import (
    Audit,
    CellChange,
    Contents,
    DatabaseStatus,
    DatabaseView,
    Imports,
    MatrixDiff,
    MatrixDiffs,
    Refreshed,
)
from opcheck.model.target import Target
from opcheck.model.verdict import Evidence
from opcheck.views.conditions import condition_value
from opcheck.views.document.parts import Json, as_text, evidence_value
from opcheck.views.formats import PLAIN, Page

DATABASE_SCHEMA = "opcheck.database/1"


def render(view: DatabaseView, page: Page = PLAIN) -> str:
    """Give the answer as ``opcheck.database/1``."""
    return as_text(database_document(view))


def database_document(view: DatabaseView) -> Json:
    """Whatever it is, under the key that says what."""
    match view:
        case DatabaseStatus():
            said: Json = {"status": _plain(view)}
        case Contents():
            said = {"show": _contents(view)}
        case MatrixDiffs():
            said = {"diff": [_diff(diff) for diff in view.diffs]}
        case Audit():
            said = {"check": _plain(view)}
        case Imports():
            said = {"import": _plain(view)}
        case Refreshed():
            said = {"refresh": _refreshed(view)}
        case _:
            assert_never(view)
    return {"schema": DATABASE_SCHEMA, **said}


def _contents(found: Contents) -> Json:
    advisories = [condition_value(advisory, found.target.chip) for advisory in found.advisories]
    return {**_members(replace(found, advisories=())), "advisories": advisories}


def _refreshed(found: Refreshed) -> Json:
    plain = {name: _plain(getattr(found, name)) for name in found.__struct_fields__}
    return {**plain, "diffs": [_diff(diff) for diff in found.diffs]}


def _diff(diff: MatrixDiff) -> Json:
    changed = [_change(change, diff.after.chip) for change in diff.changed]
    return {**_members(replace(diff, changed=())), "changed": changed}


def _change(change: CellChange, chip: str) -> Json:
    pairs = {
        name: None if pair is None else {"before": list(pair[0]), "after": list(pair[1])}
        for name, pair in (("keys", change.keys), ("paths", change.paths))
    }
    conditions = {
        name: [condition_value(condition, chip) for condition in listed]
        for name, listed in (("gone", change.gone), ("come", change.come))
    }
    return {"op": change.op, **pairs, **conditions}


def _members(value: Contents | MatrixDiff) -> dict[str, object]:
    return {name: _plain(getattr(value, name)) for name in value.__struct_fields__}


def _plain(value: object) -> object:
    """A value of plain fields as JSON: targets as people name them, enums by value."""
    match value:
        case Target():
            return str(value)
        case Evidence():
            return evidence_value(value)
        case Enum():
            return value.value
        case Mapping():
            return {str(_plain(key)): _plain(item) for key, item in value.items()}
        case tuple():
            return [_plain(item) for item in value]
        case Struct():
            return {name: _plain(getattr(value, name)) for name in value.__struct_fields__}
        case _:
            return value

"""Matrices to emulate: a real one, and what it would be with parts of it missing."""

from collections.abc import Iterable
from functools import cache

from msgspec.structs import replace

from opcheck.db.store import Database
from opcheck.model.matrix import Fallback, SupportMatrix
from opcheck.model.target import TargetSpec


@cache
def matrix_of(target: str) -> SupportMatrix:
    """What the database has of a target."""
    database = Database.open()
    return database.matrix(database.resolve(TargetSpec.parse(target)))


def without(matrix: SupportMatrix, bases: Iterable[str]) -> SupportMatrix:
    """A matrix that has no overload of these operators: ``softmax``, ``_softmax``."""
    names = {f"aten::{base}" for base in bases}
    entries = {op: e for op, e in matrix.entries.items() if op.partition(".")[0] not in names}
    assert len(entries) < len(matrix.entries)
    return replace(matrix, entries=entries)


def without_fallback(matrix: SupportMatrix) -> SupportMatrix:
    """A matrix whose vendor runs nothing on the host."""
    return replace(matrix, fallback=Fallback(to_cpu=False, text="", evidence=()))

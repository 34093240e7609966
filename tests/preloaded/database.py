"""Imported by a process that is copied: has read what most commands read of the database."""

from opcheck.db.store import Database
from opcheck.model.target import TargetSpec

DATABASE = Database.open()
DATABASE.matrix(DATABASE.resolve(TargetSpec("ascend-910b")))
DATABASE.tables.index()

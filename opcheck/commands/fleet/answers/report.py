"""Models of a run as reports: stored traces compared with today's data; each in a file."""

import multiprocessing
import re
import signal
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import cache
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from opcheck.commands.fleet.answers.queries import chosen
from opcheck.commands.fleet.engine import processors
from opcheck.commands.fleet.store.reading import LAST, run_named
from opcheck.commands.fleet.store.store import Store
from opcheck.commands.fleet.traces import restored, restored_run
from opcheck.commands.fleet.values import Ending, Run, RunTarget
from opcheck.db.store import Database
from opcheck.device_types import Scanned, Traced
from opcheck.errors import OpcheckError, UsageError
from opcheck.lang.sentence import NOTHING, Sentence
from opcheck.model.matrix import SupportMatrix
from opcheck.model.report import SCRIPT, Report
from opcheck.model.target import TargetSpec
from opcheck.model.text import is_text
from opcheck.pipeline.reports import report_of
from opcheck.pipeline.script_report import report_of_script

_NAMES = 5
"""How many names are told in a hint."""


class Found(Struct, frozen=True):
    """A report, and how what is known has changed since the run."""

    report: Report
    newer: tuple[str, ...]
    """Targets whose data is another than that which the run was compared with."""


class Reports:
    """Reports of one run's models; the data of its targets is read once for all of them."""

    def __init__(
        self, store: Store, run: Run, targets: Sequence[str] = (), databases: Sequence[str] = ()
    ) -> None:
        """Choose the targets by globs, none for all.

        Raises:
            UsageError: the run, or the database, has none of that name.
        """
        database = Database.open(overlays=tuple(map(Path, databases)))
        self._store, self._run = store, run
        self._asked = [run.targets[at] for at in chosen(run, targets)]
        self._matrices = [_matrix(database, target) for target in self._asked]

    @property
    def newer(self) -> tuple[str, ...]:
        """Targets whose data is another than that which the run was compared with."""
        pairs = zip(self._asked, self._matrices, strict=True)
        return tuple(
            target.target for target, matrix in pairs
            if matrix.database_digest != target.database_digest
        )  # fmt: skip

    def of(self, name: str) -> Report:
        """The report of one model.

        Raises:
            UsageError: the run has no such model, or no trace of it.
        """
        if not is_text(name):
            raise UsageError(
                Sentence("run {run} has no model {text}", run=self._run.id, text=repr(name)),
                self._like(""),
            )
        rows = self._store.connection.execute(
            "SELECT models.*, targets.target AS of_target FROM run_models "
            "JOIN models ON models.id = model LEFT JOIN targets ON targets.id = models.target "
            "WHERE run=? AND name=? ORDER BY position",
            (self._run.id, name),
        ).fetchall()
        if not rows:
            raise UsageError(
                Sentence("run {run} has no model {text}", run=self._run.id, text=repr(name)),
                self._like(name),
            )
        row = rows[0]
        if row["kind"] == SCRIPT:
            return self._ran(name, rows)
        if row["ending"] != Ending.SCANNED:
            raise UsageError(
                Sentence("{name} has no report: {said}", name=name, said=row["reason"]), row["hint"]
            )
        return self._held(row)

    def _ran(self, name: str, rows: Sequence[sqlite3.Row]) -> Report:
        """The runs of one script, those of its targets that were named, as one report."""
        asked = {target.target for target in self._asked}
        mine = [row for row in rows if row["of_target"] in asked]
        try:
            runs = [
                report_of_script(restored_run(trace))
                for row in mine
                if row["calls"]
                for trace in self._store.traces(row["id"])
            ]
        except ValueError as error:
            raise _unreadable(rows[0]["source"], error) from error
        if not runs:
            said = mine[0]["reason"] if mine else Sentence("it is not over on that target")
            hint = mine[0]["hint"] if mine else NOTHING
            raise UsageError(Sentence("{name} has no report: {said}", name=name, said=said), hint)
        gaps = dict.fromkeys(gap for run in runs for gap in run.trace.gaps)
        return replace(
            runs[0],
            trace=replace(runs[0].trace, gaps=tuple(gaps)),
            targets=tuple(target for run in runs for target in run.targets),
        )

    def _held(self, row: sqlite3.Row) -> Report:
        casts = {target.device_type: target.casts for target in self._run.targets}
        try:
            traced = restored(self._store.traces(row["id"]), casts)
        except ValueError as error:
            raise _unreadable(row["source"], error) from error
        results = [result for group in traced.values() for result in group]
        if not results:
            raise UsageError(
                Sentence(
                    "the stored trace of {source} cannot be read: there is none",
                    source=row["source"],
                ),
                Sentence("the store is damaged; scan the model again"),
            )
        parts = tuple(Traced(result.trace, result.targets) for result in results)
        first = results[0]
        scanned = Scanned(parts, first.kind, first.digest, first.notes)
        matrices = [m for m in self._matrices if m.target.device_type in traced]
        return report_of(row["source"], scanned, matrices)

    def _like(self, name: str) -> Sentence:
        rows = self._store.connection.execute(
            "SELECT name FROM run_models WHERE run=? AND model NOTNULL AND instr(name, ?) "
            "ORDER BY position LIMIT ?",
            (self._run.id, name, _NAMES),
        )
        names = ", ".join(one for (one,) in rows)
        return (
            Sentence("there is {list}", list=names)
            if names
            else Sentence("opcheck fleet query lists them")
        )


def _unreadable(source: str, error: ValueError) -> UsageError:
    return UsageError(
        Sentence("the stored trace of {source} cannot be read: {text}", source=source, text=error),
        Sentence("the store is damaged; scan the model again"),
    )


def report_of_model(
    path: Path,
    name: str,
    run: str = LAST,
    targets: Sequence[str] = (),
    databases: Sequence[str] = (),
) -> Found:
    """The report of one model of a run.

    Raises:
        UsageError: there is no such store, run, model or target.
        DatabaseError: the database is missing or damaged.
    """
    with Store(path, create=False) as store:
        reports = Reports(store, run_named(store, run), targets, databases)
        found = reports.of(name)
        # a script is not run again, so that its report is by the data of the run
        return Found(found, () if found.model.kind == SCRIPT else reports.newer)


def _matrix(database: Database, target: RunTarget) -> SupportMatrix:
    try:
        spec = TargetSpec.parse(target.target)
    except ValueError as error:
        raise UsageError(
            Sentence("the store is damaged: {text_why}", text_why=error),
            Sentence("give a copy from before"),
        ) from error
    return database.matrix(database.resolve(spec))


Write = Callable[[Path, Report], None]
"""Writes a report into a file; it is pickled."""
_Whose = tuple[Path, str, tuple[str, ...]]
"""A store, the number of a run, and folders of overlays."""
WORTH = 8
"""So many reports are worth a process: to begin one takes about as long as to write two."""
_UNSAFE = re.compile(r"[^\w.+-]+")


def write_reports(
    path: Path, run: str, folder: Path, write: Write, databases: Sequence[str] = ()
) -> Iterator[tuple[str, Path]]:
    """Have ``write`` put the report of each model that has one into a folder; gives where.

    Raises:
        UsageError: there is no such store or run.
        OpcheckError: a process that wrote them was ended.
    """
    with Store(path, create=False) as store:
        found = run_named(store, run)
        rows = store.connection.execute(
            "SELECT name FROM run_models JOIN models ON models.id = model "
            "WHERE run=? AND ending=? GROUP BY name ORDER BY MIN(position)",
            (found.id, Ending.SCANNED),
        )
        files = _files([name for (name,) in rows], folder)
        processes = min(processors(), len(files) // WORTH)
        if processes > 1:
            whose = (path, str(found.id), tuple(databases))
            yield from _side_by_side(processes, whose, write, files)
            return
        reports = Reports(store, found, (), databases)
        for name, file in files.items():
            write(file, reports.of(name))
            yield name, file


def _side_by_side(
    processes: int, whose: _Whose, write: Write, files: Mapping[str, Path]
) -> Iterator[tuple[str, Path]]:
    spawning = multiprocessing.get_context("spawn")  # nothing of this one's threads is copied
    pool = ProcessPoolExecutor(processes, spawning, _leave_interrupts)
    try:
        done = [pool.submit(_write_one, whose, write, *pair) for pair in files.items()]
        for pair, one in zip(files.items(), done, strict=True):
            one.result()
            yield pair
    except BrokenProcessPool as error:
        raise OpcheckError(
            Sentence("a process that writes reports was ended"),
            Sentence("run the same command again"),
        ) from error
    finally:
        pool.shutdown(cancel_futures=True)


def _leave_interrupts() -> None:
    """Ctrl-C is for the command, which ends these."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _write_one(whose: _Whose, write: Write, name: str, file: Path) -> None:
    write(file, _reports(whose).of(name))


@cache
def _reports(whose: _Whose) -> Reports:
    path, run, databases = whose
    store = Store(path, create=False)  # open as long as this process is there
    return Reports(store, run_named(store, run), (), databases)


def _files(names: Sequence[str], folder: Path) -> Mapping[str, Path]:
    taken: set[str] = set()
    return {name: folder / f"{_file_name(name, taken)}.html" for name in names}


def _file_name(name: str, taken: set[str]) -> str:
    """A name that any file system takes, and that no other model has, whatever its case."""
    base = _UNSAFE.sub("-", name).strip("-.")[:100] or "model"
    made, number = base, 1
    while made.lower() in taken:
        number += 1
        made = f"{base}-{number}"
    taken.add(made.lower())
    return made

"""The reports of a run's models, each in a file: written by a process for each processor."""

import multiprocessing
import re
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import cache
from pathlib import Path

from opcheck.commands.fleet.answers.report import Reports
from opcheck.commands.fleet.processors import processors
from opcheck.commands.fleet.store.reading import run_named
from opcheck.commands.fleet.store.store import Store
from opcheck.commands.fleet.values import Ending
from opcheck.errors import OpcheckError
from opcheck.model.report import Report

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
            "WHERE run=? AND ending=? ORDER BY position",
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
            "a process that writes reports was ended", "run the same command again"
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

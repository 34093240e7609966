"""The answers by what users name: files, runs, targets, filters; and a run as Parquet."""

import importlib
import os
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from opcheck.commands.fleet.answers.difference import difference
from opcheck.commands.fleet.answers.missing import missing
from opcheck.commands.fleet.answers.summary import summary
from opcheck.commands.fleet.answers.values import Difference, Goal, Missing, Pool, Summary
from opcheck.commands.fleet.store import reading
from opcheck.commands.fleet.store.reading import LAST, PREVIOUS, run_named
from opcheck.commands.fleet.store.store import Store
from opcheck.commands.fleet.values import Answers, Cause, Filters, Run, RunTarget
from opcheck.errors import UsageError
from opcheck.lang.sentence import Sentence

VIEWS = ("answers", "problems")
_ORDER = ("position", "target_position", "place")
_ROWS = 100_000
"""How many are in memory at a time."""
_TYPES = {"TEXT": "string", "INTEGER": "int64", "REAL": "float64"}


def written(store: Store, run: Run, folder: Path) -> tuple[str, ...]:
    """Write each view as ``VIEW.parquet``, whole or not at all; gives the paths.

    Raises:
        UsageError: pyarrow is not installed, or a file cannot be written.
    """
    arrow, parquet = _pyarrow()
    try:
        folder.mkdir(exist_ok=True)
        return tuple(_written(store, view, run, folder, arrow, parquet) for view in VIEWS)
    except OSError as error:
        raise UsageError(
            Sentence("cannot write to {path}: {text}", path=folder, text=error.strerror or error),
            Sentence("give another folder"),
        ) from error


def _pyarrow() -> tuple[Any, Any]:
    try:
        return importlib.import_module("pyarrow"), importlib.import_module("pyarrow.parquet")
    except ImportError as error:
        raise UsageError(
            Sentence("Parquet needs pyarrow, which cannot be imported: {text}", text=error),
            Sentence("pip install 'opcheck[parquet]'; the SQLite file itself is read without it"),
        ) from error


def _written(store: Store, view: str, run: Run, folder: Path, arrow: Any, parquet: Any) -> str:
    path = folder / f"{view}.parquet"
    draft = folder / f".{view}-{os.getpid()}.parquet"
    schema = _schema(store, view, arrow)
    order = ", ".join(name for name in _ORDER if name in schema.names)
    rows = store.connection.execute(f"SELECT * FROM {view} WHERE run=? ORDER BY {order}", (run.id,))
    try:
        with parquet.ParquetWriter(draft, schema) as writer:
            while batch := rows.fetchmany(_ROWS):
                columns = dict(zip(schema.names, zip(*batch, strict=True), strict=True))
                writer.write_table(arrow.table(columns, schema=schema))
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    return str(path)


def _schema(store: Store, view: str, arrow: Any) -> Any:
    """Names and types of the columns, which SQLite tells of those that a view takes over."""
    columns = store.connection.execute(f"PRAGMA table_info({view})").fetchall()
    return arrow.schema(
        [(column["name"], getattr(arrow, _TYPES[column["type"]])()) for column in columns]
    )


class Wanted(Struct, frozen=True):
    """What a ranking is asked for."""

    targets: tuple[str, ...] = ()
    """Globs on targets, their short names or vendors; none: all of the run."""
    goal: Goal = Goal.RUNS
    pool: Pool = Pool.VENDOR
    causes: tuple[Cause, ...] = tuple(Cause)
    top: int | None = None


class Compared(Struct, frozen=True):
    """Which runs are compared with each other, and which of their targets."""

    before: str = ""
    """A run; "" for the one before ``after`` of the same store, for the last of another one."""
    after: str = LAST
    targets: tuple[str, ...] = ()
    """Globs on targets of the later run; none: all."""
    pair: tuple[str, str] | None = None
    """One target before, and one after, in place of those of the same name."""


def summary_of(path: Path, run: str = LAST) -> Summary:
    """How a run of a store went.

    Raises:
        UsageError: it is no store, or has no such run.
    """
    with Store(path, create=False) as store:
        return summary(store, run_named(store, run))


def missing_of(path: Path, run: str, wanted: Wanted) -> Missing:
    """What is missing on targets of a run.

    Raises:
        UsageError: it is no store, or has no such run or target.
    """
    with Store(path, create=False) as store:
        found = run_named(store, run)
        return missing(
            store, found, targets=chosen(found, wanted.targets), goal=wanted.goal,
            pool=wanted.pool, causes=wanted.causes, top=wanted.top,
        )  # fmt: skip


def difference_of(path: Path, earlier: Path | None, compared: Compared) -> Difference:
    """What changed from one run to another, of one store or from ``earlier`` to ``path``.

    Raises:
        UsageError: one is no store, or has no such run or target.
    """
    if earlier is None or earlier.resolve() == path.resolve():
        earlier, name = path, compared.before or PREVIOUS
        if compared.pair is not None:  # two targets of one run, unless another one is named
            name = compared.before or compared.after
    else:
        name = compared.before or LAST
    with Store(earlier, create=False) as store:
        before = run_named(store, name)
    with Store(path, create=False) as store:
        after = run_named(store, compared.after)
        pairs = None
        if compared.pair is not None:
            pairs = [(_one(before, compared.pair[0]), _one(after, compared.pair[1]))]
        found = difference(store, earlier, before, after, pairs)
    return found if not compared.targets else _narrowed(found, compared.targets)


def chosen(run: Run, globs: Sequence[str]) -> tuple[int, ...]:
    """The positions of a run's targets that fit any of the globs.

    Raises:
        UsageError: one of them fits none.
    """
    for glob in globs:
        if not any(_fits(target, glob) for target in run.targets):
            raise UsageError(
                Sentence("run {id} has no target {glob}", id=run.id, glob=repr(glob)),
                _known(run.targets),
            )
    return tuple(
        at
        for at, target in enumerate(run.targets)
        if not globs or any(_fits(target, glob) for glob in globs)
    )


def _one(run: Run, name: str) -> RunTarget:
    found = [run.targets[at] for at in chosen(run, [name])]
    if len(found) > 1:
        raise UsageError(
            Sentence(
                "{text} is {count} targets of run {run}; want one",
                text=repr(name),
                count=len(found),
                run=run.id,
            ),
            _known(found),
        )
    return found[0]


def _fits(target: RunTarget, glob: str) -> bool:
    whole = target.target
    names = (whole, whole.partition("+")[0], whole.partition("@")[0], target.vendor)
    return any(fnmatchcase(name, glob) for name in names)


def _known(targets: Sequence[RunTarget]) -> Sentence:
    names = ", ".join(target.target.partition("+")[0] for target in targets)
    return Sentence("it has {list}", list=names)


def _narrowed(found: Difference, globs: Sequence[str]) -> Difference:
    kept = {found.after.targets[at].target for at in chosen(found.after, globs)}
    return replace(
        found,
        targets=tuple(one for one in found.targets if one.after.target in kept),
        new_targets=tuple(name for name in found.new_targets if name in kept),
        gone_targets=(),
    )


def query_of(path: Path, run: str = LAST, filters: Filters = Filters()) -> Answers:  # noqa: B008
    """The answers of a run that fit.

    Raises:
        UsageError: there is no such store or run, or the run has none of the targets.
    """
    with Store(path, create=False) as store:
        found = reading.run_named(store, run)
        if filters.targets:
            named = tuple(found.targets[at].target for at in chosen(found, filters.targets))
            filters = replace(filters, targets=named)
        return Answers(found, filters, reading.answers(store, found.id, filters))


def export_of(path: Path, folder: str, run: str = LAST) -> tuple[str, ...]:
    """Write a run as Parquet files into a folder; gives their paths.

    Raises:
        UsageError: there is no such store or run, or the files cannot be written.
    """
    with Store(path, create=False) as store:
        return written(store, reading.run_named(store, run), Path(folder))

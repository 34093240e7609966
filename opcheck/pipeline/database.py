"""The database as a request names it, and the matrices of its targets."""

from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path

from opcheck.db.files.document import uncollected
from opcheck.db.selection import names_groups, select
from opcheck.db.store import Database
from opcheck.errors import UsageError
from opcheck.lang.sentence import Sentence
from opcheck.model.matrix import SupportMatrix
from opcheck.model.request import ScanRequest
from opcheck.model.target import TargetSpec

Progress = Callable[[str], None]


def silent(_: str) -> None:
    """Hear nothing."""


def open_database(databases: Sequence[str] = ()) -> Database:
    """The database with these folders of overlays on top."""
    return Database.open(overlays=tuple(map(Path, databases)))


def matrices_of(database: Database, specs: tuple[TargetSpec, ...]) -> tuple[SupportMatrix, ...]:
    """A matrix for each target named."""
    with uncollected():
        return tuple(database.matrix(target) for target in select(database, specs))


def matrices_for(database: Database, request: ScanRequest) -> tuple[SupportMatrix, ...]:
    """A matrix for each target of a scan; where it is of a training step, for those that train.

    Raises:
        UsageError: a target that was named runs inference alone.
    """
    matrices = matrices_of(database, request.targets)
    if request.model.step is None:
        return matrices
    trained = tuple(matrix for matrix in matrices if not matrix.compiles_graphs)
    if len(trained) < len(matrices) and not names_groups(database, request.targets):
        alone = next(matrix for matrix in matrices if matrix.compiles_graphs)
        raise UsageError(
            Sentence(
                "{target} runs inference alone, so there is no training step to scan",
                target=alone.target,
            ),
            Sentence("leave --train and --step out, or leave this target out"),
        )
    return trained


def require_age(
    request: ScanRequest, database: Database, matrices: Sequence[SupportMatrix]
) -> None:
    """Refuse data on these targets that is older than the request allows."""
    if request.max_age is not None:
        from opcheck.db.status import require_fresh

        targets = [matrix.target for matrix in matrices]
        require_fresh(database, targets, request.max_age, date.today())

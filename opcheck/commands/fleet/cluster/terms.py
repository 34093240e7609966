"""What holds for every worker of a run on a cluster, and whether a node can keep to it."""

import os
import platform
from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from msgspec import Struct

from opcheck.commands.fleet.engine import Setup
from opcheck.commands.fleet.keys import key_of
from opcheck.commands.fleet.values import Job
from opcheck.db.store import Database
from opcheck.errors import OpcheckError, UsageError
from opcheck.lang.sentence import Sentence, chained
from opcheck.model.request import ScanRequest
from opcheck.model.target import TargetSpec
from opcheck.source.base import LIBRARIES
from opcheck.version import __version__

_ABSENT = "none"


class Terms(Struct, frozen=True):
    """What a node is held to before it is given a job."""

    setup: Setup
    folder: str
    """The working directory of the run: paths of models are relative to it."""
    python_path: str
    """``PYTHONPATH`` of the run, which the models' own imports may need."""
    versions: Mapping[str, str]
    targets: Mapping[str, str]
    """Target -> digest of its data."""


class Task(Struct, frozen=True):
    """A job, and the key that it has here: it has the same where everything it reads is."""

    job: Job
    key: str


def terms(setup: Setup, request: ScanRequest) -> Terms:
    """What holds for a run of jobs, of which one asks this."""
    targets = tuple(map(TargetSpec.parse, setup.targets)) or request.targets
    return Terms(
        setup,
        folder=str(Path.cwd()),
        python_path=os.environ.get("PYTHONPATH", ""),
        versions=versions(),
        targets=_digests(setup, targets),
    )


def task(job: Job) -> Task:
    """A job as it is handed to a node."""
    return Task(job, key_of(job.request, (), job.script))


def versions() -> Mapping[str, str]:
    """Of all that an answer rests on, as they are installed here."""
    found = {"opcheck": __version__, "Python": platform.python_version()}
    return found | {name: _version(name) for name in ("torch", *LIBRARIES)}


def problem_here(wanted: Terms, node: str) -> UsageError | None:
    """What keeps this node from giving the answers that the run's own machine would give."""
    other = [
        Sentence(
            "{name} {version} instead of {expected}", name=name, version=found, expected=expected
        )
        for (name, found), expected in zip(
            versions().items(), wanted.versions.values(), strict=True
        )
        if found != expected
    ]
    if other:
        return UsageError(
            Sentence("node {name} has {said}", name=node, said=chained(other, ", ")),
            Sentence(
                "every node needs the versions that the run is started with: one "
                "container image, or one environment, for all"
            ),
        )
    return next(_data_problems(wanted, node), None)


def problem_with(wanted: Task, node: str) -> UsageError | None:
    """Whether this node sees other files of a model than the run's own machine."""
    if key_of(wanted.job.request, (), wanted.job.script) == wanted.key:
        return None
    source = wanted.job.request.model.source
    return UsageError(
        Sentence(
            "node {name} does not see {text} as it is where the run was started",
            name=node,
            text=source,
        ),
        Sentence(
            "put the models and the run's working directory where every node has "
            "them under the same path, or send the working directory along with "
            "--ship"
        ),
    )


def _data_problems(wanted: Terms, node: str) -> Iterator[UsageError]:
    specs = tuple(map(TargetSpec.parse, wanted.targets))
    try:
        found = _digests(wanted.setup, specs)
    except OpcheckError as error:
        yield UsageError(
            Sentence("{text} (on node {name})", text=error.message, name=node), error.hint
        )
        return
    for target, digest in wanted.targets.items():
        if found[target] != digest:
            yield UsageError(
                Sentence(
                    "node {name} has other data of {text} than the machine that the run is of",
                    name=node,
                    text=target,
                ),
                Sentence(
                    "install the same opcheck there, and have the overlays where every "
                    "node sees them"
                ),
            )


def _digests(setup: Setup, specs: tuple[TargetSpec, ...]) -> Mapping[str, str]:
    database = Database.open(overlays=tuple(map(Path, setup.databases)))
    targets = map(database.resolve, specs)
    return {str(target): database.digest(target) for target in targets}


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return _ABSENT

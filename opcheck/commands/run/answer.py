"""A script run on an emulated device."""

from pathlib import Path

from msgspec.structs import replace

from opcheck.errors import SourceError
from opcheck.files import MOST_SOURCE_BYTES, require_regular
from opcheck.lang.sentence import Sentence
from opcheck.model.script import PartialRunError, ScriptRequest, ScriptRun
from opcheck.pipeline.database import Progress, open_database, silent
from opcheck.resolve.basis import basis_of


def run(
    request: ScriptRequest, progress: Progress = silent, output: Progress = silent
) -> ScriptRun:
    """Run the script that ``request`` names on an emulated device.

    ``progress`` hears the stages, ``output`` each line that the script prints.

    Raises:
        UsageError: an unknown target.
        SourceError: there is no such script.
        EmulationError: this torch cannot have such a device.
        PartialRunError: its process ended too early; the error has the run until then.
        DatabaseError: a support matrix is missing or damaged.
    """
    from opcheck.emulate.supported import require_emulated
    from opcheck.sandbox.parent import run as worker

    database = open_database(request.databases)
    matrix = database.matrix(database.resolve(request.target))
    require_emulated(matrix)
    if not request.script.module:
        _require_file(request.script.name)
    try:
        found = worker.script(request, progress=progress, output=output)
    except PartialRunError as error:
        error.run = replace(error.run, basis=basis_of(error.run.emulation, matrix))
        raise
    return replace(found, basis=basis_of(found.emulation, matrix))


def _require_file(name: str) -> None:
    hint = Sentence("write it as for python: opcheck run -t TARGET train.py --lr 0.1")
    try:
        require_regular(name, MOST_SOURCE_BYTES)
    except OSError as error:
        raise SourceError(
            Sentence("cannot read {text_file}: {text}", text_file=name, text=error.strerror), hint
        ) from error
    if Path(name).suffix == ".ipynb":
        raise SourceError(
            Sentence("{text_file} is a notebook, which is not run yet", text_file=name),
            Sentence("write its cells to a file: jupyter nbconvert --to script {text}", text=name),
        )

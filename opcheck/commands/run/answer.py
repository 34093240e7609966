"""A script run on an emulated device."""

from msgspec.structs import replace

from opcheck.errors import SourceError
from opcheck.files import MOST_SOURCE_BYTES, require_regular
from opcheck.lang.sentence import Sentence
from opcheck.model.script import PartialRunError, ScriptRequest, ScriptRun, ScriptSpec
from opcheck.pipeline.database import Progress, open_database, silent
from opcheck.resolve.basis import basis_of
from opcheck.source.notebook import MOST_NOTEBOOK_BYTES


def run(
    request: ScriptRequest,
    progress: Progress = silent,
    output: Progress = silent,
    *,
    beside: int = 1,
) -> ScriptRun:
    """Run the script that ``request`` names on an emulated device.

    ``progress`` hears the stages, ``output`` each line that the script prints; ``beside`` is how
    many such processes share the machine's memory where no limit was given.

    Raises:
        UsageError: an unknown target.
        SourceError: there is no such script, or it is no notebook that can be read.
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
        _require_file(request.script)
    try:
        found = worker.script(request, progress=progress, output=output, beside=beside)
    except PartialRunError as error:
        error.run = replace(error.run, basis=basis_of(error.run.emulation, matrix))
        raise
    return replace(found, basis=basis_of(found.emulation, matrix))


def _require_file(script: ScriptSpec) -> None:
    name, most = script.name, MOST_NOTEBOOK_BYTES if script.notebook else MOST_SOURCE_BYTES
    hint = Sentence("write it as for python: opcheck run -t TARGET train.py --lr 0.1")
    try:
        require_regular(name, most)
    except OSError as error:
        raise SourceError(
            Sentence("cannot read {text_file}: {text}", text_file=name, text=error.strerror), hint
        ) from error

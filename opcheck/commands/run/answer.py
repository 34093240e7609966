"""A script run on an emulated device."""

from msgspec.structs import replace

from opcheck.commands.run.compare_outputs import compare
from opcheck.errors import SourceError
from opcheck.files import MOST_SOURCE_BYTES, require_regular
from opcheck.lang.sentence import Sentence
from opcheck.model.comparison import Outputs
from opcheck.model.script import (
    ENDED_WELL,
    PartialRunError,
    ScriptRequest,
    ScriptRun,
    ScriptSpec,
)
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
    """Run the script that ``request`` names on an emulated device, if wanted on the CPU first.

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
    target = database.resolve(request.target)
    matrix = database.matrix(target)
    require_emulated(matrix)
    if request.script.is_file:
        _require_file(request.script)
    if request.compare:
        request = replace(request, values=True)
    cpu = _on_cpu(request, progress, beside) if request.compare else None

    def whole(found: ScriptRun) -> ScriptRun:
        basis = basis_of(found.emulation, matrix, database.chip(target))
        return replace(_compared(found, cpu), basis=basis)

    try:
        return whole(worker.script(request, progress=progress, output=output, beside=beside))
    except PartialRunError as error:
        error.run = whole(error.run)
        raise


def _on_cpu(request: ScriptRequest, progress: Progress, beside: int) -> ScriptRun:
    """The script's run to compare with: nobody sees what it writes and prints."""
    from opcheck.sandbox.parent import run as worker

    alone = replace(request, on_cpu=True, stop=False, write=False, plan=False)
    try:
        return worker.script(alone, progress=progress, beside=beside)
    except PartialRunError as error:
        return error.run


def _compared(found: ScriptRun, cpu: ScriptRun | None) -> ScriptRun:
    """The run with where it parts from that on the CPU, in place of what it gave."""
    if cpu is None:
        return found
    comparison = compare(
        cpu.outputs or Outputs(()),
        found.outputs or Outputs(()),
        cpu_error="" if cpu.ending in ENDED_WELL else cpu.emulation.error,
        whole=found.ending in ENDED_WELL,
    )
    return replace(found, outputs=None, comparison=comparison)


def _require_file(script: ScriptSpec) -> None:
    name, most = script.name, MOST_NOTEBOOK_BYTES if script.notebook else MOST_SOURCE_BYTES
    hint = Sentence("write it as for python: opcheck run -t TARGET train.py --lr 0.1")
    try:
        require_regular(name, most)
    except OSError as error:
        raise SourceError(
            Sentence("cannot read {text_file}: {text}", text_file=name, text=error.strerror), hint
        ) from error

"""A model run on an emulated device."""

from opcheck.lang.sentence import Sentence
from opcheck.model.emulation import Emulation, EmulationRequest
from opcheck.pipeline.database import Progress, open_database, silent


def emulate(
    request: EmulationRequest, progress: Progress = silent, output: Progress = silent
) -> Emulation:
    """Run the model that ``request`` names on an emulated device.

    ``progress`` hears the stages, ``output`` each line that the model's own code prints.

    Raises:
        UsageError: an unknown target, source kind or input.
        SourceError, EmulationError: the model cannot be loaded, or not run on such a device.
        PartialEmulationError: its process ended too early; the error has the run until then.
        DatabaseError: a support matrix is missing or damaged.
    """
    from opcheck.emulate.supported import require_emulated
    from opcheck.sandbox.parent import run

    database = open_database(request.databases)
    # one that is unknown or cannot be emulated needs no process to be refused
    require_emulated(database.matrix(database.resolve(request.target)))
    progress(Sentence("reading {text}", text=request.model.source))
    return run.emulate(request, progress=progress, output=output)

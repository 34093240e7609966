"""A wrapper that pads inputs whose sizes vary: proved on the host, and written if asked."""

from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from opcheck.commands.fix.by_data import by_data, varying_places
from opcheck.commands.fix.padded import Padding
from opcheck.commands.fix.values import FixRequest
from opcheck.commands.scan.answer import scan
from opcheck.db.store import Database
from opcheck.errors import UsageError
from opcheck.lang.sentence import Sentence
from opcheck.model.dynamic import SiteKind, SiteTaken, Taking
from opcheck.model.jobs import GraphRequest
from opcheck.model.padding import PadSpec
from opcheck.pipeline.database import Progress
from opcheck.pipeline.writing import drafted
from opcheck.version import __version__

SUFFIX = ".py"
_ORDER = (Taking.RECOMPILES, Taking.NOT_ALLOWED, Taking.UNKNOWN, Taking.FINE)


def padding(
    request: FixRequest, database: Database, progress: Progress, output: Progress
) -> Padding:
    """Try a wrapper that pads, and write it where it gives what the model gives.

    Raises:
        UsageError: the file to write has another name than modules have, or there are several
            calls.
        SourceError, TraceError: the model cannot be loaded or run.
    """
    from opcheck.sandbox.parent import run

    _require_one_call(request)
    matrix = database.matrix(database.resolve(request.scan.targets[0]))
    report = scan(request.scan, progress, output)
    (there,) = report.targets
    spec = PadSpec(request.scan.model.dynamic, request.buckets, str(matrix.target), by_data(there))
    asked = GraphRequest(replace(request.scan.model, dynamic=()), (), "", pad=spec)
    made = run.rewrite(asked, progress=progress, output=output).padded
    assert made is not None, "it was asked for"
    found = Padding(
        opcheck_version=__version__,
        torch_version=report.torch_version,
        model=report.model,
        target=there.target,
        files=(),
        run=made,
        taken=_taken(there.dynamic),
        places=varying_places(
            there,
            made.codes,
            matrix.entries,
            report.model.source,
            database.size_rules(matrix.target),
        ),
    )
    if not (request.path and found.holds):
        return found
    with drafted(Path(request.path), over=request.write) as draft:
        draft.path.write_text(made.text, encoding="utf-8", newline="\n")
        draft.keep()
    return replace(found, files=(request.path,))


def _require_one_call(request: FixRequest) -> None:
    if request.path and Path(request.path).suffix != SUFFIX:
        raise UsageError(
            Sentence("--wrapper {text}: a module of Python's has another name", text=request.path),
            Sentence("give a name that ends in {suffix}", suffix=SUFFIX),
        )
    model = request.scan.model
    if model.step is not None:
        raise UsageError(
            Sentence("a wrapper that pads is proved in evaluation mode, not for a training step"),
            Sentence("leave --train and --step out"),
        )
    if model.calls.decode or model.calls.input_sets:
        raise UsageError(
            Sentence("a wrapper that pads is for one call of the model"),
            Sentence("leave --decode and --inputs out"),
        )


def _taken(sites: Sequence[SiteTaken]) -> SiteTaken | None:
    """How the target takes calls whose sizes vary: what compiles anew says most."""
    calls = [one for one in sites if one.site.kind is SiteKind.DYNAMIC_SIZE]
    return min(calls, key=lambda one: _ORDER.index(one.how), default=None)

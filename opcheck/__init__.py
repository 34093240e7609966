"""Says whether a model runs on an accelerator, where it does not, and how that is known."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from opcheck.version import __version__

if TYPE_CHECKING:
    from opcheck.emulate.session import Emulator as emulate  # noqa: N813  # called as a function
    from opcheck.model.report import Report
else:
    from opcheck import emulate  # the room, which is that function without loading torch

__all__ = ["__version__", "emulate", "scan"]


def scan(
    model: Any,
    inputs: Any = None,
    *,
    targets: Sequence[str] = (),
    exact: bool = False,
    databases: Sequence[str] = (),
) -> "Report":
    """Hold a live model, or a source, against targets.

    Args:
        model: a ``torch.nn.Module`` (its weights may be on meta), or a source as on the command
            line: ``"model.pt2"``, ``"hf:DIR"``, ``"file.py:name"``. A module is copied without its
            weights and left as it is; it is traced in evaluation mode, in this process.
        inputs: for a module: a tensor, a tuple of positional inputs, a dict of named ones, or
            (tuple, dict); their values matter only where Python looks at them. None where the
            module's first layers tell. For a source: texts as ``--input`` takes them.
        targets: as on the command line: ``"ascend-910b"``, ``"ascend-910b@26.1.0+torch2.7"``.
            Empty: the newest release of every target.
        exact: record the exact kernels asked of every target, not only of a single one.
        databases: folders of overlays, as ``--db`` takes them; the last one holds.

    Returns:
        The report, as ``opcheck scan --format json`` prints it.

    Raises:
        OpcheckError: the request, the model or the database is not usable; the message says why.
    """
    from opcheck import pipeline
    from opcheck.errors import UsageError
    from opcheck.model.request import ScanRequest
    from opcheck.model.target import TargetSpec

    try:
        specs = tuple(TargetSpec.parse(target) for target in targets)
    except ValueError as error:
        raise UsageError(str(error)) from error
    folders = tuple(map(str, databases))
    if isinstance(model, str):
        given = tuple(inputs or ())
        return pipeline.scan(ScanRequest(model, specs, given, exact, databases=folders))
    return pipeline.scan_module(model, inputs, specs, exact=exact, databases=folders)

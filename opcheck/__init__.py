"""Will this model run on that accelerator, where will it not, and how do you know?"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from opcheck.version import __version__

if TYPE_CHECKING:
    from opcheck.model.report import Report

__all__ = ["__version__", "scan"]


def scan(
    model: Any,
    inputs: Any = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    targets: Sequence[str] = (),
    exact: bool = False,
) -> "Report":
    """Hold a live model against targets.

    Args:
        model: a ``torch.nn.Module`` (its weights may be on meta), or a source as on the command
            line: ``"model.pt2"``, ``"hf:DIR"``, ``"file.py:name"``.
        inputs: for a module: a tensor, a tuple of positional inputs, or a dict of named ones.
            Their values matter only where Python looks at them. For a source: texts as
            ``--input`` takes them.
        kwargs: further named inputs of a module.
        targets: as on the command line: ``"ascend-910b"``, ``"ascend-910b@26.1.0+torch2.7"``.
            Empty: the newest release of every target.
        exact: record the exact kernels asked of every target, not only of a single one.

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
    if isinstance(model, str):
        return pipeline.scan(ScanRequest(model, specs, tuple(inputs), exact))
    if isinstance(inputs, Mapping):
        inputs, kwargs = (), {**inputs, **(kwargs or {})}
    args = tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)
    return pipeline.scan_module(model, args, kwargs or {}, specs, exact=exact)

"""What a request asks of the source, as the source kinds read it."""

from msgspec.structs import replace

from opcheck.model.work import GraphRequest, Request
from opcheck.source.base import LoadOptions
from opcheck.source.inputs import InputSpec


def options_of(request: Request, *, weights: bool = False) -> LoadOptions:
    """The options to load the source of ``request`` with.

    Raises:
        UsageError: an input is not written as one.
    """
    inputs = tuple(InputSpec.parse(text) for text in request.model.inputs)
    options = LoadOptions(inputs, request.model.trust, weights=weights)
    if isinstance(request, GraphRequest):
        return options
    step = request.model.step
    return replace(
        options,
        calls=request.model.calls,
        train=step is not None,
        own_loss=step is not None and not step.loss,
    )

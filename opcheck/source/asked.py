"""What a request asks of the source, as the source kinds read it."""

from opcheck.model.calls import CallSpec
from opcheck.model.emulation import EmulationRequest
from opcheck.model.work import Request, WorkRequest
from opcheck.source.base import LoadOptions
from opcheck.source.inputs import InputSpec


def options_of(request: Request, *, weights: bool = False) -> LoadOptions:
    """The options to load the source of ``request`` with.

    Raises:
        UsageError: an input is not written as one.
    """
    inputs = tuple(InputSpec.parse(text) for text in request.inputs)
    calls, train = CallSpec(), False
    if isinstance(request, WorkRequest | EmulationRequest):
        calls, train = request.calls, request.step is not None
    return LoadOptions(inputs, request.trust, weights=weights, calls=calls, train=train)

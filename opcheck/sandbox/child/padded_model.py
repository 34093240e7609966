"""A wrapper that pads a model's inputs to few sizes, tried on the host."""

from opcheck.errors import out_of_memory
from opcheck.lang.sentence import Sentence
from opcheck.model.jobs import GraphRequest, GraphRun
from opcheck.model.padding import PadSpec
from opcheck.sandbox.child.process import Process
from opcheck.source.base import Loaded


def pad(request: GraphRequest, spec: PadSpec, process: Process, loaded: Loaded) -> GraphRun:
    """Find a wrapper, and compare it with the model itself at several sizes.

    Raises:
        UsageError: there is no such input or dimension.
        TraceError: the model cannot be run with the inputs that it has.
    """
    from opcheck.rewrite.padding.proving import padded

    process.begin("trace", Sentence("running it with other sizes"))
    source = request.model.source
    try:
        return GraphRun({}, padded=padded(loaded.module, loaded.args, loaded.kwargs, spec, source))
    except RuntimeError as error:
        if out_of_memory(error):
            raise MemoryError from error
        raise

"""A live module from Python, with its inputs."""

from collections.abc import Iterator
from typing import Any

from opcheck.errors import UsageError
from opcheck.source.base import Loaded, LoadOptions

KIND = "live"


def load_live(module: Any, inputs: Any, options: LoadOptions | None = None) -> Loaded:
    """Make a copy of ``module`` ready to be run; the module itself is left as it is.

    ``inputs`` is a tensor, a tuple of arguments, a dict of named ones, or (tuple, dict); or an
    iterator over such; None where ``options`` or the first layer tells.
    """
    from torch import nn

    from opcheck.source.building.build import light_copy, whole_copy
    from opcheck.source.building.example import normalise
    from opcheck.source.building.input_sets import sets_of
    from opcheck.source.building.ready import ready

    if not isinstance(module, nn.Module):
        raise UsageError(
            f"not a model: {type(module).__name__}",
            "give a torch.nn.Module, or a text that names a source, as on the command line",
        )
    options = options or LoadOptions()
    given: Any = None
    if isinstance(inputs, Iterator):
        given = list(sets_of("the call", inputs))
    elif inputs is not None:
        given = normalise("the call", inputs)
    copied = whole_copy(module) if options.weights else light_copy(module)
    return ready(copied, given, options, kind=KIND, digest="")

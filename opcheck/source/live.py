"""A live module from Python, with its inputs."""

from typing import TYPE_CHECKING, Any

from opcheck.source.base import Loaded, LoadOptions

if TYPE_CHECKING:
    from torch import nn

KIND = "live"


def load_live(module: "nn.Module", inputs: Any, options: LoadOptions | None = None) -> Loaded:
    """Make a copy of ``module`` ready to be traced; the module itself is left as it is.

    ``inputs`` is a tensor, a tuple of arguments, a dict of named ones, or (tuple, dict); None
    where ``options`` or the first layer tells.
    """
    from opcheck.source.building.build import light_copy
    from opcheck.source.building.example import normalise
    from opcheck.source.building.ready import ready

    given = None if inputs is None else normalise("the call", inputs)
    copied = light_copy(module)
    return ready(copied, given, options or LoadOptions(), kind=KIND, digest="")

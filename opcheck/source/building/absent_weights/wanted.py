"""What stands for a state dict that is not here, and the models that load it.

Private torch API used here, checked on 2.13.0: ``torch.nn.modules.module._IncompatibleKeys``, which
``load_state_dict`` gives.
"""

import socket
from collections import OrderedDict
from functools import wraps
from typing import Any

from torch import nn
from torch.nn.modules.module import _IncompatibleKeys

from opcheck.lang.sentence import Sentence

_wanted: dict[str, None] = {}


class AbsentWeights(OrderedDict[str, Any]):
    """A state dict without entries; to look a name up gives such a dict again."""

    def __missing__(self, _: str) -> "AbsentWeights":
        return self

    def pop(self, _: str, *default: Any) -> Any:
        """Give what is to be given where there is no such entry."""
        return default[0] if default else self


def wanted(name: str) -> AbsentWeights:
    """Note that weights are not here, by their name or address; gives what stands for them."""
    _wanted[name] = None
    return AbsentWeights()


def prepare() -> None:
    """Have modules be left as they are where there is nothing to load."""
    original: Any = nn.Module.load_state_dict
    if hasattr(original, "__wrapped__"):
        return

    @wraps(original)
    def load_state_dict(module: nn.Module, state_dict: Any, *args: Any, **kwargs: Any) -> Any:
        if _wanted and not state_dict:  # such a dict, or what code made of its entries
            return _IncompatibleKeys([], [])
        return original(module, state_dict, *args, **kwargs)

    module_class: Any = nn.Module
    module_class.load_state_dict = load_state_dict


def notes() -> tuple[str, ...]:
    """What is to be said of weights that were wanted."""
    return tuple(
        Sentence("the weights of {name} are not here: random ones stand for them", name=name)
        for name in _wanted
    )


def has_network() -> bool:
    """Whether this process may speak to others at all; confined ones may not."""
    try:
        socket.socket(socket.AF_INET, socket.SOCK_STREAM).close()
    except PermissionError:
        return False
    return True

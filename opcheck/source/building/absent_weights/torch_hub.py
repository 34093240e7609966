"""Checkpoints by their address: torchvision's, timm's older ones, and those of ``torch.hub``."""

import os
import sys
from functools import wraps
from inspect import signature
from typing import Any
from urllib.parse import urlparse

import torch.hub

from opcheck.source.building.absent_weights.wanted import has_network, wanted

_FUNCTION = "load_state_dict_from_url"


def prepare() -> None:
    """Have the function answer without a network, wherever it was imported to."""
    original = torch.hub.load_state_dict_from_url
    if hasattr(original, "__wrapped__"):
        return

    takes = signature(original)

    @wraps(original)
    def load_state_dict_from_url(*args: Any, **kwargs: Any) -> Any:
        given = takes.bind(*args, **kwargs).arguments
        folder = given.get("model_dir") or os.path.join(torch.hub.get_dir(), "checkpoints")
        name = given.get("file_name") or os.path.basename(urlparse(given["url"]).path)
        if os.path.exists(os.path.join(folder, name)) or has_network():
            return original(*args, **kwargs)
        return wanted(given["url"])

    for module in list(sys.modules.values()):
        if vars(module).get(_FUNCTION) is original:
            setattr(module, _FUNCTION, load_state_dict_from_url)

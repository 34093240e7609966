"""Ask a model for shapes while its inputs are being chosen."""

from collections.abc import Callable
from typing import Any

import torch

from opcheck.source.building.seeded import seeded
from opcheck.source.building.values import valued
from opcheck.source.building.weightless import weightless


def probe(function: Callable[..., Any], *args: Any, weights: bool, **kwargs: Any) -> Any:
    """Call ``function`` without gradients, and without computing where that is possible.

    A model with ``weights`` computes: what it keeps from a call must have values too.
    """
    if not weights:
        with weightless(), torch.no_grad():
            return function(*args, **kwargs)
    args, kwargs = valued((args, kwargs))
    with seeded(), torch.no_grad():
        return function(*args, **kwargs)

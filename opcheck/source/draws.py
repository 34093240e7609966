"""NumPy's random numbers, which code of a model draws where NumPy is installed."""

from typing import Any


def numpy_random() -> Any | None:
    """``numpy.random``, or None where NumPy is not installed: then no code draws from it."""
    try:
        import numpy as np
    except ModuleNotFoundError:
        return None
    return np.random

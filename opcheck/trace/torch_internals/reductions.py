"""The names of reductions, which ``c10d`` operators are given as script objects.

Private torch API used here, checked on 2.13.0: ``_has_method`` and the method ``op`` of a boxed
``ReduceOp``.
"""

from typing import Any

import torch

_NAMES = ("SUM", "AVG", "PRODUCT", "MIN", "MAX", "BAND", "BOR", "BXOR", "PREMUL_SUM")
"""In the order of their numbers in C++."""


def reduction_of(value: Any) -> str:
    """What a boxed ``ReduceOp`` is called: ``SUM``; "" for anything else."""
    boxed: Any = value if type(value) is torch.ScriptObject else None
    if boxed is None or not boxed._has_method("op"):
        return ""
    number = int(boxed.op())
    return _NAMES[number] if number < len(_NAMES) else ""

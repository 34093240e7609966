"""Launches of the model's own kernels as a trace has them."""

import math
from collections.abc import Mapping
from typing import Any

import torch
from msgspec.structs import replace

from opcheck.kernel_code.launching import CLUSTERS, STAGES, WARPS
from opcheck.model.launches import IMPORT, KernelCode, Launch
from opcheck.model.trace import Phase
from opcheck.trace.calls.call_site import shown

_LONGEST = 80
"""Characters of a constant that are kept."""


def launch_of(
    code: KernelCode, given: Mapping[str, Any], grid: tuple[Any, ...], where: str, phase: Phase
) -> Launch:
    """What is kept of one launch: dtypes of its tensors, its constants, the size of its grid."""
    dtypes = tuple(
        (name, str(value.dtype).removeprefix("torch."))
        for name, value in given.items()
        if isinstance(value, torch.Tensor)
    )
    constants = tuple(
        sorted((name, _text(given[name])) for name in code.constants if name in given)
    )
    return Launch(
        kernel=replace(code, file=shown(code.file)) if code.file else code,
        where=where,
        phase=phase.value,
        dtypes=dtypes,
        constants=constants,
        programs=_programs(grid),
        stages=_number(given, STAGES),
        warps=_number(given, WARPS),
        clusters=_number(given, CLUSTERS),
        grid=grid if _programs(grid) else (),
    )


def _number(given: Mapping[str, Any], option: str) -> int:
    value = given.get(option)
    return value if isinstance(value, int) else 0


def import_of(file: str, line: int) -> Launch:
    """What is kept of an import of Triton that the model cannot do without."""
    code = KernelCode(IMPORT, shown(file), line)
    return Launch(kernel=code, where=f"{code.file}:{line}")


def _text(value: Any) -> str:
    """A constant as text, without what changes from run to run."""
    name = getattr(value, "__name__", None)
    text = str(name if isinstance(name, str) else value)
    return text if len(text) <= _LONGEST and " at 0x" not in text else type(value).__name__


def _programs(grid: tuple[Any, ...]) -> int:
    """The product of a grid; 0 where there is none, or a size is no number that Python knows."""
    if not grid or not all(isinstance(size, int) for size in grid):
        return 0
    return math.prod(grid)

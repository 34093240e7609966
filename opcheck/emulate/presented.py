"""How an emulated device presents itself to Python: its name, its capability, what it computes in.

Read in torch_npu, torch_mlu and torch_musa: ``get_device_capability`` gives the chip's of the last
two. Ascend's gives None, and since 26.0.0 what ``TORCH_NPU_DEVICE_CAPABILITY`` names
(``torch_npu/npu/__init__.py``).
"""

from collections.abc import Callable
from functools import partial

import torch

from opcheck.db.versions import version_key
from opcheck.model.matrix import SupportMatrix
from opcheck.model.predicates import OneOf
from opcheck.model.verdict import Verdict
from opcheck.trace.device.state import DeviceState, MemoryUse

_ASCEND = "npu"
_VARIABLE, _SINCE = "TORCH_NPU_DEVICE_CAPABILITY", "26.0.0"
_NONE = "asks for a compute capability, of which there is none"
_NONE_AT = "asks for a compute capability at {text}, of which there is none"
_SETTABLE = "asks for a compute capability, of which there is none unless {said} is set"
_SETTABLE_AT = (
    "asks for a compute capability at {text}, of which there is none unless {said} is set"
)


def presented(
    matrix: SupportMatrix,
    device: torch.device,
    memory: MemoryUse,
    note: Callable[[str, str, str], None],
) -> DeviceState:
    """Give what the device's module answers from.

    Args:
        matrix: of the target.
        device: its name and index.
        memory: what its tensors take.
        note: notes what happens, by a sentence without a line, one with it, and what was said.
    """
    newer = version_key(matrix.target.sdk) >= version_key(_SINCE)
    variable = _VARIABLE if device.type == _ASCEND and newer else ""
    texts = (_SETTABLE, _SETTABLE_AT) if variable else (_NONE, _NONE_AT)
    return DeviceState(
        device.type,
        available=lambda: True,
        name=matrix.chip_name or matrix.target.chip,
        memory=memory,
        capability=matrix.capability,
        capability_variable=variable,
        met_without_capability=partial(note, *texts, f"{variable}=8.0"),
        amp_dtypes=_amp_dtypes(matrix),
    )


def _amp_dtypes(matrix: SupportMatrix) -> tuple[torch.dtype, ...]:
    """What autocast may compute in: not what the chip refuses everywhere."""
    refused = {
        name
        for condition in matrix.conditions.get("*", ())
        if condition.verdict is Verdict.UNSUPPORTED
        and len(condition.predicates) == 1
        and isinstance(bound := condition.predicates[0].bound, OneOf)
        for name in bound.listed
    }
    both = (torch.float16, torch.bfloat16)
    return tuple(d for d in both if str(d).removeprefix("torch.") not in refused)

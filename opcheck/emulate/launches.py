"""Kernels and extensions of the model's own, as an emulated device meets their calls."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import torch
from torch.utils._pytree import tree_leaves

from opcheck.lang.sentence import Sentence
from opcheck.model.launches import KernelCode, Language
from opcheck.model.report import Reason
from opcheck.model.trace import KERNEL_NOT_RUN, Gap
from opcheck.model.verdict import Verdict
from opcheck.resolve.launches import judged
from opcheck.trace.calls.launches import launch_of

if TYPE_CHECKING:
    from opcheck.emulate.device import Device


def met(
    device: "Device", code: KernelCode, given: Mapping[str, Any], grid: tuple[Any, ...], where: str
) -> None:
    """Refuse a kernel as the target does; else note that nothing runs it.

    Args:
        device: where it is called.
        code: what its source says.
        given: its arguments by name.
        grid: how many programs are launched; () where that is not known.
        where: file and line of the call, or the module.

    Raises:
        RuntimeError: the target refuses it, and refusals end the run.
    """
    __tracebackhide__ = True
    record = device.record
    if not device.computes and _on_host(device, code, given):
        record.note(
            Sentence(
                "calls {op} of a C++ extension, which was not built: what it computes on the host "
                "is not known",
                op=code.operator,
            )
        )
        return
    found = judged(launch_of(code, given, grid, where, record.now), device.matrix)
    if found.verdict is Verdict.UNSUPPORTED:
        reason, error = Reason(found.code, found.text), RuntimeError(found.text)
        device.refuse(code.operator, reason, error, by_condition=True)
    said = Sentence(
        "launches {op}, which nothing runs here: what it writes to stays as it was",
        op=code.operator,
    )
    record.gap(Gap(where, said, KERNEL_NOT_RUN))


def _on_host(device: "Device", code: KernelCode, given: Mapping[str, Any]) -> bool:
    """Whether C++ is called that is handed no tensor of the device."""
    if code.language is not Language.CPP:
        return False
    tensors = (each for each in tree_leaves(dict(given)) if isinstance(each, torch.Tensor))
    return not any(each.device.type == device.state.device_type for each in tensors)

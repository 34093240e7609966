"""Code that ``torch.compile`` was to compile, as an emulated device meets it."""

from typing import TYPE_CHECKING

import torch

from opcheck.model.trace import Compilation
from opcheck.model.verdict import Verdict
from opcheck.resolve.compiled import COMPILE, judged

if TYPE_CHECKING:
    from opcheck.emulate.device import Device


def met(device: "Device", how: Compilation) -> None:
    """Refuse it where the target has no such back end; else note what is known of it.

    It runs as it is written, so that the device is asked for what its calls ask for.

    Raises:
        RuntimeError: the target refuses it, and refusals end the run.
    """
    __tracebackhide__ = True
    mode = "train" if torch.is_grad_enabled() else "inference"
    for _, said in judged(how, device.matrix, mode):
        if said.verdict is Verdict.UNSUPPORTED:
            error = RuntimeError(said.reason.text)
            device.refuse(COMPILE, said.reason, error, by_condition=False)
        else:
            device.record.caution(COMPILE, said.reason, said.verdict)

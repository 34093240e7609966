"""``torch.utils.checkpoint`` on a device that has no module in torch.

It asks the module named after the type of device, ``torch.cuda`` for CUDA, for the random numbers
to come. torch_xla 2.9.0 gives torch no module, so it raises there; what it would run is the same.

Private torch API used here, checked on 2.13.0: ``_get_device_module`` of that file.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import torch
from torch.utils import checkpoint

from opcheck.trace.device.tensors import DeviceTensor

RAISES = (
    "torch.utils.checkpoint raises here on this device: \"AttributeError: module 'torch' has no "
    "attribute 'xla'\"; use torch_xla.utils.checkpoint, as which it is traced"
)
"""Met by users of torch_xla 2.1 (huggingface/transformers#29314) and 2.9
(aws-neuron/aws-neuron-sdk#1317)."""


@contextmanager
def checkpoints_of(device: torch.device, raises: Callable[[str], None]) -> Iterator[None]:
    """Have the calls of what is checkpointed be seen inside the block; tell ``raises`` of each."""
    shown = (DeviceTensor.shown or device).type
    if shown != "xla" or hasattr(torch, "xla"):
        yield
        return
    found: Any = checkpoint._get_device_module

    def module_of(device: str = "cuda") -> Any:
        if device != shown:
            return found(device)
        raises(RAISES)
        return SimpleNamespace()

    with patch.object(checkpoint, "_get_device_module", module_of):
        yield

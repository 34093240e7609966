"""What holds while a model runs on the traced device: code that asks for the device finds it."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager

from opcheck.trace.device.alias import ALIASED_TYPES, aliased, device_for
from opcheck.trace.running.exported import as_exported
from opcheck.trace.running.library_flags import libraries_know_device
from opcheck.trace.torch_internals.autocast import autocasting

Autocast = Mapping[str, Collection[str]]
"""Policy of ``torch.autocast`` -> overloads; empty: those of torch for CUDA."""


@contextmanager
def taking_place(device_type: str, autocast: Autocast) -> Iterator[None]:
    """Have the traced device stand for this type, in PyTorch, in libraries and under autocast."""
    with aliased(device_type), as_exported(device_type), casting_device(device_type, autocast):
        yield


@contextmanager
def casting_device(device_type: str, autocast: Autocast) -> Iterator[None]:
    """Have autocast cast on the device, and libraries know it; what is traced inside need not."""
    seen = device_type if device_type in ALIASED_TYPES else device_for(device_type).type
    with libraries_know_device(device_type), autocasting(autocast, seen):
        yield

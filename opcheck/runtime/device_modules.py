"""What torch's device modules say of the devices here - foreign code, called with care."""

import importlib
import importlib.util
import os
import warnings
from typing import Any

import torch
from msgspec import Struct


class Answer(Struct, frozen=True):
    """One device, as its module describes it."""

    device: torch.device
    name: str
    """"" where the module has no name for it."""
    memory: int | None
    architecture: tuple[str, ...]
    """``("gfx942",)``, or the numbers of a capability: ``("8", "0")``; () where it says nothing."""
    how: str
    """Who was asked, and what it said."""


def module_of(device_type: str, plugin: str) -> Any:
    """The module ``torch.<device_type>``, its plugin imported where it is installed; else None.

    A plugin that fails to import is told in a warning, and its device is then not there.
    """
    if getattr(torch, device_type, None) is None and plugin:
        if not _is_installed(plugin):
            return None
        try:
            importlib.import_module(plugin)
        except Exception as error:  # a vendor's own code, and what it loads
            text = f"{type(error).__name__}: {error}"
            warnings.warn(
                f"{plugin} is installed and cannot be imported, so there is no {device_type} "
                f"device ({text}); opcheck doctor says what is missing",
                RuntimeWarning,
                stacklevel=2,
            )
            return None
    return getattr(torch, device_type, None)


def _is_installed(plugin: str) -> bool:
    """Whether a module can be found; one in a package is looked for only where that is there."""
    package, dot, _ = plugin.rpartition(".")
    there = not dot or _is_installed(package)
    return there and importlib.util.find_spec(plugin) is not None


def answer(device_type: str, module: Any, index: int = 0) -> Answer | None:
    """What a device module says of the device of that index; None where there is none."""
    if module is None or not _available(device_type, module):
        return None
    count = getattr(module, "device_count", lambda: 1)()
    if index >= count:
        return None
    device = torch.device(device_type, index)
    properties = _value_of(module, "get_device_properties", index)
    name = str(_value_of(module, "get_device_name", index) or getattr(properties, "name", ""))
    name = name or _metal_name(device_type)
    how = f"torch.{device_type} is available"
    if name:
        how = f"{how} and calls device {index} {name!r}"
    memory = getattr(properties, "total_memory", None) or _recommended(module)
    return Answer(device, name, memory, _architecture(module, properties, index), how)


def xla_answer(index: int = 0) -> Answer | None:
    """What torch_xla says, where it is installed and has a TPU."""
    if importlib.util.find_spec("torch_xla") is None:
        return None
    try:
        runtime: Any = importlib.import_module("torch_xla.runtime")
        kind = runtime.device_type()
        if kind != "TPU" or index >= runtime.addressable_device_count():
            return None
        core: Any = importlib.import_module("torch_xla")
        device: torch.device = core.device(index)
    except Exception as error:  # its own code, and the driver's behind it
        warnings.warn(
            f"torch_xla is installed and does not answer ({type(error).__name__}: {error})",
            RuntimeWarning,
            stacklevel=2,
        )
        return None
    name = tpu_name()
    how = "torch_xla.runtime.device_type() is 'TPU'"
    return Answer(device, name, None, (), f"{how}, and the machine says {name!r}" if name else how)


def _available(device_type: str, module: Any) -> bool:
    """Whether there is a device; torch before 2.2 asks Metal in another place."""
    asked: Any = getattr(module, "is_available", None)
    if asked is None:
        asked = getattr(getattr(torch.backends, device_type, None), "is_available", lambda: False)
    return bool(asked())


def _metal_name(device_type: str) -> str:
    """``Apple M3 Max``, which newer torch says, in another module than the device's."""
    if device_type != "mps" or not torch.backends.mps.is_available():
        return ""
    return str(getattr(torch.backends.mps, "get_name", str)())


def tpu_name() -> str:
    """``TPU v4``, as the environment of a TPU machine says."""
    said = os.environ.get("TPU_ACCELERATOR_TYPE", "")  # v4-8, v5litepod-4, tpu7x-8
    generation = said.partition("-")[0].replace("v5litepod", "v5e")
    if generation.startswith("tpu"):
        return generation.replace("tpu", "TPU")
    return f"TPU {generation}" if generation else ""


def _value_of(module: Any, function: str, index: int) -> Any:
    """What a function of a device module gives; None where it has none, or none for this device."""
    try:
        return getattr(module, function)(index)
    except (AttributeError, RuntimeError, NotImplementedError, AssertionError):
        return None


def _recommended(module: Any) -> int | None:
    """What Metal lets a process take: it shares the memory of the host."""
    most = getattr(module, "recommended_max_memory", None)
    return None if most is None else int(most())


def _architecture(module: Any, properties: Any, index: int) -> tuple[str, ...]:
    named = getattr(properties, "gcnArchName", "")
    if named:
        return (str(named).partition(":")[0],)
    capability = _value_of(module, "get_device_capability", index)
    if isinstance(capability, tuple):
        return tuple(map(str, capability))
    return ()

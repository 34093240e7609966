"""What a deployed program imports: the device that is here, and a model run on it.

``detect_device()`` says which accelerator there is, ``Inferencer`` runs a model on it with the same
call everywhere. Of opcheck's rooms it needs the database, the sources, and the rewrites for what a
device lacks. torch is loaded when a name is taken from here, not before. ``opcheck.runtime.probe``
tries a real device with PyTorch's own samples.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from opcheck.errors import InferenceError

if TYPE_CHECKING:
    from opcheck.runtime.device import DetectedDevice, detect_device
    from opcheck.runtime.inferencer import Inferencer

__all__ = ["DetectedDevice", "InferenceError", "Inferencer", "detect_device"]

_FROM = {
    "DetectedDevice": "opcheck.runtime.device",
    "Inferencer": "opcheck.runtime.inferencer",
    "detect_device": "opcheck.runtime.device",
}


def __getattr__(name: str) -> Any:
    if name not in _FROM:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_FROM[name]), name)

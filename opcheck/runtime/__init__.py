"""What a deployed program imports: the device that is here, and a model run on it.

``detect_device()`` says which accelerator there is, ``Inferencer`` runs a model on it with the same
call everywhere. Of opcheck's rooms it needs the database, and the rewrites for what a device lacks.
"""

from opcheck.errors import InferenceError
from opcheck.runtime.device import DetectedDevice, detect_device
from opcheck.runtime.inferencer import Inferencer

__all__ = ["DetectedDevice", "InferenceError", "Inferencer", "detect_device"]

"""Which targets can be emulated. Nothing here needs torch."""

from opcheck.db.store import Database
from opcheck.errors import EmulationError
from opcheck.model.matrix import SupportMatrix

_PLUGIN = "PrivateUse1"


def require_emulated(matrix: SupportMatrix) -> None:
    """Refuse a target whose device PyTorch's C++ knows by another name than the emulated one.

    Raises:
        EmulationError: its kernels are registered under another dispatch key.
    """
    if matrix.dispatch_key == _PLUGIN:
        return
    device = matrix.target.device_type
    raise EmulationError(
        f"{matrix.target.name} cannot be emulated: its kernels stand at {matrix.dispatch_key}, and "
        f"this torch can only have a {_PLUGIN} device, for which PyTorch's C++ takes other "
        f"branches than for {device}, in convolutions and attention among others",
        f"opcheck scan holds models against it; devices of {', '.join(_vendors())} can be emulated",
    )


def _vendors() -> list[str]:
    """Vendors whose devices are PrivateUse1."""
    vendors = Database.open().vendors.items()
    return [
        name
        for name, vendor in vendors
        if vendor.document.data.get("dispatch_key", _PLUGIN) == _PLUGIN
    ]

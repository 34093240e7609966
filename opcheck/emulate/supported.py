"""Which targets can be emulated. Nothing here needs torch."""

from opcheck.db.store import Database
from opcheck.errors import EmulationError
from opcheck.lang.sentence import Sentence
from opcheck.model.matrix import SupportMatrix
from opcheck.model.target import mode_of

_PLUGIN = "PrivateUse1"


def require_emulated(matrix: SupportMatrix) -> None:
    """Refuse a target whose device PyTorch's C++ knows by another name than the emulated one.

    Raises:
        EmulationError: its kernels are registered under another dispatch key, or its calls are
            compiled as graphs.
    """
    if matrix.target.mode is not None and matrix.target.mode.compiles:
        raise EmulationError(
            Sentence(
                "{target} cannot be emulated: its calls are compiled as graphs, where an emulated "
                "device runs them one by one",
                target=matrix.target.name,
            ),
            Sentence(
                "scan the model for it instead: opcheck scan model.py:build -t {target}",
                target=matrix.target.name,
            ),
        )
    if matrix.dispatch_key == _PLUGIN:
        return
    device = matrix.target.device_type
    raise EmulationError(
        Sentence(
            "{target} cannot be emulated: its kernels stand at {key}, and this "
            "torch can only have a {plugin} device, for which PyTorch's C++ takes "
            "other branches than for {device}, in convolutions and attention among "
            "others",
            target=matrix.target.name,
            key=matrix.dispatch_key,
            plugin=_PLUGIN,
            device=device,
        ),
        Sentence(
            "check the model of it instead: opcheck scan model.py:build -t {target}, with --train "
            "for a training step; devices of {list} can be emulated",
            target=matrix.target.name,
            list=", ".join(_vendors()),
        ),
    )


def _vendors() -> list[str]:
    """Vendors whose devices are PrivateUse1."""
    vendors = Database.open().vendors.items()
    return [
        name
        for name, vendor in vendors
        if vendor.document.data.get("dispatch_key", _PLUGIN) == _PLUGIN and mode_of(name)[1] is None
    ]

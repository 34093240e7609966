"""Environment variables that hide devices, or that hide nothing because they are CUDA's."""

from collections.abc import Iterator

from opcheck.commands.doctor.base import Check, Ground
from opcheck.commands.doctor.values import DoctorFinding, Severity
from opcheck.model.environment import Environment

_ENDING = "_VISIBLE_DEVICES"


class VisibleDevices(Check):
    """``CUDA_VISIBLE_DEVICES`` on a machine whose devices have another variable."""

    name = "visible-devices"
    about = "a variable that hides every device, or that is CUDA's and does nothing here"

    def for_vendor(self, ground: Ground, vendor: Environment) -> Iterator[DoctorFinding]:
        """Look at the variables of CUDA that the vendor has its own names for."""
        environ = ground.here.environ
        own = {name for name in vendor.renamed.values() if name.endswith(_ENDING)}
        if vendor.device_type == "cuda":
            own = {"CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"} & environ.keys()
        for name in sorted(own & environ.keys()):
            if environ[name].strip() in ("", "-1"):
                text = f"{environ[name]!r} hides every device"
                yield self.finding(Severity.WARNING, name, text, (f"unset {name}",))
        for name, use in sorted(vendor.renamed.items()):
            if name in environ and use not in environ:
                text = f"it is CUDA's and does nothing here; {vendor.name} has {use}"
                mends = (f"export {use}={environ[name]!r}",)
                yield self.finding(Severity.WARNING, name, text, mends)

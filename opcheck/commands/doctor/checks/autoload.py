"""``import torch`` that was told not to load plugins."""

from collections.abc import Iterator

from opcheck.commands.doctor.base import Check, Ground
from opcheck.commands.doctor.pairing import found_plugin
from opcheck.commands.doctor.values import DoctorFinding, Severity
from opcheck.commands.doctor.versions import at_least
from opcheck.model.environment import Environment


class Autoload(Check):
    """A program that counts on ``import torch`` alone does not find the device then."""

    name = "autoload"
    about = "TORCH_DEVICE_BACKEND_AUTOLOAD=0 beside a plugin"

    def for_vendor(self, ground: Ground, vendor: Environment) -> Iterator[DoctorFinding]:
        """Look at the variable where a plugin is installed."""
        plugin, torch, said = vendor.plugin, ground.here.torch, ground.torch
        if plugin is None or torch is None or found_plugin(ground.here, plugin) is None:
            return
        variable = "TORCH_DEVICE_BACKEND_AUTOLOAD"
        value = ground.here.environ.get(variable, "1")
        if value != "1" and at_least(torch.version, said.autoload_since):
            text = f"{value!r} keeps import torch from loading {plugin.package}: import it yourself"
            mends = (f"unset {variable}",)
            yield self.finding(Severity.WARNING, variable, text, mends, said.autoload_evidence)

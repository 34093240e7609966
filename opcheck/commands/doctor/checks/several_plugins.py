"""Two plugins that both want to be torch's one outside device."""

from collections.abc import Iterator

from opcheck.commands.doctor.base import Check, Ground
from opcheck.commands.doctor.values import DoctorFinding, Severity

PLUGINS = ("torch-mlu", "torch-musa", "torch-npu")
"""Packages that rename PrivateUse1, by their normalised names."""


class SeveralPlugins(Check):
    """torch has one name to give away, once in a process."""

    name = "several-plugins"
    about = "two plugins that both rename torch's one outside device"

    def general(self, ground: Ground) -> Iterator[DoctorFinding]:
        """Count the plugins that are installed."""
        here = [name for name in PLUGINS if name in ground.here.distributions]
        if len(here) > 1:
            text = "each renames PrivateUse1, which torch allows once in a process"
            mends = tuple(f"pip uninstall {name}" for name in here[1:])
            yield self.finding(
                Severity.ERROR, ", ".join(here), text, mends, ground.torch.one_backend_evidence
            )

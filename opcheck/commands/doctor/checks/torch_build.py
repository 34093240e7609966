"""The build of torch that the vendor's software works with."""

from collections.abc import Iterator

from opcheck.commands.doctor.base import Check, Ground
from opcheck.commands.doctor.setup import set_up
from opcheck.commands.doctor.values import DoctorFinding, Severity
from opcheck.commands.doctor.versions import at_least, local
from opcheck.model.environment import Environment

_NAMES = {"cpu": "for the CPU", "cuda": "for CUDA", "rocm": "for ROCm", "xpu": "for XPU"}


class TorchBuild(Check):
    """A torch for the CPU on an NVIDIA machine, for CUDA under a plugin, for ROCm under DTK."""

    name = "torch-build"
    about = "no torch, or one that was built for another device than the vendor's software needs"

    def for_vendor(self, ground: Ground, vendor: Environment) -> Iterator[DoctorFinding]:
        """Compare what torch was built for with what is needed."""
        torch, need = ground.here.torch, vendor.torch
        mends = set_up(vendor, ground.torch, ground.chip, ground.here.torch).commands
        if torch is None:
            text = "torch is not installed"
            yield self.finding(Severity.ERROR, "torch", text, mends, need.evidence)
            return
        subject = f"torch {torch.version}"
        if need.refused and need.refused in local(torch.version):
            text = f"{vendor.name} does not work with builds that say {need.refused}"
            yield self.finding(Severity.ERROR, subject, text, mends, need.evidence)
        elif need.foreign and local(torch.version).startswith(need.foreign):
            text = f"it is pytorch.org's build for ROCm; needed is {need.note}"
            yield self.finding(Severity.ERROR, subject, text, (), need.evidence)
        elif not torch.kind:
            text = "its files do not say what it was built for"
            yield self.finding(Severity.UNKNOWN, subject, text, (), need.evidence)
        elif torch.kind != need.build and not need.any_build:
            text = f"it was built {_NAMES[torch.kind]}; needed is one {_NAMES[need.build]}"
            # a plugin finds its own device beside any torch, it only never was tried
            worst = Severity.WARNING if vendor.plugin and need.build == "cpu" else Severity.ERROR
            yield self.finding(worst, subject, text, mends, need.evidence)
        yield from self._known(ground, vendor)

    def _known(self, ground: Ground, vendor: Environment) -> Iterator[DoctorFinding]:
        """Whether any source speaks of this torch at all, where there is no plugin to ask."""
        torch = ground.here.torch
        if torch is None or vendor.plugin is not None or not vendor.pairings:
            return
        newest = vendor.pairings[0].torch
        if at_least(torch.version, newest) and not _same_minor(torch.version, newest):
            text = f"the newest torch that the sources speak of is {newest}"
            yield self.finding(Severity.UNKNOWN, f"torch {torch.version}", text)


def _same_minor(one: str, other: str) -> bool:
    return one.split(".")[:2] == other.split(".")[:2]

"""torchvision and others that were built for another device than torch."""

import re
from collections.abc import Iterator

from opcheck.commands.doctor.base import Check, Ground
from opcheck.commands.doctor.installation import Build, Outcome
from opcheck.commands.doctor.values import DoctorFinding, Severity
from opcheck.commands.doctor.versions import local, public

_TAG = re.compile(r"cpu|xpu|cu\d+|rocm\d+(\.\d+)*")
"""Local parts that are indexes of pytorch.org too."""


class CompanionBuild(Check):
    """A torchvision for the CPU beside a torch for CUDA, and the other way round."""

    name = "companion-build"
    about = "a torchvision or torchaudio built for another device than torch"

    def general(self, ground: Ground) -> Iterator[DoctorFinding]:
        """Compare the builds, by what their own files say."""
        torch = ground.here.torch
        for name, build in ground.here.builds.items() if torch else ():
            if name == "torch" or torch is None or not build.kind or not torch.kind:
                continue
            if build.kind == torch.kind and _major(build.number) in ("", _major(torch.number)):
                continue
            loads = ground.here.imports.get(name)
            fine = loads is not None and loads.outcome is Outcome.LOADED and torch.kind == "cpu"
            if fine:
                continue
            index = _index(torch)
            mends = (
                f"pip install --force-reinstall --no-deps {name}=={public(build.version)}{index}",
            )
            yield self.finding(
                Severity.ERROR,
                f"{name} {build.version}",
                f"it was built for {_told(build)}, torch {torch.version} for {_told(torch)}: "
                "its operators are not there, or not for the device",
                mends,
                ground.torch.vision_evidence if name == "torchvision" else (),
            )


def _major(number: str) -> str:
    return number.partition(".")[0]


def _told(build: Build) -> str:
    names = {"cpu": "the CPU", "cuda": "CUDA", "rocm": "ROCm", "xpu": "XPU"}
    return f"{names[build.kind]} {build.number}".strip()


def _index(torch: Build) -> str:
    """The index of pytorch.org that torch's own local part names."""
    tag = local(torch.version) or ("cpu" if torch.kind == "cpu" else "")
    return f" --index-url https://download.pytorch.org/whl/{tag}" if _TAG.fullmatch(tag) else ""

"""How torch was built: for the vendor's software, its companion packages, and NumPy."""

import re
from collections.abc import Iterator

from opcheck.commands.doctor.base import Check, Ground
from opcheck.commands.doctor.installation import Build, Outcome
from opcheck.commands.doctor.pairing import at_least, local, public
from opcheck.commands.doctor.setup import set_up
from opcheck.commands.doctor.values import DoctorFinding, Severity
from opcheck.lang.sentence import Sentence
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
        subject = Sentence("torch {version}", version=torch.version)
        if need.refused and need.refused in local(torch.version):
            text = Sentence(
                "{text} does not work with builds that say {part}",
                text=vendor.name,
                part=need.refused,
            )
            yield self.finding(Severity.ERROR, subject, text, mends, need.evidence)
        elif need.foreign and local(torch.version).startswith(need.foreign):
            text = Sentence("it is pytorch.org's build for ROCm; needed is {text}", text=need.note)
            yield self.finding(Severity.ERROR, subject, text, (), need.evidence)
        elif not torch.kind:
            text = "its files do not say what it was built for"
            yield self.finding(Severity.UNKNOWN, subject, text, (), need.evidence)
        elif torch.kind != need.build and not need.any_build:
            text = Sentence(
                "it was built {said}; needed is one {said2}",
                said=_NAMES[torch.kind],
                said2=_NAMES[need.build],
            )
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
            text = Sentence(
                "the newest torch that the sources speak of is {version}", version=newest
            )
            yield self.finding(Severity.UNKNOWN, f"torch {torch.version}", text)


def _same_minor(one: str, other: str) -> bool:
    return one.split(".")[:2] == other.split(".")[:2]


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
                Sentence(
                    "it was built for {said}, torch {version} for {said2}: its operators are not "
                    "there, or not for the device",
                    said=_build_name(build),
                    version=torch.version,
                    said2=_build_name(torch),
                ),
                mends,
                ground.torch.vision_evidence if name == "torchvision" else (),
            )


def _major(number: str) -> str:
    return number.partition(".")[0]


def _build_name(build: Build) -> str:
    names = {"cpu": "the CPU", "cuda": "CUDA", "rocm": "ROCm", "xpu": "XPU"}
    return f"{names[build.kind]} {build.number}".strip()


def _index(torch: Build) -> str:
    """The index of pytorch.org that torch's own local part names."""
    tag = local(torch.version) or ("cpu" if torch.kind == "cpu" else "")
    return f" --index-url https://download.pytorch.org/whl/{tag}" if _TAG.fullmatch(tag) else ""


class NumpyAbi(Check):
    """``Tensor.numpy()`` and ``torch.from_numpy`` fail there, the rest runs."""

    name = "numpy-abi"
    about = "a torch built before NumPy 2, beside NumPy 2"

    def general(self, ground: Ground) -> Iterator[DoctorFinding]:
        """Compare torch and NumPy."""
        torch, numpy = ground.here.torch, ground.here.distributions.get("numpy")
        said = ground.torch
        if torch is None or numpy is None or at_least(torch.version, said.numpy_torch):
            return
        if at_least(numpy.version, said.numpy_from):
            text = Sentence(
                "torch {version} was built against NumPy before {numpy}: Tensor.numpy() and "
                "torch.from_numpy raise",
                version=torch.version,
                numpy=said.numpy_from,
            )
            mends = (f"pip install 'numpy<{said.numpy_from}'",)
            yield self.finding(
                Severity.ERROR, f"numpy {numpy.version}", text, mends, said.numpy_evidence
            )

"""What ``torch.compile`` needs: a Triton for the device, and compilers."""

from collections.abc import Iterator

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from opcheck.commands.doctor.base import Check, Ground
from opcheck.commands.doctor.installation import Build, Installation
from opcheck.commands.doctor.pairing import Fit, fit
from opcheck.commands.doctor.values import DoctorFinding, Severity
from opcheck.lang.sentence import Sentence
from opcheck.model.environment import CompileNeed, Environment

_TRITON = "triton"
_LINUX = "Linux"
"""Where there are wheels of Triton."""


class CompileNeeds(Check):
    """No Triton, that of another vendor, or no compiler: it fails at the first compiled call."""

    name = "compile"
    about = "what `torch.compile` needs: a Triton for the device and this torch, compilers, a chip"

    def for_vendor(self, ground: Ground, vendor: Environment) -> Iterator[DoctorFinding]:
        """Look for the Triton that is for the vendor's devices, and for compilers."""
        here, need = ground.here, vendor.compile
        if here.torch is None or here.torch.kind != vendor.torch.build:
            return
        if need is not None:
            yield from self._triton(here, need, vendor)
            yield from self._paired(here, here.torch, need, vendor)
            if ground.chip and need.chips and ground.chip not in need.chips:
                text = Sentence(
                    "no source says that torch.compile has the back end inductor for it"
                )
                chip = f"{vendor.vendor}-{ground.chip}"
                yield self.finding(Severity.UNKNOWN, chip, text, (), need.evidence)
        if any(_TRITON in name.split("-") for name in here.distributions):
            yield from self._compilers(ground)

    def _triton(
        self, here: Installation, need: CompileNeed, vendor: Environment
    ) -> Iterator[DoctorFinding]:
        install = f"pip install {need.package}"
        if need.package not in here.distributions:
            if not _required(here, need.package):  # else another check says so
                text = Sentence(
                    "it is not installed: torch.compile has no back end inductor for {text} "
                    "without it",
                    text=vendor.name,
                )
                mends = (install,) if here.system == _LINUX else ()
                yield self.finding(Severity.WARNING, need.package, text, mends, need.evidence)
        elif need.other in here.distributions:
            text = Sentence(
                "{package} is installed as well, and the two cannot be: the one that came last "
                "has overwritten the other",
                package=need.other,
            )
            anew = (f"pip uninstall -y {need.other} {need.package}", install)
            yield self.finding(Severity.ERROR, need.package, text, anew, need.evidence)

    def _paired(
        self, here: Installation, torch: Build, need: CompileNeed, vendor: Environment
    ) -> Iterator[DoctorFinding]:
        """A Triton that is of another torch, where torch's own requirements do not say so."""
        found = here.distributions.get(need.package)
        if found is None or _required(here, need.package):
            return
        rows = [row for row in vendor.pairings if fit(torch.version, row.torch) is Fit.SAME]
        for row in rows:
            said = row.packages.get(need.package, "")
            if said and fit(found.version, said) is Fit.DIFFERENT:
                text = Sentence(
                    "the vendor pairs {text} with what is installed", text=f"{found.name} {said}"
                )
                mends = (f"pip install {need.package}=={said}",)
                subject = f"{found.name} {found.version}"
                yield self.finding(Severity.WARNING, subject, text, mends, row.evidence)

    def _compilers(self, ground: Ground) -> Iterator[DoctorFinding]:
        here = ground.here
        if "c" not in here.compilers:
            text = Sentence(
                "Triton builds what starts its kernels with a C compiler, and finds none: neither "
                "gcc nor clang, nor one that CC names"
            )
            yield self.finding(Severity.WARNING, "CC", text, (), ground.torch.c_evidence)
        if "c++" not in here.compilers:
            text = Sentence(
                "torch.compile builds what it leaves to the CPU with a C++ compiler, and finds "
                "none: neither {text}, nor one that CXX names",
                text="clang++" if here.system == "Darwin" else "g++",
            )
            yield self.finding(Severity.WARNING, "CXX", text, (), ground.torch.cxx_evidence)


def _required(here: Installation, package: str) -> bool:
    """Whether torch's own metadata asks for a package here."""
    return any(_asks(text, package, here) for text in here.distributions["torch"].requires)


def _asks(text: str, package: str, here: Installation) -> bool:
    try:
        wanted = Requirement(text)
    except InvalidRequirement:
        return False
    marks = {"platform_system": here.system, "extra": ""}
    named = canonicalize_name(wanted.name) == package
    return named and (wanted.marker is None or wanted.marker.evaluate(marks))

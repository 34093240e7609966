"""What a vendor's devices ask of a machine: which versions go together, and where they are told."""

from collections.abc import Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from opcheck.model.verdict import Evidence

Cited = tuple[Evidence, ...]


class Pairing(Struct, frozen=True):
    """Versions that the vendor itself puts together."""

    release: str
    """As the database names it: ``26.1.0``."""
    torch: str
    packages: Mapping[str, str]
    """Name -> version as its source says it: ``6.2, 6.3``, ``25.04 or newer``."""
    evidence: Cited = ()


class Systems(Struct, frozen=True):
    """Operating systems and machines that the vendor's software is made for."""

    names: tuple[str, ...]
    """As ``platform.system()`` gives them."""
    machines: tuple[str, ...] = ()
    macos: tuple[tuple[str, str], ...] = ()
    """From which torch on which macOS is the oldest."""
    evidence: Cited = ()


class TorchNeed(Struct, frozen=True):
    """The build of torch that the vendor's software works with."""

    build: str
    """``cpu``, ``cuda``, ``rocm``, ``xpu``."""
    same: str
    """How far the versions must agree: ``patch`` or ``minor``."""
    any_build: bool = False
    refused: str = ""
    """What the local part of the version must not have."""
    foreign: str = ""
    """A local part that tells a build of somebody else's."""
    note: str = ""
    evidence: Cited = ()


class ChipPackage(Struct, frozen=True):
    """A package that brings the plugin's module for one chip, in a release of its own."""

    package: str
    version: str
    systems: tuple[str, ...] = ()
    """As ``platform.system()`` gives them; () where they are the vendor's."""
    evidence: Cited = ()


class Plugin(Struct, frozen=True):
    """The package that brings the device to torch."""

    package: str
    module: str
    evidence: Cited = ()
    chips: Mapping[str, ChipPackage] = field(default_factory=dict)
    """Chip -> the package for it, where that is another one."""
    others: tuple[str, ...] = ()
    """Packages that bring the same module, each in place of this one."""


class Toolkit(Struct, frozen=True):
    """The vendor's libraries and compilers, and where they say which they are."""

    name: str
    package: str
    """Its name among what is paired."""
    variables: tuple[str, ...]
    """Environment variables that say where it is, the first one counts."""
    places: tuple[str, ...]
    files: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    pattern: str = ""
    setup: str = ""
    optional: bool = False
    """Whether torch's wheel brings what it needs of it."""
    foreign: str = ""
    """Part of a path that tells another vendor's toolkit, which the same variables lead to."""
    libraries: Mapping[str, str] = field(default_factory=dict)
    evidence: Cited = ()


class Driver(Struct, frozen=True):
    """The driver, its devices, and how it names the chips."""

    name: str
    files: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    pattern: str = ""
    package: str = ""
    chips: str = ""
    prefix: str = ""
    """What the vendor's lists of chips put before the name."""
    least: Mapping[str, str] = field(default_factory=dict)
    evidence: Cited = ()


class Setting(Struct, frozen=True):
    """An environment variable that must be set."""

    variable: str
    text: str
    """What it is for."""
    command: str
    contains: str = ""
    """What must be in it; ``{home}`` stands for where the toolkit is."""
    evidence: Cited = ()


class CompileNeed(Struct, frozen=True):
    """What inductor, the usual back end of ``torch.compile``, needs for the vendor's devices."""

    package: str
    """The Triton that writes kernels for them."""
    other: str = ""
    """A package with the same module, which must not be there as well."""
    chips: tuple[str, ...] = ()
    """Those that a source names; () where it names all."""
    evidence: Cited = ()


class Step(Struct, frozen=True):
    """One thing to do, for torch from ``since`` on and before ``until``."""

    text: str
    """A command, or a sentence; ``{name}`` stands for a version."""
    since: str = ""
    until: str = ""
    optional: bool = False
    """Whether it is left out where a version in it is not known."""
    evidence: Cited = ()


class Image(Struct, frozen=True):
    """A container image that the vendor's documents name."""

    name: str
    chips: tuple[str, ...] = ()
    packages: Mapping[str, str] = field(default_factory=dict)
    floating: bool = False
    """Whether its tag moves, so that nobody says which versions are in it."""
    holds: bool = False
    """Whether torch and the plugin are in it already."""
    evidence: Cited = ()


class Environment(Struct, frozen=True):
    """All that one vendor's devices ask of a machine."""

    vendor: str
    name: str
    """``Huawei Ascend``."""
    device_type: str
    systems: Systems
    torch: TorchNeed
    pairings: tuple[Pairing, ...]
    """The newest first."""
    plugin: Plugin | None = None
    packages: tuple[str, ...] = ()
    """Other packages of Python that are paired."""
    pythons: tuple[tuple[Step, tuple[str, ...]], ...] = ()
    """For which torch -> the versions of Python that there are packages for."""
    toolkit: Toolkit | None = None
    driver: Driver | None = None
    settings: tuple[Setting, ...] = ()
    compile: CompileNeed | None = None
    install: tuple[Step, ...] = ()
    by_hand: tuple[Step, ...] = ()
    images: tuple[Image, ...] = ()
    chips: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Chip id -> names that its devices give themselves."""
    chip_notes: Mapping[str, str] = field(default_factory=dict)
    chip_evidence: Mapping[str, Cited] = field(default_factory=dict)
    renamed: Mapping[str, str] = field(default_factory=dict)
    """Environment variables of CUDA -> the vendor's own."""

    def of_chip(self, chip: str) -> "Environment":
        """What one chip asks for, whose plugin may be a package of its own."""
        plugin = self.plugin
        if plugin is None or not plugin.chips:
            return self
        packages = (plugin.package, *(build.package for build in plugin.chips.values()))
        build = plugin.chips.get(chip, ChipPackage(plugin.package, "", (), plugin.evidence))
        others = tuple(sorted({*packages} - {build.package}))
        one = Plugin(build.package, plugin.module, build.evidence, others=others)
        if not build.version:
            return replace(self, plugin=one)
        systems = self.systems
        if build.systems:
            systems = replace(systems, names=build.systems, evidence=build.evidence)
        asked = f"{plugin.package}=={{{plugin.package}}}"
        named = f"{build.package}=={build.version}"
        return replace(
            self,
            plugin=one,
            systems=systems,
            install=tuple(replace(s, text=s.text.replace(asked, named)) for s in self.install),
            pairings=tuple(_with(build, plugin.package, row) for row in self.pairings),
        )


def _with(build: ChipPackage, package: str, row: Pairing) -> Pairing:
    """A row with a chip's package in place of the plugin's."""
    packages = {name: version for name, version in row.packages.items() if name != package}
    packages = {build.package: build.version, **packages}
    return replace(row, packages=packages, evidence=(*row.evidence, *build.evidence))


class TorchRelease(Struct, frozen=True):
    """What one release of torch goes with."""

    torchvision: str
    builds: tuple[str, ...] = ()
    """As pytorch.org names its indexes: ``cu126``, ``rocm6.4``; () where nobody has said."""
    evidence: Cited = ()


class TorchEnvironment(Struct, frozen=True):
    """What torch goes with, whatever the device."""

    releases: Mapping[str, TorchRelease]
    pythons: tuple[tuple[str, str], ...]
    """From which torch on, the newest first -> the oldest Python that there are wheels for."""
    numpy_torch: str
    """Before this torch, wheels cannot use NumPy from ``numpy_from`` on."""
    numpy_from: str
    numpy_evidence: Cited
    autoload_since: str
    autoload_evidence: Cited
    one_backend_evidence: Cited
    vision_evidence: Cited
    c_evidence: Cited
    cxx_evidence: Cited

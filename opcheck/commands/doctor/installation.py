"""What is installed on a machine, as it tells itself without anything being run on a device."""

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct, field


class Distribution(Struct, frozen=True):
    """One installed package of Python, by its own metadata."""

    name: str
    """Normalised: ``torch-npu``."""
    version: str
    requires: tuple[str, ...] = ()
    requires_python: str = ""
    tags: tuple[str, ...] = ()
    """Of its wheel: ``cp311-cp311-manylinux_2_28_x86_64``; () where it was built here."""


class Build(Struct, frozen=True):
    """What a compiled package of the torch family was built for."""

    version: str
    kind: str
    """``cpu``, ``cuda``, ``rocm``, ``xpu``; "" where it does not say."""
    number: str = ""
    """Version of CUDA or ROCm: ``12.6``."""


class FoundToolkit(Struct, frozen=True):
    """A vendor's toolkit."""

    home: str
    version: str = ""
    """ "" where it does not say."""
    by: str = ""
    """The environment variable that led there; "" for the usual place."""
    libraries: Mapping[str, str] = field(default_factory=dict)


class FoundDriver(Struct, frozen=True):
    """A vendor's driver, with what it says of its devices."""

    version: str = ""
    devices: tuple[str, ...] = ()
    chips: tuple[str, ...] = ()
    """As the driver's own tool names them."""


class Outcome(StrEnum):
    """What became of importing a module in a process of its own."""

    LOADED = "loaded"
    FAILED = "failed"
    CRASHED = "crashed"
    HUNG = "hung"


class Imported(Struct, frozen=True):
    """A module that was imported in a process of its own."""

    module: str
    outcome: Outcome
    text: str = ""
    """The last words of a process that did not make it."""
    devices: int | None = None
    """How many devices torch then sees; None where it was not asked."""


class Installation(Struct, frozen=True):
    """All that was found on one machine."""

    python: str
    system: str
    """As ``platform.system()`` gives it."""
    machine: str
    """``x86_64``."""
    libc: str = ""
    """Version of glibc; "" where there is none."""
    macos: str = ""
    tags: frozenset[str] = frozenset()
    """Tags of the wheels that this Python can install; empty where it was not asked."""
    distributions: Mapping[str, Distribution] = field(default_factory=dict)
    builds: Mapping[str, Build] = field(default_factory=dict)
    """Of torch and its compiled companions, by name."""
    toolkits: Mapping[str, FoundToolkit] = field(default_factory=dict)
    """By vendor."""
    drivers: Mapping[str, FoundDriver] = field(default_factory=dict)
    """By vendor."""
    environ: Mapping[str, str] = field(default_factory=dict)
    """The variables that matter here, those that are set."""
    imports: Mapping[str, Imported] = field(default_factory=dict)
    compilers: frozenset[str] = frozenset()
    """Languages that there is a compiler for, ``c`` and ``c++``: where PyTorch looks for one."""

    @property
    def torch(self) -> Build | None:
        """The build of torch; None: it is not installed."""
        return self.builds.get("torch")

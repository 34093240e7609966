"""What a model is compared with: vendor, chip, SDK release and torch version, never merged."""

import re
from enum import StrEnum

from msgspec import Struct

from opcheck.lang.sentence import Sentence

_SPEC = re.compile(
    r"(?P<name>[^\W_](?:[\w.()/ -]*[\w)])?(?::[A-Za-z]\w*)?)(?:@(?P<sdk>[^+\s@]+))?"
    r"(?:\+torch(?P<torch>\d+\.\d+(?:\.\d+)?))?"
    r"(?P<libraries>(?:\+(?!torch\d)[a-z_]+\d+(?:\.\d+)*)*)"
)
_LIBRARY = re.compile(r"\+([a-z_]+)(\d+(?:\.\d+)*)")
OPSET = "opset"
"""Stands among the libraries for the version of ONNX's operators that a model is written in."""
Libraries = tuple[tuple[str, str], ...]
"""Libraries of a model's, as ``bitsandbytes``, with the release that the target has of each."""


class TargetSpec(Struct, frozen=True, order=True):
    """A target as the user writes it: ``ascend-910b``, ``ascend-910b:torchair@26.0.0+torch2.7``."""

    name: str
    """``<vendor>-<chip>``, lower case, and after a colon the graph mode, if it names one."""
    sdk: str = ""
    """SDK release as its vendor names it; empty for the newest."""
    torch: str = ""
    """torch version; empty for the newest that the release serves."""
    libraries: Libraries = ()
    """Those whose release the user names, in that order; of others one is assumed."""

    @classmethod
    def parse(cls, text: str) -> "TargetSpec":
        """Read ``name[:mode][@sdk][+torchX.Y][+libraryX.Y]``; ``str()`` gives ``text`` back."""
        match = _SPEC.fullmatch(text)
        if match is None:
            raise ValueError(
                Sentence(
                    "not a target: {text} (want VENDOR-CHIP[:MODE][@SDK][+torchX.Y][+LIBRARYX.Y])",
                    text=repr(text),
                )
            )
        libraries = tuple(_LIBRARY.findall(match["libraries"]))
        return cls(match["name"], match["sdk"] or "", match["torch"] or "", libraries)

    @property
    def mode(self) -> str:
        """The graph mode, as it is written; "" where calls run one by one."""
        return self.name.partition(":")[2]

    def __str__(self) -> str:
        sdk = f"@{self.sdk}" if self.sdk else ""
        torch = f"+torch{self.torch}" if self.torch else ""
        return f"{self.name}{sdk}{torch}{_named(self.libraries)}"


class GraphMode(StrEnum):
    """Another way in which a chip runs models, that is a target beside the chip itself."""

    TORCHAIR = "torchair"
    """A back end of ``torch.compile`` of Ascend's."""
    EAGER = "eager"
    """One call after another, on Gaudi, which gathers them into graphs by itself."""

    @property
    def compiles(self) -> bool:
        """Whether calls are compiled as graphs, and do not run one by one."""
        return self is not GraphMode.EAGER


class TargetKind(StrEnum):
    """What a target is."""

    DEVICE = "device"
    """A chip that runs PyTorch's calls one by one."""
    COMPILER = "compiler"
    """What runs parts of a model as whole graphs, and leaves the rest to PyTorch."""
    EXPORT = "export"
    """What a model is written for, to run without PyTorch."""


def _named(libraries: Libraries) -> str:
    return "".join(f"+{name}{version}" for name, version in libraries)


def mode_of(vendor: str) -> tuple[str, GraphMode | None]:
    """Whose chips a folder of the database is about, and in which graph mode they run.

    ``ascend-torchair`` is TorchAir on the chips of ``ascend``; of ``ascend`` there is no mode.
    """
    owner, _, mode = vendor.rpartition("-")
    return (owner, GraphMode(mode)) if owner and mode in set(GraphMode) else (vendor, None)


def target_name(vendor: str, chip: str) -> str:
    """The short name of a vendor's chip, ``ascend-910b``; the vendor's own where chips are one.

    In a graph mode it is ``ascend-910b:torchair``.
    """
    owner, mode = mode_of(vendor)
    name = f"{owner}-{chip}" if chip else owner
    return f"{name}:{mode}" if mode else name


class Target(Struct, frozen=True, order=True):
    """A fully resolved target; ``str()`` is a :class:`TargetSpec` that names exactly it."""

    vendor: str
    """Folder name in the database: ``ascend``, in a graph mode ``ascend-torchair``."""
    chip: str
    """Chip id as used in the target name: ``910b``; "" where the vendor's software is all."""
    sdk: str
    """SDK release: ``26.1.0``."""
    torch: str
    """torch version, major.minor: ``2.12``."""
    device_type: str
    """The name tensors report: ``npu``."""
    libraries: Libraries = ()
    """Those whose release the user named."""

    @property
    def owner(self) -> str:
        """Who makes the chip, whatever mode it runs in: ``ascend``."""
        return mode_of(self.vendor)[0]

    @property
    def mode(self) -> GraphMode | None:
        """The graph mode; None where calls run one by one."""
        return mode_of(self.vendor)[1]

    @property
    def name(self) -> str:
        """The short name: ``ascend-910b``."""
        return target_name(self.vendor, self.chip)

    def __str__(self) -> str:
        return f"{self.name}@{self.sdk}+torch{self.torch}{_named(self.libraries)}"

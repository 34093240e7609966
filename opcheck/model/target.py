"""What a model is compared with: vendor, chip, SDK release and torch version, never merged."""

import re
from enum import StrEnum

from msgspec import Struct

from opcheck.lang.sentence import Sentence

_SPEC = re.compile(
    r"(?P<name>[^\W_](?:[\w.()/ -]*[\w)])?)(?:@(?P<sdk>[^+\s@]+))?"
    r"(?:\+torch(?P<torch>\d+\.\d+(?:\.\d+)?))?"
    r"(?P<libraries>(?:\+(?!torch\d)[a-z_]+\d+(?:\.\d+)*)*)"
)
_LIBRARY = re.compile(r"\+([a-z_]+)(\d+(?:\.\d+)*)")
OPSET = "opset"
"""Stands among the libraries for the version of ONNX's operators that a model is written in."""
Libraries = tuple[tuple[str, str], ...]
"""Libraries of a model's, as ``bitsandbytes``, with the release that the target has of each."""


class TargetSpec(Struct, frozen=True, order=True):
    """A target as the user writes it: ``ascend-910b``, ``ascend-910b@26.1.0+torch2.7``."""

    name: str
    """``<vendor>-<chip>``, lower case."""
    sdk: str = ""
    """SDK release as its vendor names it; empty for the newest."""
    torch: str = ""
    """torch version; empty for the newest that the release serves."""
    libraries: Libraries = ()
    """Those whose release the user names, in that order; of others one is assumed."""

    @classmethod
    def parse(cls, text: str) -> "TargetSpec":
        """Read ``name[@sdk][+torchX.Y][+libraryX.Y]``; ``str()`` gives back exactly ``text``."""
        match = _SPEC.fullmatch(text)
        if match is None:
            raise ValueError(
                Sentence(
                    "not a target: {text} (want VENDOR-CHIP[@SDK][+torchX.Y][+LIBRARYX.Y])",
                    text=repr(text),
                )
            )
        libraries = tuple(_LIBRARY.findall(match["libraries"]))
        return cls(match["name"], match["sdk"] or "", match["torch"] or "", libraries)

    def __str__(self) -> str:
        sdk = f"@{self.sdk}" if self.sdk else ""
        torch = f"+torch{self.torch}" if self.torch else ""
        return f"{self.name}{sdk}{torch}{_named(self.libraries)}"


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


def target_name(vendor: str, chip: str) -> str:
    """The short name of a vendor's chip, ``ascend-910b``; the vendor's own where chips are one."""
    return f"{vendor}-{chip}" if chip else vendor


class Target(Struct, frozen=True, order=True):
    """A fully resolved target; ``str()`` is a :class:`TargetSpec` that names exactly it."""

    vendor: str
    """Folder name in the database: ``ascend``."""
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
    def name(self) -> str:
        """The short name: ``ascend-910b``."""
        return target_name(self.vendor, self.chip)

    def __str__(self) -> str:
        return f"{self.name}@{self.sdk}+torch{self.torch}{_named(self.libraries)}"

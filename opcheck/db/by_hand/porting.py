"""How code for CUDA is written for a vendor's devices, one file a vendor."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from opcheck.db.by_hand.overlays import PORTING
from opcheck.db.files import document
from opcheck.db.reading import Citations
from opcheck.db.schema.by_hand import CUDA_NAMES_FILE, PORTING_FILE
from opcheck.errors import DatabaseError
from opcheck.lang.sentence import Sentence, from_data
from opcheck.model.porting import CudaNames, NameAdvice, Package, Porting, Transfer
from opcheck.model.target import Target
from opcheck.model.verdict import Method

_HINT = Sentence("correct the file, or restore it from the release")
COMMON = "cuda"
"""Stem of the file with what is so on every device that is not CUDA."""
_PLAIN = frozenset(
    {"vendor", "device", "module", "package", "autoloads", "method", "collectives", "extension",
     "hip", "environment", "monitor", "renamed", "answers"}
)  # fmt: skip
"""Fields that stand in the file as they are."""


def porting(root: Path, target: Target, cache: Path | None) -> Porting:
    """A vendor's words; where it has no file, what its device type alone tells.

    Raises:
        DatabaseError: the file is damaged, or is of another vendor.
    """
    return porting_of(root, target.owner, target.device_type, cache)


def porting_of(root: Path, vendor: str, device_type: str, cache: Path | None) -> Porting:
    """The words of a vendor whose devices are of a type."""
    path = root / PORTING / f"{vendor}.yaml"
    if not path.is_file():
        return Porting(vendor, device_type)
    said = document.read(path, PORTING_FILE, cache, _HINT).data
    if said["vendor"] != vendor:
        message = Sentence(
            "{text_file}:1: expected the vendor {vendor}, found {text}",
            text_file=path,
            vendor=vendor,
            text=repr(said["vendor"]),
        )
        raise DatabaseError(message, _HINT)
    cited = Citations(said["sources"])
    return Porting(
        **{name: said[name] for name in Porting.__struct_fields__ if _stands(name, said)},
        same=frozenset(said["same"]),
        deprecated=_name_advice(said.get("deprecated", {}), cited),
        unsupported=_name_advice(said.get("unsupported", {}), cited),
        transfers=tuple(
            Transfer(
                each["write"], from_data(each["text"]), frozenset(each["covers"]),
                cited.all(each["at"], Method.DOCUMENTED),
            )
            for each in said.get("transfers", ())
        ),
        cited={name: cited.all(at, Method.DOCUMENTED) for name, at in said["cited"].items()},
    )  # fmt: skip


def _stands(name: str, said: Mapping[str, Any]) -> bool:
    return name in _PLAIN and name in said


def cuda_names(root: Path, cache: Path | None) -> CudaNames:
    """What is so of code for CUDA on every other device."""
    path = root / PORTING / f"{COMMON}.yaml"
    said = document.read(path, CUDA_NAMES_FILE, cache, _HINT).data
    cited = Citations(said["sources"])
    return CudaNames(
        quiet=said["quiet"],
        deprecated=_name_advice(said["deprecated"], cited),
        packages={
            name: Package(
                each["use"], from_data(each["text"]), frozenset(each["vendors"]),
                cited.all(each["at"], Method.DOCUMENTED),
            )
            for name, each in said["packages"].items()
        },
    )  # fmt: skip


def _name_advice(
    said: Mapping[str, Mapping[str, str]], cited: Citations
) -> Mapping[str, NameAdvice]:
    return {
        name: NameAdvice(
            each.get("use", ""),
            from_data(each.get("text", "")),
            cited.all([each["at"]], Method.DOCUMENTED),
        )
        for name, each in said.items()
    }

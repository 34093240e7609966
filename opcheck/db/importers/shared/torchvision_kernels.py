"""Kernels that torchvision registers for its own operators, by dispatch key and torch release."""

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from opcheck.db.importers.base import load_yaml
from opcheck.db.versions import major_minor, nearest_not_newer, version_key

SOURCE = "vision"
"""Id of torchvision's sources in a release's table of sources."""
_DATA = Path(__file__).with_name("torchvision_kernels.yaml")
_FOLDER = "torchvision/csrc/ops/"
_METAL = "mps/mps_kernels.h"

Row = Mapping[str, Any]


def entries(torch: str, key: str) -> dict[str, dict[str, Any]]:
    """Overload -> entry, of the torchvision that goes with a torch release.

    Of a release that none is known for, inferred from the nearest before it.
    """
    package = f"torchvision {_release(torch)['torchvision']}"
    how = {} if torch in _data()["releases"] else {"method": "inferred"}
    return {
        op: {"at": _cited(row["file"], row["registered"], torch), "package": package, **how}
        for op, row in _registered(torch, key)
    }


def conditions(torch: str, key: str) -> Iterator[dict[str, Any]]:
    """The dtypes that the kernels are not made for."""
    for op, row in _registered(torch, key):
        subject = {"subject": "dtype", "argument": row["argument"]}
        if "dispatched" in row:
            text = f"""torchvision raises '"{row["kernel"]}" not implemented for'"""
            at = _cited(row["file"], row["dispatched"], torch)
        else:
            text = "torchvision has no function in Metal for it"
            at = _cited(_METAL, row["made"], torch)
        yield _condition(op, text, {**subject, "none_of": row["dtypes"]}, at)
        if "refused" in row:
            text = f"MPS does not support {_name(op)} with float16 inputs."
            at = _cited(row["file"], row["refused"], torch)
            yield _condition(op, f'"{text}"', {**subject, "one_of": ["float16"]}, at)


def sources(torch: str) -> dict[str, dict[str, str]]:
    """Where the lines of a torch release were read, for its table of sources."""
    said = _release(torch)
    note = (
        f"torchvision {said['torchvision']} ({said['tag'][:7]}, built {said['built']}), which "
        f"requires torch{said['requires']}, has the same kernels"
    )
    read = {"repo": "pytorch/vision", "ref": "main", "commit": said["commit"]}
    return {SOURCE: {**read, "path": _FOLDER, "date": said["date"], "note": note}}


def _condition(op: str, text: str, test: Mapping[str, Any], at: str) -> dict[str, Any]:
    return {
        "ops": [op],
        "code": "dtype-not-supported",
        "verdict": "unsupported",
        "confidence": "high",
        "method": "registered",
        "text": f"{{argument}} is {{actual}}: {text}",
        "at": [at],
        "tests": [test],
    }


def _name(op: str) -> str:
    """``roi_align backward`` of ``torchvision::_roi_align_backward``, as its errors call it."""
    return op.removeprefix("torchvision::_").replace("_backward", " backward")


def _registered(torch: str, key: str) -> Iterator[tuple[str, Row]]:
    """Operators with a kernel under ``key`` in the torchvision of a torch release."""
    has = version_key(_version(torch))
    for op, row in _data()[key].items():
        if has >= version_key(next(iter(row["registered"]))):
            yield op, row


def _cited(file: str, lines: Mapping[str, int], torch: str) -> str:
    since = nearest_not_newer(_version(torch), tuple(lines))
    return f"{SOURCE}:{file}:{lines[since]}"


def _version(torch: str) -> str:
    return major_minor(_release(torch)["torchvision"])


def _release(torch: str) -> Mapping[str, str]:
    known = _data()["releases"]
    said: Mapping[str, str] = known[nearest_not_newer(torch, tuple(known))]
    return said


@cache
def _data() -> Mapping[str, Any]:
    data: Mapping[str, Any] = load_yaml(_DATA)
    return data

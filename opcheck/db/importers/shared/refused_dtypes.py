"""Dtypes that the kernels of torch's wheels for CUDA refuse, release by release."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from opcheck.db.importers.base import load_yaml
from opcheck.db.importers.shared import operator_list
from opcheck.db.versions import version_key

_DATA = Path(__file__).with_name("refused_dtypes.yaml")
_LIBRARY = "torch/lib/libtorch_cuda.so"
_READ = {"confidence": "high", "method": "tested"}
_BETWEEN = {"confidence": "medium", "method": "inferred"}
_NOT_CAST = {"subject": "value", "argument": "dtype", "one_of": ["None"], "default": "None"}

Denied = Collection[tuple[str, str]]
"""Overloads and dtypes."""


def conditions(
    release: str, known: Mapping[str, operator_list.Function], said: Denied
) -> Iterator[dict[str, Any]]:
    """Conditions of one torch release; ``known`` are its overloads.

    They hold for the in-place and ``out=`` overloads too that share a kernel. What is ``said``
    already is left out. A release that was not run refuses what both the nearest before and the
    nearest after it refuse; where none before has the dtype, what that after it does.
    """
    data = _data()
    run = {op.removeprefix("aten::") for group in data["refused"] for op in group["ops"]}
    forms: dict[str, list[str]] = {}
    for form, served in operator_list.written_forms(run & known.keys(), known).items():
        forms.setdefault(served, []).append(form)
    for group in data["refused"]:
        for asked, there in _by_release(release, group, data).items():
            how = _READ if asked == release else _BETWEEN
            source = "torch" if asked == release else f"torch-{asked}"
            for dtypes, cast, ops in _left(group["ops"], there, known, forms, said):
                yield {
                    "ops": ops,
                    "code": "dtype-not-supported",
                    "verdict": "unsupported",
                    **how,
                    "text": data["text"],
                    "at": [f"{source}:{_LIBRARY}"],
                    "tests": [
                        {"subject": "dtype", "argument": argument, "one_of": dtypes}
                        for argument in group["arguments"]
                    ]
                    + [_NOT_CAST] * cast,
                }


def denied(conditions: Iterable[Mapping[str, Any]]) -> set[tuple[str, str]]:
    """What conditions on the dtypes of tensors refuse on every chip and for nothing else."""
    return {
        (op, dtype)
        for condition in conditions
        if condition["verdict"] == "unsupported" and "chips" not in condition
        if all(test["subject"] == "dtype" for test in condition.get("tests", ()))
        for op in condition["ops"]
        for test in condition.get("tests", ())
        for dtype in test.get("one_of", ())
    }


def _by_release(
    release: str, group: Mapping[str, Any], data: Mapping[str, Any]
) -> dict[str, list[str]]:
    """Release whose wheel says it of this one -> the dtypes of a group."""
    found: dict[str, list[str]] = {}
    for dtype in group["dtypes"]:
        since = next((since for since, new in data["new"].items() if dtype in new), "0")
        run = group.get("read", data["read"])
        read = [r for r in run if version_key(r) >= version_key(since)]
        asked = _asked(release, group["releases"], read)
        if asked and version_key(release) >= version_key(since):
            found.setdefault(asked, []).append(dtype)
    return found


def _asked(release: str, refusing: Collection[str], read: Collection[str]) -> str | None:
    """The release whose wheel says it of this one."""
    if release in read:
        return release if release in refusing else None
    place = version_key(release)
    after = min((r for r in read if version_key(r) > place), key=version_key, default=None)
    before = max((r for r in read if version_key(r) < place), key=version_key, default=None)
    return after if after in refusing and (before is None or before in refusing) else None


def _left(
    names: Iterable[str],
    dtypes: Collection[str],
    known: Mapping[str, operator_list.Function],
    forms: Mapping[str, Collection[str]],
    said: Denied,
) -> Iterator[tuple[list[str], bool, list[str]]]:
    """The dtypes that are not said already, and the overloads that refuse them.

    Between them stands whether the overloads cast their tensor to a ``dtype`` that they are given.
    """
    found: dict[tuple[tuple[str, ...], bool], list[str]] = {}
    own = (run for op in names if (run := op.removeprefix("aten::")) in known)
    for name in (form for run in own for form in (run, *forms.get(run, ()))):
        op = f"aten::{name}"
        if left := tuple(dtype for dtype in dtypes if (op, dtype) not in said):
            found.setdefault((left, known[name].takes_dtype), []).append(op)
    for (left, cast), ops in sorted(found.items()):
        yield list(left), cast, sorted(ops)


@cache
def _data() -> Mapping[str, Any]:
    read: Mapping[str, Any] = load_yaml(_DATA)
    return read

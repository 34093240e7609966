"""Dtypes that PyTorch's own operator tests (OpInfo) leave out for CUDA, as conditions.

The tests hold each list both ways: a dtype on it must work, one that is not must fail. Of the
dtypes left out, those count here that the CPU's list has, so that the device is what makes the
difference, and the half-precision ones, which a model may be asked to run in as a whole. Others are
left out everywhere, or the test's inputs cannot be made of them. Several tests of one operator must
agree, and of an operator that promotes its arguments each must be of such a dtype.

The list is of one release; ``in_tree_dtypes.yaml`` says where the tests of others differ.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from opcheck.db.importers import upstream
from opcheck.db.importers.sources import load_yaml
from opcheck.db.importers.upstream import Function
from opcheck.db.versions import major_minor, version_key

LIST = "opinfo_dtypes@torch-2.13.0.yaml"
TESTED = "2.13.0"
"""The torch release whose tests the list was taken from."""
PATH = "torch/testing/_internal/common_methods_invocations.py"
_CHANGED = Path(__file__).with_name("in_tree_dtypes.yaml")
_INFERRED = {"confidence": "low", "method": "inferred"}
_HALF = frozenset({"float16", "bfloat16"})
_UNTESTED = frozenset({"complex32"})
"""Tested only where the list has it, so that its absence says nothing."""
_MODULES = re.compile(r"(nn\.functional|torch\.ops\.aten)\.")
_DOTTED = re.compile(r"(special|linalg|fft)\.")
_BRANCHES = frozenset({"einsum", "inner", "linalg_matrix_power"})
"""Composites that take any dtype where nothing is summed, or no inverse taken."""
_TEXT = (
    "{argument} is {actual}, which PyTorch's own tests of this operator leave out for CUDA "
    "(they list DTYPES): a dtype left out must fail there"
)


class Gap(Struct, frozen=True):
    """Dtypes that one operator does not take on CUDA."""

    denied: frozenset[str]
    listed: frozenset[str]


def conditions(sources: Path, release: str, tested: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """Conditions of one torch release; ``tested`` is their method and confidence.

    They cite ``torch`` for that release's own tests, ``tests`` for those that the list is from. An
    operator whose tests differ in an older release is inferred to have taken no more then; in a
    newer one it may take more, and nothing is said of it.
    """
    functions = upstream.functions(sources / "pytorch", major_minor(release))
    found = gaps(sources / "amd" / LIST)
    changed = load_yaml(_CHANGED).get(release)
    grouped: dict[tuple[Gap, tuple[str, ...], bool], list[str]] = {}
    for name, function in functions.items():
        base = next((b for b in (function.base, function.base.removesuffix("_")) if b in found), "")
        same = changed is not None and base not in changed
        if base and function.tensors and not function.takes_dtype and (same or _older(release)):
            grouped.setdefault((found[base], _arguments(function), same), []).append(
                f"aten::{name}"
            )
    for (gap, arguments, same), ops in sorted(grouped.items(), key=lambda item: min(item[1])):
        denied = sorted(gap.denied)
        yield {
            "ops": sorted(ops),
            "code": "dtype-not-supported",
            "verdict": "unsupported",
            **(tested if same else _INFERRED),
            "text": _TEXT.replace("DTYPES", ", ".join(sorted(gap.listed))),
            "at": [f"torch:{PATH}" if same else "tests"],
            "tests": [{"subject": "dtype", "argument": a, "one_of": denied} for a in arguments],
        }


def _older(release: str) -> bool:
    return version_key(release) < version_key(TESTED)


def gaps(path: Path) -> dict[str, Gap]:
    """By operator, without its overload, what no test of it takes on CUDA."""
    tests: dict[str, list[Mapping[str, list[str]]]] = {}
    for test in load_yaml(path)["ops"]:
        tests.setdefault(_aten(test["aten"]), []).append(test)
    found = {name: _gap(listed) for name, listed in tests.items() if name not in _BRANCHES}
    return {name: gap for name, gap in found.items() if gap.denied}


def _gap(tests: list[Mapping[str, list[str]]]) -> Gap:
    listed = frozenset(dtype for test in tests for dtype in test["cuda"])
    on_cpu = frozenset(dtype for test in tests for dtype in test["cpu"])
    wanted = (on_cpu | _HALF if "float32" in listed else on_cpu) - _UNTESTED
    return Gap(wanted - listed if listed else frozenset(), listed)


def _aten(name: str) -> str:
    """Give the operator's name as aten spells it: ``special.zeta`` is ``special_zeta``."""
    plain = _MODULES.sub("", name).removesuffix(".default")
    return _DOTTED.sub(lambda match: f"{match[1]}_", plain)


def _arguments(function: Function) -> tuple[str, ...]:
    """The arguments that must be of such a dtype: all that are promoted, else the first."""
    promoted = all(name in _PROMOTED for name in function.tensors)
    return function.tensors if promoted else function.tensors[:1]


_PROMOTED = frozenset({"self", "other", "x", "n", "real", "imag", "abs", "angle"})
"""What the lists call the tensor arguments of operators that promote them to one dtype."""

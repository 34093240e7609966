"""What the host cannot run for a device that hands it whole calls, by PyTorch's list and tests."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from opcheck.db.importers.base import load_yaml
from opcheck.db.importers.shared import operator_list
from opcheck.db.versions import major_minor

_DTYPES = Path(__file__).with_name("host_dtypes.yaml")

_NO_KERNEL = {
    "code": "no-kernel-even-on-host",
    "verdict": "unsupported",
    "confidence": "high",
    "method": "registered",
    "text": "the host CPU is registered for it, and PyTorch has no kernel of it for the CPU",
}
_NO_DTYPE = {
    "code": "dtype-not-supported",
    "verdict": "unsupported",
    "confidence": "high",
    "method": "tested",
    "text": "{argument} is {actual}, and the host CPU, which is registered for it, has no kernel "
    "for that dtype",
}


def missing(sources: Path, release: str, ops: Iterable[str]) -> tuple[str, ...]:
    """Those of ``ops`` that the CPU of a torch release has no kernel for."""
    functions = operator_list.functions(sources / "pytorch", major_minor(release))
    return tuple(op for op in ops if not _runs(op.removeprefix("aten::"), functions))


def conditions(
    sources: Path, release: str, ops: Iterable[str], at: tuple[str, str]
) -> Iterator[dict[str, Any]]:
    """What makes such a call fail there; ``at`` cites PyTorch's list of kernels, and its tests."""
    listed, tested = at
    own = [op for op in ops if op.startswith("aten::")]
    absent = missing(sources, release, own)
    if absent:
        yield {"ops": list(absent), **_NO_KERNEL, "at": [listed]}
    functions = operator_list.functions(sources / "pytorch", major_minor(release))
    for said in load_yaml(_DTYPES)[release]:
        for argument, names in _by_argument(own, said["ops"], functions):
            test = {"subject": "dtype", "argument": argument, "one_of": said["dtypes"]}
            yield {"ops": names, **_NO_DTYPE, "at": [tested], "tests": [test]}


def _by_argument(
    ops: Iterable[str], bases: Collection[str], functions: Mapping[str, operator_list.Function]
) -> Iterator[tuple[str, list[str]]]:
    """The overloads of some operators, by the name of their first tensor."""
    grouped: dict[str, list[str]] = {}
    for op in sorted(ops):
        function = functions[op.removeprefix("aten::")]
        if function.base.removesuffix("_") in bases and function.tensors:
            grouped.setdefault(function.tensors[0], []).append(op)
    yield from sorted(grouped.items())


def _runs(name: str, functions: Mapping[str, operator_list.Function]) -> bool:
    """Whether an overload has a CPU kernel, its own or a composite; True of what no list has."""
    function = functions.get(name)
    if function is None or function.cpu or function.kind in _COMPOSITE:
        return True
    return bool(function.delegate) and _runs(function.delegate, functions)


_COMPOSITE = frozenset({
    "CompositeImplicitAutograd", "CompositeExplicitAutograd",
    "CompositeExplicitAutogradNonFunctional", "autogen",
})  # fmt: skip

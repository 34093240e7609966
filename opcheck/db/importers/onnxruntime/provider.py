"""Which operators of ONNX a provider of ONNX Runtime takes: what it registers, or is documented.

``python -m opcheck.db.importers.onnxruntime.provider > KERNELS.json`` asks the installed wheel, of
which that of CUDA is to find CUDA's libraries: ``docs/OperatorKernels.md`` is written of the same.
"""

import json
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from opcheck.db.importers.onnxruntime.extract import _bound

_HEADING = re.compile(r"^## Operators implemented by (?P<provider>\w+)")
_DOMAIN = re.compile(r"^\|\*\*Operator Domain:\*\* \*(?P<domain>[\w.]+)\*")
_TYPES = re.compile(r"\*\*(?P<name>\w+)\*\* = (?P<types>[^*<]+)")
_OPEN = re.compile(r"^(?P<first>\d+)\+$")
_RANGE = re.compile(r"^\[(?P<first>\d+), (?P<last>\d+)\]$")
_ANY_TYPES = frozenset({
    "If", "Loop", "Scan", "SequenceAt", "SequenceConstruct", "SequenceEmpty", "SequenceInsert",
    "ConcatFromSequence", "SplitToSequence",
})  # fmt: skip
"""Operators whose dtypes are not looked at: they take all, or take sequences."""
_ON_HOST = frozenset({"Shape", "Size"})
"""What a provider has kernels of that give their result on the host."""
_NOT_ON_HOST = frozenset({"FLOAT16", "BFLOAT16"})
"""What is never moved to the CPU for its size's sake."""
_INPUT, _FOLDED = -1, -2
"""Where an input of a node is from that is one of its graph, or a constant."""
_DRAWS = ("Random", "Bernoulli", "Multinomial", "Dropout", "If", "Loop", "Scan", "Sequence")
"""What is not computed once for all runs."""
_CONSTANT, _ONNX, _BARS, _ENDLESS = "Constant", "ai.onnx", 5, 2**31 - 1


class Kernel(Struct, frozen=True):
    """One that is registered, or one row of the document."""

    first: int
    last: int | None
    """None: it was registered without an end."""
    types: Mapping[str, frozenset[str]]

    def takes(self, since: int) -> bool:
        """Whether it is one of the operator as it is since a version of ONNX's operators.

        Without an end it is of that version alone: ``VerifyVersion`` of core/framework/
        kernel_registry.cc.
        """
        return self.first == since or (self.last is not None and self.first <= since <= self.last)


Kernels = Mapping[tuple[str, str], Sequence[Kernel]]


class Node(Struct, frozen=True, array_like=True):
    """An operator of an exported file, as ``lowering`` wrote it."""

    name: str
    given: list[str]
    made: list[str]
    sources: list[int]
    attributes: dict[str, Any] = {}

    @property
    def operator(self) -> str:
        """Its name without the domain."""
        return self.name.rpartition("::")[2]


def registered(path: Path, provider: str) -> Kernels:
    """What a wheel registers for a provider, by domain and operator."""
    found: dict[tuple[str, str], list[Kernel]] = {}
    for one, domain, operator, (first, last), types in json.loads(path.read_text("utf-8")):
        if one == provider:
            said = {name: frozenset(each) for name, each in types.items()}
            kernel = Kernel(first, last if last < _ENDLESS else None, said)
            found.setdefault((domain, operator), []).append(kernel)
    return found


def documented(path: Path, provider: str) -> Kernels:
    """The rows of a provider in the document, by domain and operator.

    It leaves out what is registered for no dtypes, as CUDA's NonMaxSuppression is.
    """
    found: dict[tuple[str, str], list[Kernel]] = {}
    here, domain, operator = False, "", ""
    for line in path.read_text(encoding="utf-8").splitlines():
        if heading := _HEADING.match(line):
            here = heading["provider"] == provider
        elif named := _DOMAIN.match(line):
            domain = "" if named["domain"] == _ONNX else named["domain"]
        elif here and line.count("|") == _BARS:
            _, name, _, versions, types, _ = line.split("|")
            operator = name or operator
            kernel = _kernel(versions, types)
            if kernel is not None:
                found.setdefault((domain, operator), []).append(kernel)
    return found


def _kernel(versions: str, types: str) -> Kernel | None:
    span = _OPEN.match(versions) or _RANGE.match(versions)
    if span is None and not versions.isdigit():
        return None
    said = {
        each["name"]: frozenset(each["types"].strip().split(", "))
        for each in _TYPES.finditer(types)
    }
    if span is None:
        return Kernel(int(versions), int(versions), said)
    last = span.groupdict().get("last")
    return Kernel(int(span["first"]), int(last) if last else None, said)


class Provider:
    """Which nodes of a file a provider takes, at a version of ONNX's operators."""

    def __init__(self, known: Kernels, name: str, opset: int) -> None:
        self._known, self._name, self._opset = known, name, opset

    def left(self, nodes: Sequence[Node]) -> list[Node]:
        """What it leaves to the next provider, which the CPU is.

        Not what computes with shapes alone: ``GetCpuPreferredNodes`` of core/framework/
        fallback_cpu_capability.cc puts that on the CPU whatever a provider takes. Nor what computes
        with constants alone: core/optimizer/constant_folding.cc does so before nodes are placed.
        """
        return [
            node
            for node, on_host, folded in zip(
                nodes, of_shapes(nodes), of_constants(nodes), strict=True
            )
            if node.operator != _CONSTANT and not (on_host or folded) and not self.takes(node)
        ]

    def takes(self, node: Node) -> bool:
        """Whether a kernel of it is for the node's version and dtypes, and its checks pass."""
        from onnx import defs

        domain = node.name.rpartition("::")[0]
        rows = self._known.get((domain, node.operator), ())
        if not defs.has(node.operator, self._opset, domain):
            return bool(rows)
        schema = defs.get_schema(node.operator, self._opset, domain)
        fit = [row for row in rows if row.takes(schema.since_version)]
        if node.operator in _ANY_TYPES:
            return bool(fit)
        types = _bound(schema, node.given, node.made)
        return any(_fits(row, types) for row in fit) and not _refuses(self._name, node)


def of_shapes(nodes: Sequence[Node]) -> list[bool]:
    """Whether each node takes nothing but shapes and constants, and what is computed from them.

    An input of a sample's graph is a tensor that another call gives, so that it is on the device.
    """
    on_host: list[bool] = []
    found: list[bool] = []
    for node in nodes:
        sources = [
            place for place, dtype in zip(node.sources, node.given, strict=True) if dtype != ""
        ]
        computed = [place for place in sources if place >= 0]
        alone = bool(computed) and _INPUT not in sources
        alone = alone and all(place < len(on_host) and on_host[place] for place in computed)
        found.append(alone and not any(dtype in _NOT_ON_HOST for dtype in node.given))
        on_host.append(node.operator in _ON_HOST or found[-1])
    return found


def of_constants(nodes: Sequence[Node]) -> list[bool]:
    """Whether each node takes nothing but constants, and gives the same every time."""
    found: list[bool] = []
    for node in nodes:
        sources = [
            place for place, dtype in zip(node.sources, node.given, strict=True) if dtype != ""
        ]
        constant = all(
            place == _FOLDED or (0 <= place < len(found) and found[place]) for place in sources
        )
        found.append(bool(sources) and constant and not node.operator.startswith(_DRAWS))
    return found


def _fits(row: Kernel, types: Mapping[str, str]) -> bool:
    return all(one in row.types.get(name, (one,)) for name, one in types.items())


def _refuses(provider: str, node: Node) -> bool:
    """What a provider asks of attributes, beside the document.

    ``Query…`` functions of core/providers/dml/DmlExecutionProvider/src/Operators, and
    ``…NeedFallbackToCPU`` of core/providers/cuda/cuda_execution_provider.cc.
    """
    said = node.attributes
    match provider, node.operator:
        case "dml", "ScatterElements" | "ScatterND":
            return bool(said.get("reduction", "none") != "none")
        case "dml", "Resize":
            return said.get("mode") == "cubic" or bool(said.get("exclude_outside", 0))
        case "dml", "BatchNormalization":
            return bool(said.get("training_mode", 0))
        case "dml", "LSTM" | "GRU" | "RNN":
            return bool(said.get("layout", 0))
        case "dml", "LayerNormalization":
            return len(node.made) > 1
        case "cuda", "ArgMax" | "ArgMin":
            return bool(said.get("select_last_index", 0))
        case "cuda", "GRU":
            return bool(said.get("linear_before_reset", 1) != 1)
        case _:
            return False


def main() -> None:
    """Write what the installed wheel registers."""
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    found = [
        (each.provider, each.domain, each.op_name, each.version_range, each.type_constraints)
        for each in state.get_all_opkernel_def()
    ]
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main()

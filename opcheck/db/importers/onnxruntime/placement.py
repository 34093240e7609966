"""Where ONNX Runtime puts what the converters give, beside its CPU provider: a file of facts.

``python -m opcheck.db.importers.onnxruntime.placement CALLS.json KERNELS.json OperatorKernels.md >
onnxruntime_placements.yaml`` reads what ``lowering`` and ``provider`` wrote, the document's column
of DirectML, and the CPU's kernels as the installed wheel registers them.
"""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from opcheck.db.files import yaml_writer
from opcheck.db.importers.onnxruntime.extract import Runtime
from opcheck.db.importers.onnxruntime.lowering import NOTHING, OPSETS
from opcheck.db.importers.onnxruntime.placed import LAST
from opcheck.db.importers.onnxruntime.provider import (
    Kernels,
    Node,
    Provider,
    documented,
    registered,
)

_COMMENT = """\
# Which operators of ONNX each provider leaves to the CPU's, of what torch.onnx gives of overloads.
# Written by `python -m opcheck.db.importers.onnxruntime.placement`; do not edit.
# tried: overload -> dtypes of the first tensor in which a call of PyTorch's samples was converted.
# providers: span of opsets -> overload -> dtype -> `cpu` and the operators left to the CPU,
# `kernel` and the one that neither has a kernel of, `type` and the one that takes no such dtype.
"""
Placed = dict[str, dict[str, dict[str, str]]]
"""Span of opsets -> overload -> dtype -> what becomes of it."""


def placed(data: Mapping[str, Any], known: Kernels, provider: str) -> Placed:
    """What a provider leaves, of the calls that were converted."""
    opsets = [each for each in OPSETS if each <= LAST.get(provider, each)]
    of_each = [(Provider(known, provider, opset), Runtime(opset), opset) for opset in opsets]
    found: Placed = {}
    for name, dtype, noted in data["out"]:
        files = _files(noted)
        calls = [[msgspec.convert(node, Node) for node in nodes] for nodes in files]
        reasons = [
            (opset, _shared([_left(one, runtime, nodes) for nodes in calls]))
            for one, runtime, opset in of_each
            if calls
        ]
        for first, last, why in _spans(reasons):
            overloads = found.setdefault(f"{first}..{last}", {})
            overloads.setdefault(name, {})[_named(dtype)] = why
    return {span: dict(sorted(found[span].items())) for span in sorted(found)}


def _files(noted: Sequence[Mapping[str, Any]]) -> list[list[Any]]:
    """What the calls give that were converted; of those that give nothing only where all do so."""
    files = [said["file"] for said in noted if said["stage"] == "ok"]
    return [nodes for nodes in files if any(node[0] not in NOTHING for node in nodes)] or files


def tried(data: Mapping[str, Any]) -> dict[str, list[str]]:
    """Overload -> the dtypes in which one of its calls was converted."""
    found: dict[str, list[str]] = {}
    for name, dtype, noted in data["out"]:
        if any(said["stage"] == "ok" for said in noted):
            found.setdefault(name, []).append(_named(dtype))
    return {name: sorted(dtypes) for name, dtypes in sorted(found.items())}


def _left(provider: Provider, runtime: Runtime, nodes: Sequence[Node]) -> str:
    """What becomes of a call: "" where the provider takes all of it."""
    left = []
    for node in provider.left(nodes):
        why = runtime.refusal(node.name, node.given, node.made)
        if why:
            return why
        left.append(node.operator)
    return f"cpu {', '.join(dict.fromkeys(left))}" if left else ""


def _shared(reasons: Sequence[str]) -> str:
    """What holds for all calls that were noted; "" where one of them is taken whole."""
    return reasons[0] if all(reasons) else ""


def _spans(reasons: Sequence[tuple[int, str]]) -> Iterator[tuple[int, int, str]]:
    """Runs of opsets of which the same holds, of those in which something is left."""
    first = 0
    for place, (opset, why) in enumerate(reasons):
        if place and reasons[place - 1][1] == why:
            continue
        first = opset
        run = [each for each, said in reasons[place:]]
        for length, (_, said) in enumerate(reasons[place:]):
            if said != why:
                run = run[:length]
                break
        if why:
            yield first, run[-1], why


def _named(dtype: str) -> str:
    return "none" if dtype in ("", "None") else dtype


def text(data: Mapping[str, Any], providers: Mapping[str, Kernels]) -> str:
    """The file."""
    lines = [_COMMENT.rstrip(), "tried:"]
    lines += [f"  {name}: {yaml_writer.flow(dtypes)}" for name, dtypes in tried(data).items()]
    lines.append("providers:")
    for provider, known in providers.items():
        lines.append(f"  {provider}:")
        for span, overloads in placed(data, known, provider).items():
            lines.append(f"    {span}:")
            lines += [
                f"      {name}: {yaml_writer.flow(dtypes)}" for name, dtypes in overloads.items()
            ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write the file of what was lowered."""
    calls, wheel, document = map(Path, sys.argv[1:4])
    providers = {
        "cuda": registered(wheel, "CUDAExecutionProvider"),
        "dml": documented(document, "DmlExecutionProvider"),
    }
    sys.stdout.write(text(json.loads(calls.read_text(encoding="utf-8")), providers))


if __name__ == "__main__":
    main()

"""What the converters give, beside the kernels of ONNX Runtime's CPU provider: a file of facts.

``python -m opcheck.db.importers.onnxruntime.extract CALLS.json > onnxruntime_lowerings.yaml`` reads
what ``lowering`` wrote, and the tables of the installed wheels: which types an operator of ONNX
takes, and which kernels are registered for them, which is what docs/OperatorKernels.md lists.
"""

import inspect
import json
import re
import sys
from collections.abc import Container, Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from types import MappingProxyType
from typing import Any

from opcheck.db.files import yaml_writer
from opcheck.db.importers.onnxruntime.lowering import OPSET, OPSETS

_LIBRARIES = ("torch", "onnxscript", "onnx", "onnxruntime")
_TYPES = {"FLOAT": "float", "DOUBLE": "double"}
_NOT_ONE = "No ONNX function found for <OpOverload(op='"
_LEAF = re.compile(re.escape(_NOT_ONE) + r"(?P<op>[\w.]+)', overload='(?P<overload>\w+)'")
_COMPLEX = "complex-valued"
_INLINED = frozenset({
    "If", "Loop", "Scan", "Constant", "SequenceAt", "SequenceConstruct", "SequenceEmpty",
    "SequenceInsert", "SequenceMap", "ConcatFromSequence", "SplitToSequence",
})  # fmt: skip
"""Operators whose dtypes are not looked at: they take all, or are no call, or take sequences."""
_TESTS = ("_test", "onnx_symbolic")
"""Namespaces that no model calls."""
_COMMENT = """\
# What torch.onnx gives for each overload, and which dtypes of that ONNX Runtime's CPU provider has
# no kernels for. Written by `python -m opcheck.db.importers.onnxruntime.extract`; do not edit.
# at: where the converter is; tried: dtypes of the first tensor in which a call of PyTorch's samples
# was lowered; not: dtype -> why not: `kernel`, `type` and the operator of ONNX, `complex`, `leaf`
# and the overload without a converter that it is decomposed into, `capture`, `other`.
"""


class Runtime:
    """Which operators of ONNX a CPU runs, in which dtypes."""

    def __init__(self, opset: int = OPSET) -> None:
        from onnxruntime.capi import onnxruntime_pybind11_state as state

        self._opset = opset
        self._kernels: dict[tuple[str, str], list[Any]] = {}
        for kernel in state.get_all_opkernel_def():
            self._kernels.setdefault((kernel.domain, kernel.op_name), []).append(kernel)

    def refusal(self, name: str, given: Sequence[str], made: Sequence[str]) -> str:
        """Why no kernel takes an operator with these dtypes; "" where one does."""
        from onnx import defs

        domain, _, operator = name.rpartition("::")
        if operator in _INLINED or "?" in given:
            return ""
        if not defs.has(operator, self._opset, domain):
            return ""  # its converter writes another one then
        schema = defs.get_schema(operator, self._opset, domain)
        types = _bound(schema, given, made)
        allowed = {t.type_param_str: t.allowed_type_strs for t in schema.type_constraints}
        if any(one not in allowed.get(key, (one,)) for key, one in types.items()):
            return f"type {operator}"
        halved = {k: v.replace("float16", "float") if _half(v) else v for k, v in types.items()}
        known = self._kernels.get((domain, operator), ())
        if any(_takes(kernel, schema, each) for kernel in known for each in (types, halved)):
            return ""
        return "" if spelled_out(schema, self._opset) else f"kernel {operator}"


def spelled_out(schema: Any, opset: int) -> bool:
    """Whether ONNX's own definition of an operator stands in for a kernel.

    It does so only where no operator that it is made of has changed since the opset that it was
    written for: ``OpSchema::ValidateReferencedOpsInFuncton`` of onnx/defs/schema.cc.
    """
    from onnx import FunctionProto, defs

    if schema.has_context_dependent_function:
        return True
    written = [each for each in schema.function_opset_versions if each <= opset]
    if not written:
        return False
    body = FunctionProto()
    body.ParseFromString(schema.get_function_with_opset_version(max(written)))
    return all(
        defs.get_schema(node.op_type, max(written), node.domain).since_version
        == defs.get_schema(node.op_type, opset, node.domain).since_version
        for node in body.node
    )


def _half(name: str) -> bool:
    """Whether it is what ONNX Runtime casts to float around operators without a kernel of it."""
    return name == "tensor(float16)"


def _bound(schema: Any, given: Sequence[str], made: Sequence[str]) -> dict[str, str]:
    """Type parameter of an operator -> the type that a call binds it to."""
    found: dict[str, str] = {}
    for formal, dtypes in ((schema.inputs, given), (schema.outputs, made)):
        for place, dtype in enumerate(dtypes):
            if dtype and dtype != "?" and formal:
                written = formal[min(place, len(formal) - 1)].type_str
                found.setdefault(written, f"tensor({_TYPES.get(dtype, dtype.lower())})")
    return found


def _takes(kernel: Any, schema: Any, types: Mapping[str, str]) -> bool:
    first, last = kernel.version_range
    if not first <= schema.since_version <= last:
        return False
    wanted = kernel.type_constraints
    return all(one in wanted.get(name, (one,)) for name, one in types.items())


def _why(said: Mapping[str, Any], runtime: Runtime, *, converted: bool) -> str:
    """Why a call does not come through; "" where it does."""
    if said["stage"] == "ok":
        found = (runtime.refusal(*node) for node in said["nodes"])
        return next(filter(None, found), "")
    error = said["error"]
    if said["stage"] in ("export", "capture"):
        return "capture"
    if _COMPLEX in error:
        return "complex"
    leaf = _LEAF.search(error)
    if leaf and not converted:
        overload = "" if leaf["overload"] == "default" else f".{leaf['overload']}"
        return f"leaf {leaf['op'].replace('.', '::', 1)}{overload}"
    return "other"


def _converters() -> Iterator[tuple[str, str]]:
    """Overload -> the file and line of its converter."""
    from torch.onnx._internal.exporter import _registration

    registry = _registration.ONNXRegistry.from_torchlib(OPSET)
    for name, found in registry.functions.items():
        if isinstance(name, str) and not name.startswith(_TESTS):
            function: Any = found[0].onnx_function
            function = getattr(function, "func", getattr(function, "function", function))
            file = inspect.getsourcefile(function) or ""
            root = "torch" if "/torch/onnx/" in file else "onnxscript"
            place = file.rpartition("/ops/")[2] if "/ops/" in file else Path(file).name
            yield name, f"{root}:{place}:{inspect.getsourcelines(function)[1]}"


def facts(data: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Overload -> what is known of it."""
    runtime, at = Runtime(), dict(_converters())
    always = _always(_refused_by_opset(data, at))
    found: dict[str, dict[str, Any]] = {name: {"at": place} for name, place in at.items()}
    table = {name for name in data["table"] if not name.startswith(_TESTS)}
    for name, dtype, noted in data["out"]:
        if name not in at and name not in table:
            continue
        entry = found.setdefault(name, {})
        entry.setdefault("tried", []).append(_named(dtype))
        reasons = [_why(said, runtime, converted=name in at) for said in noted]
        if all(reasons) and (name, dtype) in always:
            entry.setdefault("not", {})[_named(dtype)] = reasons[0]
    for name in table:
        found.setdefault(name, {})
    return {name: _sorted(entry) for name, entry in sorted(found.items())}


def by_opset(data: Mapping[str, Any]) -> dict[str, dict[str, dict[str, str]]]:
    """Span of opsets -> overload -> dtype -> why not, of what comes through in another one."""
    of_each = _refused_by_opset(data, {name for name, _ in _converters()})
    always, spans = _always(of_each), dict[tuple[str, str, str], list[int]]()
    for opset, refused in of_each.items():
        for (name, dtype), why in refused.items():
            if (name, dtype) not in always:
                spans.setdefault((name, dtype, why), []).append(opset)
    found: dict[str, dict[str, dict[str, str]]] = {}
    for (name, dtype, why), opsets in sorted(spans.items()):
        overloads = found.setdefault(f"{opsets[0]}..{opsets[-1]}", {})
        overloads.setdefault(name, {})[_named(dtype)] = why
    return found


def _refused_by_opset(
    data: Mapping[str, Any], converted: Container[str]
) -> dict[int, dict[tuple[str, str], str]]:
    return {opset: _refused(data, Runtime(opset), converted) for opset in OPSETS}


def _always(of_each: Mapping[int, Mapping[tuple[str, str], str]]) -> set[tuple[str, str]]:
    """Overload and dtype that no opset takes."""
    return set.intersection(*map(set, of_each.values()))


def _refused(
    data: Mapping[str, Any], runtime: Runtime, converted: Container[str]
) -> dict[tuple[str, str], str]:
    found: dict[tuple[str, str], str] = {}
    for name, dtype, noted in data["out"]:
        reasons = [_why(said, runtime, converted=name in converted) for said in noted]
        if all(reasons):
            found[name, dtype] = reasons[0]
    return found


def _named(dtype: str) -> str:
    return "none" if dtype in ("", "None") else dtype


def _sorted(entry: Mapping[str, Any]) -> dict[str, Any]:
    tried = {"tried": sorted(entry["tried"])} if "tried" in entry else {}
    without = {"not": dict(sorted(entry["not"].items()))} if "not" in entry else {}
    return {**entry, **tried, **without}


def text(
    found: Mapping[str, Mapping[str, Any]],
    versions: Mapping[str, str],
    opsets: Mapping[str, Mapping[str, Mapping[str, str]]] = MappingProxyType({}),
) -> str:
    """The file."""
    lines = [_COMMENT.rstrip(), f"opset: {OPSET}"]
    lines.append(f"versions: {yaml_writer.flow(versions)}")
    lines.append("# Refused in some opsets alone.")
    lines.append(f"opsets: {yaml_writer.flow(opsets)}")
    lines.append("overloads:")
    lines += [f"  {name}: {yaml_writer.flow(said)}" for name, said in found.items() if said]
    lines.append("# In the table of decompositions, and not tried.")
    lines.append(
        f"decomposed: {yaml_writer.flow([name for name, said in found.items() if not said])}"
    )
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write the file of what was lowered."""
    data = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    found, opsets = facts(data), by_opset(data)
    versions = {name: version(name).partition("+")[0] for name in _LIBRARIES}
    sys.stdout.write(text(found, versions, opsets))


if __name__ == "__main__":
    main()

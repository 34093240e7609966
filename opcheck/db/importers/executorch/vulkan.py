"""What ExecuTorch's Vulkan partitioner takes: its registry of operators, read and never run.

``python -m opcheck.db.importers.executorch.vulkan CALLS.jsonl PACKAGE > executorch_vulkan.yaml``
reads ``backends/vulkan`` in a folder of ExecuTorch's package, and holds against it what
``lowering`` noted that PyTorch's decompositions leave of each overload.
"""

import ast
import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from opcheck.db.files import yaml_writer
from opcheck.db.importers.executorch.extract import Leaf, in_edge

REGISTRY, SETS = "backends/vulkan/op_registry.py", "backends/vulkan/utils.py"
PARTITIONER = "backends/vulkan/partitioner/vulkan_partitioner.py"
_COMMENT = """\
# What ExecuTorch's Vulkan partitioner takes. Written by
# `python -m opcheck.db.importers.executorch.vulkan`; do not edit.
# registered: operators of the edge dialect with the line of op_registry.py that registers them, the
# dtypes of their tensors (one list for all, or one for each argument), those of their results, how
# a tensor may lie, flat: four dimensions at most, asks: the functions that look at the arguments.
# parts: overloads that are decomposed, with dtypes of the first tensor in which nothing that
# PyTorch's samples become is left; flat: a part of them is.
"""
_DIM_ORDER = {
    "dim_order_ops::_to_dim_order_copy": "aten::_to_copy",
    "dim_order_ops::_clone_dim_order": "aten::clone",
}
"""What ``MemoryFormatOpsPass`` puts in the place of operators, before partitions are made."""
_NOTHING = frozenset({
    "aten::alias_copy", "aten::detach", "aten::sym_size.int", "aten::_assert_scalar",
    "aten::sym_numel", "aten::_assert_async.msg", "aten::_local_scalar_dense",
})  # fmt: skip
"""What passes remove, and numbers: they are no kernels between partitions."""
_CAST, _NO_TENSORS = "aten::_to_copy", "none"
_PAIRS = (("float32", "float16"), ("int64", "int32"))
"""Dtypes that are in the same sets of the registry."""
_CHOSEN_FROM = "aten::where.self"
"""Of which ``lowering`` notes the dtype of what is chosen from, which is no first argument."""


class Features(Struct, frozen=True):
    """One registration of the partitioner."""

    line: int
    takes: tuple[tuple[str, ...], ...]
    """Dtypes of all tensors, or of each argument; () where one is not looked at."""
    gives: tuple[tuple[str, ...], ...]
    """Dtypes of each result."""
    lies: str
    """The set of representations of the first tensor, as ``utils.py`` names it."""
    flat: bool
    """Whether a tensor of more than four dimensions is left."""
    asks: tuple[str, ...]
    """What looks at the arguments of a call."""

    def refuses(self, leaf: Leaf) -> bool:
        """Whether a part of a graph has another dtype than it takes or gives."""
        name, given, result = leaf
        inputs = self.takes[-1] if name == _CHOSEN_FROM else self.takes[0]
        results = self.gives[0]
        return _outside(given, inputs) or _outside(result, results)


def _outside(dtype: str, listed: Sequence[str]) -> bool:
    return dtype != _NO_TENSORS and bool(listed) and dtype not in listed


def registry(folder: Path) -> dict[str, Features]:
    """Operator of the edge dialect -> its registration, dimension orders by what they stand for."""
    sets = dtype_sets((folder / SETS).read_text(encoding="utf-8"))
    tree = ast.parse((folder / REGISTRY).read_text(encoding="utf-8"))
    found: dict[str, Features] = {}
    instead: dict[str, Features] = {}
    for function in (each for each in tree.body if isinstance(each, ast.FunctionDef)):
        for name in _registered(function):
            features = _features(function, sets)
            if name in _DIM_ORDER:
                instead[_DIM_ORDER[name]] = features
            else:
                found[name] = features
    return {**found, **instead}


def _registered(function: ast.FunctionDef) -> Iterator[str]:
    """The operators of ``@update_features(...)``, in the schema spelling."""
    for call in function.decorator_list:
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "update_features":
            given = call.args[0]
            for each in given.elts if isinstance(given, ast.List) else [given]:
                name = _schema_name(each)
                if "::" in name:
                    yield name


def _schema_name(node: ast.expr) -> str:
    """``aten::add.Tensor`` of ``exir_ops.edge.aten.add.Tensor``."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    *_, namespace, base, overload = ("", "", *ast.unparse(node).split("."))
    if namespace not in ("aten", "dim_order_ops", "quantized_decomposed"):
        return ""
    return f"{namespace}::{base}.{overload}".removesuffix(".default")


def _features(function: ast.FunctionDef, sets: Mapping[str, tuple[str, ...]]) -> Features:
    (made,) = (
        each.value for each in function.body
        if isinstance(each, ast.Return) and isinstance(each.value, ast.Call)
    )  # fmt: skip
    given = {word.arg: word.value for word in made.keywords}
    takes = _sets(given.get("inputs_dtypes"), sets) or (sets["ALL_T"],)
    storage = given.get("inputs_storage")
    first = storage.elts[0] if isinstance(storage, ast.List) else storage
    asks = (given.get(key) for key in ("are_node_inputs_supported_fn", "pick_io_storage_fn"))
    return Features(
        function.lineno,
        takes,
        _sets(given.get("outputs_dtypes"), sets) or (takes[0],),
        ast.unparse(first).removeprefix("utils.") if first is not None else "",
        not ("supports_highdim" in given and ast.unparse(given["supports_highdim"]) == "True"),
        tuple(ast.unparse(each) for each in asks if each is not None),
    )


def _sets(
    node: ast.expr | None, sets: Mapping[str, tuple[str, ...]]
) -> tuple[tuple[str, ...], ...]:
    if node is None:
        return ()
    listed = node.elts if isinstance(node, ast.List) else [node]
    return tuple(sets[ast.unparse(each).removeprefix("utils.")] for each in listed)


def dtype_sets(text: str) -> dict[str, tuple[str, ...]]:
    """``FP_T`` and the like of ``utils.py``, with the dtypes that each has."""
    found: dict[str, tuple[str, ...]] = {}
    for each in ast.parse(text).body:
        if isinstance(each, ast.AnnAssign) and each.value is not None:
            name, value = ast.unparse(each.target), each.value
            if isinstance(value, ast.Dict) and name == "_VULKAN_DTYPES":
                found["ALL_T"] = _names(value.keys)
            elif ast.unparse(each.annotation) == "DtypeSet" and name != "ALL_T":
                named = (part for part in ast.walk(value) if isinstance(part, ast.Name))
                united = {dtype for part in named for dtype in found.get(part.id, ())}
                found[name] = tuple(sorted(united | set(_names(ast.walk(value)))))
    return found


def _names(nodes: Iterable[ast.AST | None]) -> tuple[str, ...]:
    """The dtypes among them: ``torch.float16``."""
    return tuple(sorted(
        each.attr for each in nodes
        if isinstance(each, ast.Attribute) and ast.unparse(each.value) == "torch"
    ))  # fmt: skip


def kept(folder: Path) -> set[str]:
    """The composites that the partitioner has PyTorch leave whole."""
    tree = ast.parse((folder / PARTITIONER).read_text(encoding="utf-8"))
    (listed,) = (
        each.value for each in tree.body
        if isinstance(each, ast.Assign) and ast.unparse(each.targets[0]) == "ops_not_to_decompose"
    )  # fmt: skip
    assert isinstance(listed, ast.List)
    return {_schema_name(each) for each in listed.elts}


def parts(
    lines: Iterable[Mapping[str, Any]], known: Mapping[str, Features], whole: set[str]
) -> dict[str, dict[str, Any]]:
    """Overload that is decomposed -> the dtypes in which nothing of it is left, if any."""
    calls: dict[str, dict[str, list[Sequence[Leaf]]]] = defaultdict(lambda: defaultdict(list))
    for said in lines:
        if not said["whole"] and said["op"] not in whole and _ends_in(said["leaves"], known):
            calls[said["op"]][said["dtype"]].append(said["leaves"])
    return {
        name: one for name, each in sorted(calls.items()) if (one := _whole_in(each, known))
    }  # fmt: skip


def _whole_in(
    outcomes: Mapping[str, Sequence[Sequence[Leaf]]], known: Mapping[str, Features]
) -> dict[str, Any]:
    """The dtypes in which nothing of an overload is left; {} where something always is."""
    takes = [
        dtype for dtype, each in outcomes.items() if not any(_left(known, some) for some in each)
    ]  # fmt: skip
    if not takes:
        return {}
    met = {in_edge(leaf[0]) for each in outcomes.values() for leaves in each for leaf in leaves}
    flat = any(known[part].flat for part in met if part in known)
    return {"takes": sorted({*takes, *_alike(takes, outcomes)})} | ({"flat": True} if flat else {})


def _ends_in(leaves: Sequence[Leaf], known: Mapping[str, Features]) -> bool:
    """Whether what a call gives is of a dtype that the registry has at all."""
    result = leaves[-1][2] if leaves else _NO_TENSORS
    return result in (_NO_TENSORS, *known[_CAST].takes[0])


def _alike(takes: Sequence[str], tried: Iterable[str]) -> Iterator[str]:
    """Dtypes that no sample was of, and that the registry has beside one that is taken."""
    for pair in _PAIRS:
        for one, other in (pair, pair[::-1]):
            if one in takes and other not in tried:
                yield other


def _left(known: Mapping[str, Features], leaves: Sequence[Leaf]) -> bool:
    """Whether some of these parts are left to other kernels."""
    for name, given, result in leaves:
        part = in_edge(name)
        features = known.get(part)
        refused = features is None or features.refuses((part, given, result))
        if part not in _NOTHING and refused:
            return True
    return False


def text(found: Mapping[str, Features], of_parts: Mapping[str, Mapping[str, Any]]) -> str:
    """The file."""
    lines = [_COMMENT.rstrip(), "registered:"]
    lines += [f"  {name}: {yaml_writer.flow(_said(one))}" for name, one in sorted(found.items())]
    lines += ["parts:"]
    lines += [f"  {name}: {yaml_writer.flow(said)}" for name, said in of_parts.items()]
    return "\n".join(lines) + "\n"


def _said(features: Features) -> dict[str, Any]:
    found = {
        "line": features.line, "takes": list(map(list, features.takes)),
        "gives": list(map(list, features.gives)), "lies": features.lies,
    }  # fmt: skip
    found |= {"flat": True} if features.flat else {}
    return found | ({"asks": list(features.asks)} if features.asks else {})


def main() -> None:
    """Write the file of a release."""
    calls, folder = Path(sys.argv[1]), Path(sys.argv[2])
    known = registry(folder)
    lines = map(json.loads, calls.read_text(encoding="utf-8").splitlines())
    sys.stdout.write(text(known, parts(lines, known, kept(folder))))


if __name__ == "__main__":
    main()

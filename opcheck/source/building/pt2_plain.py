"""A program's JSON as torch's own reader may have it: names, numbers and known words, written anew.

torch's reader (torch/_export/serde/serialize.py, read at 2.13.0) hands the expressions of sizes to
sympy, which evaluates them; compiles names of values and inputs into Python; imports modules that
the description of the inputs or outputs names; and looks up the functions that a node came from.
Targets were checked before (``pt2_check``). The rest either is left out here or is written again
from what was read by a grammar.
"""

import re
from collections.abc import Mapping
from keyword import iskeyword
from typing import Any

from opcheck.source.building.pt2_treespec import plain_treespec
from opcheck.source.pt2_expression_reader import read
from opcheck.source.pt2_expressions import written

_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_PATH = re.compile(r"[\w :/<>@+.-]{0,2000}")
"""Text that stays within the quotes that torch's code generator puts it in."""
_KEPT = ("stack_trace", "nn_module_stack", "torch_fn")
"""What is kept of a node's metadata; torch looks up the functions that the rest names."""
_OF_NODES = frozenset({"target", "as_operator", "as_graph", "as_custom_obj"})
_VERIFIERS = frozenset({"ATEN", "TRAINING", ""})


def plain_document(document: Mapping[str, Any]) -> dict[str, Any]:
    """Give what torch's reader needs of a program.

    Raises:
        ValueError: a part of it is more than it says.
    """
    module = document["graph_module"]
    found: dict[str, Any] = {
        **{key: _plain(value, key) for key, value in document.items() if key != "graph_module"},
        "graph_module": {
            "graph": _plain(module["graph"], ""),
            "signature": _described(module["signature"]),
            "module_call_graph": list(map(_call, module["module_call_graph"])),
            "metadata": {},
        },
        # conditions on inputs, which torch would compile; they are put back untouched
        "guards_code": [],
    }
    verifiers = found.get("verifiers", [])
    if not set(verifiers) <= _VERIFIERS:
        raise ValueError(f"it is of the dialects {str(verifiers)[:60]}")
    return found


def _call(entry: Mapping[str, Any]) -> dict[str, Any]:
    """How one module was called."""
    signature = entry.get("signature")
    made = {"fqn": _path(entry["fqn"])}
    if not signature:
        return {**made, "signature": None}
    names = signature.get("forward_arg_names")
    described = {
        "inputs": _described(signature["inputs"]),
        "outputs": _described(signature["outputs"]),
        "in_spec": plain_treespec(signature["in_spec"], inputs=True),
        "out_spec": plain_treespec(signature["out_spec"], inputs=False),
        "forward_arg_names": None if names is None else list(map(_named, names)),
    }
    return {**made, "signature": described}


def _described(value: Any) -> Any:
    """A part that describes values, and so calls nothing."""
    match value:
        case dict():
            if not _OF_NODES.isdisjoint(value):
                raise ValueError("its signature has a call in it")
            return {key: _described(_plain_text(item, key)) for key, item in value.items()}
        case list():
            return list(map(_described, value))
        case _:
            return value


def _plain(value: Any, key: str) -> Any:
    match value:
        case dict() if key == "metadata":
            return {name: value[name] for name in _KEPT if name in value}
        case dict():
            return {name: _plain(item, name) for name, item in value.items()}
        case list():
            return [_plain(item, key) for item in value]
        case _:
            return _plain_text(value, key)


def _plain_text(value: Any, key: str) -> Any:
    if not isinstance(value, str):
        return value
    if key == "expr_str":
        return written(read(value))
    if key in ("name", "as_name"):
        return _named(value) if value else value
    return _path(value) if key.endswith("_name") else value


def _named(value: Any) -> str:
    if not isinstance(value, str) or not _NAME.fullmatch(value) or iskeyword(value):
        raise ValueError(f"{str(value)[:80]!r} is no name")
    return value


def _path(value: Any) -> str:
    if not isinstance(value, str) or not _PATH.fullmatch(value):
        raise ValueError(f"{str(value)[:80]!r} is no name of a part of a model")
    return value

"""Dtypes that MIL's operators take, read from their definitions in coremltools."""

import ast
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct, field

SETS = ("iOS15", "iOS16", "iOS17", "iOS18")
"""Folders of definitions, oldest first: a later one has an operator anew where it takes more."""
_BOOLEAN = frozenset({
    "equal", "not_equal", "greater", "greater_equal", "less", "less_equal", "logical_and",
    "logical_or", "logical_xor", "logical_not",
})  # fmt: skip


class Definition(Struct, frozen=True):
    """One operator of MIL."""

    inputs: Mapping[str, str | frozenset[str]]
    """Input -> name of its group of one dtype, or the dtypes that it takes."""
    groups: Mapping[str, frozenset[str]]
    gives: str = ""
    """The input whose dtype the result has, or ``bool``; "" where the code does not say."""

    def taken(self, name: str) -> frozenset[str] | None:
        """The dtypes of one input; None where any is taken."""
        said = self.inputs.get(name)
        return self.groups.get(said) if isinstance(said, str) else said


class _Class(Struct):
    node: ast.ClassDef
    bases: list[str]
    inputs: dict[str, str | frozenset[str]] = field(default_factory=dict)
    groups: dict[str, frozenset[str]] = field(default_factory=dict)


def definitions(files: Mapping[str, str]) -> dict[str, Definition]:
    """Operator -> its newest definition; ``files``: path -> text, in folders of :data:`SETS`."""
    classes: dict[str, _Class] = {}
    found: dict[str, Definition] = {}
    for folder in SETS:
        mine = [text for path, text in sorted(files.items()) if f"/{folder}/" in path]
        modules = [ast.parse(text) for text in mine]
        for module in modules:
            names = dict(_imported(module))
            for node in module.body:
                if isinstance(node, ast.ClassDef):
                    bases = [names.get(_name(base), _name(base)) for base in node.bases]
                    classes[f"{folder}.{node.name}"] = _read(node, bases)
        for key, each in classes.items():
            if key.startswith(f"{folder}.") and _registered(each.node):
                found[each.node.name] = _whole(each, folder, classes)
    return found


def _imported(module: ast.Module) -> Iterator[tuple[str, str]]:
    """Local name -> ``iOS15.cast``, of classes imported from another folder."""
    for node in module.body:
        if isinstance(node, ast.ImportFrom) and node.module:
            folder = next((part for part in node.module.split(".") if part in SETS), "")
            for each in node.names if folder else ():
                yield each.asname or each.name, f"{folder}.{each.name}"


def _read(node: ast.ClassDef, bases: list[str]) -> _Class:
    found = _Class(node, bases)
    for each in node.body:
        if isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Name):
            match each.targets[0].id:
                case "input_spec":
                    found.inputs = dict(_inputs(each.value))
                case "type_domains" if isinstance(each.value, ast.Dict):
                    found.groups = {
                        str(key.value): _dtypes(value)
                        for key, value in zip(each.value.keys, each.value.values, strict=True)
                        if isinstance(key, ast.Constant)
                    }
    return found


def _inputs(value: ast.expr) -> Iterator[tuple[str, str | frozenset[str]]]:
    for call in ast.walk(value):
        if isinstance(call, ast.Call) and _name(call.func) == "InputSpec":
            for keyword in call.keywords:
                domain = _domain(keyword.value)
                if keyword.arg and domain:
                    yield keyword.arg, domain


def _domain(value: ast.expr) -> str | frozenset[str]:
    if not isinstance(value, ast.Call) or _name(value.func) != "TensorInputType":
        return ""
    said = next((each.value for each in value.keywords if each.arg == "type_domain"), None)
    if isinstance(said, ast.Constant):
        return str(said.value)
    return _dtypes(said) if said is not None else ""


def _dtypes(value: ast.expr) -> frozenset[str]:
    items = value.elts if isinstance(value, ast.Tuple) else [value]
    return frozenset(item.attr for item in items if isinstance(item, ast.Attribute))


def _registered(node: ast.ClassDef) -> bool:
    named = (each.func if isinstance(each, ast.Call) else each for each in node.decorator_list)
    return any(_name(each) == "register_op" for each in named)


def _whole(each: _Class, folder: str, classes: Mapping[str, _Class]) -> Definition:
    """The definition with what its bases say."""
    line = [*_line(each, folder, classes)]
    inputs: dict[str, Any] = {}
    groups: dict[str, frozenset[str]] = {}
    for one in reversed(line):
        inputs |= one.inputs
        groups |= one.groups
    gives = next((given for one in line if (given := _gives(one.node)) is not None), "")
    return Definition(inputs, groups, "bool" if each.node.name in _BOOLEAN else gives)


def _line(each: _Class, folder: str, classes: Mapping[str, _Class]) -> Iterator[_Class]:
    yield each
    for base in each.bases:
        key = base if "." in base else f"{folder}.{base}"
        if key in classes and classes[key] is not each:
            yield from _line(classes[key], key.partition(".")[0], classes)


def _gives(node: ast.ClassDef) -> str | None:
    """The input whose dtype all results have; "" where that is not one; None where none is said."""
    method = next(
        (m for m in node.body if isinstance(m, ast.FunctionDef) and m.name == "type_inference"),
        None,
    )
    if method is None:
        return None
    returned = [r.value for r in ast.walk(method) if isinstance(r, ast.Return) and r.value]
    names = {_of_input(value) for value in returned}
    return names.pop() if len(names) == 1 else ""


def _of_input(value: ast.expr) -> str:
    """``x`` of ``self.x.sym_type`` and of ``types.tensor(self.x.dtype, shape)``."""
    if isinstance(value, ast.Call) and _name(value.func) == "tensor" and value.args:
        value = value.args[0]
    if isinstance(value, ast.Attribute) and value.attr in ("sym_type", "dtype"):
        inner = value.value
        if isinstance(inner, ast.Attribute) and _name(inner.value) == "self":
            return inner.attr
    return ""


def _name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""

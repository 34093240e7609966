"""Which converters TorchAir registers, and which of them only raise, read from its repository.

``python -m opcheck.db.importers.ascend_torchair.extract GIT 7.3.0 26.0.0 > converters.yaml`` reads
the files under ``ge_converter/`` of each branch, which are parsed and never run.
"""

import ast
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from opcheck.db.files import yaml_writer
from opcheck.db.importers.shared.repository import Repository

ROOT = "python/torchair/_ge_concrete_graph/ge_converter/"
_REGISTERS = "register_fx_node_ge_converter"
_OPERATORS = "torch.ops."
_COMMENT = """\
# Converters that TorchAir registers under python/torchair/_ge_concrete_graph/ge_converter/. Written
# by `python -m opcheck.db.importers.ascend_torchair.extract`; do not edit. at: file and line of the
# function; raises: it has nothing but an error, such as "ge_converter is not implemented!"; in: the
# releases in which it stands there.
"""


def read(text: str) -> Iterator[tuple[str, int, bool]]:
    """Overload, line, and whether it only raises, of each converter that a file registers."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            for decorator in node.decorator_list:
                if op := _registered(decorator):
                    yield op, node.lineno, _only_raises(node)


def overload(text: str) -> str:
    """``aten::add.Tensor`` of ``torch.ops.aten.add.Tensor``; "" of what is no overload."""
    namespace, _, rest = text.removeprefix(_OPERATORS).partition(".")
    base, _, name = rest.partition(".")
    if not (text.startswith(_OPERATORS) and base and name):
        return ""
    return f"{namespace}::{base}" if name == "default" else f"{namespace}::{base}.{name}"


def _registered(decorator: ast.expr) -> str:
    if not isinstance(decorator, ast.Call) or not decorator.args:
        return ""
    function = decorator.func
    name = function.id if isinstance(function, ast.Name) else ""
    return overload(ast.unparse(decorator.args[0])) if name == _REGISTERS else ""


def _only_raises(function: ast.FunctionDef) -> bool:
    """Whether the first thing that a function does, after its docstring, is to raise."""
    body = function.body
    if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        body = body[1:]
    return bool(body) and isinstance(body[0], ast.Raise)


Places = dict[str, dict[tuple[str, bool], list[str]]]
"""Overload -> where it is registered, and whether it only raises there -> the releases."""


def converters(folder: Path, releases: Sequence[str]) -> Places:
    """What each branch of a git repository registers."""
    found: Places = {}
    for release in releases:
        repository = Repository(folder, release)
        for path in repository.paths(ROOT):
            if path.endswith(".py"):
                for op, line, raises in read(repository.text(path)):
                    place = (f"{path.removeprefix(ROOT)}:{line}", raises)
                    found.setdefault(op, {}).setdefault(place, []).append(release)
    return found


def text(found: Mapping[str, Mapping[tuple[str, bool], Sequence[str]]]) -> str:
    """The file: for each overload, where it is registered."""
    lines = [_COMMENT.rstrip()]
    for op, places in sorted(found.items()):
        said: list[dict[str, Any]] = [
            {"at": at, **({"raises": True} if raises else {}), "in": list(releases)}
            for (at, raises), releases in places.items()
        ]
        lines.append(f"{op}: [{', '.join(map(yaml_writer.flow, said))}]")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Read the branches that the command line names."""
    folder, *releases = sys.argv[1:]
    sys.stdout.write(text(converters(Path(folder), releases)))


if __name__ == "__main__":
    main()

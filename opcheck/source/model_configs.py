"""Configs that are written in Python, of which their library makes the model.

*mmengine* (open-mmlab/mmengine): a file of settings, with ``model = dict(type=…)`` in it or in one
of its ``_base_``, or imported within ``with read_base():``. *detectron2*: a value that
``LazyCall`` makes, which has ``_target_``.
"""

import ast
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from opcheck.errors import SourceError
from opcheck.files import MOST_SOURCE_BYTES, read_bytes
from opcheck.lang.sentence import Sentence

MODEL = "model"
"""The setting that describes the model."""
_BASES, _READ_BASE = "_base_", "read_base"
_TYPE, _TARGET, _SCOPE = "type", "_target_", "default_scope"
_CODE = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def is_settings(path: Path) -> bool:
    """Whether a Python file is a config of mmengine; it is read, and not run."""
    try:
        tree = ast.parse(read_bytes(path, MOST_SOURCE_BYTES))
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return False  # whoever runs it says what is wrong
    return not any(isinstance(one, _CODE) for one in tree.body) and any(map(_is_mark, tree.body))


def _is_mark(statement: ast.stmt) -> bool:
    """Whether a statement is one of those by which such a file is told."""
    if isinstance(statement, ast.With):
        return any(_READ_BASE in ast.unparse(item.context_expr) for item in statement.items)
    if not isinstance(statement, ast.Assign):
        return False
    names = [target.id for target in statement.targets if isinstance(target, ast.Name)]
    return _BASES in names or (MODEL in names and _has_type(statement.value))


def _has_type(value: ast.expr) -> bool:
    match value:
        case ast.Call(func=ast.Name(id="dict"), keywords=keywords):
            return any(keyword.arg == _TYPE for keyword in keywords)
        case ast.Dict(keys=keys):
            return any(isinstance(key, ast.Constant) and key.value == _TYPE for key in keys)
        case _:
            return False


def built(path: Path, name: str) -> Any:
    """The model that a setting of mmengine's describes.

    Raises:
        SourceError: mmengine is not installed, or the file has no such setting.
    """
    for folder in (Path.cwd(), path.resolve().parent):  # for custom_imports
        sys.path.append(str(folder))
    try:
        from mmengine.config import Config
        from mmengine.registry import MODELS, init_default_scope
    except ModuleNotFoundError as error:
        if error.name is None or not error.name.startswith("mmengine"):
            raise
        raise SourceError(
            Sentence("{text_file} is a config of mmengine, which is not installed", text_file=path),
            Sentence(
                "install it and the library of its models beside opcheck, or write a function "
                "that builds the model"
            ),
        ) from error
    settings = Config.fromfile(str(path))
    if not isinstance(settings.get(name), Mapping):
        raise SourceError(
            Sentence("{text_file} has no setting {name} for a model", text_file=path, name=name),
            Sentence("it has {list}", list=", ".join(sorted(map(str, settings)))),
        )
    init_default_scope(settings.get(_SCOPE, "mmengine"))
    return MODELS.build(settings[name])


def instantiated(value: Any) -> Any:
    """The model that a value of detectron2's ``LazyCall`` stands for; any other value as it is."""
    if not (isinstance(value, Mapping) and _TARGET in value):
        return value
    from detectron2.config import instantiate

    return instantiate(value)

"""Python files of the user's: how one is named with what is in it, and how it is run."""

import ast
import difflib
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from opcheck.errors import SourceError, UsageError
from opcheck.files import MOST_SOURCE_BYTES, read_bytes

if TYPE_CHECKING:
    from types import ModuleType

FORM = re.compile(r"(?P<path>.+\.py)(?::(?P<name>[^:/\\]*))?")
"""``path/to/file.py``, and a name in it or several with commas between."""


def parts_of(text: str) -> tuple[Path, list[str]]:
    """The file, and the names in it, one of which is "" where it is left out."""
    match = FORM.fullmatch(text)
    assert match is not None  # claims() said so
    return Path(match["path"]), (match["name"] or "").split(",")


def require_names(text: str) -> list[str]:
    """The names in the file, which is there and is Python.

    Raises:
        SourceError: it cannot be read, or is no Python.
        UsageError: no name was given.
    """
    path, names = parts_of(text)
    defined = _defined(path)
    if not all(names):
        raise UsageError(
            f"{text}: which model? write {path}:NAME",
            f"it defines {', '.join(defined)}" if defined else "it defines nothing",
        )
    return names


def _defined(path: Path) -> list[str]:
    """Names of the functions, classes and variables at the top of the file."""
    content = _content(path)
    try:
        tree = ast.parse(content, str(path))
    except (RecursionError, MemoryError) as error:  # of the parser, at expressions within others
        raise SourceError(f"{path}: nested too deeply to be read", "run it with python") from error
    except (SyntaxError, ValueError) as error:  # ValueError: null bytes
        line = getattr(error, "lineno", None)
        where = f"{path}:{line}" if line else str(path)
        reason = getattr(error, "msg", error)
        raise SourceError(f"{where}: not valid Python ({reason})", "run it with python") from error
    names: list[str] = []
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.append(node.name)
        elif isinstance(node, ast.Assign):
            names += [target.id for target in node.targets if isinstance(target, ast.Name)]
    return [name for name in names if not name.startswith("_")]


def _content(path: Path) -> bytes:
    try:
        return read_bytes(path, MOST_SOURCE_BYTES)
    except OSError as error:
        missing = isinstance(error, FileNotFoundError)
        reason = "no such file" if missing else f"cannot be read ({error.strerror})"
        raise SourceError(f"{path}: {reason}", "the form is path/to/file.py:NAME") from error


def run_file(path: Path) -> "ModuleType":
    """Import the file as Python would from its own folder, or from its package's."""
    import importlib.util

    _content(path)  # Python would wait for a pipe
    root, dotted = path.resolve().parent, path.stem
    while (root / "__init__.py").exists():
        root, dotted = root.parent, f"{root.name}.{dotted}"
    sys.path.insert(0, str(root))
    sys.path.append(str(Path.cwd()))  # where python -m would look
    if "." in dotted:
        return importlib.import_module(dotted)
    # a file named like a library must not stand in for it
    name = dotted if importlib.util.find_spec(dotted) is None else f"opcheck_user_{dotted}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None  # a .py file always has one
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def run_once(path: Path) -> "ModuleType":
    """The module of a file that was run before, else of one that is run now."""
    for name in (path.stem, f"opcheck_user_{path.stem}"):
        module = sys.modules.get(name)
        file = getattr(module, "__file__", None)
        if module is not None and file and Path(file).resolve() == path.resolve():
            return module
    return run_file(path)


def look_up(module: "ModuleType", path: Path, name: str) -> Any:
    """What a name with dots stands for in a module that was run; SourceError where in nothing."""
    value: Any = module
    for part in name.split("."):
        names = [n for n in vars(value) if not n.startswith("_")]
        if not hasattr(value, part):
            near = difflib.get_close_matches(part, names, 3) or _defined(path)
            raise SourceError(f"{path} has no {name!r}", f"did you mean {', '.join(near)}?")
        value = getattr(value, part)
    return value

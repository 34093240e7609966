"""The user's own Python code - which it is, and how a file is named and run."""

import ast
import difflib
import importlib.util
import linecache
import os
import re
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from opcheck.errors import SourceError, UsageError
from opcheck.files import MOST_SOURCE_BYTES, read_bytes, require_regular
from opcheck.lang.sentence import Sentence
from opcheck.source.conventions import entry_points, model_named

if TYPE_CHECKING:
    from types import ModuleType

_FRAME = re.compile(r'^ *File "(?P<file>.+)", line (?P<line>\d+)', re.MULTILINE)


@cache
def is_users(filename: str) -> bool:
    """Whether a frame in ``filename`` is an answer to "where in my code"."""
    if filename.startswith("<"):
        return False
    path = Path(filename).resolve()
    return not any(path.is_relative_to(library) for library in _libraries())


def shown(filename: str) -> str:
    """``filename`` relative to the working directory, where it lies below."""
    try:
        return str(Path(filename).resolve().relative_to(Path.cwd()))
    except ValueError:
        return filename


def innermost(stack: str) -> str:
    """Find ``file:line`` of the user's first frame in a stack as faulthandler writes it; or ""."""
    for frame in _FRAME.finditer(stack):
        if is_users(frame["file"]):
            return f"{shown(frame['file'])}:{frame['line']}"
    return ""


@cache
def library_prefixes() -> tuple[str, ...]:
    """How the path of a library's file begins, as it is mostly written: a quick first look."""
    return tuple(f"{folder}{os.sep}" for folder in _libraries())


@cache
def _libraries() -> tuple[Path, ...]:
    import sysconfig

    names = ("stdlib", "platstdlib", "purelib", "platlib")
    folders = [Path(str(sysconfig.get_path(name))) for name in names]
    return tuple(folder.resolve() for folder in (*folders, Path(__file__).parents[1]))


def is_code(source: str, *, trust: bool) -> bool:
    """Whether ``source`` is Python of the user's own, or a file that the user trusts.

    No file is looked into: only what is no code may be read by a process without limits.
    """
    if trust or ".py" not in source:
        return trust
    from opcheck.source.load import kinds

    return any(kind.claims(source) for kind in kinds() if kind.code)


def lines_of(file: str) -> Sequence[str]:
    """The lines of a Python file, looked for along ``sys.path`` as well, where libraries are.

    There are none of what is no Python file: a report must not carry a line of anything else.
    """
    if not file.endswith(".py"):
        return ()
    places = (os.path.join(folder, file) for folder in ("", *sys.path))
    found = next(filter(os.path.exists, places), "")
    try:
        require_regular(found, MOST_SOURCE_BYTES)
    except OSError:
        return ()
    return linecache.getlines(file)  # which takes the same one


FORM = re.compile(r"(?P<path>.+\.py)(?::(?P<name>[^:/\\]*))?")
"""``path/to/file.py``, and a name in it or several with commas between."""


def parts_of(text: str) -> tuple[Path, list[str]]:
    """The file, and the names in it, one of which is "" where it is left out."""
    match = FORM.fullmatch(text)
    assert match is not None  # claims() said so
    return Path(match["path"]), (match["name"] or "").split(",")


def require_names(text: str, *, conventional: bool = False) -> list[str]:
    """The names in the file, which is there and is Python.

    Args:
        text: as ``FORM`` has it.
        conventional: whether a convention may give the name where there is none.

    Raises:
        SourceError: it cannot be read, or is no Python.
        UsageError: no name was given.
    """
    path, names = parts_of(text)
    defined = entry_points(path, _defined(path))
    if conventional and names == [""] and (named := model_named(defined)):
        return [named]
    if not all(names):
        raise UsageError(
            Sentence("{text_file}: which model? write {text}:NAME", text_file=text, text=path),
            Sentence("it defines {list}", list=", ".join(defined))
            if defined
            else Sentence("it defines nothing"),
        )
    return names


def _defined(path: Path) -> list[str]:
    """Names of the functions, classes and variables at the top of the file."""
    content = _content(path)
    try:
        tree = ast.parse(content, str(path))
    except (RecursionError, MemoryError) as error:  # of the parser, at expressions within others
        raise SourceError(
            Sentence("{text_file}: nested too deeply to be read", text_file=path),
            Sentence("run it with python"),
        ) from error
    except (SyntaxError, ValueError) as error:  # ValueError: null bytes
        line = getattr(error, "lineno", None)
        where = f"{path}:{line}" if line else str(path)
        reason = getattr(error, "msg", error)
        raise SourceError(
            Sentence("{text_file}: not valid Python ({text})", text_file=where, text=reason),
            Sentence("run it with python"),
        ) from error
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
        reason = (
            Sentence("no such file")
            if missing
            else Sentence("cannot be read ({text})", text=error.strerror)
        )
        raise SourceError(
            Sentence("{text_file}: {said}", text_file=path, said=reason),
            Sentence("the form is path/to/file.py:NAME"),
        ) from error


def run_file(path: Path) -> "ModuleType":
    """Import the file as Python would from its own folder, or from its package's."""
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
            raise SourceError(
                Sentence("{text_file} has no {name}", text_file=path, name=repr(name)),
                Sentence("did you mean {text}?", text=", ".join(near)),
            )
        value = getattr(value, part)
    return value

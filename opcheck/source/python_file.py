"""``path/to/file.py:name``: a factory, a module class or a module in a Python file."""

import ast
import difflib
import inspect
import re
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from opcheck.errors import SourceError, UsageError
from opcheck.files import MOST_SOURCE_BYTES, read_bytes
from opcheck.source import digest
from opcheck.source.base import Loaded, LoadOptions, Source

if TYPE_CHECKING:
    from types import ModuleType

_FORM = re.compile(r"(?P<path>.+\.py)(?::(?P<name>[^:/\\]*))?")


class PythonFile(Source):
    """Runs a Python file and builds the model that a name in it stands for."""

    name = "python"
    code = True
    help = "path/to/file.py:NAME (a factory, a module class or a module; or several: NAME,NAME)"

    @classmethod
    def claims(cls, text: str) -> bool:
        """Whether it names a ``.py`` file."""
        return _FORM.fullmatch(text) is not None

    @classmethod
    def path(cls, text: str) -> Path | None:
        """The file, without the name in it."""
        return _parts(text)[0]

    def check(self, text: str, options: LoadOptions) -> None:
        """Find the file, a syntax error in it, or that no name was given."""
        path, names = _parts(text)
        defined = _defined(path)
        if not all(names):
            raise UsageError(
                f"{text}: which model? write {path}:NAME",
                f"it defines {', '.join(defined)}" if defined else "it defines nothing",
            )
        if len({*names}) < len(names):
            raise UsageError(f"{text}: names a model twice", "name each once")
        if len(names) > 1 and options.calls.input_sets:
            raise UsageError(
                "--inputs gives the inputs of one model, and several are named",
                "name one, or return (model, inputs) from each factory",
            )

    def load(self, text: str, options: LoadOptions) -> Loaded:
        """Run the file, then build the model."""
        from opcheck.source.building.build import build, make
        from opcheck.source.building.several import taken_by, together

        self.check(text, options)
        path, names = _parts(text)
        notes: tuple[str, ...] = ()
        if options.weights:  # once and for real: a second time might register things twice
            module = make(str(path), lambda: run_file(path))
        else:
            module, notes = build(str(path), lambda: run_file(path))
        made = {name: _made(module, path, name, options) for name in names}
        if len(made) > 1:
            asked = taken_by({name: one.model for name, one in made.items()}, options)
        else:
            asked = {names[0]: options}
        loaded = together({name: self._ready(one, path, asked[name]) for name, one in made.items()})
        return replace(loaded, notes=(*notes, *loaded.notes))

    def _ready(self, made: "_Made", path: Path, options: LoadOptions) -> Loaded:
        from opcheck.source.building.ready import ready

        file = digest.of_file(path)
        return ready(
            made.model, made.inputs, options, kind=self.name, digest=file, notes=made.notes
        )


@dataclass(frozen=True, slots=True)
class _Made:
    """What a name in the file stands for."""

    model: Any
    inputs: Any
    """None where it gave none."""
    notes: tuple[str, ...]


def _made(module: "ModuleType", path: Path, name: str, options: LoadOptions) -> _Made:
    from opcheck.source.building.build import build

    target = look_up(module, path, name)
    what = f"{name}() of {path}"
    made, notes = build(what, lambda: _call(target, what), weights=options.weights)
    return _Made(*_taken_apart(made, what), notes)


def _parts(text: str) -> tuple[Path, list[str]]:
    match = _FORM.fullmatch(text)
    assert match is not None  # claims() said so
    return Path(match["path"]), (match["name"] or "").split(",")


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


def _call(target: Any, what: str) -> Any:
    from torch import nn

    if isinstance(target, nn.Module) or not callable(target):
        return target
    try:
        required = [
            parameter.name
            for parameter in inspect.signature(target).parameters.values()
            if parameter.default is parameter.empty
            and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        ]
    except ValueError:  # a builtin without a signature
        required = []
    if required:
        raise SourceError(
            f"{what} needs arguments: {', '.join(required)}",
            "write a function without arguments that passes them, and scan that",
        )
    return target()


def _taken_apart(made: Any, what: str) -> tuple[Any, Any]:
    """Split what a factory returned into module and inputs; inputs are None if it gave none."""
    from torch import nn

    from opcheck.source.building.example import normalise

    if isinstance(made, nn.Module):
        return made, None
    if isinstance(made, tuple) and len(made) == 2 and isinstance(made[0], nn.Module):
        return made[0], normalise(what, made[1])
    kind = type(made).__name__
    raise SourceError(
        f"{what} gives {kind}, want a torch.nn.Module or (module, inputs)",
        "return the model itself, not its outputs, weights or config",
    )

"""Which names of PyTorch's Python modules came with which release, read from its wheels.

``python -m opcheck.db.importers.shared.python_names WHEEL… > compat_db/pytorch/names.yaml``.
Nothing of a wheel is run: its Python files are parsed, and its stubs tell what C++ defines.
"""

import ast
import re
import sys
import zipfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from opcheck.db.files import yaml_writer
from opcheck.db.schema.tables import NAMES
from opcheck.db.versions import major_minor, version_key

_LEFT_OUT = frozenset({
    "ao", "benchmark", "bin", "bottleneck", "contrib", "csrc", "datapipes", "elastic", "fx",
    "hipify", "hub", "include", "jit", "lib", "model_dump", "onnx", "package", "pipelining",
    "quantization", "rpc", "share", "tensorboard", "testing", "test",
})  # fmt: skip
"""Folders of ``torch`` whose names no model asks for before it calls them."""
_FUNCTIONS = "torch/_C/_VariableFunctions.pyi"
_DTYPES = "core/ScalarType.h"
"""How the names of the headers end that list the dtypes."""
_OPERATORS = "torchgen/packaged/ATen/native/native_functions.yaml"
_VERSION = re.compile(r"^(__version__|git_version) = '(.*)'", re.MULTILINE)

Names = Mapping[str, frozenset[str]]
"""Module, or the class ``torch.Tensor`` -> what it has."""


class Wheel:
    """The Python side of one release of PyTorch."""

    def __init__(self, path: Path) -> None:
        self._zip = zipfile.ZipFile(path)
        self._files = frozenset(self._zip.namelist())
        told = dict(_VERSION.findall(self._text("torch/version.py")))
        self.version, self.commit = told["__version__"].partition("+")[0], told["git_version"]
        self._bound: dict[str, frozenset[str]] = {}

    def _text(self, file: str) -> str:
        return self._zip.read(file).decode()

    def names(self) -> Names:
        """The names of every module that is not left out, and of tensors."""
        files = {module_of(file): file for file in self._files if _is_public(file)}
        found = {module: self.bound(file) | self._inside(file) for module, file in files.items()}
        functions, methods = python_functions(self._text(_OPERATORS))
        found["torch"] |= functions | self._dtypes()
        own = _of_class(ast.parse(self._text("torch/_tensor.py")).body, "Tensor")
        return {**found, "torch.Tensor": methods | own}

    def _dtypes(self) -> frozenset[str]:
        headers = (file for file in self._files if file.endswith(_DTYPES))
        return frozenset().union(*(dtypes(self._text(file)) for file in headers))

    def in_stubs(self) -> Names:
        """What stubs tell of C++. It is there, but what they leave out may be, too."""
        stub = ast.parse(self._text("torch/_C/__init__.pyi"))
        exported = (name for name in _bound_by(stub.body) if name[0] != "_")
        base = _of_class(stub.body, "TensorBase") | _of_class(stub.body, "_TensorBase")
        return {"torch": self.bound(_FUNCTIONS) | frozenset(exported), "torch.Tensor": base}

    def borrowed(self) -> Names:
        """What modules that are no packages import, which users find where it is defined."""
        found = {}
        for file in filter(_is_public, self._files):
            if not file.endswith("__init__.py"):
                body = ast.parse(self._text(file)).body
                own = frozenset(_bound_by(node for node in body if not _is_import(node)))
                found[module_of(file)] = frozenset(_bound_by(body)) - own
        return found

    def bound(self, file: str) -> frozenset[str]:
        """What a file binds at its top, also by ``import *`` from other files of torch."""
        if file not in self._files:
            return frozenset()
        if file not in self._bound:
            self._bound[file] = frozenset()  # for a circle of imports
            body = ast.parse(self._text(file)).body
            found = set(_bound_by(body))
            for module in _starred(body, module_of(file)):
                base = module.replace(".", "/")
                found |= self.bound(f"{base}.py") | self.bound(f"{base}/__init__.py")
            self._bound[file] = frozenset(found)
        return self._bound[file]

    def _inside(self, file: str) -> frozenset[str]:
        """The modules in the folder of a package."""
        folder, _, name = file.rpartition("/")
        if name != "__init__.py":
            return frozenset()
        below = (f.removeprefix(f"{folder}/") for f in self._files if f.startswith(f"{folder}/"))
        one = (f.removesuffix("/__init__.py").removesuffix(".py") for f in below if ".py" in f)
        return frozenset(name for name in one if name.isidentifier() and name != "__init__")


def module_of(file: str) -> str:
    """``torch.nn`` of ``torch/nn/__init__.py``."""
    return re.sub(r"(/__init__)?\.pyi?$", "", file).replace("/", ".")


def _is_public(file: str) -> bool:
    parts = file.removesuffix("/__init__.py").removesuffix(".py").split("/")
    private = any(part.startswith("_") for part in parts)
    read = file.endswith(".py") and parts[0] == "torch" and _LEFT_OUT.isdisjoint(parts)
    return read and not private


def python_functions(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """Functions of ``torch`` and methods of tensors that a list of operators declares."""
    import yaml

    found: dict[str, set[str]] = {"function": set(), "method": set()}
    for said in yaml.load(text, yaml.CSafeLoader):
        base = said["func"].partition("(")[0].partition(".")[0]
        for variant in said.get("variants", "function").replace(" ", "").split(","):
            if variant == "method" or "python_module" not in said:
                found[variant].add(base)
    return frozenset(found["function"]), frozenset(found["method"])


def _bound_by(body: Iterable[ast.stmt]) -> Iterator[str]:
    """Names that statements bind, whatever they depend on; of imports those from torch alone."""
    for statement in body:
        match statement:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield statement.name
            case ast.ImportFrom(module=module, names=names, level=level):
                if level or (module or "").partition(".")[0] == "torch":
                    yield from (alias.asname or alias.name for alias in names)
            case ast.Import(names=names):
                ours = [alias for alias in names if alias.name.startswith("torch.")]
                yield from (alias.asname for alias in ours if alias.asname)
            case _:
                yield from _assigned(statement)
                for part in ("body", "orelse", "finalbody"):
                    yield from _bound_by(getattr(statement, part, ()))
                for handler in getattr(statement, "handlers", ()):
                    yield from _bound_by(handler.body)


def _assigned(statement: ast.stmt) -> Iterator[str]:
    """Names that an assignment binds, and those that it lists as ``__all__``."""
    targets: Sequence[ast.expr] = ()
    match statement:
        case ast.Assign():
            targets = statement.targets
        case ast.AnnAssign() | ast.AugAssign():
            targets = [statement.target]
    parts = [part for target in targets for part in getattr(target, "elts", (target,))]
    names = [part.id for part in parts if isinstance(part, ast.Name)]
    yield from names
    if "__all__" in names or _extends_all(statement):
        listed = (node.value for node in ast.walk(statement) if isinstance(node, ast.Constant))
        yield from (text for text in listed if isinstance(text, str))


def _extends_all(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and ast.unparse(statement).startswith("__all__.")


def _is_import(node: ast.AST) -> bool:
    return isinstance(node, ast.Import | ast.ImportFrom)


def _starred(body: Iterable[ast.stmt], module: str) -> Iterator[str]:
    """Modules of torch that a file takes everything from."""
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
                yield node.module or "" if not node.level else f"{module}.{node.module}"


def _of_class(body: Iterable[ast.stmt], name: str) -> frozenset[str]:
    """What the body of a class binds."""
    found = [node for node in body if isinstance(node, ast.ClassDef) and node.name == name]
    return frozenset(name for node in found for name in _bound_by(node.body))


def dtypes(header: str) -> frozenset[str]:
    """``float8_e5m2``, … of the C++ header that lists them as ``_(c10::Float8_e5m2, Float8_e5m2)``.

    Those that Python names otherwise than C++ are older than all that is looked at.
    """
    names = re.findall(r"\b_\([\w:<>]+, ((?!ScalarType)[A-Z]\w+)\)", header)
    return frozenset(name.lower() for name in names)


def came_with(
    releases: Mapping[str, Names], stubs: Mapping[str, Names], borrowed: Names
) -> Mapping[str, Mapping[str, str]]:
    """By module, the release that each name came with, for those that the first one lacks.

    ``stubs``: by release, what stubs tell of besides, which says that a name was there by then.
    ``borrowed``: names that are only there because a module uses what others define.

    A name counts from where it is there without a break up to the last release that has it. What a
    module had when it came itself is not listed: its parent's entry tells. Names with an underscore
    are private, and are listed of ``torch`` alone: operators have them before they are announced.
    """
    order = sorted(releases, key=version_key)
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for module in sorted({module for names in releases.values() for module in names}):
        having = [version for version in order if module in releases[version]]
        for name in sorted({n for version in having for n in releases[version][module]}):
            private = name.startswith("__" if module == "torch" else "_")
            told = name.isidentifier() and not private
            there = [_has(name, module, releases[v], stubs[v]) for v in having]
            since = having[_begin(there)]
            if told and since != having[0] and name not in borrowed.get(module, ()):
                found[module][name] = major_minor(since)
    return found


def _has(name: str, module: str, *tables: Names) -> bool:
    return any(name in names.get(module, ()) for names in tables)


def _begin(there: Sequence[bool]) -> int:
    """Where the last run of releases that have it begins."""
    first = len(there) - 1 - there[::-1].index(True)
    while first and there[first - 1]:
        first -= 1
    return first


def _names_of(ordered: Sequence[Wheel]) -> Mapping[str, Mapping[str, str]]:
    names = {wheel.version: wheel.names() for wheel in ordered}
    stubs = {wheel.version: wheel.in_stubs() for wheel in ordered}
    return came_with(names, stubs, ordered[-1].borrowed())


def table(wheels: Sequence[Wheel]) -> Iterator[str]:
    """The lines of ``names.yaml``."""
    ordered = sorted(wheels, key=lambda wheel: version_key(wheel.version))
    sources = {
        f"torch-{wheel.version}": {
            "repo": "pytorch/pytorch",
            "ref": f"v{wheel.version}",
            "commit": wheel.commit,
            "path": "torch (the Python files and stubs inside the wheel)",
        }
        for wheel in ordered
    }
    yield (
        "# The torch that names of Python modules came with, where the oldest looked at lacks them."
    )
    yield "# Written by `python -m opcheck.db.importers.shared.python_names WHEEL…`."
    yield f"schema: {NAMES}"
    yield f"torch: {yaml_writer.flow([major_minor(wheel.version) for wheel in ordered])}"
    yield from yaml_writer.section("sources", sources)
    yield from yaml_writer.section("names", _names_of(ordered))
    yield from yaml_writer.end()


if __name__ == "__main__":
    sys.stdout.writelines(f"{line}\n" for line in table([*map(Wheel, map(Path, sys.argv[1:]))]))

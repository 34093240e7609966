"""Imports of libraries that are not installed, answered last and only where nothing else is tried.

Code that has its own way without a library keeps it: a ``try`` around the import, or a look whether
the library is there, meets none. The plugin of the device that code runs on is found by all.
"""

import ast
import linecache
import sys
import types
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from importlib.metadata import Distribution, DistributionFinder
from pathlib import Path

from msgspec.structs import replace

from opcheck.errors import SourceError
from opcheck.lang.sentence import Sentence
from opcheck.model.schemas import Libraries, LibrarySchema
from opcheck.source.building.stand_ins import triton
from opcheck.source.building.stand_ins.installed import Installed
from opcheck.source.building.stand_ins.modules import modules_of

_OURS = str(Path(__file__).parents[3])
TRITON = "triton"
_RUNNERS = frozenset({"_pytest", "pluggy", "unittest", "IPython", "ipykernel"})
"""They go on after anything that the code they run raises."""
_CATCHES = frozenset({"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})


class StandIns(DistributionFinder, Loader):
    """Finds and loads modules of libraries that nothing else finds; for ``sys.meta_path``."""

    def __init__(self, libraries: Libraries) -> None:
        self._libraries = libraries
        self.installed: Installed | None = None
        """What is there for all code, also for what only looks whether it is."""
        self._modules: dict[str, Mapping[str, types.ModuleType]] = {}
        self.used: dict[str, LibrarySchema | None] = {}
        """Packages that something stands in for, and what is known of them; None: of Triton."""
        self.asked: dict[str, tuple[str, int]] = {}
        """File and line that import Triton, where nothing goes on without it."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: types.ModuleType | None = None
    ) -> ModuleSpec | None:
        """The stand-in for a module, or None."""
        package = name.partition(".")[0]
        if package not in self._modules and not self._taken(name, package):
            return None
        if name not in self._modules[package]:
            return None
        return ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: ModuleSpec) -> types.ModuleType:
        """The module that was made beforehand."""
        return self._modules[spec.name.partition(".")[0]][spec.name]

    def exec_module(self, module: types.ModuleType) -> None:
        """Nothing is left to run."""

    def find_distributions(
        self,
        context: DistributionFinder.Context = DistributionFinder.Context(),  # noqa: B008  # as its base has it
    ) -> Iterator[Distribution]:
        """The package of what is installed, where that is asked for by its name."""
        if self.installed is not None and self.installed.is_named(context.name):
            yield self.installed

    def forget(self) -> None:
        """Let nothing find any more what was made."""
        for name, module in self._made():
            if sys.modules.get(name) is module:
                del sys.modules[name]
        self._modules.clear()

    def _made(self) -> Iterator[tuple[str, types.ModuleType]]:
        for modules in self._modules.values():
            yield from modules.items()

    def notes(self) -> tuple[str, ...]:
        """What a report is to say of them."""
        return tuple(_note(used) if used else _TRITON_NOTE for used in self.used.values())

    def _taken(self, name: str, package: str) -> bool:
        """Whether to stand in for a package from now on, of which nothing is installed."""
        installed = self.installed if self.installed and self.installed.module == package else None
        if name != package or (installed is None and _optional()):
            return False
        library = self._libraries(package)
        if library is not None and installed is not None:
            library = replace(library, version=installed.version)
        if library is None and package == TRITON:
            self._modules[package] = triton.modules()
            self.used[package] = None
            _, file, line = next(_frames())
            self.asked[package] = file, line
            return True
        if library is None:
            return False
        if library.refuses:
            raise SourceError(
                Sentence(
                    "the model imports {name}, which is not installed: {text}",
                    name=package,
                    text=library.refuses,
                ),
                Sentence("install {name}, or scan the part of the model without it", name=package),
            )
        self._modules[package] = modules_of(library)
        self.used[package] = library
        return True


def install(libraries: Libraries) -> StandIns:
    """Answer imports that nothing else does, from now on; in this process alone."""
    for finder in sys.meta_path:
        if isinstance(finder, StandIns):
            finder._libraries = libraries
            return finder
    made = StandIns(libraries)
    _ask_torch()
    sys.meta_path.append(made)
    return made


@contextmanager
def standing_in(libraries: Libraries) -> Iterator[None]:
    """Answer such imports inside the block alone, in a process that goes on after it.

    Where something answers them already, it goes on to do so.
    """
    if any(isinstance(finder, StandIns) for finder in sys.meta_path):
        yield
        return
    made = install(libraries)
    try:
        yield
    finally:
        sys.meta_path.remove(made)
        made.forget()


def _ask_torch() -> None:
    """Have torch note whether Triton is installed, before anything stands in for it.

    ``torch.utils._triton`` is private and keeps the answer; checked on 2.13.0.
    """
    from torch.utils import _triton

    _triton.has_triton_package()


_TRITON_NOTE = Sentence(
    "Triton is not installed here: its kernels are read from their source, and none is run"
)


def _note(library: LibrarySchema) -> str:
    name = library.name
    if library.users:
        return Sentence(
            "{library} is not installed here; what is known of it is taken from {path}",
            library=name,
            path=library.path,
        )
    return Sentence(
        "{library} is not installed here; what is known of it is taken from the database",
        library=name,
    )


def _optional() -> bool:
    """Whether the code that imports goes on without what it asks for, or only looks for it."""
    for place, (module, file, line) in enumerate(_frames()):
        if place == 0 and module in ("importlib.util", "pkgutil"):
            return True
        if file.startswith(_OURS) or module.partition(".")[0] in _RUNNERS:
            return False
        if any(start <= line <= end for start, end in guarded(file)):
            return True
    return False


def _frames() -> Iterator[tuple[str, str, int]]:
    """Module, file and line of each frame that led here, innermost first."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_OURS):
        frame = frame.f_back  # type: ignore[assignment]  # None ends it
    while frame is not None:
        if not frame.f_code.co_filename.startswith("<frozen importlib._bootstrap"):
            yield frame.f_globals.get("__name__", ""), frame.f_code.co_filename, frame.f_lineno
        frame = frame.f_back  # type: ignore[assignment]  # None ends it


@cache
def guarded(file: str) -> tuple[tuple[int, int], ...]:
    """First and last lines of what a file goes on after when an import in it fails."""
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError, RecursionError):
        return ()
    found = []
    for node in ast.walk(tree):
        caught = isinstance(node, ast.Try) and any(map(_goes_on, node.handlers))
        suppressed = isinstance(node, ast.With) and any(map(_suppresses, node.items))
        if caught or suppressed:
            body = node.body  # type: ignore[attr-defined]  # either has one
            found.append((body[0].lineno, body[-1].end_lineno))
    return tuple(found)


def _goes_on(handler: ast.ExceptHandler) -> bool:
    """Whether it catches a failed import and does not raise again."""
    named = {"Exception"} if handler.type is None else _names(handler.type)
    raises = any(isinstance(node, ast.Raise) for node in handler.body)
    return bool(named & _CATCHES) and not raises


def _suppresses(item: ast.withitem) -> bool:
    call = item.context_expr
    if not isinstance(call, ast.Call) or not _names(call.func) & {"suppress"}:
        return False
    return any(_names(argument) & _CATCHES for argument in call.args)


def _names(node: ast.AST) -> set[str]:
    """The last parts of names in an expression: ``contextlib.suppress`` is ``suppress``."""
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} | {
        n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute)
    }

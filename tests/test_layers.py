"""Imports run downwards, torch stays in its rooms, and only the command line speaks."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from opcheck.db.files.document import uncollected

PACKAGE = Path(__file__).parent.parent / "opcheck"
MODULES = tuple(sorted(PACKAGE.rglob("*.py")))
LONGEST = 400
"""Lines of a module."""

RANKS: tuple[frozenset[str], ...] = (
    frozenset({"lang"}),
    frozenset({"closures", "errors", "files", "python_state", "registry", "site", "version"}),
    frozenset({"model"}),
    frozenset({"db", "kernel_code"}),
    frozenset({"source", "trace", "lint"}),
    frozenset({"resolve", "settings"}),
    frozenset({"rewrite"}),
    frozenset({"emulate", "exporting", "runtime", "costs"}),
    frozenset({"sandbox", "saved_graph", "composites", "device_types"}),
    frozenset({"views"}),
    frozenset({"pipeline"}),
    frozenset({"app"}),
    frozenset({"commands"}),
    frozenset({"__init__", "pytest_plugin"}),
    frozenset({"testing", "__main__"}),
)
"""The rooms, lowest first; those of one rank do not import each other."""

TORCH = (
    "opcheck.trace.", "opcheck.source.building.", "opcheck.rewrite.", "opcheck.emulate.",
    "opcheck.runtime.", "opcheck.exporting.",
)  # fmt: skip
"""Where importing a module may load torch."""
WITHOUT_TORCH = "opcheck.emulate"
"""But not this package itself: what it names is imported when it is used."""


def name_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts)


def room_of(module: str) -> str:
    """``opcheck.db.store`` is of ``db``; the package itself is ``__init__``."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "__init__"


def rank_of(room: str) -> int:
    return next(rank for rank, rooms in enumerate(RANKS) if room in rooms)


def imported(tree: ast.AST) -> Iterator[str]:
    """Every module that an import statement names, anywhere in the file."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield from _submodules(node)


def _submodules(node: ast.ImportFrom) -> Iterator[str]:
    """``from opcheck import pipeline`` names a module, ``from opcheck.db import x`` its room."""
    assert node.module is not None
    if node.module == "opcheck":
        yield from (f"opcheck.{alias.name}" for alias in node.names)
    else:
        yield node.module


def run_on_import(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The import statements that run when a module is imported: none inside a function."""
    for statement in body:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            yield statement
        elif isinstance(statement, ast.If) and ast.unparse(statement.test) in (
            "TYPE_CHECKING",
            "__name__ == '__main__'",
        ):
            continue
        elif not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            for field in ("body", "orelse", "finalbody"):
                yield from run_on_import(getattr(statement, field, []))
            for handler in getattr(statement, "handlers", []):
                yield from run_on_import(handler.body)


@cache
def parse(path: Path) -> ast.Module:
    with uncollected():
        return ast.parse(path.read_text(encoding="utf-8"))


def modules_of(room: str) -> list[Path]:
    return [path for path in MODULES if room_of(name_of(path)) == room]


every_room = pytest.mark.parametrize("room", sorted({room_of(name_of(path)) for path in MODULES}))


def test_there_are_modules() -> None:
    assert len(MODULES) > 20


def test_no_module_is_longer_than_can_be_read_at_once() -> None:
    lengths = {path: path.read_text(encoding="utf-8").count("\n") for path in MODULES}
    assert {path.name: length for path, length in lengths.items() if length > LONGEST} == {}


@every_room
def test_imports_run_downwards(room: str) -> None:
    for path in modules_of(room):
        for module in imported(parse(path)):
            if module.partition(".")[0] != "opcheck" or module == "opcheck.__version__":
                continue
            other = room_of(module)
            allowed = other == room or rank_of(other) < rank_of(room)
            assert allowed, f"{name_of(path)} of room {room} imports {module} of room {other}"


@every_room
def test_torch_is_imported_where_it_may_be(room: str) -> None:
    for path in modules_of(room):
        name = name_of(path)
        if name.startswith(TORCH) and name != f"{WITHOUT_TORCH}.__init__":
            continue
        loaded = {name for node in run_on_import(parse(path).body) for name in imported(node)}
        assert "torch" not in {name.partition(".")[0] for name in loaded}, path
        loaded.discard(WITHOUT_TORCH)
        assert not [name for name in loaded if f"{name}.".startswith(TORCH)], path


def test_a_deployed_program_imports_few_rooms() -> None:
    """What ``opcheck.runtime`` names itself; a command, a report or an emulated device is not."""
    modules = modules_of("runtime")
    assert modules
    rooms = {room_of(name) for path in modules for name in imported(parse(path))
             if name.startswith("opcheck.")}  # fmt: skip
    assert rooms <= {"runtime", "errors", "files", "lang", "model", "db", "source", "rewrite"}


@every_room
def test_only_the_database_reads_yaml(room: str) -> None:
    if room == "db":
        return
    for path in modules_of(room):
        assert "yaml" not in {name.partition(".")[0] for name in imported(parse(path))}, path


SPOKEN = ("app", "commands")
"""Rooms of the command line."""


@every_room
def test_only_the_command_line_prints_and_exits(room: str) -> None:
    """So do modules that are run by themselves: ``python -m opcheck.…``."""
    spoken = {"print", "exit", "sys.exit", "os._exit", "sys.stdout.write", "sys.stderr.write"}
    for path in modules_of(room):
        if room in SPOKEN or '__name__ == "__main__"' in path.read_text():
            continue
        walked = ast.walk(parse(path))
        calls = [ast.unparse(node.func) for node in walked if isinstance(node, ast.Call)]
        assert spoken.isdisjoint(calls), path


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["scan", "--help"],
        ["emulate", "--help"],
        ["targets"],
        ["explain", "aten::gelu"],
        ["doctor", "--plan", "-t", "ascend-910b"],
    ],
    ids=str,
)
def test_commands_without_a_model_load_no_torch(arguments: list[str]) -> None:
    code = (
        "import sys; from opcheck.app.main import run;"
        "code = run(sys.argv[1:]);"
        "sys.exit(code or 'torch' in sys.modules)"
    )
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


ANSWERS_OF_OTHERS = 30
"""Arrows between commands: one may need what another answers, and should not often."""


def of_files() -> dict[str, set[str]]:
    """Module -> modules that it imports anywhere; what is for type checkers alone is not."""
    files = {name_of(path).removesuffix(".__init__"): path for path in MODULES}
    return {name: {*_imported_by(parse(path), set(files))} - {name} for name, path in files.items()}


def _imported_by(tree: ast.Module, files: set[str]) -> Iterator[str]:
    typed = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for statement in node.body
        for inner in ast.walk(statement)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import) and id(node) not in typed:
            yield from (alias.name for alias in node.names if alias.name in files)
        elif isinstance(node, ast.ImportFrom) and id(node) not in typed:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                if (found := inner if inner in files else str(node.module)) in files:
                    yield found


@pytest.mark.slow
def test_no_files_import_each_other_in_a_circle() -> None:
    graph = {name: {*found} for name, found in of_files().items()}
    while ends := {name for name, found in graph.items() if not found}:
        graph = {name: found - ends for name, found in graph.items() if name not in ends}
    assert sorted(graph) == [], "each of these is in a circle, or imports one that is"


@pytest.mark.slow
def test_commands_import_only_answers_of_others_and_not_often() -> None:
    def command(name: str) -> str:
        return name.split(".")[2] if name.startswith("opcheck.commands.") else ""

    arrows = [
        (name, other)
        for name, found in of_files().items()
        for other in found
        if command(name) and command(other) and command(name) != command(other)
    ]
    assert len(arrows) < ANSWERS_OF_OTHERS
    assert not [arrow for arrow in arrows if ".views" in arrow[1] or ".terminal" in arrow[1]]

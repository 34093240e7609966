"""Runs cells of a notebook, one after the other, in one namespace as ``__main__``.

The value of a cell's last expression is shown, and ``await`` may stand outside of functions.
"""

import ast
import asyncio
import inspect
import linecache
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from opcheck.emulate.own_traceback import show
from opcheck.emulate.record import Record
from opcheck.emulate.shell import Shell, stand_in
from opcheck.model.script import ScriptSpec
from opcheck.source.notebook import Cell, read
from opcheck.source.user_code import shown

_MAIN = "__main__"
_LAUNCHED = ("ipykernel_launcher.py", "-f", "kernel.json")
"""``sys.argv`` in a notebook that Jupyter runs."""


def run_notebook(script: ScriptSpec, cells: Iterable[Cell], record: Record) -> None:
    """Run the cells of a notebook in its own folder, as Jupyter does, or of a session; for good.

    Args:
        script: its name and arguments.
        cells: what :func:`.notebook.read` gave for it.
        record: given what is left out of them.
    """
    name = shown(script.name) if script.is_file else ""
    folder = Path(script.name).resolve().parent
    sys.argv = [script.name, *script.argv] if script.argv else [*_LAUNCHED]
    sys.path.insert(0, str(folder))
    os.chdir(folder)
    main = sys.modules[_MAIN] = ModuleType(_MAIN)
    runner = Runner(vars(main))
    stand_in(vars(main), Shell(vars(main), record, lambda path: runner.run_all(path, read(path))))
    try:
        runner.run_all(name, cells)
    finally:
        runner.close()


class Runner:
    """Runs code in a namespace; what it awaits runs in one event loop."""

    def __init__(self, namespace: dict[str, Any]) -> None:
        self._namespace = namespace
        self._loop: asyncio.AbstractEventLoop | None = None

    def close(self) -> None:
        """End the event loop."""
        if self._loop is not None:
            self._loop.close()

    def run_all(self, notebook: str, cells: Iterable[Cell]) -> None:
        """Run cells as parts of the notebook of that name."""
        for cell in cells:
            try:
                self.run(cell.python, cell.text, cell.file(notebook))
            except Exception as error:
                if not cell.may_raise:
                    raise
                show(error)

    def run(self, python: str, text: str, file: str) -> None:
        """Run a cell.

        Args:
            python: its code.
            text: its lines as the user wrote them, which tracebacks show.
            file: what it has as its file.

        Raises:
            Exception: whatever the code raises; a SyntaxError where it is no Python.
        """
        # without a time of change no file of that name is looked for
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
        # where a loop runs already, as in Jupyter's own process, no other one can
        flags = 0 if _in_loop() else ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        for code in _parts(python, file, flags):
            value = eval(code, self._namespace)
            if code.co_flags & inspect.CO_COROUTINE:
                self._loop = self._loop or asyncio.new_event_loop()
                self._loop.run_until_complete(value)


def _in_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _parts(python: str, file: str, flags: int) -> Iterator[CodeType]:
    """The code of a cell, with that of an expression at its end, whose value is shown, apart."""
    tree = compile(python, file, "exec", flags | ast.PyCF_ONLY_AST, dont_inherit=True)
    body, last = tree.body, []
    if body and isinstance(body[-1], ast.Expr) and not python.rstrip().endswith(";"):
        body, last = body[:-1], body[-1:]
    if body:
        yield compile(ast.Module(body, []), file, "exec", flags, dont_inherit=True)
    if last:
        yield compile(ast.Interactive(last), file, "single", flags, dont_inherit=True)

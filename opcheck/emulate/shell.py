"""What stands for IPython in a notebook that is run: ``get_ipython()`` and ``display``.

A magic that changes what the code finds, such as ``%cd``, does so here. Commands of the system and
all other magics are left out: a note says so, and a gap where they may use the device.
"""

import importlib
import importlib.util
import os
import re
import runpy
import shlex
import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

from opcheck.emulate.record import Record
from opcheck.lang.sentence import Sentence
from opcheck.model.trace import Gap
from opcheck.source.notebook import SUFFIX
from opcheck.trace.calls.call_site import from_stack

_IPYTHON, _DISPLAY = "IPython", "IPython.display"
_HARMLESS = frozenset({
    "alias", "aimport", "autoreload", "autosave", "cat", "cls", "clear", "colors", "conda",
    "config", "cp", "css", "dhist", "doctest_mode", "file", "history", "html", "javascript",
    "js", "latex", "load_ext", "ls", "lsmagic", "mamba", "markdown", "matplotlib", "mkdir",
    "mv", "notebook", "pdb", "pinfo", "pinfo2", "pip", "precision", "reload_ext", "rm", "svg",
    "tensorboard", "unalias", "unload_ext", "uv", "watermark", "who", "whos", "xmode",
})  # fmt: skip
"""Magics that compute nothing with tensors."""
_STARTS_PYTHON = re.compile(
    r"(?:^|[\s;&|/])(?:i?python[\d.]*|torchrun|accelerate|deepspeed|jupyter|papermill)(?=\s|$)"
    r"(?!\s+-m\s+(?:pip|ensurepip|venv)\b)"
)
"""A command that runs a Python program, which may use the device."""
_LONGEST = 80
"""Characters of a command that are shown."""


class Shell:
    """What ``get_ipython()`` gives."""

    def __init__(
        self, namespace: dict[str, Any], record: Record, notebook: Callable[[str], None]
    ) -> None:
        """Stand for the shell of a namespace.

        Args:
            namespace: that of the notebook.
            record: given what is left out.
            notebook: runs another notebook in it.
        """
        self.user_ns = namespace
        self.config: dict[str, Any] = {}
        self.events = SimpleNamespace(register=lambda *_: None, unregister=lambda *_: None)
        self._record, self._notebook = record, notebook

    def run_line_magic(self, name: str, line: str, _stack_depth: int = 1) -> Any:
        """Do what ``%name line`` does, or leave it out."""
        own = getattr(self, f"_{name}", None) if name in _OWN else None
        if own is not None:
            return own(line.strip())
        self._leave_out(f"%{name} {line}", counts=name not in _HARMLESS)
        return None

    def run_cell_magic(self, name: str, line: str, cell: str) -> Any:
        """Do what a cell ``%%name line`` does, or leave it out."""
        if name in ("writefile", "file"):
            *options, file = shlex.split(line)
            with open(os.path.expanduser(file), "a" if options else "w", encoding="utf-8") as out:
                out.write(cell)
            return
        shell = name in ("bash", "sh", "system", "!", "sx")
        counts = bool(_STARTS_PYTHON.search(cell)) if shell else name not in _HARMLESS
        self._leave_out(f"%%{name} {line}", counts=counts)

    def magic(self, text: str) -> Any:
        """The same as :meth:`run_line_magic`, of a whole line without its sign."""
        name, _, line = text.lstrip("% ").partition(" ")
        return self.run_line_magic(name, line)

    def system(self, command: str) -> None:
        """Leave a command of the system out."""
        self._leave_out(f"!{command}", counts=bool(_STARTS_PYTHON.search(command)))

    def getoutput(self, command: str, *_: Any, **__: Any) -> list[str]:
        """Leave a command out whose lines are wanted: it has none."""
        self.system(command)
        return []

    def _leave_out(self, text: str, *, counts: bool) -> None:
        """Say that a line is left out; ``counts``: what it does may be asked of the device."""
        file, line = from_stack(1, None)
        place, text = f"{file}:{line}", text.strip()
        text = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
        if counts:
            said = Sentence("{text} is left out: what it runs is not seen", text=text)
            self._record.gap(Gap(place, said))
        else:
            self._record.note(
                Sentence("{text_place}: {text} is left out", text_place=place, text=text)
            )

    def _cd(self, line: str) -> None:
        os.chdir(os.path.expanduser(line.strip("\"'") or "~"))

    def _pwd(self, _: str) -> str:
        return os.getcwd()

    def _env(self, line: str) -> Any:
        name, sep, value = line.partition("=" if "=" in line else " ")
        if sep:
            os.environ[name.strip()] = value.strip()
            return None
        return os.environ[name] if name else dict(os.environ)

    _set_env = _env

    def _run(self, line: str) -> None:
        """Run another file in the namespace, or in one whose names it then has."""
        words = shlex.split(line)
        name, *argv = words[next((i for i, w in enumerate(words) if w[:1] != "-"), 0) :]
        if name.endswith(SUFFIX):
            self._notebook(name)
            return
        file = name if Path(name).suffix else f"{name}.py"
        before, sys.argv = sys.argv, [file, *argv]
        given = self.user_ns if "-i" in words else {}
        try:
            found = runpy.run_path(file, {**given}, run_name="__main__")
        finally:
            sys.argv = before
        self.user_ns.update({k: v for k, v in found.items() if not k.startswith("__")})


_OWN = frozenset({"cd", "pwd", "env", "set_env", "run"})
"""Magics that do here what they do there."""


def stand_in(namespace: dict[str, Any], shell: Shell) -> None:
    """Have code in ``namespace`` find the shell, and what it imports of IPython; for good."""
    if importlib.util.find_spec(_IPYTHON) is None:
        sys.modules.update(_modules())
    ipython: Any = importlib.import_module(_IPYTHON)
    ipython.get_ipython = lambda: shell
    namespace["get_ipython"] = ipython.get_ipython
    namespace["display"] = importlib.import_module(_DISPLAY).display


def _modules() -> dict[str, ModuleType]:
    """Modules that stand for IPython's where it is not installed."""
    package: Any = ModuleType(_IPYTHON)
    shown: Any = ModuleType(_DISPLAY)
    for module in (package, shown):
        module.__spec__ = ModuleSpec(module.__name__, None, is_package=True)
    package.__path__, package.display = [], shown
    package.version_info, package.__version__ = (8, 0, 0), "8.0.0"
    shown.display, shown.__getattr__ = _display, _shown_class
    return {_IPYTHON: package, _DISPLAY: shown}


def _display(*values: Any, **_: Any) -> None:
    """Show values as a terminal does."""
    for value in values:
        sys.displayhook(value)


def _shown_class(name: str) -> type:
    """A class or function of ``IPython.display``: whatever it is given, it shows nothing."""
    if name.startswith("__"):
        raise AttributeError(name)

    def begin(self: Any, *_: Any, **__: Any) -> None:
        """Take any arguments."""

    return type(name, (), {"__init__": begin, "__module__": _DISPLAY})

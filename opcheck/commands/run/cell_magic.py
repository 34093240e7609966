"""``%%opcheck -t TARGET``: a cell of a notebook on an emulated device, in the notebook's process.

It has no limits and no view of files of its own: it runs as any cell does, in the notebook's
namespace, with CUDA taken for the device until the cell ends.

With ``--compare`` it runs nothing there: a run on the CPU would leave its marks in the namespace.
The session's cells run anew, in processes of their own, as a notebook does.
"""

from functools import partial
from typing import Any, Protocol

from msgspec.structs import replace

from opcheck.commands.run.answer import run
from opcheck.errors import OpcheckError, UsageError
from opcheck.lang.sentence import Sentence, sentence_of
from opcheck.model.request import ModelSpec
from opcheck.model.script import ScriptRequest, ScriptRun, ScriptSpec
from opcheck.model.target import TargetSpec
from opcheck.pipeline.database import open_database
from opcheck.resolve.basis import basis_of
from opcheck.source.magics import NAME, OPTION

_HINT = Sentence(
    "write it as: %%opcheck -t ascend-910b [--values | --compare] [--stop] [--no-as-cuda]"
)


class History(Protocol):
    """What is used of IPython's ``HistoryManager``."""

    input_hist_parsed: list[str]
    """The cells that were run, the running one last; the first is empty."""
    input_hist_raw: list[str]
    """The same as they were typed."""


class Shell(Protocol):
    """What is used of IPython's ``InteractiveShell``."""

    user_ns: dict[str, Any]
    history_manager: History

    def transform_cell(self, raw_cell: str, /) -> str:
        """The cell as Python."""

    def register_magic_function(
        self, func: Any, magic_kind: str = "line", magic_name: str | None = None
    ) -> None:
        """Have a function be called for a magic."""


def register(shell: Shell) -> None:
    """Add ``%opcheck`` and ``%%opcheck`` to a shell."""
    shell.register_magic_function(partial(run_cell, shell), "line_cell", NAME)


def run_cell(shell: Shell, line: str, cell: str | None = None) -> ScriptRun:
    """Run a cell, or what follows the options in a line, and give what the device was called on.

    Args:
        shell: the notebook's.
        line: what follows ``%opcheck``: options, and in a line the code.
        cell: the lines that follow ``%%opcheck``; None in a line.

    Raises:
        UsageError: the options are not understood, or there is no such target.
        EmulationError: this process or this torch cannot have the device, or one is open.
        DatabaseError: a support matrix is missing or damaged.
    """
    try:
        options, code = _parsed(line, cell)
        return _ran(shell, options, code, lines_before=cell is not None)
    except OpcheckError as error:
        error.add_note(str(error.hint))
        raise


def _parsed(line: str, cell: str | None) -> tuple[dict[str, str], str]:
    """The options by their names, and the code to run."""
    options: dict[str, str] = {}
    at = 0
    while found := OPTION.match(line, at):
        options[found["flag"] or "target"] = found["target"] or found["flag"]
        at = found.end()
    code = line[at:].strip()
    if code.startswith("-") or (cell is not None and code) or "target" not in options:
        raise UsageError(
            Sentence("cannot read the options of %opcheck: {text}", text=repr(line.strip())),
            _HINT,
        )
    return options, code if cell is None else cell


def _ran(shell: Shell, options: dict[str, str], code: str, *, lines_before: bool) -> ScriptRun:
    try:
        target = TargetSpec.parse(options["target"])
    except ValueError as error:
        raise UsageError(sentence_of(error), _HINT) from error
    # execution_count is that of the next cell in some versions of IPython
    name = f"In[{len(shell.history_manager.input_hist_parsed) - 1}]"
    compare = "compare" in options
    request = ScriptRequest(
        ScriptSpec(name, cells=_session(shell.history_manager, code) if compare else ()),
        ModelSpec(name),
        target,
        values="values" in options or compare,
        stop="stop" in options,
        as_cuda="no-as-cuda" not in options,
        compare=compare,
    )
    return run(request) if compare else _ran_here(shell, request, code, lines_before)


def _session(history: History, code: str) -> tuple[str, ...]:
    """All cells as they were typed, the one last that ``code`` is of."""
    typed = tuple(history.input_hist_raw[1:])
    return typed if typed and code.strip() in typed[-1] else (*typed, code)


def _ran_here(shell: Shell, request: ScriptRequest, code: str, lines_before: bool) -> ScriptRun:
    """Run code in the notebook's own process and namespace."""
    from opcheck.emulate.cells import Runner  # needs torch
    from opcheck.emulate.script import run_script
    from opcheck.emulate.supported import require_emulated

    database = open_database()
    resolved = database.resolve(request.target)
    matrix = database.matrix(resolved)
    require_emulated(matrix)
    before = "\n" * lines_before  # the line of the magic, so that lines have their numbers
    python, text = (f"{before}{part}" for part in (shell.transform_cell(code), code))
    found = run_script(
        request,
        resolved,
        matrix,
        digest="",
        begins=lambda: None,
        notes=lambda: (),
        play=lambda _: Runner(shell.user_ns).run(python, text, request.script.name),
    )
    return replace(found, basis=basis_of(found.emulation, matrix, database.chip(resolved)))

"""The page for each thing that the database says of itself."""

from collections.abc import Sequence
from itertools import groupby
from typing import assert_never

from opcheck.commands.db.terminal import words
from opcheck.commands.db.terminal.contents import write_contents
from opcheck.commands.db.terminal.diff import write_diffs
from opcheck.commands.db.terminal.status import write_status
from opcheck.model.database import (
    Audit,
    Contents,
    DatabaseStatus,
    DatabaseView,
    ImportedFile,
    Imports,
    MatrixDiffs,
)
from opcheck.views.page import PLAIN, Page
from opcheck.views.terminal.canvas import Canvas, split
from opcheck.views.terminal.words import more

PROBLEMS = 8
"""How many of a file are told unless all are asked for."""


def render(view: DatabaseView, page: Page = PLAIN) -> str:
    """Whatever it is, as text."""
    canvas = Canvas(page)
    match view:
        case DatabaseStatus():
            write_status(canvas, view)
        case Contents():
            write_contents(canvas, view)
        case MatrixDiffs():
            write_diffs(canvas, view.diffs)
        case Audit():
            _write_audit(canvas, view)
        case Imports():
            _write_imports(canvas, view.files)
        case _:
            assert_never(view)
    return canvas.text()


def _write_audit(canvas: Canvas, found: Audit) -> None:
    if not found.problems:
        canvas.flow([(canvas.marks.good, "green"), *split(words.sound(found.files))])
        return
    damaged = len({problem.file for problem in found.problems})
    text = words.unsound(len(found.problems), found.files, damaged)
    canvas.flow([(canvas.marks.bad, "red"), *split(text)])
    for file, members in groupby(found.problems, key=lambda problem: problem.file):
        problems = list(members)
        canvas.blank()
        canvas.flow([(file, "bold")])
        shown = problems if canvas.page.verbose else problems[:PROBLEMS]
        for problem in shown:
            line = f"line {problem.line}: " if problem.line else ""
            canvas.flow([(f"{problem.code}:", "red"), *split(f"{line}{problem.text}")], 2)
        if len(problems) > len(shown):
            canvas.flow(split(more(len(problems) - len(shown), "problem"), "dim"), 2)


def _write_imports(canvas: Canvas, files: Sequence[ImportedFile]) -> None:
    for file in files:
        style = "green" if file.changed else "dim"
        canvas.flow([*split(f"{words.CHANGED_FILE[file.changed]}:", style), (file.path, "")])

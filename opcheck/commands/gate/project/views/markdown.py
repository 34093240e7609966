"""A project's answer as one comment on a pull request, cut where it would become too long."""

from collections.abc import Iterator

from opcheck.commands.gate import sentences as of_gate
from opcheck.commands.gate.project import sentences
from opcheck.commands.gate.project.values import ProjectGate, SourceGate
from opcheck.commands.gate.views.markdown import failing, marked
from opcheck.lang.sentence import Sentence
from opcheck.lang.speech import tell, wording
from opcheck.views.formats import PLAIN, Page
from opcheck.views.markdown_text import LIMIT, cell, code, fitting, prose, size
from opcheck.views.project.rest import SIGNS, unchecked
from opcheck.views.terminal import words as common
from opcheck.views.terminal.canvas import COLUMN_CONTEXT

COLUMNS = ("Source", "Target", "Answer")
_PART = LIMIT // 4
"""What the table may take."""


def render(found: ProjectGate, page: Page = PLAIN) -> str:
    """The comment; its first line is the same for every run on the same folder."""
    before = marked(found.report.folder) + _headline(found) + _table(found)
    after = unchecked(found.report) + _notes(found) + _foot(found)
    return before + _failing(found, LIMIT - size(before) - size(after)) + after


def _headline(found: ProjectGate) -> str:
    said = wording(sentences.headline(found)).format(folder=code(found.report.folder))
    return f"### {SIGNS[found.passed]} {said}\n\n{prose(sentences.counted(found))}\n\n"


def _table(found: ProjectGate) -> str:
    """The sources that fail first, then those that cannot be judged."""
    order = {False: 0, None: 1, True: 2}
    sources = sorted(found.sources, key=lambda one: order[one.passed])
    rows = [row for one in sources for row in _rows(one)]
    names = " | ".join(tell(name, COLUMN_CONTEXT) for name in COLUMNS)
    head = f"|  | {names} |\n| --- |{' --- |' * len(COLUMNS)}\n"
    shown = fitting(rows, _PART)
    left = len(rows) - shown
    more = f"{tell(common.and_more(left, 'row'))}\n\n" if left else ""
    return f"{head}{''.join(rows[:shown])}\n{more}" if rows else ""


def _rows(one: SourceGate) -> Iterator[str]:
    name = cell(code(one.name))
    if one.result is None or one.passed is None:
        yield f"| {SIGNS[None]} | {name} |  | {tell('not checked')} |\n"
        return
    for target in one.result.targets:
        said = tell(of_gate.verdict(target))
        yield f"| {SIGNS[target.passed]} | {name} | {cell(code(target.target))} | {said} |\n"


def _failing(found: ProjectGate, room: int) -> str:
    """What fails, source by source, as far as there is room, and how many had none."""
    told: list[str] = []
    results = [one for one in found.sources if one.fails and one.result is not None]
    for number, one in enumerate(results):
        share = (room - 200) // (len(results) - number)
        assert one.result is not None  # the list above has no other
        head = f"#### {code(one.name)}\n\n"
        text = failing(one.result, share - size(head)) if share > _LEAST else ""
        if text:
            told.append(f"{head}{text}")
            room -= size(told[-1])
    left = len(results) - len(told)
    more = f"{tell(common.and_more(left, 'source'))}\n\n" if left else ""
    return "".join(told) + more


_LEAST = 600
"""Characters in which something can be said of a source."""


def _notes(found: ProjectGate) -> str:
    lines = [f"- {prose(note)}\n" for note in found.notes]
    return f"{''.join(lines[: fitting(lines, _PART // 4)])}\n" if lines else ""


def _foot(found: ProjectGate) -> str:
    policy = Sentence("policy: {file}", file=found.policy)
    said = policy if found.policy else Sentence(of_gate.NO_POLICY)
    hidden = prose(sentences.hidden(found))
    return f"<sub>{hidden} · {prose(said)} · opcheck {found.opcheck_version}</sub>\n"

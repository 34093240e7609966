"""A project's answer as Markdown: a table of sources and targets, cut where it becomes too long."""

from opcheck.lang.speech import tell
from opcheck.model.project import ProjectReport, worst
from opcheck.model.report import TargetReport
from opcheck.views.formats import PLAIN, Page
from opcheck.views.markdown_text import LIMIT, cell, code, colon, fitting, prose, size
from opcheck.views.order import arranged
from opcheck.views.project import sentences
from opcheck.views.project.rest import SIGNS, first_in_the_way, unchecked
from opcheck.views.terminal import words as common
from opcheck.views.terminal.canvas import COLUMN_CONTEXT

COLUMNS = ("Source", "Target", "Verdict", "First in the way", "Where")


def render(found: ProjectReport, page: Page = PLAIN) -> str:
    """The page; as long as a comment may be."""
    head = f"### {code(found.folder)}{colon()}{prose(sentences.counted(found))}\n\n"
    rest = unchecked(found)
    return head + _table(found, LIMIT - size(head) - size(rest) - 400) + rest


def _table(found: ProjectReport, room: int) -> str:
    rows = [
        _row(one.name, target)
        for one in found.sources
        if one.report is not None
        for target in arranged(one.report).targets
    ]
    names = " | ".join(tell(name, COLUMN_CONTEXT) for name in COLUMNS)
    head = f"|  | {names} |\n| --- |{' --- |' * len(COLUMNS)}\n"
    shown = fitting(rows, room - size(head))
    left = len(rows) - shown
    more = f"{tell(common.and_more(left, 'row'))}\n\n" if left else ""
    return f"{head}{''.join(rows[:shown])}\n{more}" if rows else ""


def _row(name: str, target: TargetReport) -> str:
    first = first_in_the_way(target)
    place = first.uses[0] if first is not None and first.uses else None
    cells = [
        SIGNS[target.summary.runs],
        cell(code(name)),
        cell(code(target.target)),
        tell(worst(target).value),
        "" if first is None else cell(f"{code(first.op)} {prose(first.reason.text)}"),
        "" if place is None else cell(code(f"{place.file}:{place.line}" if place.file else
                                           place.module)),
    ]  # fmt: skip
    return f"| {' | '.join(cells)} |\n"

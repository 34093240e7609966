"""The page on upgrades: the best move, smaller ones, and each finding with what removes it."""

from opcheck.commands.upgrade.terminal import words
from opcheck.commands.upgrade.values import Blocked, Move, MoveKind, Upgrade
from opcheck.lang.speech import tell
from opcheck.views.page import PLAIN, Page
from opcheck.views.terminal import words as common
from opcheck.views.terminal.canvas import COLUMN_CONTEXT, Atom, Canvas, listed, phrase, split
from opcheck.views.terminal.findings import about
from opcheck.views.terminal.head import mark
from opcheck.views.terminal.marks import STYLES
from opcheck.views.terminal.places import first_place
from opcheck.views.terminal.rest import write_heading
from opcheck.views.terminal.units import percent, plural

FINDINGS = 20
"""How many are listed unless all are asked for."""


def render(found: Upgrade, page: Page = PLAIN) -> str:
    """The whole answer as text."""
    canvas = Canvas(page)
    _write_head(canvas, found)
    if found.blocked:
        _write_moves(canvas, found)
        _write_blocked(canvas, found)
    _write_footer(canvas, found)
    return canvas.text()


def _write_head(canvas: Canvas, found: Upgrade) -> None:
    sign = mark(found.runs, canvas.marks)
    verdict = phrase(
        common.VERDICT_OF_PLAN,
        model=[(found.model.source, "bold")],
        target=[(str(found.target), "bold")],
        said=split(words.verdict(found.runs, len(found.blocked)), sign[1]),
    )
    canvas.flow([sign, *verdict])
    if not found.blocked:
        canvas.flow(split(words.NOTHING_BLOCKS), 2)
    if found.trace.gaps:
        canvas.flow(split(common.gaps(len(found.trace.gaps)).replace(" (below)", ""), "magenta"), 2)


def _write_moves(canvas: Canvas, found: Upgrade) -> None:
    best = found.best
    if best is None:
        canvas.blank()
        canvas.flow(split(f"{words.tried(found.tried)}: {words.NOWHERE}"), 2)
        return
    write_heading(canvas, words.BEST, "", "")
    canvas.flow([(str(best.target), "bold green"), *split(f"({words.KINDS[best.kind]})")], 2)
    canvas.flow(split(words.removes(len(best.removes), len(found.blocked))), 4)
    left = [blocked.finding for blocked in found.blocked if blocked.finding.id not in best.removes]
    if left:
        ops = dict.fromkeys(finding.op for finding in left)
        canvas.flow([*split(words.left(len(left))), *listed(ops)], 4)
    if best.brings:
        canvas.flow([*split(words.BREAKS, "red"), *listed(best.brings)], 4)
    canvas.flow(split(words.then(best.runs, best.support_rate)), 4)
    if found.moves[:-1]:
        write_heading(canvas, words.SMALLER, "", "")
        header: list[Atom] = [(tell(name, COLUMN_CONTEXT), "dim") for name in words.MOVE_COLUMNS]
        canvas.table([header, *(_row(canvas, move) for move in found.moves[:-1])], left=(0, 1))


def _row(canvas: Canvas, move: Move) -> list[Atom]:
    rate = canvas.marks.dash if move.support_rate is None else percent(move.support_rate)
    return [
        (tell(move.kind.value), ""),
        (str(move.target), "bold"),
        (f"{len(move.removes):,}", ""),
        (f"{len(move.brings):,}", "red" if move.brings else "dim"),
        (tell(words.cell(move.runs)), mark(move.runs, canvas.marks)[1]),
        (rate, ""),
    ]


def _write_blocked(canvas: Canvas, found: Upgrade) -> None:
    write_heading(canvas, words.BLOCKED, "", "")
    shown = found.blocked if canvas.page.verbose else found.blocked[:FINDINGS]
    for blocked in shown:
        canvas.blank()
        _write_finding(canvas, blocked)
    if len(found.blocked) > len(shown):
        canvas.blank()
        canvas.flow(split(common.more(len(found.blocked) - len(shown), "finding"), "dim"), 2)


def _write_finding(canvas: Canvas, blocked: Blocked) -> None:
    finding = blocked.finding
    style = STYLES[finding.verdict]
    canvas.flow([(finding.op, f"bold {style}"), *about(canvas, finding)], 2)
    canvas.field(common.WHERE, first_place(finding.uses), 4)
    canvas.field(common.WHY, split(finding.reason.text), 4)
    if not blocked.gone:
        canvas.field("", split(words.STUCK, "red"), 4)
    for kind in MoveKind:
        if kind in blocked.gone:
            canvas.field(words.LABELS[kind], [(str(blocked.gone[kind]), "green")], 4)


def _write_footer(canvas: Canvas, found: Upgrade) -> None:
    dot, trace = canvas.marks.dot, found.trace
    tried = f"{words.tried(found.tried)} {dot} " if found.tried else ""
    said = (
        f"{tried}{trace.mode} {dot} {plural(trace.calls, 'call')} "
        f"{dot} traced as {trace.device_type} with torch {found.torch_version}"
    )
    canvas.blank()
    canvas.flow(split(said, "dim"))
    canvas.flow(split(f"opcheck {found.opcheck_version}", "dim"))

"""The page on upgrades: the best move, smaller ones, and each finding with what removes it."""

from opcheck.commands.upgrade.values import Blocked, Move, MoveKind, Upgrade
from opcheck.lang.sentence import Sentence, chained, in_brackets, verbatim
from opcheck.lang.speech import tell
from opcheck.views.formats import PLAIN, Page
from opcheck.views.terminal import words as common
from opcheck.views.terminal.canvas import COLUMN_CONTEXT, Atom, Canvas, listed, phrase, split
from opcheck.views.terminal.findings import about, first_place
from opcheck.views.terminal.head import mark
from opcheck.views.terminal.notation import STYLES, percent, plural
from opcheck.views.terminal.sections import write_heading
from opcheck.views.terminal.words import RUNS, RUNS_CELL

NOTHING_BLOCKS = "every operator runs natively, so there is nothing to move for"
BREAKS = "breaks what works today:"
NOWHERE = "none of them gains anything"
BEST = ("Best move", "the smallest of those that gain most")
SMALLER = ("Smaller moves", "each gains less")
BLOCKED = ("In the way", "the first target of each kind without it")
STUCK = "no release, torch version or chip of this vendor removes it"
MOVE_COLUMNS = ("move", "to", "removes", "breaks", "runs", "share")

KINDS = {
    MoveKind.TORCH: "another torch version of the same release",
    MoveKind.RELEASE: "a newer release",
    MoveKind.CHIP: "another chip",
}
LABELS = {MoveKind.TORCH: "torch", MoveKind.RELEASE: "release", MoveKind.CHIP: "chip"}


def verdict_sentence(runs: bool | None, findings: int) -> Sentence:
    """How the target fares today."""
    return Sentence(f"{RUNS[runs]}, {{said}} in the way", said=plural(findings, "finding"))


def tried_sentence(count: int) -> Sentence:
    """How many other targets were looked at."""
    return Sentence("{said} of the vendor looked at", said=plural(count, "other target"))


def removes(removed: int, of: int) -> Sentence:
    """How many findings a move removes."""
    return Sentence("removes {count} of {said}", count=f"{removed:,}", said=plural(of, "finding"))


def after_move(runs: bool | None, rate: float | None) -> Sentence:
    """How the model fares after the move."""
    there = {True: "it runs there", False: "it still will not run there", None: "cannot tell there"}
    share = []
    if rate is not None:
        share.append(Sentence("{percent} of its operators run natively", percent=percent(rate)))
    return chained([Sentence(there[runs]), *share], ", ")


def runs_cell(runs: bool | None) -> str:
    """Whether it runs, in a table."""
    return RUNS_CELL[runs]


def left_sentence(count: int) -> Sentence:
    """What the best move leaves."""
    return Sentence("leaves {said}:", said=plural(count, "finding"))


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
        said=split(verdict_sentence(found.runs, len(found.blocked)), sign[1]),
    )
    canvas.flow([sign, *verdict])
    if not found.blocked:
        canvas.flow(split(NOTHING_BLOCKS), 2)
    if found.trace.gaps:
        canvas.flow(split(common.gaps(len(found.trace.gaps), below=False), "magenta"), 2)


def _write_moves(canvas: Canvas, found: Upgrade) -> None:
    best = found.best
    if best is None:
        canvas.blank()
        nowhere = Sentence("{said}: {said_b}", said=tried_sentence(found.tried), said_b=NOWHERE)
        canvas.flow(split(nowhere), 2)
        return
    write_heading(canvas, BEST, "", "")
    canvas.flow([(str(best.target), "bold green"), *split(in_brackets(KINDS[best.kind]))], 2)
    canvas.flow(split(removes(len(best.removes), len(found.blocked))), 4)
    left = [blocked.finding for blocked in found.blocked if blocked.finding.id not in best.removes]
    if left:
        ops = dict.fromkeys(finding.op for finding in left)
        canvas.flow([*split(left_sentence(len(left))), *listed(ops)], 4)
    if best.brings:
        canvas.flow([*split(BREAKS, "red"), *listed(best.brings)], 4)
    canvas.flow(split(after_move(best.runs, best.support_rate)), 4)
    if found.moves[:-1]:
        write_heading(canvas, SMALLER, "", "")
        header: list[Atom] = [(tell(name, COLUMN_CONTEXT), "dim") for name in MOVE_COLUMNS]
        canvas.table([header, *(_row(canvas, move) for move in found.moves[:-1])], left=(0, 1))


def _row(canvas: Canvas, move: Move) -> list[Atom]:
    rate = canvas.marks.dash if move.support_rate is None else percent(move.support_rate)
    return [
        (tell(move.kind.value), ""),
        (str(move.target), "bold"),
        (f"{len(move.removes):,}", ""),
        (f"{len(move.brings):,}", "red" if move.brings else "dim"),
        (tell(runs_cell(move.runs)), mark(move.runs, canvas.marks)[1]),
        (rate, ""),
    ]


def _write_blocked(canvas: Canvas, found: Upgrade) -> None:
    write_heading(canvas, BLOCKED, "", "")
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
        canvas.field("", split(STUCK, "red"), 4)
    for kind in MoveKind:
        if kind in blocked.gone:
            canvas.field(LABELS[kind], [(str(blocked.gone[kind]), "green")], 4)


def _write_footer(canvas: Canvas, found: Upgrade) -> None:
    dot, trace = canvas.marks.dot, found.trace
    said = [
        *([tried_sentence(found.tried)] if found.tried else []),
        trace.mode,
        plural(trace.calls, "call"),
        common.traced(trace.device_type, found.torch_version),
    ]
    canvas.blank()
    canvas.flow(split(chained(said, f" {dot} "), "dim"))
    canvas.flow(split(verbatim(f"opcheck {found.opcheck_version}"), "dim"))

"""The page: what is here, what does not go together, and the set that would."""

from collections.abc import Sequence

from opcheck.commands.doctor.values import (
    Doctor,
    DoctorFinding,
    DoctorTarget,
    Part,
    Setup,
    Severity,
)
from opcheck.lang.sentence import Sentence, chained, verbatim
from opcheck.views.formats import PLAIN, Page
from opcheck.views.terminal import words as common
from opcheck.views.terminal.canvas import Atom, Canvas, listed, split
from opcheck.views.terminal.notation import plural, source
from opcheck.views.terminal.sections import write_heading

HERE = ("Here", "what was found on this machine")
WHATEVER = ("Packages", "whatever the device")
SETUP = ("What goes together", "as the sources pair it")
COMMANDS = ("To set it up", "in this order")
SETTINGS = ("Environment", "in every shell that uses it")
UNKNOWN = ("Not known", "no source says")
MEND, BECAUSE, IMAGE, PYTHON, SYSTEM = "mend", "why", "image", "python", "system"
NO_SETUP = "no source pairs anything for it"
NOTHING = "no accelerator's software was found; name a target with -t to plan for one"
FINE = "nothing here is known not to go together"
WROTE = "wrote"


def verdict(target: DoctorTarget) -> Sentence:
    """How a target fares."""
    if target.planned:
        return Sentence("nothing of it is on this machine; planned")
    counts = {
        severity: sum(finding.severity is severity for finding in target.findings)
        for severity in Severity
    }
    if not target.findings:
        return Sentence("what is here goes together")
    parts = [
        plural(counts[Severity.ERROR], "error"),
        plural(counts[Severity.WARNING], "warning"),
        Sentence("{count} unknown", count=f"{counts[Severity.UNKNOWN]:,}"),
    ]
    found = zip(parts, (Severity.ERROR, Severity.WARNING, Severity.UNKNOWN), strict=True)
    return chained([part for part, severity in found if counts[severity]], ", ")


STYLES = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.UNKNOWN: "magenta"}


def render(found: Doctor, page: Page = PLAIN) -> str:
    """The whole answer as text."""
    canvas = Canvas(page)
    if found.parts:
        canvas.flow(
            [
                *split(HERE[0], "bold"),
                (canvas.marks.dot, "dim"),
                *split(HERE[1], "dim"),
            ]
        )
        _write_parts(canvas, found.parts)
        _write_general(canvas, found)
    for i, target in enumerate(found.targets):
        if i or found.parts:
            canvas.blank()
        _write_target(canvas, target)
    if found.written:
        canvas.blank()
        canvas.flow([*split(WROTE), *listed(found.written, "bold")])
    canvas.blank()
    canvas.flow(split(verbatim(f"opcheck {found.opcheck_version}"), "dim"))
    return canvas.text()


def _write_parts(canvas: Canvas, parts: Sequence[Part]) -> None:
    width = max(len(part.name) for part in parts)
    for part in parts:
        version: list[Atom] = [(part.version, "bold")] if part.version else []
        lead = [("  ", ""), (part.name.ljust(width), ""), ("  ", "")]
        canvas.flow([*version, *split(part.note, "dim")], width + 4, lead)


def _write_general(canvas: Canvas, found: Doctor) -> None:
    if found.findings:
        write_heading(canvas, WHATEVER, "", "red")
        _write_findings(canvas, found.findings)
    elif not found.targets:
        canvas.blank()
        canvas.flow([(canvas.marks.good, "green"), *split(FINE)])
    if not found.targets:
        canvas.blank()
        canvas.flow(split(NOTHING))


def _write_target(canvas: Canvas, target: DoctorTarget) -> None:
    marks = canvas.marks
    sign = (marks.good, "green") if target.passed else (marks.bad, "red")
    if target.planned:
        sign = (marks.arrow, "cyan")
    about = [(f"{target.name}:", "bold"), *split(verdict(target), sign[1])]
    canvas.flow([sign, *about])
    if target.findings:
        _write_findings(canvas, target.findings)
    if target.setup is None or not target.setup.components:
        canvas.flow(split(NO_SETUP), 2)
    elif target.planned or target.findings or canvas.page.verbose:
        _write_setup(canvas, target.setup)


def _write_findings(canvas: Canvas, findings: Sequence[DoctorFinding]) -> None:
    for finding in findings:
        style = STYLES[finding.severity]
        about = [(finding.code, "bold"), (canvas.marks.dot, "dim"), *split(finding.subject)]
        canvas.flow([*split(finding.severity.value, style), *about], 2)
        canvas.field(BECAUSE, split(finding.text), 4)
        for i, command in enumerate(finding.mends):
            canvas.field("" if i else MEND, [(command, "green")], 4)
        if finding.evidence:
            shown = finding.evidence if canvas.page.verbose else finding.evidence[:1]
            seen = [verbatim(source(fact, canvas.page.verbose)) for fact in shown]
            canvas.field(common.EVIDENCE, [atom for text in seen for atom in split(text, "dim")], 4)


def _write_setup(canvas: Canvas, setup: Setup) -> None:
    write_heading(canvas, SETUP, "", "")
    rows: list[list[Atom]] = []
    for part in setup.components:
        cited = source(part.evidence[0], canvas.page.verbose) if part.evidence else ""
        rows.append([(part.name, ""), (part.version, "bold"), (cited, "dim")])
    if canvas.has_room(rows, 2):
        canvas.table(rows, 2, left=(0, 1, 2))
    else:
        width = max(len(name) for (name, _), *_ in rows)
        for (name, _), version, cited_atom in rows:
            lead = [("  ", ""), (name.ljust(width), ""), ("  ", "")]
            canvas.flow([version, *split(*cited_atom)], width + 4, lead)
    canvas.field(PYTHON, listed(setup.pythons) if setup.pythons else split("?"), 2)
    canvas.field(SYSTEM, listed(setup.systems), 2)
    if setup.image:
        canvas.field(IMAGE, [(setup.image, "")], 2)
    if setup.by_hand or setup.commands:
        write_heading(canvas, COMMANDS, "", "")
        _write_steps(canvas, [split(text) for text in setup.by_hand])
        _write_steps(canvas, [[(command, "green")] for command in setup.commands])
    if setup.settings:
        write_heading(canvas, SETTINGS, "", "")
        _write_steps(canvas, [[(command, "green")] for command in setup.settings])
    if setup.unknown:
        write_heading(canvas, UNKNOWN, "", "magenta")
        _write_steps(canvas, [split(text) for text in setup.unknown])


def _write_steps(canvas: Canvas, steps: Sequence[Sequence[Atom]]) -> None:
    """One a line; a command is never broken, so that it can be copied."""
    for step in steps:
        canvas.flow(step, 4, [("  ", ""), (canvas.marks.dot, "dim"), (" ", "")])

"""What is known about one target, counted."""

from opcheck.commands.db.terminal import words
from opcheck.lang.speech import tell
from opcheck.model.database import Contents, SourceFile
from opcheck.model.verdict import Evidence
from opcheck.views.terminal.canvas import Atom, Canvas, listed, split
from opcheck.views.terminal.marks import STYLES
from opcheck.views.terminal.rest import write_heading
from opcheck.views.terminal.units import plural, source
from opcheck.views.terminal.words import more

SOURCES, NAMES = 8, 24
"""How many are named unless all are asked for."""


def write_contents(canvas: Canvas, found: Contents) -> None:
    """The facts of a target, its conditions by code, its advisories and its sources."""
    canvas.flow([(str(found.target), "bold"), *split(f"({found.device_name})")])
    count = sum(found.entries.values())
    kernels = f"{count:,} under {found.dispatch_key}, {words.methods(found.entries)}"
    canvas.field(words.DATA, split(f"{found.date}, digest {found.digest}"), 2)
    canvas.field(words.KERNELS, split(kernels if count else "none"), 2)
    if found.gradients:
        canvas.field(words.GRADIENTS, split(f"{found.gradients:,} of its own"), 2)
    canvas.field(words.OTHERWISE, split(words.otherwise(found.fallback)), 2)
    canvas.field("", split(f'"{found.fallback.text}"', "dim"), 2)
    for fact in found.fallback.evidence[:1]:
        _write_source(canvas, fact)
    if found.fallback.disable:
        canvas.field(words.OFF_WITH, split(found.fallback.disable), 2)
    _write_conditions(canvas, found)
    if found.advisories:
        write_heading(canvas, ("Advisories", "holds for the whole target"), "", "")
        for advisory in found.advisories:
            text = advisory.text.replace("{chip}", found.target.chip)
            canvas.flow([(f"{advisory.code}:", "yellow"), *split(text)], 2)
    _write_sources(canvas, found.sources)
    if canvas.page.verbose:
        write_heading(canvas, words.OPERATORS, plural(count, "overload"), "")
        canvas.flow(listed(found.operators), 2)


def _write_conditions(canvas: Canvas, found: Contents) -> None:
    if not found.conditions:
        return
    write_heading(canvas, words.CONDITIONS, plural(len(found.conditions), "code"), "")
    rows: list[list[Atom]] = [
        [
            (group.code, STYLES[group.verdict]),
            (tell(words.CAUTION if group.verdict.on_device else group.verdict.value), ""),
            (tell(plural(group.overloads, "overload")), ""),
        ]
        for group in found.conditions
    ]
    canvas.table(rows, 2, left=(0, 1))


def _write_sources(canvas: Canvas, sources: tuple[SourceFile, ...]) -> None:
    write_heading(canvas, words.SOURCES, plural(len(sources), "file"), "")
    shown = sources if canvas.page.verbose else sources[:SOURCES]
    for file in shown:
        canvas.flow(split(_file(file, canvas.page.verbose), "dim"), 2)
    if len(sources) > len(shown):
        canvas.flow(split(more(len(sources) - len(shown), "source"), "dim"), 2)


def _file(file: SourceFile, verbose: bool) -> str:
    commit = file.commit if verbose else file.commit[:7]
    version = commit or (file.ref if file.ref != file.path else "")
    at = f"@{version}" if version else ""
    date = f" ({file.date})" if file.date else ""
    origin = f", {file.origin}" if file.origin else ""
    return f"{file.repo}{at} {file.path}{date}{origin}"


def _write_source(canvas: Canvas, fact: Evidence) -> None:
    seen = source(fact, canvas.page.verbose)
    canvas.field("", [*split(f"{fact.method.value}:", "dim"), *split(seen, "dim")], 2)

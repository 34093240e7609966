"""What formats for other programs share: problems and their places, tables, workflow commands."""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping

from opcheck.lang.catalogue import joined
from opcheck.lang.sentence import Sentence, changed, with_sign
from opcheck.lang.speech import tell
from opcheck.model.report import Finding, Place, Report, TargetReport
from opcheck.model.text import printable
from opcheck.model.verdict import Verdict

_HOW = {
    Verdict.NATIVE: "runs on",
    Verdict.DECOMPOSED: "runs as other operators on",
    Verdict.FALLBACK: "runs on the host, not on",
    Verdict.UNKNOWN: "is not known to run on",
    Verdict.UNSUPPORTED: "does not run on",
}
_NOT_CONVERTED = "is not converted by"


def problems(report: Report) -> Iterator[tuple[TargetReport, Finding]]:
    """Every finding that is neither native nor decomposed, with its target, in their order."""
    for target in report.targets:
        for finding in target.findings:
            if not finding.verdict.on_device:
                yield target, finding


def claim(finding: Finding, compiler: bool) -> str:
    """The verdict as a clause: ``aten::cat does not run on``; the target's name follows.

    ``compiler``: of a graph compiler, which leaves an operator to PyTorch on the same device.
    """
    left = compiler and finding.verdict is Verdict.FALLBACK
    how = _NOT_CONVERTED if left else _HOW[finding.verdict]
    return one_line(tell(Sentence(f"{{operator}} {how}", operator=finding.op)))


def sentence(target: TargetReport, finding: Finding) -> str:
    """Verdict, overload, target, why, how often, and the first suggestion that is known."""
    told = f"{claim(finding, bool(target.elsewhere))} {target.target}"
    return one_line(joined([f"{told}: {reasoned(finding)}", what_of_it(finding)]))


def reasoned(finding: Finding) -> str:
    """Why, as a sentence."""
    return tell(ended(finding.reason.text))


def what_of_it(finding: Finding) -> str:
    """How often it matters, and the first suggestion that is known."""
    said = [_often(finding)]
    said += [
        Sentence("Instead ({said}): {said_what}", said=way.label, said_what=ended(way.summary))
        for way in finding.suggestions[:1]
    ]
    return one_line(joined([tell(text) for text in said]))


def _often(finding: Finding) -> Sentence:
    """How many calls there are, of which phase, and in which module where it has one."""
    calls = "{count} call" if finding.count == 1 else "{count} calls"
    modules = [use.module for use in (*places(finding)[:1], *finding.uses) if use.module]
    most = ", most in {text}" if modules else ""
    return Sentence(
        f"{calls} in {{said_phase}}{most}.",
        count=f"{finding.count:,}",
        said_phase=finding.phase.value,
        text="".join(modules[:1]),
    )


def places(finding: Finding) -> tuple[Place, ...]:
    """Lines of code where the operator is called, each once, the most called first."""
    counts: dict[tuple[str, int], int] = {}
    most: dict[tuple[str, int], Place] = {}
    for use in finding.uses:
        if use.file:
            key = (use.file, use.line)
            counts[key] = counts.get(key, 0) + use.count
            most[key] = max(most.get(key, use), use, key=lambda place: place.count)
    return tuple(most[key] for key in sorted(most, key=lambda key: -counts[key]))


def on_disk(file: str, line: int) -> tuple[str, int]:
    """A file that is there and a line of it: of a cell, the notebook, whose lines are not its."""
    notebook, sep, _ = file.partition(".ipynb#")
    return (f"{notebook}.ipynb", 1) if sep else (file, max(line, 1))


def where(report: Report, finding: Finding) -> tuple[str, int]:
    """A file and a line to show it at: that of its first place, else the model itself."""
    for place in places(finding):
        return on_disk(place.file, place.line)
    return model_file(report), 1


def model_file(report: Report) -> str:
    """The file that the model was read from, as far as its source names one."""
    source = report.model.source
    path, separator, _ = source.rpartition(":")
    return (path if separator and path.endswith(".py") else source) or "model"


def one_line(text: str) -> str:
    """The text without line breaks, and with whatever a reader cannot see spelled out."""
    return printable(" ".join(text.split("\n")), kept="")


def ended(text: str) -> str:
    """A sentence with the full stop that others begin after."""
    text = changed(text, str.strip)
    ends = text.endswith((".", "!", "?", "。", "）")) or not text
    return text if ends else with_sign(text, ".")


_FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""What begins a formula, as ASCII and in the full width that spreadsheets take for it."""


def as_csv(columns: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """Rows below one header row; what a spreadsheet would compute is led by an apostrophe."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow(map(_cell, row))
    return text.getvalue()


def _cell(value: object) -> object:
    """Numbers as they are; text on one line, and never a formula."""
    if isinstance(value, int):
        return value
    text = one_line(str(value))
    return f"'{text}" if text.lstrip(" '\"").startswith(_FORMULA) else text


def command(name: str, properties: Mapping[str, str], message: str) -> str:
    """One line: ``::error file=net.py,line=3,title=…::message``."""
    told = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
    return f"::{name} {told}::{_data(message)}"


def _data(text: str) -> str:
    """As the runner's own toolkit escapes a message; it would read a line break as the end."""
    text = printable(text, kept="\r\n")
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")

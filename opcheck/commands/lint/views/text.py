"""The page: each target, or targets that fare alike, with what is written and what to write."""

from collections.abc import Sequence

from opcheck.lang.sentence import Sentence, chained, in_brackets, verbatim, with_sign
from opcheck.model.porting import Lint, LintFinding, LintTarget
from opcheck.model.verdict import Verdict
from opcheck.views.formats import PLAIN, Page
from opcheck.views.terminal import words as common
from opcheck.views.terminal.canvas import PLACE, Atom, Canvas, listed, split
from opcheck.views.terminal.notation import STYLES, plural, source
from opcheck.views.terminal.sections import write_heading

INSTEAD, TIER_2 = "instead", "tier 2"

NOT_READ = ("Not read", "what is in them is not known")
CHANGED, WOULD_CHANGE = "changed {said}", "would change {said}"
NOTHING_FOUND = "nothing in these sources is for CUDA alone"
HEADINGS = {
    Verdict.UNSUPPORTED: ("Unsupported", "known not to run"),
    Verdict.UNKNOWN: ("Unknown", "nobody has said"),
    Verdict.FALLBACK: ("Fallback", "the program goes on on the host"),
}
NATIVE = ("Native", "the target answers to it")
CAUTIONS = ("Cautions", "runs, with a catch")


def read_sentence(files: int, skipped: int, ignored: int) -> Sentence:
    """How much was read."""
    parts = [Sentence("{said} read", said=plural(files, "file"))]
    if skipped:
        parts.append(Sentence("{count} not read", count=f"{skipped:,}"))
    if ignored:
        parts.append(Sentence("{said} silenced by a comment", said=plural(ignored, "place")))
    return chained(parts, ", ")


def verdict_sentence(places: int, cautions: int) -> Sentence:
    """How a target fares."""
    parts = [Sentence("nothing to change")]
    if places:
        parts = [Sentence("{said} to change", said=plural(places, "place"))]
    if cautions:
        parts.append(plural(cautions, "caution"))
    return chained(parts, ", ")


def native_sentence(count: int) -> Sentence:
    """How many places need no reader."""
    return chained([plural(count, "place"), common.LISTS_ALL], "; ")


PLACES = 6
"""How many of one finding are listed unless all are asked for."""


def render(found: Lint, page: Page = PLAIN) -> str:
    """The whole answer as text."""
    canvas = Canvas(page)
    said = read_sentence(found.files, len(found.skipped), found.ignored)
    canvas.flow([(f"{found.path}:", "bold"), *split(said)])
    for alike in _alike(found.targets):
        canvas.blank()
        _write_target(canvas, alike)
    if found.skipped:
        write_heading(canvas, NOT_READ, "", "magenta")
        for skipped in found.skipped:
            canvas.flow([(f"{skipped.file}:", "bold"), *split(skipped.reason)], 2)
    if found.changed:
        canvas.blank()
        did = CHANGED if found.written else WOULD_CHANGE
        files = with_sign(Sentence(did, said=plural(len(found.changed), "file")), ":")
        canvas.flow([*split(files), *listed(found.changed)])
    canvas.blank()
    canvas.flow(split(verbatim(f"opcheck {found.opcheck_version}"), "dim"))
    return canvas.text()


def _alike(targets: Sequence[LintTarget]) -> list[list[LintTarget]]:
    """Targets with the same findings together, in the order asked."""
    groups: list[list[LintTarget]] = []
    for target in targets:
        for group in groups:
            if group[0].findings == target.findings and group[0].answers == target.answers:
                group.append(target)
                break
        else:
            groups.append([target])
    return groups


def _write_target(canvas: Canvas, alike: Sequence[LintTarget]) -> None:
    first = alike[0]
    quiet = sum(finding.quiet for finding in first.findings)
    places = len(first.findings) - quiet - first.cautions
    sign = (canvas.marks.bad, "red") if places else (canvas.marks.good, "green")
    names = listed((str(one.target) for one in alike), "bold", end=":")
    canvas.flow([sign, *names, *split(verdict_sentence(places, first.cautions), sign[1])])
    if not first.findings:
        canvas.flow(split(NOTHING_FOUND), 2)
    if first.answers and quiet:
        canvas.flow(split(first.answers), 2)
    for transfer in first.transfers:
        canvas.field(TIER_2, split(transfer.write, "green"), 2)
        canvas.field("", split(transfer.text), 2)
    for verdict in (Verdict.UNSUPPORTED, Verdict.UNKNOWN, Verdict.FALLBACK):
        here = [f for f in first.findings if f.verdict is verdict and not f.caution]
        _write_findings(canvas, here, HEADINGS[verdict], STYLES[verdict])
    cautions = [finding for finding in first.findings if finding.caution]
    _write_findings(canvas, cautions, CAUTIONS, "yellow")
    native = [finding for finding in first.findings if finding.quiet]
    if canvas.page.verbose:
        _write_findings(canvas, native, NATIVE, STYLES[Verdict.NATIVE])
    elif native:
        write_heading(canvas, NATIVE, "", STYLES[Verdict.NATIVE])
        canvas.flow(split(native_sentence(len(native))), 2)


def _write_findings(
    canvas: Canvas, findings: Sequence[LintFinding], heading: tuple[str, str], style: str
) -> None:
    if not findings:
        return
    write_heading(canvas, heading, f"{len(findings):,}", style)
    together: dict[tuple[object, ...], list[LintFinding]] = {}
    for finding in findings:
        key = (finding.code, finding.written, finding.text, finding.replacement, finding.fixable)
        together.setdefault(key, []).append(finding)
    for group in sorted(together.values(), key=lambda group: (group[0].code, -len(group))):
        _write_group(canvas, group)


def _write_group(canvas: Canvas, group: Sequence[LintFinding]) -> None:
    """One thing that is written, with every place."""
    one = group[0]
    canvas.flow([(one.code, "bold"), (canvas.marks.dot, "dim"), *_words(one.written)], 2)
    canvas.field(common.WHERE, _places(group, canvas.page.verbose), 4)
    canvas.field(common.WHY, split(one.text), 4)
    if one.replacement:
        fixed: list[Atom] = split(in_brackets("--fix"), "dim") if one.fixable else []
        canvas.field(INSTEAD, [*split(one.replacement, "green"), *fixed], 4)
    if one.evidence:
        shown = one.evidence if canvas.page.verbose else one.evidence[:1]
        seen = [verbatim(source(fact, canvas.page.verbose)) for fact in shown]
        cited = [atom for text in seen for atom in split(text, "dim")]
        canvas.field(common.EVIDENCE, cited, 4)


def _words(written: str) -> list[Atom]:
    return split(written) or [(repr(written), "")]


def _places(group: Sequence[LintFinding], verbose: bool) -> list[Atom]:
    """``file:line:column``, the first few unless all are asked for."""
    places = [f"{one.file}:{one.span.line}:{one.span.column}" for one in group]
    shown = places if verbose else places[:PLACES]
    left = len(places) - len(shown)
    atoms = listed(shown, f"bold {PLACE}")
    return [*atoms, *split(common.more(left, "place"), "dim")] if left else atoms

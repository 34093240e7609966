"""What follows the findings: good news, gaps, advisories, kernels, sizes, and what it rests on."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from opcheck.lang.sentence import chained, verbatim, with_sign
from opcheck.lang.speech import tell
from opcheck.model.dynamic import Site, SiteKind, SiteTaken, Taking
from opcheck.model.report import KernelCount, Report, TargetReport
from opcheck.model.trace import Gap, Phase
from opcheck.model.verdict import Verdict
from opcheck.views.targets import any_chip, of_chips, short_names
from opcheck.views.terminal import words
from opcheck.views.terminal.canvas import PLACE, Atom, Canvas, listed, split
from opcheck.views.terminal.compare import of_targets
from opcheck.views.terminal.model_lists import CONTRADICTS, said
from opcheck.views.terminal.model_lists import line as list_line
from opcheck.views.terminal.notation import plural

GAPS, PATTERNS = 10, 3
"""How many gaps and patterns of modules are named unless all are asked for."""


def write_fine(canvas: Canvas, targets: Sequence[TargetReport]) -> None:
    """One line for all that runs on the device; comparisons have said it in their table."""
    counts = targets[0].summary.operators
    native, decomposed = counts.get(Verdict.NATIVE, 0), counts.get(Verdict.DECOMPOSED, 0)
    if len(targets) == 1 and native + decomposed and not canvas.page.verbose:
        canvas.blank()
        canvas.flow(
            [
                (canvas.marks.good, "green"),
                *split(words.fine(native, decomposed, targets[0].elsewhere)),
            ]
        )


def write_unseen(canvas: Canvas, report: Report) -> None:
    """Gaps of the trace, and modules that it never entered."""
    if report.trace.gaps:
        write_gaps(canvas, report.trace.gaps)
    if report.trace.modules_not_called:
        _write_not_called(canvas, report.trace.modules_not_called)


def write_gaps(canvas: Canvas, gaps: Sequence[Gap]) -> None:
    """What could not be seen, the first of it unless all is asked for."""
    write_heading(canvas, words.GAPS, plural(len(gaps), "gap"), "magenta")
    shown = gaps if canvas.page.verbose else gaps[:GAPS]
    for gap in shown:
        where = f"{gap.where}:" if gap.where else tell(with_sign(words.ROOT, ":"))
        canvas.flow([(where, "bold"), *split(gap.reason)], 2)
    if len(gaps) > len(shown):
        canvas.flow(split(words.more(len(gaps) - len(shown), "gap"), "dim"), 2)


def _write_not_called(canvas: Canvas, modules: Sequence[str]) -> None:
    """A line is enough: fused attention alone leaves a Dropout in every layer."""
    if canvas.page.verbose:
        write_heading(canvas, words.NOT_CALLED, plural(len(modules), "module"), "")
        canvas.flow(listed(modules), 2)
        return
    patterns = module_patterns(modules)
    more = words.more(len(patterns) - PATTERNS, "pattern") if len(patterns) > PATTERNS else ""
    about = split(with_sign(plural(len(modules), "module"), ":"), "dim")
    canvas.blank()
    canvas.flow(
        [
            *_title(canvas, words.NOT_CALLED[0], ""),
            *about,
            *listed(patterns[:PATTERNS]),
            *split(more, "dim"),
        ]
    )


def write_advisories(canvas: Canvas, targets: Sequence[TargetReport]) -> None:
    """What holds for a whole target, said once for all that share it."""
    said: dict[str, list[TargetReport]] = {}
    for target in targets:
        for text in dict.fromkeys(advisory.text for advisory in target.advisories):
            said.setdefault(any_chip(text, target), []).append(target)
    if said:
        write_heading(canvas, words.ADVISORIES, "", "yellow")
    for text, whom in sorted(said.items(), key=lambda told: -len(told[1])):
        about = of_targets(whom, targets, "bold") if len(targets) > 1 else []
        canvas.flow([*about, *split(of_chips(text, whom))], 2)


def write_listed(canvas: Canvas, targets: Sequence[TargetReport]) -> None:
    """What lists of models say, where several targets are compared; said once for all alike."""
    alike: dict[tuple[str, bool], list[TargetReport]] = {}
    for target in targets:
        if target.model is not None:
            key = (said(target.model.listed[0]), target.model.contradicts)
            alike.setdefault(key, []).append(target)
    if len(targets) < 2 or not alike:
        return
    write_heading(canvas, words.LISTS, "", "")
    for (_, opposed), whom in alike.items():
        about = list_line(whom[0].model) if whom[0].model else []
        canvas.flow([*of_targets(whom, targets, "bold"), *about], 2)
        if opposed:
            canvas.flow(split(CONTRADICTS, "bold yellow"), 4)


def write_kernels(canvas: Canvas, targets: Sequence[TargetReport]) -> None:
    """What each target itself is asked to run, where that is known."""
    known = [target for target in targets if target.kernels is not None]
    if known:
        write_heading(canvas, words.KERNELS, "", "")
    names = short_names(targets)
    for target in known:
        about: list[Atom] = [(f"{names[target.target]}:", "bold")] if len(targets) > 1 else []
        write_kernel_counts(canvas, target.kernels or (), about)


def write_kernel_counts(
    canvas: Canvas,
    kernels: Sequence[KernelCount],
    about: Sequence[Atom] = (),
    others: str = words.MISSING,
) -> None:
    """How many, and which ``others`` did not run on the device; all of them when asked for."""
    overloads = len({kernel.op for kernel in kernels})
    calls = plural(sum(kernel.count for kernel in kernels), "call")
    atoms = [*about, *split(chained([plural(overloads, "overload"), calls], ", "))]
    missing = sorted({k.op for k in kernels if not k.verdict.on_device})
    if missing:
        label = tell(with_sign(others, ":"))
        atoms += [(f"{canvas.marks.dot} {label}", "red"), *listed(missing)]
    canvas.flow(atoms, 2)
    if canvas.page.verbose and kernels:
        phased = any(kernel.phase is not Phase.FORWARD for kernel in kernels)
        canvas.table([_kernel_row(kernel, phased) for kernel in kernels], indent=4, left=(0, 3))


def write_footer(canvas: Canvas, report: Report) -> None:
    """Which model, trace, database and versions the answer rests on."""
    trace, dot = report.trace, canvas.marks.dot
    canvas.blank()
    for note in trace.notes:
        canvas.flow(split(note, "dim"))
    recorded = [
        report.model.kind,
        trace.mode,
        plural(trace.calls, "call"),
        words.traced(trace.device_type, report.torch_version),
    ]
    canvas.flow(split(chained(recorded, f" {dot} "), "dim"))
    dates = {target.database_date for target in report.targets if target.database_date}
    about = [verbatim(f"opcheck {report.opcheck_version}")]
    about += [words.database_of(max(dates))] if dates else []
    canvas.flow(split(chained(about, f" {dot} "), "dim"))


def module_patterns(modules: Sequence[str]) -> Sequence[str]:
    """Modules with layer numbers as ``*``, the most first: ``heads.*.conv (14)``."""
    counts = Counter(re.sub(r"(?<![^.])\d+(?![^.])", "*", module) for module in modules)
    ordered = sorted(counts.items(), key=lambda counted: (-counted[1], counted[0]))
    return [name if n == 1 else f"{name} ({n:,})" for name, n in ordered]


def write_heading(canvas: Canvas, heading: tuple[str, str], count: str, style: str) -> None:
    """A section's title, how much it holds, and what that means."""
    title, meaning = heading
    text = chained([count, meaning], ", ") if count else meaning
    canvas.blank()
    canvas.flow([*_title(canvas, title, style), *split(text, "dim")])


def _title(canvas: Canvas, title: str, style: str) -> list[Atom]:
    return [(tell(title), f"bold {style}"), (canvas.marks.dot, "dim")]


def _kernel_row(kernel: KernelCount, phased: bool) -> list[Atom]:
    phase: list[Atom] = [(tell(kernel.phase.value), "")] if phased else []
    return [(kernel.op, ""), (tell(kernel.verdict.value), ""), (f"{kernel.count:,}", ""), *phase]


def write_code(canvas: Canvas, code: str, indent: int) -> None:
    """Lines as they are; one that is too long runs over."""
    for line in code.rstrip().splitlines():
        depth = len(line) - len(line.lstrip())
        canvas.flow([(line.lstrip(), "")] if line.strip() else [], indent + depth)


SHOWN: Mapping[SiteKind, int] = {SiteKind.DYNAMIC_SIZE: 3}
"""How many places of a kind are named unless all are asked for; 10 of the others."""
STYLES = {
    Taking.FINE: "green",
    Taking.RECOMPILES: "yellow",
    Taking.NOT_ALLOWED: "red",
    Taking.UNKNOWN: "magenta",
}
_MOST = 10

Answers = tuple[tuple[str, Taking, str], ...]
"""(target, how it takes a place, why), for each target that has the place."""


def write_sizes(canvas: Canvas, targets: Sequence[TargetReport]) -> None:
    """Each kind of place with the lines of the model, and what becomes of them where."""
    blocks: dict[tuple[SiteKind, Answers], list[Site]] = {}
    for site, answers in _places(targets).items():
        blocks.setdefault((site.kind, answers), []).append(site)
    if not blocks:
        return
    count = sum(map(len, blocks.values()))
    write_heading(canvas, words.SIZES, plural(count, "place"), "yellow")
    order = list(SiteKind)
    for (kind, answers), sites in sorted(blocks.items(), key=lambda b: order.index(b[0][0])):
        _write_block(canvas, kind, sites)
        _write_answers(canvas, answers, targets)


def _places(targets: Sequence[TargetReport]) -> Mapping[Site, Answers]:
    found: dict[Site, list[tuple[str, SiteTaken]]] = {}
    for target in targets:
        for taken in target.dynamic:
            found.setdefault(taken.site, []).append((target.target, taken))
    return {
        site: tuple((name, taken.how, taken.text) for name, taken in taken_by)
        for site, taken_by in found.items()
    }


def _write_block(canvas: Canvas, kind: SiteKind, sites: Sequence[Site]) -> None:
    """The places of a kind; what is so of all of them stands in the heading."""
    few = len(sites) if canvas.page.verbose else SHOWN.get(kind, _MOST)
    alike = len(sites) > 1 and len({site.text for site in sites}) == 1
    heading = split(with_sign(words.SITES[kind], ":"), "bold")
    canvas.flow([*heading, *(split(sites[0].text) if alike else ())], 2)
    for site in sites[:few]:
        own = () if alike else ((canvas.marks.dot, "dim"), *split(site.text))
        canvas.flow([*_where(site), *own], 4)
    if len(sites) > few:
        canvas.flow(split(words.more(len(sites) - few, "place"), "dim"), 4)


def _where(site: Site) -> list[Atom]:
    atoms: list[Atom] = [(f"{site.file}:{site.line}", f"bold {PLACE}")] if site.file else []
    if site.op:
        atoms.append((site.op, ""))
    if site.module:
        atoms.append((tell(words.in_module(site.module)), "dim"))
    return atoms or split(words.ROOT)


def _write_answers(canvas: Canvas, answers: Answers, targets: Sequence[TargetReport]) -> None:
    said: dict[tuple[Taking, str], list[str]] = {}
    for name, how, why in answers:
        said.setdefault((how, why), []).append(name)
    order = list(Taking)
    for (how, why), names in sorted(said.items(), key=lambda s: -order.index(s[0][0])):
        whom = [target for target in targets if target.target in names]
        about = of_targets(whom, targets) if len(targets) > 1 else []
        label = (tell(with_sign(words.TAKING[how], ":")), STYLES[how])
        canvas.flow([(canvas.marks.arrow, "dim"), label, *about, *split(why, "dim")], 4)

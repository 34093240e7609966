"""A comment for a pull request: the verdict, a table of targets, and what breaks, folded."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from opcheck.lang.sentence import Sentence, with_sign
from opcheck.lang.speech import tell, wording
from opcheck.model.dynamic import Taking
from opcheck.model.plan import Suggestion
from opcheck.model.report import Place, Report, TargetReport
from opcheck.model.trace import Phase
from opcheck.model.verdict import Evidence, Verdict
from opcheck.views.formats import PLAIN, Page
from opcheck.views.markdown_text import (
    LIMIT,
    cell,
    code,
    colon,
    comma,
    fitting,
    markup,
    prose,
    size,
)
from opcheck.views.order import arranged
from opcheck.views.targets import any_chip, of_chips, short_names
from opcheck.views.terminal import words
from opcheck.views.terminal.canvas import COLUMN_CONTEXT, LABEL_CONTEXT
from opcheck.views.terminal.groups import Block, Row, Section, sections
from opcheck.views.terminal.model_lists import CONTRADICTS, said
from opcheck.views.terminal.notation import percent, plural, source
from opcheck.views.terminal.plan_words import STEPS

INSTEAD = "instead"
SHOWN = 3
"""Places, facts and suggestions that are named of one operator."""
ROWS = 20
"""Operators that are named of several alike."""
NAMED = 10
"""Targets that are named of one entry."""


def apart(block: Block) -> Sequence[Block]:
    """The findings one by one where each has its own suggestion, else together."""
    ways = any(group.first.suggestions for group in block.groups)
    return [Block((group,)) for group in block.groups] if ways else [block]


def entry(block: Block, names: Mapping[str, str]) -> str:
    """The verdict is the heading's; then operator, where, why, evidence and suggestion.

    ``names``: what the targets are called.
    """
    rows = block.rows
    alone = len(rows) == 1
    facts = [
        tell(words.confidence(block.first.confidence)),
        named([names[one] for one in block.targets]),
    ]
    title = (
        _operator_row(rows[0])
        if alone
        else f"**{tell(plural(len(rows), 'operator'))}**, {_calls(block)}"
    )
    lines = [f"- {title} · {' · '.join(facts)}"]
    lines += [f"  - {line}" for line in (_places(rows[0].uses) if alone else _rows(rows))]
    for (text, evidence), targets in block.said.items():
        of = f" ({named([names[one] for one in targets])})" if len(block.said) > 1 else ""
        lines.append(f"  - {tell(words.WHY, LABEL_CONTEXT)}{of}{colon()}{prose(text)}")
        lines += [
            f"  - {tell(words.EVIDENCE, LABEL_CONTEXT)}{colon()}{known}"
            for known in _known(evidence)
        ]
    lines += [f"  - {line}" for line in _instead(block.first.suggestions)]
    return "".join(f"{line}\n" for line in lines)


def named(targets: Sequence[str]) -> str:
    """Targets as code, as far as they can be read."""
    more = (
        f" {tell(words.and_more(len(targets) - NAMED, 'target'))}" if len(targets) > NAMED else ""
    )
    return ", ".join(map(code, targets[:NAMED])) + more


def _operator_row(row: Row) -> str:
    phase = "" if row.phase is Phase.FORWARD else f" · {tell(row.phase)}"
    return f"**{code(row.op)}** · {tell(plural(row.count, 'call'))}{phase}"


def _calls(block: Block) -> str:
    return tell(plural(block.count, "call"))


def _rows(rows: Sequence[Row]) -> Iterable[str]:
    for row in rows[:ROWS]:
        first = next(iter(_places(row.uses)), "")
        yield f"{_operator_row(row)}{f' · {first}' if first else ''}"
    if len(rows) > ROWS:
        yield tell(words.and_more(len(rows) - ROWS, "operator"))


def _places(uses: Iterable[Place]) -> Iterable[str]:
    """Each line and module once, the most called first."""
    counts: dict[tuple[str, int, str], int] = {}
    for use in uses:
        key = (use.file, use.line, use.module)
        counts[key] = counts.get(key, 0) + use.count
    places = sorted(counts.items(), key=lambda item: (not item[0][0], -item[1]))
    for (file, number, module), count in places[:SHOWN]:
        line = code(f"{file}:{number}") if file else ""
        module = f"{tell(words.IN)} {code(module)}" if module else "" if file else tell(words.ROOT)
        yield f"{' '.join(filter(None, (line, module)))} ({tell(plural(count, 'call'))})"
    if len(places) > SHOWN:
        yield tell(words.and_more(len(places) - SHOWN, "place"))


def _known(evidence: Sequence[Evidence]) -> Iterable[str]:
    for known in evidence[:SHOWN]:
        yield f"{tell(known.method)}{colon()}{code(source(known, verbose=False))}"
    if len(evidence) > SHOWN:
        yield tell(words.and_more(len(evidence) - SHOWN, "fact"))


def _instead(suggestions: Sequence[Suggestion]) -> Iterable[str]:
    for found in suggestions[:SHOWN]:
        name = f"{tell(INSTEAD)} ({tell(found.label)}, {code(found.rule)})"
        yield f"{name}{colon()}{prose(found.summary)}"
    if len(suggestions) > SHOWN:
        yield tell(words.and_more(len(suggestions) - SHOWN, "suggestion"))


MARK = "<!-- opcheck -->\n"
"""The first line, by which a bot finds the comment that it wrote before."""
SIGNS = {True: "✅", False: "❌", None: "❔"}
_COLUMNS = ("", "Target", "Runs", "On the device", "Unsupported", "Unknown", "Fallback")
_PART = LIMIT // 8
"""What the table of targets, and each list beside the findings, may take of it."""
_CUT = "Not shown here, for a comment has an end:"
_ALL = "`opcheck scan --format text --verbose` lists all."


def comment(report: Report) -> str:
    """The comment on an arranged report."""
    before = MARK + _headline(report) + _table(report.targets)
    targets = report.targets
    after = _plans(targets) + _gaps(report) + _lists(targets) + _advisories(targets)
    after += _sizes(targets) + _foot(report)
    return before + _findings(report, LIMIT - size(before) - size(after)) + after


def _headline(report: Report) -> str:
    model = code(report.model.source) or tell("The model")
    runs = [target.summary.runs for target in report.targets]
    match runs:
        case []:
            return f"### {model}\n\n{tell(words.NO_TARGETS)}\n\n"
        case [one]:
            name = code(report.targets[0].target)
            said = wording(words.VERDICT).format(
                said=tell(words.runs(report.targets[0])), model=model, target=name
            )
            told = f"### {SIGNS[one]} {said}\n\n"
        case _:
            worst = False if False in runs else None if None in runs else True
            several = tell(words.headline(report.targets))
            told = f"### {SIGNS[worst]} {model}: {several}\n\n"
    return (
        f"{told}{tell(with_sign(words.gaps(len(report.trace.gaps)), '.'))}\n\n"
        if report.trace.gaps
        else told
    )


def _table(targets: Sequence[TargetReport]) -> str:
    if not targets:
        return ""
    rows = [_target_row(target) for target in targets]
    shown = fitting(rows, _PART)
    names = " | ".join(tell(name, COLUMN_CONTEXT) for name in _COLUMNS)
    head = f"| {names} |\n|{' --- |' * len(_COLUMNS)}\n"
    left = f"\n{_more(len(rows) - shown, 'target')} {tell(_ALL)}\n" if shown < len(rows) else ""
    return f"{head}{''.join(rows[:shown])}{left}\n"


def _more(count: int, noun: str) -> str:
    return tell(with_sign(words.and_more(count, noun), "."))


def _target_row(target: TargetReport) -> str:
    summary, counts = target.summary, target.summary.operators
    rate = summary.support_rate
    share = words.RUNS_CELL[None] if rate is None else percent(rate)
    cells = [SIGNS[summary.runs], cell(code(target.target)), tell(words.runs_cell(target))]
    operators = plural(sum(counts.values()), "operator")
    cells.append(tell(Sentence("{percent} of {said}", percent=share, said=operators)))
    cells += [f"{counts[v]:,}" for v in (Verdict.UNSUPPORTED, Verdict.UNKNOWN, Verdict.FALLBACK)]
    return f"| {' | '.join(cells)} |\n"


def _findings(report: Report, room: int) -> str:
    """Sections worst first, each as far as there is room, and what had none."""
    room -= 1_000  # for what is said of the rest, which names each section
    names = short_names(report.targets)
    told: list[str] = []
    left: Counter[str] = Counter()
    for section in sections(report.targets, verbose=False):
        start, end = _fold(_title(section))
        blocks = [one for block in section.blocks for one in apart(block)]
        entries = [entry(block, names) for block in blocks]
        shown = fitting(entries, room - size(start + end))
        if shown:
            told.append(f"{start}{''.join(entries[:shown])}{end}")
            room -= size(told[-1])
        if count := sum(block.operators for block in blocks[shown:]):
            left[section.heading[0]] += count
            room = 0  # nothing milder is shown where something worse is not
    if left:
        under = [
            Sentence("{said} under “{title}”", said=plural(n, "operator"), title=title)
            for title, n in left.items()
        ]
        rest = ", ".join(map(tell, under))
        told.append(f"**{tell(_CUT)}** {rest}. {tell(_ALL)}\n\n")
    return "".join(told)


def _title(section: Section) -> str:
    title, meaning = section.heading
    count = plural(sum(block.operators for block in section.blocks), "operator")
    return f"<b>{markup(title)} · {tell(count)}</b>{comma()}{markup(meaning)}"


def _fold(title: str) -> tuple[str, str]:
    return f"<details><summary>{title}</summary>\n\n", "\n</details>\n\n"


def _listed(heading: tuple[str, str], lines: Sequence[str], noun: str) -> str:
    """A folded list; empty without lines."""
    if not lines:
        return ""
    start, end = _fold(
        f"<b>{tell(heading[0])} · {tell(plural(len(lines), noun))}</b>{comma()}{tell(heading[1])}"
    )
    lines = [f"- {line}\n" for line in lines]
    shown = fitting(lines, _PART)
    rest = f"- {tell(words.and_more(len(lines) - shown, noun))}\n" if shown < len(lines) else ""
    return f"{start}{''.join(lines[:shown])}{rest}{end}"


def _plans(targets: Sequence[TargetReport]) -> str:
    """What each target comes to once the suggestions are followed, tier by tier."""
    lines = []
    for target in targets:
        if target.plan is not None and target.plan.tiers:
            told = [
                tell(
                    Sentence(
                        "tier {count}: {said}", count=int(after.tier), said=words.RUNS[after.runs]
                    )
                )
                + ("" if after.support_rate is None else f", {percent(after.support_rate)}")
                for after in target.plan.tiers
            ]
            lines.append(f"{code(target.target)}{colon()}{'; '.join(told)}")
    return _listed(STEPS, lines, "target")


def _gaps(report: Report) -> str:
    lines = [
        f"{code(gap.where) or tell(words.ROOT)}{colon()}{prose(gap.reason)}"
        for gap in report.trace.gaps
    ]
    return _listed(words.GAPS, lines, "gap")


def _lists(targets: Sequence[TargetReport]) -> str:
    on: dict[tuple[str, bool], list[TargetReport]] = {}
    for target in targets:
        if target.model is not None:
            first, opposed = target.model.listed[0], target.model.contradicts
            on.setdefault((tell(said(first)), opposed), []).append(target)
    lines = [
        f"{_whom(those, targets)}{colon()}{prose(text)}"
        f"{f' **{tell(CONTRADICTS)}**' if opposed else ''}"
        for (text, opposed), those in on.items()
    ]
    return _listed(words.LISTS, lines, "row")


def _advisories(targets: Sequence[TargetReport]) -> str:
    on: dict[str, list[TargetReport]] = {}
    for target in targets:
        for advisory in target.advisories:
            on.setdefault(any_chip(advisory.text, target), []).append(target)
    lines = [
        f"{_whom(those, targets)}{colon()}{prose(of_chips(text, those))}"
        for text, those in on.items()
    ]
    return _listed(words.ADVISORIES, lines, "note")


def _sizes(targets: Sequence[TargetReport]) -> str:
    """How many places are taken in which way; all of them would be a page of their own."""
    on: dict[str, list[TargetReport]] = {}
    for target in targets:
        counts = Counter(taken.how for taken in target.dynamic)
        told = [
            tell(Sentence(f"{{count}} {how.value.replace('-', ' ')}", count=f"{counts[how]:,}"))
            for how in Taking
            if counts[how]
        ]
        on.setdefault(", ".join(told), []).append(target)
    lines = [f"{_whom(those, targets)}{colon()}{told}" for told, those in on.items() if told]
    return _listed(words.SIZES, lines, "answer")


def _whom(some: Sequence[TargetReport], targets: Sequence[TargetReport]) -> str:
    every = len(some) == len(targets)
    names = short_names(targets)
    return tell(words.EVERY_TARGET) if every else named([names[target.target] for target in some])


def _foot(report: Report) -> str:
    trace = report.trace
    told = [report.model.kind, trace.mode, plural(trace.calls, "call")]
    told += [words.traced(trace.device_type, report.torch_version)]
    dates = [target.database_date for target in report.targets if target.database_date]
    told += [f"opcheck {report.opcheck_version}"]
    told += [words.database_of(max(dates))] if dates else []
    return f"<sub>{' · '.join(prose(text) for text in told if text)}</sub>\n"


def render(report: Report, page: Page = PLAIN) -> str:
    """Give what GitHub and GitLab show, within what GitHub takes; what does not fit is counted."""
    return comment(arranged(report))

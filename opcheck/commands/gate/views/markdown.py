"""A gate's answer as a comment on a pull request, cut where it would become too long."""

from collections.abc import Iterator, Sequence

from opcheck.commands.gate import sentences
from opcheck.commands.gate.sentences import PASSES_OR_FAILS, bare, pairs, titled
from opcheck.commands.gate.values import GateResult, Judged, Standing, TargetGate
from opcheck.lang.sentence import Sentence, chained
from opcheck.lang.speech import tell, wording
from opcheck.model.plan import Suggestion
from opcheck.model.report import Finding, Place
from opcheck.views.formats import PLAIN, Page
from opcheck.views.interchange import one_line
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
from opcheck.views.terminal import plan_words
from opcheck.views.terminal import words as common
from opcheck.views.terminal.canvas import COLUMN_CONTEXT, LABEL_CONTEXT
from opcheck.views.terminal.notation import plural

SHOWN = 3
"""Ways that are named of one finding: more than one where several overloads have to go."""


def suggestion_lines(finding: Finding) -> Iterator[str]:
    """The cheapest for each overload that has to go: tier, what to write, and where."""
    needed = _needed(finding)
    for way in needed[:SHOWN]:
        yield _line(finding, way)
    if len(needed) > SHOWN:
        yield tell(common.and_more(len(needed) - SHOWN, "suggestion"))
    if not finding.verdict.on_device and all(way.is_advice for way in finding.suggestions):
        yield f"**{tell(plan_words.WAY, LABEL_CONTEXT)}** · {tell(plan_words.NO_WAY)}"


def _needed(finding: Finding) -> list[Suggestion]:
    first: dict[tuple[str, tuple[int, ...]], Suggestion] = {}
    for way in finding.suggestions:
        first.setdefault((way.replaces, way.places), way)
    return list(first.values())


def _line(finding: Finding, way: Suggestion) -> str:
    label = tell(plan_words.ADVICE if way.is_advice else plan_words.WAY, LABEL_CONTEXT)
    said = filter(None, (plan_words.kind(way), plan_words.host(way), plan_words.hand(way)))
    told = [f"**{label}**", *map(tell, said), code(way.rule)]
    cost = f" · {tell(plan_words.GIVES_UP, LABEL_CONTEXT)}{colon()}{prose(way.gives_up)}"
    where = _where([finding.uses[i] for i in way.places if i < len(finding.uses)])
    return f"{' · '.join(told)}{colon()}{prose(way.summary)}{cost if way.gives_up else ''}{where}"


def _where(places: list[Place]) -> str:
    """The line of code that is called most, and how many more there are."""
    counts: dict[str, int] = {}
    for place in places:
        name = f"{place.file}:{place.line}" if place.file else place.module
        counts[name] = counts.get(name, 0) + place.count
    first, *rest = sorted(filter(None, counts), key=lambda name: -counts[name]) or [""]
    more = f" {tell(common.and_more(len(rest), 'place'))}" if rest else ""
    return f" · {code(first)}{more}" if first else ""


SIGNS = {True: "✅", False: "❌"}
_PART = LIMIT // 8
"""What the table of targets, and each list beside what fails, may take."""
_PLACES = 3
"""Places that are named of one finding."""
_ALONE = ("Target", "Fails", "Hidden")
_BESIDE = ("Target", "New", "Fixed", "Unchanged", "Hidden")


def render(found: GateResult, page: Page = PLAIN) -> str:
    """The comment; its first line is the same for every run on the same model."""
    before = mark(found) + _headline(found) + _table(found)
    after = _fixed(found) + (_waived(found) if page.waived else "") + _warnings(found)
    after += _foot(found)
    return before + failing(found, LIMIT - size(before) - size(after)) + after


def mark(found: GateResult) -> str:
    """By which a bot finds the comment that it wrote before, one for each model."""
    return marked(found.model.source)


def marked(source: str) -> str:
    """The line that tells the comment on a source from others."""
    source = one_line(source)[:200].replace("-", "\\-").replace(">", "\\>")
    return f"<!-- opcheck gate {source} -->\n"


def _headline(found: GateResult) -> str:
    model = code(found.model.source) or tell("The model")
    said = wording(PASSES_OR_FAILS[found.passed]).format(model=model)
    told = f"### {SIGNS[found.passed]} {said}\n\n"
    return f"{told}{prose(sentences.since(found))}.\n\n" if found.against else told


def _table(found: GateResult) -> str:
    columns = _BESIDE if found.against else _ALONE
    rows = [_row(target, bool(found.against)) for target in found.targets]
    shown = fitting(rows, _PART)
    names = " | ".join(tell(name, COLUMN_CONTEXT) for name in columns)
    head = f"|  | {names} |\n| --- |{' --- |' * len(columns)}\n"
    left = len(rows) - shown
    return f"{head}{''.join(rows[:shown])}\n" + (
        f"{tell(common.and_more(left, 'target'))}\n\n" if left else ""
    )


def _row(target: TargetGate, beside: bool) -> str:
    unchanged = sum(one.standing is Standing.UNCHANGED for one in target.judged)
    failing = [plural(len(target.failing), "finding")]
    if target.broken:
        failing.append(plural(len(target.broken), "limit"))
    hidden = len(target.judged) - len(target.failing)
    cells = [SIGNS[target.passed], cell(code(target.target)), tell(chained(failing, ", "))]
    if beside:
        cells += [f"{len(target.fixed):,}", f"{unchanged:,}"]
        hidden -= unchanged
    return f"| {' | '.join([*cells, f'{hidden:,}'])} |\n"


def failing(found: GateResult, room: int) -> str:
    """Limits, then findings, as far as there is room, and how many had none."""
    told = []
    for target, scanned in pairs(found):
        planned = scanned.plan is not None
        lines = [f"- {prose(sentences.broken(breach))}\n" for breach in target.broken]
        lines += [_finding(one.finding, planned) for one in target.failing]
        if not lines:
            continue
        title = f"{markup(sentences.FAILS[0])} · {markup(target.target)}"
        start, end = _fold(f"<b>{title}</b>{comma()}{markup(sentences.FAILS[1])}", is_open=True)
        room -= size(start + end) + 200
        shown = fitting(lines, room)
        rest = f"- {tell(_more(len(lines) - shown))}\n" if shown < len(lines) else ""
        told.append(f"{start}{''.join(lines[:shown])}{rest}{end}" if room > 0 else "")
        room -= size("".join(lines[:shown]))
    left = sum(not text for text in told)
    more = f"{tell(_unshown(left))}\n\n" if left else ""
    return "".join(told) + more


def _more(count: int) -> Sentence:
    more = "{count} more entry" if count == 1 else "{count} more entries"
    return Sentence("and {said_more}", said_more=Sentence(more, count=f"{count:,}"))


def _unshown(count: int) -> Sentence:
    more = (
        "{count} more target that fails too" if count == 1 else "{count} more targets that fail too"
    )
    return Sentence("and {said_more}", said_more=Sentence(more, count=f"{count:,}"))


def _finding(finding: Finding, planned: bool) -> str:
    """Verdict, operator, where, why, the suggestion, and the name to waive it by."""
    name = f"**{_called(finding)}**"
    head = f"- {name} · {tell(finding.verdict)} · {code(finding.id)}"
    if not finding.op:
        return f"{head}\n  - {prose(bare(finding))}\n"
    lines = [f"{head} · {tell(plural(finding.count, 'call'))}"]
    lines += [f"  - {_place(use)}" for use in finding.uses[:_PLACES]]
    if len(finding.uses) > _PLACES:
        lines.append(f"  - {tell(common.and_more(len(finding.uses) - _PLACES, 'place'))}")
    lines.append(f"  - {tell(common.WHY, LABEL_CONTEXT)}{colon()}{prose(finding.reason.text)}")
    lines += [f"  - {line}" for line in (suggestion_lines(finding) if planned else ())]
    return "".join(f"{line}\n" for line in lines)


def _place(use: Place) -> str:
    line = code(f"{use.file}:{use.line}") if use.file else ""
    inside = f"{tell(common.IN)} {code(use.module)}" if use.module else ""
    module = inside or ("" if use.file else tell(common.ROOT))
    return " ".join(filter(None, (line, module)))


def _fixed(found: GateResult) -> str:
    lines = [
        _on(code(titled(finding)) if finding.op else prose(bare(finding)), target)
        for target in found.targets
        for finding in target.fixed
    ]
    return _listed(sentences.FIXED, lines, "finding")


def _waived(found: GateResult) -> str:
    lines = [
        f"{_on(_called(one.finding), target)}{colon()}{_by(found, one)}"
        for target in found.targets
        for one in target.judged
        if one.waivers
    ]
    return _listed(sentences.WAIVED, lines, "finding")


def _called(finding: Finding) -> str:
    return code(titled(finding)) if finding.op else prose(titled(finding))


def _on(what: str, target: TargetGate) -> str:
    return f"{what} · {code(target.target)}"


def _by(found: GateResult, one: Judged) -> str:
    return "; ".join(prose(sentences.until(found.waivers[i].waiver)) for i in one.waivers)


def _warnings(found: GateResult) -> str:
    return _listed(
        sentences.WARNINGS, [prose(text) for text in sentences.warnings(found)], "warning"
    )


def _listed(heading: tuple[str, str], lines: Sequence[str], noun: str) -> str:
    """A folded list; empty without lines."""
    if not lines:
        return ""
    count = markup(plural(len(lines), noun))
    title = f"<b>{markup(heading[0])} · {count}</b>{comma()}{markup(heading[1])}"
    start, end = _fold(title)
    entries = [f"- {line}\n" for line in lines]
    shown = fitting(entries, _PART)
    left = len(entries) - shown
    rest = f"- {tell(common.and_more(left, noun))}\n" if left else ""
    return f"{start}{''.join(entries[:shown])}{rest}{end}"


def _fold(title: str, *, is_open: bool = False) -> tuple[str, str]:
    state = " open" if is_open else ""
    return f"<details{state}><summary>{title}</summary>\n\n", "\n</details>\n\n"


def _foot(found: GateResult) -> str:
    told = [sentences.hidden(found), sentences.rests_on(found), f"opcheck {found.opcheck_version}"]
    return f"<sub>{' · '.join(map(prose, told))}</sub>\n"

"""Operators explained: what holds for several overloads or targets is said once."""

from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from opcheck.lang.sentence import Sentence, chained, in_brackets, verbatim, with_sign
from opcheck.lang.speech import tell
from opcheck.model.database import BackendRow, Explanation, Statement
from opcheck.model.matrix import Condition
from opcheck.model.target import Target
from opcheck.model.verdict import Confidence, Evidence, Verdict
from opcheck.views.conditions import sentence, when
from opcheck.views.formats import PLAIN, Page
from opcheck.views.terminal import words
from opcheck.views.terminal.canvas import Atom, Canvas, linked, listed, split
from opcheck.views.terminal.evidence import web_address
from opcheck.views.terminal.notation import STYLES, source


def render(explanations: Sequence[Explanation], page: Page = PLAIN) -> str:
    """One block for each overload, then what all of them share."""
    canvas = Canvas(page)
    if not explanations:
        canvas.flow(split(words.NOTHING_TO_EXPLAIN))
    for i, chapter in enumerate(_chapters(explanations)):
        if i:
            canvas.blank()
        _write_chapter(canvas, chapter)
    return canvas.text()


class _Chapter(Struct, frozen=True):
    """Overloads that fare alike on each of these targets, and the conditions of them all."""

    targets: tuple[Target, ...]
    overloads: tuple[Explanation, ...]
    shared: tuple[Condition, ...]


def _chapters(explanations: Iterable[Explanation]) -> list[_Chapter]:
    by_target: dict[Target, list[Explanation]] = {}
    for found in explanations:
        by_target.setdefault(found.target, []).append(found)
    alike: dict[tuple[Explanation, ...], list[Target]] = {}
    for target, overloads in by_target.items():
        key = tuple(replace(found, target=_ANY) for found in overloads)
        alike.setdefault(key, []).append(target)
    return [_chapter(tuple(targets), overloads) for overloads, targets in alike.items()]


_ANY = Target("", "", "", "", "")


def _chapter(targets: tuple[Target, ...], overloads: tuple[Explanation, ...]) -> _Chapter:
    shared: tuple[Condition, ...] = ()
    if len(overloads) > 1:
        first, *others = overloads
        shared = tuple(c for c in first.conditions if all(c in o.conditions for o in others))
    own = tuple(
        replace(found, conditions=tuple(c for c in found.conditions if c not in shared))
        for found in overloads
    )
    return _Chapter(targets, own, shared)


def _write_chapter(canvas: Canvas, chapter: _Chapter) -> None:
    chip = _either(dict.fromkeys(target.chip for target in chapter.targets))
    devices = tuple(dict.fromkeys(target.device_type for target in chapter.targets))
    canvas.flow(listed(map(str, chapter.targets), "bold", end=":"))
    for found in chapter.overloads:
        canvas.blank()
        _write_overload(canvas, found, chip, devices)
    if chapter.shared:
        canvas.blank()
        canvas.flow(split(words.ALL_OF_THESE, "bold"), 2)
        _write_conditions(canvas, chapter.shared, chip)


def _either(names: Iterable[str]) -> Sentence:
    """Any of them."""
    return chained(map(verbatim, names), f" {words.OR} ")


def _write_overload(canvas: Canvas, found: Explanation, chip: str, devices: Sequence[str]) -> None:
    style, dot = STYLES[found.verdict], (canvas.marks.dot, "dim")
    head: list[Atom] = [(_sign(canvas, found.verdict), style), (found.op, "bold"), dot]
    head.append((tell(found.verdict.value), f"bold {style}"))
    if found.confidence is not Confidence.HIGH:
        head += [dot, *split(words.confidence(found.confidence.value))]
    canvas.flow(head, 2)
    canvas.field(words.WHY, split(found.reason.text), 4)
    _write_evidence(canvas, words.EVIDENCE, found.evidence)
    if found.implementation:
        canvas.field(words.PATH, listed(found.implementation), 4)
    if found.package:
        canvas.field(words.PACKAGE, split(words.brought_by(found.package)), 4)
    if found.verdict is not Verdict.NATIVE or canvas.page.verbose:
        _write_ways(canvas, found, devices)
    _write_backend(canvas, found.backend)
    own = [c for c in found.conditions if c.predicates or c.code != found.reason.code]
    _write_conditions(canvas, own, chip)
    if found.registered_in:
        releases = [*split(words.REGISTERED_IN), *listed(found.registered_in)]
        canvas.field(words.RELEASES, releases, 4)
    _write_statements(canvas, found.statements)
    if found.torch_range:
        canvas.field(words.TORCH, split(words.torch_range(*found.torch_range)), 4)


def _write_backend(canvas: Canvas, rows: Sequence[BackendRow]) -> None:
    for i, row in enumerate(rows):
        sign: Atom = (_sign(canvas, row.verdict), STYLES[row.verdict])
        canvas.field("" if i else words.BACKEND, [sign, *split(row.text)], 4)
        _write_evidence(canvas, "", row.evidence)


def _write_ways(canvas: Canvas, found: Explanation, devices: Sequence[str]) -> None:
    """What it runs as: the ways of these devices, then those that a trace on PrivateUse1 shows."""
    here = _either(devices)
    chosen = [
        [*_names(choice.asks), *split(in_brackets(words.chosen(here, choice.text)), "dim")]
        for choice in found.choices
        if choice.asks is not None
    ]
    for i, atoms in enumerate([*chosen, *map(_names, found.branches)]):
        canvas.field(words.OR_AS if i else words.RUNS_AS, atoms, 4)
    others = [device for device in devices if found.recorded_on not in ("", device)]
    if others:
        canvas.field("", split(words.recorded(found.recorded_on, _either(others)), "dim"), 4)


def _names(operators: Sequence[str]) -> list[Atom]:
    return listed(operators) or split(words.NOTHING)


def _write_conditions(canvas: Canvas, conditions: Iterable[Condition], chip: str) -> None:
    said: dict[tuple[str, Verdict, Confidence, tuple[Evidence, ...]], list[Condition]] = {}
    for condition in conditions:
        key = (condition.text, condition.verdict, condition.confidence, condition.evidence)
        said.setdefault(key, []).append(condition)
    for i, ((_, verdict, confidence, evidence), alike) in enumerate(said.items()):
        label = words.CAUTION if verdict is Verdict.NATIVE else verdict.value
        head = tell(with_sign(label, ":"))
        atoms: list[Atom] = [(head, STYLES[verdict]), *split(sentence(alike, chip))]
        if confidence is not Confidence.HIGH:
            atoms += split(in_brackets(words.confidence(confidence.value)))
        canvas.field("" if i else words.BUT, atoms, 4)
        if canvas.page.verbose and (tests := when(alike)):
            canvas.field("", split(Sentence("when {text}", text=tests), "dim"), 4)
        _write_evidence(canvas, "", evidence[:1])


def _write_statements(canvas: Canvas, statements: Sequence[Statement]) -> None:
    """Each layer once, with all that it says; the last one holds."""
    layers: dict[tuple[str, str], list[Statement]] = {}
    for said in statements:
        layers.setdefault((said.origin, said.reason), []).append(said)
    for i, ((origin, reason), told) in enumerate(layers.items()):
        atoms = split(words.layer(origin))
        atoms += split(chained([said.says for said in told], "; "))
        atoms += split(in_brackets(verbatim(reason))) if reason else []
        canvas.field("" if i else words.LAYERS, atoms, 4)


def _write_evidence(canvas: Canvas, label: str, evidence: Sequence[Evidence]) -> None:
    for i, fact in enumerate(evidence):
        seen = source(fact, canvas.page.verbose)
        date = f" ({fact.date})" if fact.date and canvas.page.verbose else ""
        link = linked("dim", web_address(fact))
        how = split(with_sign(fact.method.value, ":"), link)
        canvas.field("" if i else label, [*how, *split(verbatim(f"{seen}{date}"), link)], 4)


def _sign(canvas: Canvas, verdict: Verdict) -> str:
    marks = canvas.marks
    match verdict:
        case Verdict.NATIVE | Verdict.DECOMPOSED:
            return marks.good
        case Verdict.FALLBACK:
            return marks.part
        case Verdict.UNSUPPORTED:
            return marks.bad
        case Verdict.UNKNOWN:
            return marks.open

"""The page of one operator."""

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from opcheck.lang.sentence import Sentence, chained, verbatim, with_sign
from opcheck.model.plan import Remedy, RuleInfo
from opcheck.model.target import Target
from opcheck.model.verdict import Confidence, Evidence, Verdict
from opcheck.views.conditions import sentence
from opcheck.views.terminal import words as terminal
from tools.site import words
from tools.site.known import VERDICTS, Known, by_vendor, named, overload_of, slug
from tools.site.operator_json import document
from tools.site.operators import Operator, Overload, Stated
from tools.site.pages import Pages


class Line(Struct, frozen=True):
    """What conditions with one text say, and of which overloads and targets."""

    label: Sentence
    verdict: Verdict
    text: str
    confidence: Confidence
    evidence: tuple[Evidence, ...]
    advisory: str
    """The advisory that it is from; "" for none."""
    holds: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]
    """Names of overloads, () for all; and of targets or whole vendors."""


class Around(Struct, frozen=True):
    """What pages of operators say beside the matrices."""

    rules: Mapping[str, tuple[RuleInfo, ...]]
    """Overload -> rules that replace it."""
    remedies: Sequence[tuple[str, Remedy]]
    """Target and what its vendor ships, for operators that it names."""
    advisories: frozenset[str]
    run_by: Mapping[str, tuple[str, ...]]
    """Overload -> composites that run as it."""


def write_operator(pages: Pages, known: Known, around: Around, operator: Operator) -> None:
    """Write the page of an operator, and its JSON."""
    ops = [overload.op for overload in operator.overloads]
    rules = {rule.name: rule for op in ops for rule in around.rules.get(op, ())}
    run_by = {one for op in ops for one in around.run_by.get(op, ())} - {*ops}
    vendors = by_vendor(known.targets)
    lines = [_line(stated, ops, vendors, around.advisories) for stated in operator.stated]
    dtypes = {cell.dtypes: None for row in operator.rows for cell in row.cells if cell}
    pages.write(
        f"operators/{slug(operator.base)}",
        "operator.html",
        document=document(operator, vendors),
        page=operator,
        summary=tuple(_summary(operator.overloads[0])),
        dtype_tables=[*dtypes],
        otherwise=tuple(_by_dtype(operator, vendors)),
        lines=lines,
        named=lambda targets: named(targets, vendors),
        rules=[*rules.values()],
        remedies=tuple(_remedies(around, frozenset(ops))),
        related=_related(operator.base, known),
        run_by=sorted(run_by),
    )


def _summary(overload: Overload) -> Iterator[tuple[Verdict, Sentence]]:
    """On how many targets the first overload fares in each way."""
    every = sum(len(group.targets) for group in overload.groups)
    for verdict in Verdict:
        some = [group for group in overload.groups if group.explanation.verdict is verdict]
        if some:
            count = sum(len(group.targets) for group in some)
            yield verdict, words.on_targets(verdict, count, every)


class ByDtype(Struct, frozen=True):
    """Dtypes with which an overload fares otherwise than with most."""

    said: tuple[tuple[Verdict, Sentence], ...]
    holds: tuple[tuple[str, tuple[str, ...]], ...]
    """An overload's name, and the targets."""


def _by_dtype(operator: Operator, vendors: Mapping[str, Sequence[Target]]) -> Iterator[ByDtype]:
    holds: dict[tuple[tuple[str, str], ...], dict[str, list[Target]]] = {}
    for row in operator.rows:
        for overload, cell in zip(operator.overloads, row.cells, strict=True):
            if cell is not None and cell.dtypes:
                where = holds.setdefault(cell.dtypes, {})
                where.setdefault(overload_of(overload.op), []).extend(row.targets)
    for dtypes, where in holds.items():
        yield ByDtype(
            tuple(_dtype_lines(dtypes)),
            tuple((name, named(targets, vendors)) for name, targets in where.items()),
        )


def _dtype_lines(dtypes: Sequence[tuple[str, str]]) -> Iterator[tuple[Verdict, Sentence]]:
    for letter, verdict in VERDICTS.items():
        some = [dtype for dtype, found in dtypes if found == letter]
        if some:
            yield verdict, words.dtype_fares(verdict, ", ".join(some))


def _line(
    stated: Stated,
    ops: Sequence[str],
    vendors: Mapping[str, Sequence[Target]],
    advisories: frozenset[str],
) -> Line:
    first = stated.conditions[0]
    targets = (target for _, some in stated.holds for target in some)
    chip = chained(
        map(verbatim, dict.fromkeys(target.chip for target in targets)), f" {terminal.OR} "
    )
    label = terminal.CAUTION if first.verdict is Verdict.NATIVE else first.verdict.value
    return Line(
        label=with_sign(label, ":"),
        verdict=first.verdict,
        text=_told(stated, chip),
        confidence=first.confidence,
        evidence=first.evidence,
        advisory=first.code if first.code in advisories else "",
        holds=tuple(
            (() if len(some) == len(ops) else tuple(map(overload_of, some)), named(where, vendors))
            for some, where in stated.holds
        ),
    )


_FEW = 3
"""Conditions with one text that make one sentence; more make one each."""


def _told(stated: Stated, chip: str) -> str:
    """What conditions with one text say.

    Many alternatives are read more easily one by one than in one sentence.
    """
    if len(stated.conditions) <= _FEW:
        return sentence(stated.conditions, chip)
    each = dict.fromkeys(sentence([one], chip) for one in stated.conditions)
    return chained(each, "; ")


def _remedies(around: Around, ops: frozenset[str]) -> Iterator[tuple[Remedy, tuple[str, ...]]]:
    found: dict[str, tuple[Remedy, list[str]]] = {}
    for target, remedy in around.remedies:
        if remedy.ops & ops:
            found.setdefault(remedy.id, (remedy, []))[1].append(target)
    for remedy, targets in found.values():
        yield remedy, tuple(targets)


def _related(base: str, known: Known) -> tuple[str, ...]:
    """The in-place form, the gradient and others that PyTorch names after the operator."""
    namespace, _, name = base.partition("::")
    stem = name.strip("_").removeprefix("foreach_").removesuffix("_backward").removesuffix("_copy")
    forms = (
        stem, f"{stem}_", f"_{stem}", f"{stem}_backward", f"_{stem}_backward", f"{stem}_copy",
        f"_foreach_{stem}", f"_foreach_{stem}_", f"special_{stem}", f"_{stem}_backward_data",
    )  # fmt: skip
    found = (f"{namespace}::{form}" for form in forms)
    return tuple(one for one in found if one in known.bases and one != base)

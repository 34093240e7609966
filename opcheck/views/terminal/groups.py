"""Findings under their headings; what targets, operators or tensors share stands once."""

import re
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from opcheck.lang.sentence import Sentence as Parts
from opcheck.lang.sentence import changed, from_data, with_arguments
from opcheck.model.report import Finding, Place, Reason, TargetReport
from opcheck.model.trace import DTYPE_BYTES, Phase
from opcheck.model.verdict import Evidence, Verdict
from opcheck.resolve.resolution import PLAIN
from opcheck.views.order import WORST_FIRST
from opcheck.views.targets import any_chip, of_chips
from opcheck.views.terminal import words
from opcheck.views.terminal.notation import STYLES

_RUNS_AS = re.compile(r"it runs as (?P<op>\S+): ")
_TENSOR = re.compile(r"(?P<name>the result|[a-z_]\w*)(?= (?:is|has) )")

_FIRST = re.compile(r"\{(?P<name>\w+)\}")


class Sentence(Struct, frozen=True):
    """Why an operator fares as it does, from what names it alone to what others share."""

    exact: str
    of_operator: str
    """The same of whichever operator it is about."""
    of_any: str
    """The same of whichever tensor of whichever operator."""
    runs_as: str
    """The operator that it is about where that is another, which the call runs as; or empty."""


def sentence(text: str, op: str) -> Sentence:
    """Read the reason given for ``op``."""
    inner = _RUNS_AS.match(text)
    runs_as = inner["op"] if inner else ""
    plain = _inside(text, inner.end()) if inner else text
    for name in filter(None, (runs_as, op)):
        plain = _without(plain, name)
    tensor = _TENSOR.match(plain)
    if tensor is None or tensor["name"] in DTYPE_BYTES:
        return Sentence(text, plain, plain, runs_as)
    return Sentence(text, plain, _of_any_tensor(plain, tensor["name"]), runs_as)


def _inside(text: str, start: int) -> str:
    """What is said of the operator that the call runs as."""
    said = text.arguments.get("said", "") if isinstance(text, Parts) else ""
    return from_data(said if said == text[start:] else text[start:])


def _without(text: str, op: str) -> str:
    """The text without the name of an operator."""
    if op not in text:
        return text
    name = re.compile(rf"(?<![\w:.]){re.escape(op)}(?![\w:]|\.\w)")
    return changed(text, lambda part: name.sub(words.THE_OPERATOR, part))


def _of_any_tensor(text: str, name: str) -> str:
    """A text that begins with the name of a tensor, without that."""
    whole = f"{words.A_TENSOR}{text[len(name) :]}"
    place = _FIRST.match(text.template) if isinstance(text, Parts) else None
    if not isinstance(text, Parts) or place is None:
        return whole
    value = text.arguments.get(place["name"], "")
    found = with_arguments(text, {place["name"]: _of_any_tensor(value, name)})
    return found if found == whole else whole


def shared(sentences: Sequence[Sentence]) -> str:
    """The most exact wording that is true of all; they must agree in ``of_any``."""
    first = sentences[0]
    if all(said.exact == first.exact for said in sentences):
        return first.exact
    if all(said.of_operator == first.of_operator for said in sentences):
        return first.of_operator
    return first.of_any


CitedReason = tuple[str, tuple[Evidence, ...]]
"""A reason and its evidence."""


class Group(Struct, frozen=True):
    """One finding as several targets share it; only what is said of it may differ."""

    first: Finding
    said: Mapping[CitedReason, tuple[str, ...]]
    """What is said -> the targets of which it is."""
    elsewhere: str = ""
    """Where it runs, for one that falls back to something else than the host."""

    @property
    def targets(self) -> tuple[str, ...]:
        """Every target that has the finding."""
        return tuple(name for names in self.said.values() for name in names)

    def sentences(self) -> tuple[Sentence, ...]:
        """The reasons, in the order of ``said``."""
        return tuple(sentence(text, self.first.op) for text, _ in self.said)


class Row(Struct, frozen=True):
    """One operator among several of which the same is said."""

    op: str
    runs_as: tuple[str, ...]
    """The operators that the reason is about, where those are others."""
    phase: Phase
    count: int
    uses: tuple[Place, ...]
    evidence: tuple[Evidence, ...]
    """Its own; empty where all rows share it."""


class Block(Struct, frozen=True):
    """Findings of which the same is said on the same targets; the evidence may be their own."""

    groups: tuple[Group, ...]

    @property
    def first(self) -> Finding:
        """The one finding, or one of several that share verdict, reason code and confidence."""
        return self.groups[0].first

    @property
    def targets(self) -> tuple[str, ...]:
        """Every target that has the findings."""
        return self.groups[0].targets

    @property
    def elsewhere(self) -> str:
        """Where they run, for those that fall back to something else than the host."""
        return self.groups[0].elsewhere

    @property
    def operators(self) -> int:
        """How many there are, whatever else distinguishes the findings."""
        return len({group.first.op for group in self.groups})

    @property
    def count(self) -> int:
        """Calls."""
        return sum(group.first.count for group in self.groups)

    @property
    def said(self) -> Mapping[CitedReason, tuple[str, ...]]:
        """What is true of all -> the targets of which it is."""
        reasons = zip(*(group.sentences() for group in self.groups), strict=True)
        told: dict[CitedReason, tuple[str, ...]] = {}
        for alike, ((_, evidence), targets) in zip(
            reasons, self.groups[0].said.items(), strict=True
        ):
            what = (shared(alike), evidence if self._one_evidence else ())
            told[what] = (*told.get(what, ()), *targets)
        return told

    @property
    def _one_evidence(self) -> bool:
        return len({tuple(evidence for _, evidence in group.said) for group in self.groups}) == 1

    @property
    def rows(self) -> tuple[Row, ...]:
        """Its operators, the most called first."""
        found: dict[tuple[str, Phase], list[Group]] = {}
        for group in self.groups:
            found.setdefault((group.first.op, group.first.phase), []).append(group)
        rows = (_row(*key, groups, self._one_evidence) for key, groups in found.items())
        return tuple(sorted(rows, key=lambda row: (-row.count, row.op, row.phase)))


class Section(Struct, frozen=True):
    """Findings under one heading."""

    heading: tuple[str, str]
    style: str
    blocks: tuple[Block, ...]


def sections(
    targets: Sequence[TargetReport], verbose: bool, *, alone: bool = False
) -> tuple[Section, ...]:
    """What to read first; each finding alone, and the good news in full, only when asked for.

    ``verbose`` asks for both, ``alone`` for the one.
    """
    groups = _grouped(targets)
    blocks = [Block((group,)) for group in groups] if verbose or alone else _blocks(groups)
    blocks = sorted(blocks, key=_urgency)
    plain = [block for block in blocks if not _caution(block)]
    cautions = tuple(block for block in blocks if _caution(block))
    return (
        *_by_verdict(plain, [verdict for verdict in WORST_FIRST if not verdict.on_device]),
        *([Section(words.CAUTIONS, "yellow", cautions)] if cautions else ()),
        *(_by_verdict(plain, [v for v in WORST_FIRST if v.on_device]) if verbose else ()),
    )


def _by_verdict(blocks: Sequence[Block], verdicts: Sequence[Verdict]) -> list[Section]:
    headed: dict[tuple[Verdict, str], list[Block]] = {}
    for block in sorted(blocks, key=lambda block: block.elsewhere):
        headed.setdefault((block.first.verdict, block.elsewhere), []).append(block)
    return [
        Section(words.heading(verdict, elsewhere), STYLES[verdict], tuple(alike))
        for wanted in verdicts
        for (verdict, elsewhere), alike in headed.items()
        if verdict is wanted
    ]


def _blocks(groups: Iterable[Group]) -> list[Block]:
    alike: dict[object, list[Group]] = {}
    for group in groups:
        finding = group.first
        said = zip(group.sentences(), group.said.values(), strict=True)
        told = tuple((reason.of_any, on) for reason, on in said)
        key = (finding.verdict, finding.reason.code, finding.confidence, group.elsewhere, told)
        alike.setdefault(key, []).append(group)
    return [Block(tuple(members)) for members in alike.values()]


def _grouped(targets: Sequence[TargetReport]) -> list[Group]:
    said: dict[tuple[Finding, str], dict[CitedReason, list[TargetReport]]] = {}
    first: dict[tuple[Finding, str], Finding] = {}
    for target in targets:
        for finding in target.findings:
            bare = replace(finding, id="", reason=Reason(finding.reason.code, ""), evidence=())
            key = (bare, target.elsewhere if finding.verdict is Verdict.FALLBACK else "")
            first.setdefault(key, finding)
            what = (any_chip(finding.reason.text, target), finding.evidence)
            said.setdefault(key, {}).setdefault(what, []).append(target)
    return [_group(first[key], by_text, key[1]) for key, by_text in said.items()]


def _group(
    first: Finding, said: Mapping[CitedReason, Sequence[TargetReport]], elsewhere: str
) -> Group:
    named: dict[CitedReason, tuple[str, ...]] = {}
    for (text, evidence), targets in said.items():
        what = (of_chips(text, targets), evidence)
        named[what] = (*named.get(what, ()), *(target.target for target in targets))
    return Group(first, named, elsewhere)


def _row(op: str, phase: Phase, groups: Sequence[Group], one_evidence: bool) -> Row:
    inner = {said.runs_as for group in groups for said in group.sentences()}
    evidence = (fact for group in groups for _, facts in group.said for fact in facts)
    return Row(
        op,
        tuple(sorted(inner - {""})),
        phase,
        sum(group.first.count for group in groups),
        tuple(use for group in groups for use in group.first.uses),
        () if one_evidence else tuple(dict.fromkeys(evidence)),
    )


def _urgency(block: Block) -> tuple[int, int, int, str, str]:
    finding = block.first
    worst = WORST_FIRST.index(finding.verdict)
    return worst, finding.confidence.rank, -block.count, finding.op, finding.id


def _caution(block: Block) -> bool:
    return block.first.verdict.on_device and block.first.reason.code not in PLAIN

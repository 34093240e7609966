"""What becomes of the code of a model that ``torch.compile`` was asked to compile, on a target.

The code ran as it is written, so that its calls have findings of their own. What a back end makes
of them is not seen: a finding on :data:`COMPILE` is *native* only where a source calls the back end
supported there, and nothing that the calls show is known to break it.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from opcheck.lang.sentence import Sentence, place_names
from opcheck.model.matrix import CompileCondition, Compiler, CompilerDoes, SupportMatrix
from opcheck.model.report import Finding, Place, Reason
from opcheck.model.trace import (
    GIVEN_BACKEND,
    INSIDE,
    Compilation,
    CompiledRegion,
    Node,
    Phase,
    Trace,
    Use,
)
from opcheck.model.verdict import Confidence, Evidence, Method, Verdict
from opcheck.resolve.compiled_sentences import converts, given, not_known, raises, skips, there

COMPILE = "torch::compile"
"""What stands for the operator in a finding on compiled code."""
REDUCE_OVERHEAD = "reduce-overhead"
"""The mode in which inductor captures graphs of the device; ``max-autotune`` does, too."""
NO_BACKEND = "compile-backend-missing"
THERE = "compile-backend"
SKIPPED = "compile-mode-skipped"
SUPPRESSED = "compile-error-suppressed"
NOT_KNOWN = "compile-backend-not-known"
NOT_PROVEN = "compile-backend-not-proven"
NO_DTYPE = "compile-dtype-not-supported"
_OF_CALL = {
    CompilerDoes.RAISES: ("compile-call-not-supported", Verdict.UNSUPPORTED),
    CompilerDoes.SKIPS: ("compile-call-skipped", Verdict.NATIVE),
    CompilerDoes.UNCLEAR: ("compile-call-not-known", Verdict.UNKNOWN),
    CompilerDoes.WRONG: ("compile-call-wrong", Verdict.NATIVE),
    CompilerDoes.RUNS: (THERE, Verdict.NATIVE),
}
"""Code and verdict of calls of which a condition holds, by what it says."""
_INDUCTOR = "inductor"
_INVALID = "Invalid"
"""How an error begins that ``torch.compile`` raises itself, before Dynamo could suppress it."""
_WHOLE = "(the model)"
"""Where a region is that is all of the model."""
_CASTS = frozenset({"aten::to.dtype", "aten::to.dtype_layout", "aten::to.other", "aten::_to_copy"})
_ANY = "*"


class Judged(Struct, frozen=True):
    """What becomes of compiled code, and why."""

    verdict: Verdict
    reason: Reason
    evidence: tuple[Evidence, ...] = ()

    @property
    def confidence(self) -> Confidence:
        """Of what is refused, that of its sources; nothing compiled what is taken."""
        inferred = all(found.method is Method.INFERRED for found in self.evidence)
        if self.verdict is Verdict.UNKNOWN or inferred:
            return Confidence.LOW
        return Confidence.HIGH if self.verdict is Verdict.UNSUPPORTED else Confidence.MEDIUM


def findings(trace: Trace, matrix: SupportMatrix) -> tuple[Finding, ...]:
    """A finding for each reason, sorted; a region has one for each name that it asks for."""
    mode = "train" if trace.mode == "train" or trace.taken_apart else "inference"
    found: dict[tuple[str, Judged], list[CompiledRegion]] = {}
    for region in trace.compiled:
        for name, said in judged(region.how, matrix, mode):
            broken = list(_of_calls(trace, region, name, matrix, mode))
            for each in broken or [said]:
                found.setdefault((name, each), []).append(region)
    made = (_finding(name, said, regions) for (name, said), regions in found.items())
    return tuple(sorted(made, key=lambda finding: finding.id))


def judged(how: Compilation, matrix: SupportMatrix, mode: str) -> Iterator[tuple[str, Judged]]:
    """What becomes of code by its back end alone, by each name that the database knows it by.

    ``mode``: ``inference`` or ``train``.
    """
    if how.backend == GIVEN_BACKEND or how.function:
        yield how.backend, Judged(Verdict.UNKNOWN, Reason(NOT_KNOWN, given(how)))
        return
    for name in _asked(how):
        known = matrix.compilers.get(name)
        said = _of_backend(name, known, how, mode)
        yield name, said
        if known is not None and known.does is CompilerDoes.RAISES:
            return


def _asked(how: Compilation) -> Iterator[str]:
    yield how.backend
    if how.backend == _INDUCTOR and how.captures_graphs:
        yield REDUCE_OVERHEAD


def _of_backend(name: str, known: Compiler | None, how: Compilation, mode: str) -> Judged:
    if known is None:
        text = not_known(name, graphs=name == REDUCE_OVERHEAD)
        return Judged(Verdict.UNKNOWN, Reason(NOT_KNOWN, text))
    graphs = name == REDUCE_OVERHEAD
    match known.does:
        case CompilerDoes.RAISES:
            said = Judged(
                Verdict.UNSUPPORTED, Reason(NO_BACKEND, raises(name, known)), known.evidence
            )
            return said if known.error.startswith(_INVALID) else _softened(said, how)
        case CompilerDoes.SKIPS:
            reason = Reason(SKIPPED, skips(name, known, graphs=graphs))
            return Judged(Verdict.NATIVE, reason, known.evidence)
        case _:
            said_of = there(name, known, graphs=graphs)
            if mode in known.supported:
                return Judged(Verdict.NATIVE, Reason(THERE, said_of), known.evidence)
            text = Sentence("{said}; no source calls it supported for this", said=said_of)
            return Judged(Verdict.UNKNOWN, Reason(NOT_PROVEN, text), known.evidence)


def _softened(said: Judged, how: Compilation) -> Judged:
    """What is refused runs as it is written where Dynamo is told to suppress errors."""
    if said.verdict is not Verdict.UNSUPPORTED or how.fullgraph or not how.suppressed:
        return said
    text = Sentence(
        "{said}; torch._dynamo.config.suppress_errors is on, so that the code runs as it is "
        "written",
        said=said.reason.text,
    )
    return Judged(Verdict.NATIVE, Reason(SUPPRESSED, text), said.evidence)


def _of_calls(
    trace: Trace, region: CompiledRegion, name: str, matrix: SupportMatrix, mode: str
) -> Iterator[Judged]:
    """What calls inside of a region are known to come to with a back end that is there."""
    known = matrix.compilers.get(name)
    if known is None or known.does is not CompilerDoes.RUNS:
        return
    for dtype, evidence in sorted(known.without.items()):
        if any(dtype in _cast(trace.nodes[use.node]) for use in _surely_inside(trace, region)):
            text = converts(name, dtype, matrix.chip_name)
            said = Judged(Verdict.UNSUPPORTED, Reason(NO_DTYPE, text), evidence)
            yield _softened(said, region.how)
    for condition in known.conditions:
        if mode in condition.modes and (region.how.fullgraph or not condition.fullgraph):
            yield from _of_condition(trace, region, name, condition, matrix.chip_name)


def _of_condition(
    trace: Trace, region: CompiledRegion, name: str, condition: CompileCondition, chip: str
) -> Iterator[Judged]:
    """What a condition says of a region; *unclear* where calls that it refuses may be outside."""
    code, verdict = _OF_CALL[condition.does]
    if not any(_meets(trace.nodes[use.node], condition) for use in _surely_inside(trace, region)):
        if not _is_function(region) or not any(
            _meets(trace.nodes[use.node], condition) for use in trace.uses
        ):
            return
        if verdict is not Verdict.NATIVE:
            code, verdict = _OF_CALL[CompilerDoes.UNCLEAR]
    known = {"backend": name, "chip": chip}
    named = place_names(condition.text)
    text = Sentence(condition.text, **{key: known[key] for key in known if key in named})
    yield _softened(Judged(verdict, Reason(code, text), condition.evidence), region.how)


def _meets(node: Node, condition: CompileCondition) -> bool:
    if _ANY not in condition.ops and str(node.op) not in condition.ops:
        return False
    return any(all(test.match(node) for test in case) for case in condition.cases)


def _surely_inside(trace: Trace, region: CompiledRegion) -> Iterator[Use]:
    """The calls of a region's module, or those that say of themselves to be a function's."""
    for use in (*trace.uses, *trace.taken_apart):
        of_module = region.where == _WHOLE or f"{use.module}.".startswith(f"{region.where}.")
        if of_module or (INSIDE, region.where) in trace.nodes[use.node].modes:
            yield use


def _is_function(region: CompiledRegion) -> bool:
    return _line(region) > 0


def _cast(node: Node) -> frozenset[str]:
    """The dtypes of what a cast is given, and of what it gives; none of another call."""
    if str(node.op) not in _CASTS:
        return frozenset()
    given_to = (tensor for _, tensor in node.tensors())
    return frozenset(tensor.dtype for tensor in (*given_to, *node.output_tensors()))


def _finding(name: str, said: Judged, regions: Sequence[CompiledRegion]) -> Finding:
    parts = "\n".join((COMPILE, name, said.reason.code, *(region.where for region in regions)))
    return Finding(
        id=hashlib.sha256(parts.encode()).hexdigest()[:12],
        op=COMPILE,
        verdict=said.verdict,
        confidence=said.confidence,
        reason=said.reason,
        count=len(regions),
        phase=Phase.FORWARD,
        uses=tuple(_places(regions)),
        evidence=said.evidence,
    )


def _places(regions: Iterable[CompiledRegion]) -> Iterator[Place]:
    for region in regions:
        if line := _line(region):
            yield Place("", region.where.rpartition(":")[0], line, (), (), 1)
        else:
            yield Place(region.where, "", 0, (), (), 1)


def _line(region: CompiledRegion) -> int:
    """Where a function is called that is compiled; 0 of a module."""
    file, _, line = region.where.rpartition(":")
    return int(line) if file and line.isdigit() else 0

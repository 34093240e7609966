"""What becomes of the code of a model that ``torch.compile`` was asked to compile, on a target."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence

from opcheck.lang.sentence import Sentence
from opcheck.model.matrix import Compiler, CompilerDoes, SupportMatrix
from opcheck.model.report import Finding, Place, Reason
from opcheck.model.trace import GIVEN_BACKEND, CompiledRegion, Node, Phase, Trace
from opcheck.model.verdict import Confidence, Evidence, Method, Verdict

COMPILE = "torch::compile"
"""What stands for the operator in a finding on compiled code."""
REDUCE_OVERHEAD = "reduce-overhead"
"""The mode in which inductor captures graphs of the device; ``max-autotune`` does, too."""
NO_BACKEND = "compile-backend-missing"
THERE = "compile-backend"
SKIPPED = "compile-mode-skipped"
NOT_KNOWN = "compile-backend-not-known"
NO_DTYPE = "compile-dtype-not-supported"
_INDUCTOR = "inductor"
_WHOLE = "(the model)"
"""Where a region is that is all of the model."""
_CASTS = frozenset({"aten::to.dtype", "aten::to.dtype_layout", "aten::to.other", "aten::_to_copy"})


def refused(trace: Trace, matrix: SupportMatrix) -> tuple[Finding, ...]:
    """A finding for each back end that raises on the target, sorted."""
    found = []
    for backend, regions in _by_backend(trace).items():
        for name in _asked(backend, regions):
            known = matrix.compilers.get(name)
            if known is not None and known.does is CompilerDoes.RAISES:
                found.append(_finding(name, known, regions))
            elif known is not None and known.without:
                found += _of_dtypes(trace, name, known, regions, matrix.chip_name)
    return tuple(sorted(found, key=lambda finding: finding.id))


def told(trace: Trace, matrix: SupportMatrix) -> Iterator[Reason]:
    """What is known of the back ends that do not raise; what they make of code is not seen."""
    for backend, regions in _by_backend(trace).items():
        for name in _asked(backend, regions):
            known = matrix.compilers.get(name)
            if known is not None and known.does is CompilerDoes.RAISES:
                break
            if known is not None or not regions[0].how.function:
                yield said_of(name, known)


def said_of(name: str, known: Compiler | None) -> Reason:
    """What is known of a back end that does not raise, or of a mode of inductor."""
    if known is None:
        return Reason(NOT_KNOWN, Sentence(_NOT_KNOWN[name == REDUCE_OVERHEAD], backend=name))
    if known.does is CompilerDoes.SKIPS:
        return Reason(SKIPPED, _cited(_skipped(name, known), known.evidence))
    return Reason(THERE, _cited(_there(name, known), known.evidence))


_NOT_KNOWN = {
    False: "nobody has said whether torch.compile has the backend {backend} there",
    True: "nobody has said whether torch.compile captures graphs there in the mode {backend}",
}


def _by_backend(trace: Trace) -> Mapping[str, Sequence[CompiledRegion]]:
    found: dict[str, list[CompiledRegion]] = {}
    for region in trace.compiled:
        if region.how.backend != GIVEN_BACKEND:
            found.setdefault(region.how.backend, []).append(region)
    return found


def _asked(backend: str, regions: Iterable[CompiledRegion]) -> Iterator[str]:
    """The names under which the database knows what the regions ask for."""
    yield backend
    if backend == _INDUCTOR and any(region.how.captures_graphs for region in regions):
        yield REDUCE_OVERHEAD


def _finding(name: str, known: Compiler, regions: Sequence[CompiledRegion]) -> Finding:
    return _made(name, Reason(NO_BACKEND, raises(name, known)), regions, known.evidence)


def _made(
    name: str, reason: Reason, regions: Sequence[CompiledRegion], evidence: tuple[Evidence, ...]
) -> Finding:
    parts = "\n".join((COMPILE, name, *(region.where for region in regions)))
    return Finding(
        id=hashlib.sha256(parts.encode()).hexdigest()[:12],
        op=COMPILE,
        verdict=Verdict.UNSUPPORTED,
        confidence=_sure(evidence),
        reason=reason,
        count=len(regions),
        phase=Phase.FORWARD,
        uses=tuple(map(_place, regions)),
        evidence=evidence,
    )


def _of_dtypes(
    trace: Trace, name: str, known: Compiler, regions: Sequence[CompiledRegion], chip: str
) -> Iterator[Finding]:
    """A finding for each dtype that compiled code converts and kernels of the chip do not."""
    for dtype, evidence in sorted(known.without.items()):
        found = [region for region in regions if _converts(trace, region, dtype)]
        if found:
            text = Sentence(
                "torch.compile with the backend {backend} writes a kernel that converts {dtype}, "
                "which does not compile for {chip}",
                backend=name, dtype=dtype, chip=chip,
            )  # fmt: skip
            yield _made(f"{name} {dtype}", Reason(NO_DTYPE, text), found, evidence)


def _converts(trace: Trace, region: CompiledRegion, dtype: str) -> bool:
    """Whether code of a region, of which the trace has the module, casts to a dtype or from it."""
    return any(
        str(trace.nodes[use.node].op) in _CASTS
        and dtype in _dtypes(trace.nodes[use.node])
        and (region.where == _WHOLE or f"{use.module}.".startswith(f"{region.where}."))
        for use in trace.uses
    )


def _dtypes(node: Node) -> set[str]:
    """Those of what a cast is given, and of what it gives."""
    given = (tensor for _, tensor in node.tensors())
    return {tensor.dtype for tensor in (*given, *node.output_tensors())}


def _place(region: CompiledRegion) -> Place:
    file, _, line = region.where.rpartition(":")
    if file and line.isdigit():
        return Place("", file, int(line), (), (), 1)
    return Place(region.where, "", 0, (), (), 1)


def _sure(evidence: Iterable[Evidence]) -> Confidence:
    inferred = all(found.method is Method.INFERRED for found in evidence)
    return Confidence.LOW if inferred else Confidence.HIGH


def raises(name: str, known: Compiler) -> Sentence:
    """That a back end raises on a target, and which one is there."""
    if known.instead:
        return Sentence(
            'torch.compile with the backend {backend} raises there, "{text}"; '
            "the backend {instead} exists",
            backend=name, text=known.error, instead=known.instead,
        )  # fmt: skip
    return Sentence(
        'torch.compile with the backend {backend} raises there, "{text}"',
        backend=name, text=known.error,
    )  # fmt: skip


def _skipped(name: str, known: Compiler) -> Sentence:
    if name == REDUCE_OVERHEAD:
        return Sentence(
            'in the mode {backend} torch.compile captures no graphs there and warns, "{text}"',
            backend=name, text=known.error,
        )  # fmt: skip
    return Sentence(
        "with the backend {backend} torch.compile leaves the code as it is there and warns, "
        '"{text}"',
        backend=name, text=known.error,
    )  # fmt: skip


def _there(name: str, known: Compiler) -> Sentence:
    if name == REDUCE_OVERHEAD:
        return Sentence(
            "torch.compile captures graphs there in the mode {backend}; whether those of this "
            "model can be captured was not seen",
            backend=name,
        )
    said = Sentence(
        "torch.compile has the backend {backend} there; what it makes of this model was not seen",
        backend=name,
    )
    if known.needs:
        said = Sentence("{said}; it needs {text}", said=said, text=known.needs)
    if known.note:
        said = Sentence("{said}; {said_note}", said=said, said_note=known.note)
    return said


def _cited(said: Sentence, evidence: Sequence[Evidence]) -> Sentence:
    """A sentence with the first of its sources behind it."""
    first = evidence[0]
    at = f"{first.path}:{first.line}" if first.line else first.path
    return Sentence("{said} ({source}, {file})", said=said, source=first.source, file=at)

"""The traces of a model as an older torch takes it, for targets whose torch lacks what it calls.

Code asks the torch that it runs on what it has, and goes another way where that is missing. Such a
model is run once more for each torch that lacks one of its calls, with that hidden from it.
"""

from collections.abc import Callable, Iterator, Sequence

from msgspec.structs import replace

from opcheck.device_types import Traced, processes
from opcheck.errors import OpcheckError, SourceError
from opcheck.lang.sentence import Sentence
from opcheck.model.matrix import SupportMatrix
from opcheck.model.trace import MODULE_FAILED, NOT_AS_OLDER, RUN_ENDED, Gap, Trace
from opcheck.model.work import DeviceWork, WorkRequest, WorkResult
from opcheck.resolve.kernels import number
from opcheck.resolve.too_new import newest_without, too_new

_FAILED = (MODULE_FAILED, RUN_ENDED)
_GRAPH = "pt2"
"""The kind of source that holds no code which could ask."""

Run = Callable[[WorkRequest], tuple[WorkResult, ...]]
"""Traces a model; raises OpcheckError where it cannot."""


def with_older(
    results: Sequence[WorkResult],
    asked: WorkRequest,
    matrices: Sequence[SupportMatrix],
    run: Run,
    progress: Callable[[str], None],
) -> tuple[WorkResult, ...]:
    """The results with those for targets whose torch lacks what their traces call.

    Where the model does not run with that hidden, the results stay, with a gap that says why. What
    holds for no target any more is left out.
    """
    if results[0].kind == _GRAPH:
        return tuple(results)
    needed: dict[str, list[SupportMatrix]] = {}
    for matrix in matrices:
        if too_new(_of(results, matrix).trace, matrix):
            needed.setdefault(matrix.target.torch, []).append(matrix)
    if not needed:
        return tuple(results)
    added: list[WorkResult] = []
    for torch, group in needed.items():
        progress(Sentence("tracing once more, as torch {version} takes it", version=torch))
        added += _as_older(results, asked, torch, group, run)
    every = (*results, *added)
    used = [_of(every, matrix) for matrix in matrices]
    return tuple(one for one in every if any(one is other for other in used))


def _of(results: Sequence[WorkResult], matrix: SupportMatrix) -> WorkResult:
    """The result that is true of a target."""
    held = [one for one in results if Traced(one.trace, one.targets).holds_for(matrix.target)]
    return next((one for one in held if Traced(one.trace).instead), held[0])


def _as_older(
    results: Sequence[WorkResult],
    asked: WorkRequest,
    torch: str,
    matrices: Sequence[SupportMatrix],
    run: Run,
) -> Iterator[WorkResult]:
    """What is traced for targets of one torch, or why that could not be, each for some of them."""
    lacks = {op: m for m in matrices for op in too_new(_of(results, m).trace, m)}
    newest = min((newest_without(op, m) for op, m in lacks.items()), key=number)
    try:
        found = _traced(asked, torch, newest, matrices, run)
    except OpcheckError as error:
        for before, group in _by_result(results, matrices):
            yield _not_older(before, group, torch, error.message)
        return
    for now, group in _by_result(found, matrices):
        before = _of(results, group[0])
        failed = _new_failure(before.trace, now.trace)
        if failed is None:
            yield _narrowed(now, group)
        else:
            yield _not_older(before, group, torch, _text(failed))


def _by_result(
    results: Sequence[WorkResult], matrices: Sequence[SupportMatrix]
) -> Iterator[tuple[WorkResult, Sequence[SupportMatrix]]]:
    """The results that are true of targets, each with those."""
    for result in results:
        group = [matrix for matrix in matrices if _of(results, matrix) is result]
        if group:
            yield result, group


def _traced(
    asked: WorkRequest, torch: str, newest: str, matrices: Sequence[SupportMatrix], run: Run
) -> tuple[WorkResult, ...]:
    """The model traced as a torch takes it, or one that is newer and lacks the same calls.

    A library may refuse torch by its version. Its user takes an older one of it then, which goes
    the same way for the same reason.
    """
    request = replace(asked, groups=_groups(asked, matrices))
    try:
        return run(_with(request, torch))
    except SourceError as error:
        if newest == torch:
            raise
        try:
            found = run(_with(request, newest))
        except OpcheckError:
            raise error from None
        return tuple(_refused(one, error.message) for one in found)


def _groups(
    asked: WorkRequest, matrices: Sequence[SupportMatrix]
) -> tuple[tuple[DeviceWork, ...], ...]:
    """What to trace for some of the targets, in the way that was asked for."""
    works = [work for group in asked.groups for work in group]
    exact = {target for work in works for target in work.exact}
    plan = any(work.plan for work in works)
    return tuple(
        tuple(
            replace(work, exact={t: ops for t, ops in work.exact.items() if t in exact})
            for work in group
        )
        for group in processes(matrices, exact=bool(exact), plan=plan)
    )


def _with(request: WorkRequest, torch: str) -> WorkRequest:
    return replace(request, model=replace(request.model, older_torch=torch))


def _refused(result: WorkResult, why: str) -> WorkResult:
    older = result.trace.older
    assert older is not None  # it was asked for
    return replace(result, trace=replace(result.trace, older=replace(older, refused=why)))


def _new_failure(before: Trace, now: Trace) -> Gap | None:
    """Where the model failed once something was hidden, and did not before."""
    known = {gap.where for gap in before.gaps if gap.code in _FAILED}
    failed = (gap for gap in now.gaps if gap.code in _FAILED and gap.where not in known)
    return next(failed, None)


def _text(gap: Gap) -> str:
    if not gap.where:
        return gap.reason
    return Sentence("{where}: {said}", where=gap.where, said=gap.reason)


def _not_older(
    result: WorkResult, matrices: Sequence[SupportMatrix], torch: str, why: str
) -> WorkResult:
    """A result for some targets, with the reason that it is not one of their own torch."""
    reason = Sentence(
        "with what torch {version} lacks hidden from it, the model did not run: {said}",
        version=torch, said=why,
    )  # fmt: skip
    where = ", ".join(str(matrix.target) for matrix in matrices)
    gaps = tuple(sorted({*result.trace.gaps, Gap(where, reason, NOT_AS_OLDER)}))
    return _narrowed(replace(result, trace=replace(result.trace, gaps=gaps)), matrices)


def _narrowed(result: WorkResult, matrices: Sequence[SupportMatrix]) -> WorkResult:
    """A result that holds for some targets, with what was made for them."""
    targets = tuple(str(matrix.target) for matrix in matrices)
    plans = {target: result.plans[target] for target in targets if target in result.plans}
    return replace(result, targets=targets, plans=plans)

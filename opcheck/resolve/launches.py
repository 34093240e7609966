"""How the kernels that a model brings itself fare on a target, as findings."""

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from opcheck.model.launches import IMPORT, Language, Launch
from opcheck.model.matrix import SupportMatrix
from opcheck.model.report import Finding, Place, Reason
from opcheck.model.trace import Phase, Trace
from opcheck.model.verdict import Verdict

if TYPE_CHECKING:  # few models bring kernels
    from opcheck.kernel_code.judged import Judged


def findings(trace: Trace, matrix: SupportMatrix) -> tuple[Finding, ...]:
    """A finding for each kernel, phase and reason, sorted."""
    groups: dict[tuple[str, str, str], list[tuple[Launch, Judged]]] = defaultdict(list)
    for launch in trace.launches:
        imported = launch.kernel.name == IMPORT
        found = _imported(launch, matrix) if imported else judged(launch, matrix)
        if found is None:
            continue
        groups[launch.kernel.operator, launch.phase, found.text].append((launch, found))
    made = (_finding(members) for members in groups.values())
    return tuple(sorted(made, key=lambda finding: finding.id))


def _imported(launch: Launch, matrix: SupportMatrix) -> "Judged | None":
    from opcheck.kernel_code.compare import judge_import

    return judge_import(launch, matrix.triton)


def judged(launch: Launch, matrix: SupportMatrix) -> "Judged":
    """How one launch fares on a target."""
    from opcheck.kernel_code.compare import judge
    from opcheck.kernel_code.compare_sources import judge_source

    vendor = matrix.target.vendor
    if launch.kernel.language is Language.TRITON:
        return judge(launch, matrix.triton, vendor, matrix.chip_name)
    return judge_source(launch, matrix.cuda_sources, vendor)


def refused(trace: Trace, matrix: SupportMatrix, phase: Phase) -> Iterator[str]:
    """The kernels that the target refuses in a phase."""
    for launch in trace.launches:
        if launch.phase != phase or launch.kernel.name == IMPORT:  # which a device does not see
            continue
        if judged(launch, matrix).verdict is Verdict.UNSUPPORTED:
            yield launch.kernel.operator


def _finding(members: Sequence[tuple[Launch, "Judged"]]) -> Finding:
    launch, found = members[0]
    parts = (
        launch.kernel.operator, found.code, launch.phase,
        *(" ".join(_inputs(each)) for each, _ in members),
    )  # fmt: skip
    return Finding(
        id=hashlib.sha256("\n".join(parts).encode()).hexdigest()[:12],
        op=launch.kernel.operator,
        verdict=found.verdict,
        confidence=found.confidence,
        reason=Reason(found.code, found.text),
        count=sum(each.count for each, _ in members),
        phase=Phase(launch.phase),
        uses=tuple(_place(each) for each, _ in members),
        evidence=found.evidence,
    )


def _place(launch: Launch) -> Place:
    inputs = _inputs(launch)
    file, _, line = launch.where.rpartition(":")
    if file and line.isdigit():
        return Place("", file, int(line), inputs, (), launch.count)
    return Place(launch.where, "", 0, inputs, (), launch.count)


def _inputs(launch: Launch) -> tuple[str, ...]:
    tensors = (f"{name}: {dtype}" for name, dtype in launch.dtypes)
    return (*tensors, *(f"{name}={value}" for name, value in launch.constants))

"""A changed model held against the unchanged one: scanned again, and run with values."""

import tempfile
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from opcheck.errors import EmulationError
from opcheck.model.emulation import Difference, Emulation, EmulationRequest
from opcheck.model.fix import Followed, Proof
from opcheck.model.matrix import SupportMatrix
from opcheck.model.plan import Label
from opcheck.model.request import ScanRequest
from opcheck.model.work import HostRequest
from opcheck.pipeline.emulated import emulate
from opcheck.pipeline.fixing.choosing import off_device
from opcheck.pipeline.opening import Progress
from opcheck.pipeline.scan import scan


def emulation_request(scan: ScanRequest, shims: tuple[str, ...] = ()) -> EmulationRequest:
    """The run with values that tells whether the target takes a model."""
    return EmulationRequest(
        scan.source, scan.targets[0], scan.inputs, values=True, timeout=scan.timeout,
        memory=scan.memory, trust=scan.trust, databases=scan.databases, shims=shims,
        patched=scan.patched,
    )  # fmt: skip


def proved(
    unchanged: ScanRequest,
    changed: ScanRequest,
    matrix: SupportMatrix,
    followed: Iterable[Followed],
    expected: Mapping[str, int],
    known: Collection[str],
    progress: Progress,
    output: Progress,
) -> Proof:
    """Scan the changed model again, and run both of them with values.

    Args:
        unchanged: how to load the model as it is.
        changed: how to load it as it became.
        matrix: of the target; where it can be emulated, the changed model runs on it as well.
        followed: what was changed.
        expected: operator of a finding -> how many of its calls are meant to be there still.
        known: operators and overloads that left the device before; others must not come to.
        progress: hears the stages.
        output: hears what the model prints.

    Raises:
        SourceError, TraceError, EmulationError: the changed model cannot be loaded or run at all.
    """
    progress("scanning the changed model")
    after = scan(changed, progress, output)
    calls = Counter({finding.op: finding.count for finding in off_device(after)})
    followed = tuple(followed)
    there = {way.replaces for way in followed if calls[way.op] > expected.get(way.op, 0)}
    there |= calls.keys() - known
    on_host = _on_host(unchanged, changed, progress, output)
    ran = _emulated(changed, matrix, progress, output)
    found = [*on_host, *((ran.differences or ()) if ran else ())]
    remaining = {*there, *(calls if ran is None else left_by(ran))}
    return Proof(
        how="scanned" if ran is None else "emulated",
        target=after.targets[0].target,
        holds=not there and (ran is None or ran.finished) and agree(found, followed),
        gone=tuple(sorted({way.replaces for way in followed if not calls[way.op]} - remaining)),
        remaining=tuple(sorted(remaining)),
        runs=after.targets[0].summary.runs if ran is None else ran.runs,
        compared=len(on_host),
        largest=largest(found),
        error="" if ran is None else ran.error,
    )


def agree(found: Iterable[Difference], followed: Iterable[Followed]) -> bool:
    """Whether results differ by no more than the labels of what was followed allow."""
    worst = largest(found)
    if worst is None:
        return True
    exact = all(way.label is Label.EXACT for way in followed)
    return worst.largest == 0.0 if exact else worst.largest is not None


def largest(found: Iterable[Difference]) -> Difference | None:
    """The largest difference; one that is beyond all figures first."""
    return max(found, key=_size, default=None)


def _size(found: Difference) -> float:
    return float("inf") if found.largest is None else found.largest


def left_by(ran: Emulation) -> set[str]:
    """Overloads that the device refused, or sent to the host."""
    return {refusal.op for refusal in ran.refusals} | {call.op for call in ran.host_calls}


def _on_host(
    unchanged: ScanRequest, changed: ScanRequest, progress: Progress, output: Progress
) -> tuple[Difference, ...]:
    """What the host computes for both, held against each other."""
    from opcheck import isolate

    with tempfile.TemporaryDirectory(prefix="opcheck-") as folder:
        kept = str(Path(folder) / "results.pt")
        first = _host_request(unchanged, keep=kept)
        progress(f"running {unchanged.source} on the host, as it is")
        isolate.on_host(first, progress=progress, output=output)
        progress(f"running {changed.source} on the host, as it became")
        second = replace(_host_request(changed), against=kept)
        return isolate.on_host(second, progress=progress, output=output).differences


def _host_request(scan: ScanRequest, keep: str = "") -> HostRequest:
    return HostRequest(
        scan.source, scan.inputs, scan.timeout, scan.memory, scan.trust, scan.patched, keep
    )


def _emulated(
    changed: ScanRequest, matrix: SupportMatrix, progress: Progress, output: Progress
) -> Emulation | None:
    """The changed model on the emulated device; None where there is none of the target."""
    from opcheck.emulate.supported import require_emulated

    try:
        require_emulated(matrix)
    except EmulationError:
        return None
    return emulate(emulation_request(changed), progress, output)

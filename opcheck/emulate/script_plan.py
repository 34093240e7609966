"""What to change in a script: the calls that its device did not take, with a way for each."""

import torch
from msgspec.structs import replace

from opcheck.emulate.gradients import registrations
from opcheck.emulate.kept_calls import KeptCalls
from opcheck.lang.sentence import Sentence
from opcheck.model.matrix import SupportMatrix
from opcheck.model.plan import Remedy
from opcheck.model.report import Finding
from opcheck.model.script import ScriptPlan
from opcheck.model.trace import Phase
from opcheck.resolve.findings import resolve
from opcheck.resolve.suggestions import planned
from opcheck.rewrite.planner import Planner
from opcheck.rewrite.record import Recorder
from opcheck.rewrite.structural.line_proof import Prover
from opcheck.rewrite.structural.suggest import Structural
from opcheck.source.user_code import lines_of

_NO_GRADIENTS = "its gradients were not compared"


def planned_calls(
    kept: KeptCalls, matrix: SupportMatrix, remedies: tuple[Remedy, ...], *, trained: bool
) -> ScriptPlan:
    """A finding for each kind of call that was kept, with its suggestions, and what they come to.

    ``trained``: whether the script computed gradients, which what stands for a call needs too.
    """
    _forget_settings()
    device_type = matrix.target.device_type
    trace = kept.trace(device_type)
    registered = registrations(matrix) if trace.differentiated else None
    recorder = Recorder(device_type, matrix.casts, registered, matrix.autocast)
    structural = Structural(trace, Prover(recorder), lambda file: "".join(lines_of(file)))
    plans = structural.added(Planner(trace, recorder).plan(matrix, remedies), matrix)
    found = planned(resolve(trace, matrix), trace, plans)
    assert found.plan is not None, "it was planned"
    findings = tuple(map(_without_gradients, found.findings)) if trained else found.findings
    return ScriptPlan(findings, found.plan)


def _without_gradients(finding: Finding) -> Finding:
    """Say of which suggestions the values of gradients were not compared.

    A device is asked for many functions by their ``out=`` form, below autograd, which has none.
    What the gradients of a suggestion ask the device for was recorded all the same.
    """
    if finding.phase is not Phase.FORWARD:
        return finding
    ways = tuple(
        replace(way, unmeasured=Sentence(_NO_GRADIENTS))
        if way.measured is not None and way.measured.backward is None and not way.unmeasured
        else way
        for way in finding.suggestions
    )
    return replace(finding, suggestions=ways)


def _forget_settings() -> None:
    """Have torch be as at first: the script may have left its own settings behind."""
    torch.set_default_dtype(torch.float32)
    torch.set_default_device(None)
    torch.use_deterministic_algorithms(False)
    torch.set_grad_enabled(True)

"""What to change in a script: the calls that its device did not take, with a way for each."""

from collections.abc import Iterator

import torch
from msgspec.structs import replace

from opcheck.emulate.gradients import registrations
from opcheck.emulate.kept_calls import KeptCalls
from opcheck.lang.sentence import Sentence
from opcheck.model.emulation import Caution, Emulation, Refusal, Site
from opcheck.model.matrix import SupportMatrix
from opcheck.model.plan import Remedy
from opcheck.model.report import Finding, Place
from opcheck.model.script import ScriptPlan
from opcheck.model.trace import OpName, Phase
from opcheck.model.verdict import Confidence, Verdict
from opcheck.resolve.compiled import COMPILE
from opcheck.resolve.findings import outside, resolve
from opcheck.resolve.suggestions import planned
from opcheck.rewrite.planner import Planner
from opcheck.rewrite.record import Recorder
from opcheck.rewrite.structural.line_proof import Prover
from opcheck.rewrite.structural.suggest import Structural
from opcheck.source.user_code import lines_of

_NO_GRADIENTS = "its gradients were not compared"


def planned_calls(
    kept: KeptCalls, matrix: SupportMatrix, remedies: tuple[Remedy, ...], emulation: Emulation
) -> ScriptPlan:
    """A finding for each kind of call that was kept, with its suggestions, and what they come to.

    Code that was to be compiled is no call: what was met of it is in ``emulation``. Where the
    script computed gradients, what stands for a call needs these too.
    """
    _forget_settings()
    device_type = matrix.target.device_type
    trace = kept.trace(device_type)
    registered = registrations(matrix) if trace.differentiated else None
    recorder = Recorder(device_type, matrix.casts, registered, matrix.autocast)
    structural = Structural(trace, Prover(recorder), lambda file: "".join(lines_of(file)))
    plans = structural.added(Planner(trace, recorder).plan(matrix, remedies), matrix)
    report = resolve(trace, matrix)
    report = replace(report, findings=(*report.findings, *_compiled(emulation)))
    found = planned(report, trace, plans, remedies)
    assert found.plan is not None, "it was planned"
    trained = emulation.mode == "train"
    findings = tuple(map(_without_gradients, found.findings)) if trained else found.findings
    return ScriptPlan(findings, found.plan)


def _compiled(emulation: Emulation) -> Iterator[Finding]:
    """What the device made of code that was to be compiled."""
    met: list[tuple[Verdict, Refusal | Caution]] = [
        *((Verdict.UNSUPPORTED, one) for one in emulation.refusals),
        *((one.verdict, one) for one in emulation.cautions),
    ]
    of_code = [(verdict, one) for verdict, one in met if one.op == COMPILE]
    for index, (verdict, one) in enumerate(of_code):
        yield Finding(
            id=f"{COMPILE} {index}",
            op=COMPILE,
            verdict=verdict,
            confidence=Confidence.LOW,
            reason=one.reason,
            count=one.count,
            phase=one.phase,
            uses=tuple(_place(site, one.phase) for site in one.sites),
            evidence=(),
        )


def _place(site: Site, phase: Phase) -> Place:
    module = site.module or outside(OpName.parse(COMPILE), phase, site.file)
    return Place(module, site.file, site.line, (), (), 1)


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

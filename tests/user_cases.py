"""What users met, as small programs, and whether a scan tells them so.

A case names what each target is to say: a reason's code. What opcheck says is asked anew whenever
the cases are scanned; ``tests/user_cases_document.py`` writes it beside what users met.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from torch import Tensor, nn

import opcheck
from opcheck.db.by_hand.libraries import read
from opcheck.model.report import Finding, TargetReport
from opcheck.source.building import torchvision_operators
from opcheck.source.building.stand_ins.operators import register
from tests.test_cases import Applied

RIGHT, PARTLY, NOT_SEEN = "right", "partly", "not seen"


@dataclass(frozen=True)
class UserCase:
    """What users met, and a program that meets it."""

    name: str
    """``12``, the number in the list of cases, or a few words; unique."""
    met: str
    """What users met, in a sentence."""
    threads: tuple[str, ...]
    """Where they told of it: ``owner/project#12``."""
    program: Callable[..., Any] | None = None
    inputs: tuple[Tensor, ...] = ()
    op: str = ""
    """The overload that they stumbled over, as a trace shows it."""
    expected: Mapping[str, str] = field(default_factory=dict)
    """Target -> code of the reason that tells what they met there, or that it is no more."""
    lacking: str = ""
    """What of it a scan does not tell; with a program, it tells the rest."""
    mended: str = ""
    """What was added for a scan to tell it, where it did not tell when first tried."""

    @property
    def judgement(self) -> str:
        """How much of what users met a scan tells, where it says what is expected."""
        if self.program is None:
            return NOT_SEEN
        return PARTLY if self.lacking else RIGHT


@dataclass(frozen=True)
class Said:
    """What a scan says of a case on one target."""

    target: str
    verdict: str
    code: str
    text: str


@cache
def said_of(case_name: str) -> tuple[Said, ...]:
    """What a scan says of a case, target by target, of the overload that it is about."""
    case = case_of(case_name)
    if case.program is None:
        return ()
    torchvision_operators.prepare()
    import torchvision  # noqa: F401  # brings the shape rules of its operators

    register(read(Path(__file__).parent.parent / "compat_db" / "schemas" / "mmcv.yaml"))
    module = case.program if isinstance(case.program, nn.Module) else Applied(case.program)
    report = opcheck.scan(module, case.inputs, targets=list(case.expected))
    found = [(target, _finding(case, target)) for target in report.targets]
    return tuple(
        Said(name, finding.verdict.value, finding.reason.code, finding.reason.text)
        for name, (_, finding) in zip(case.expected, found, strict=True)
    )


def _finding(case: UserCase, target: TargetReport) -> Finding:
    """The worst finding on the overload: they come worst first."""
    return next(f for f in target.findings if f.op == case.op)


@cache
def cases() -> Mapping[str, UserCase]:
    """Every case by name, those of the list first."""
    from tests.user_cases_known import KNOWN
    from tests.user_cases_later import LATER

    found = {case.name: case for case in (*KNOWN, *LATER)}
    assert len(found) == len(KNOWN) + len(LATER), "a name is there twice"
    return found


def case_of(name: str) -> UserCase:
    """One case."""
    return cases()[name]

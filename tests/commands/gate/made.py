"""Reports of one target made by hand, with whatever findings a test is about."""

from datetime import date

from msgspec.structs import replace

from opcheck.model.policy import Waiver
from opcheck.model.report import Finding, Place, Reason, Report
from opcheck.model.trace import Gap, Phase
from opcheck.model.verdict import Confidence, Verdict
from tests.views.samples import STANDARD

TODAY = date(2026, 11, 21)
LATER = date(2027, 3, 31)
EARLIER = date(2026, 11, 20)


def finding(
    op: str = "aten::view_as_complex",
    verdict: Verdict = Verdict.UNSUPPORTED,
    code: str = "dtype-not-supported",
    *modules: str,
    confidence: Confidence = Confidence.HIGH,
    text: str = "It takes no complex64.",
) -> Finding:
    return Finding(
        id=f"{op.partition('::')[2]}-{code}",
        op=op,
        verdict=verdict,
        confidence=confidence,
        reason=Reason(code, text),
        count=2 * len(modules or ("",)),
        phase=Phase.FORWARD,
        uses=tuple(Place(m, "model.py", 3, (), (), 2) for m in modules or ("",)),
        evidence=(),
    )


def report(
    *findings: Finding,
    rate: float | None = 1.0,
    islands: int = 1,
    moved: int = 0,
    gaps: tuple[Gap, ...] = (),
    advisories: tuple[Reason, ...] = (),
    target: str = "ascend-910b@26.1.0+torch2.12",
) -> Report:
    base = STANDARD["all-native"]
    name, _, versions = target.partition("@")
    sdk, _, torch = versions.partition("+torch")
    vendor, _, chip = name.partition("-")
    only = replace(
        base.targets[0],
        target=target,
        vendor=vendor,
        chip=chip,
        sdk=sdk,
        torch=torch,
        findings=findings,
        advisories=advisories,
        summary=replace(
            base.targets[0].summary, support_rate=rate, islands=islands, fallback_bytes=moved
        ),
    )
    return replace(base, trace=replace(base.trace, gaps=gaps), targets=(only,))


def waiver(operator: str = "", **more: object) -> Waiver:
    said = {"reason": "rewritten soon", "expires": LATER, "operator": operator, **more}
    return Waiver(**said)  # type: ignore[arg-type]  # as the test says

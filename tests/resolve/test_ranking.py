"""Targets are ordered by how well they run the model."""

from msgspec.structs import replace

from opcheck.model.report import TargetReport
from opcheck.model.verdict import Verdict
from opcheck.resolve.findings import best_first, resolve
from tests.resolve.made import matrix, node, trace

ONE = resolve(trace(node("aten::relu")), matrix("aten::relu"))


def found(
    name: str,
    runs: bool | None = True,
    rate: float | None = 1.0,
    calls: int = 0,
    moved: int = 0,
    islands: int = 1,
) -> TargetReport:
    summary = replace(
        ONE.summary,
        runs=runs,
        support_rate=rate,
        calls={**ONE.summary.calls, Verdict.FALLBACK: calls},
        fallback_bytes=moved,
        islands=islands,
    )
    return replace(ONE, target=name, summary=summary)


def test_what_runs_comes_first_then_share_then_cost_then_name() -> None:
    ordered = (
        found("b"),
        found("c"),
        found("one-island-more", islands=2),
        found("more-bytes", moved=8),
        found("more-calls", calls=1),
        found("a-lower-share", rate=0.98),
        found("a-open", runs=None, rate=0.99),
        found("a-fails", runs=False, rate=0.999),
        found("a-empty", runs=False, rate=None),
    )
    assert best_first(reversed(ordered)) == ordered

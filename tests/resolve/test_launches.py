"""Findings on kernels that a model brings itself."""

from msgspec.structs import replace

from opcheck.model.launches import KernelCode, Launch, Operation, TritonCompiler, TritonOperation
from opcheck.model.report import Place, Reason
from opcheck.model.trace import Phase
from opcheck.model.verdict import Confidence, Evidence, Method, Verdict
from opcheck.resolve.findings import resolve
from opcheck.resolve.launches import refused
from tests.resolve.made import matrix, node, trace

SOURCE = (Evidence(Method.DOCUMENTED, "vendor/triton", "load.md", 9),)
LOAD = TritonOperation(SOURCE, refuses=frozenset({"float64"}))
COMPILER = TritonCompiler("triton-v", SOURCE, {"load": LOAD})
KERNEL = KernelCode("k", "net.py", 3, parameters=("x",), operations=(Operation("load", 4, ("x",)),))


def launch(dtype: str, where: str = "net.py:9", **changed: object) -> Launch:
    made = Launch(KERNEL, where, dtypes=(("x", dtype),), constants=(("N", "8"),))
    return replace(made, **changed)


def found(*launches: Launch, compiler: TritonCompiler | None = COMPILER):  # type: ignore[no-untyped-def]  # a report
    on = replace(matrix("aten::relu"), find_triton=lambda: compiler)
    return resolve(replace(trace(node("aten::relu")), launches=launches), on)


def test_launches_of_one_fate_are_one_finding_with_every_place() -> None:
    report = found(launch("float64", count=3), launch("float64", "layers.*"))
    first = report.findings[0]
    assert (first.op, first.verdict, first.confidence, first.count, first.phase) == (
        "triton::k", Verdict.UNSUPPORTED, Confidence.MEDIUM, 4, Phase.FORWARD,
    )  # fmt: skip
    assert first.reason == Reason(
        "kernel-dtype-not-supported",
        "triton-v has no load of float64, which the kernel calls in line 4",
    )
    inputs = ("x: float64", "N=8")
    assert first.uses == (
        Place("", "net.py", 9, inputs, (), 3), Place("layers.*", "", 0, inputs, (), 1),
    )  # fmt: skip
    assert (first.evidence, report.summary.runs) == (SOURCE, False)


def test_a_kernel_counts_once_at_its_worst() -> None:
    report = found(launch("float16"), launch("float64"), launch("float64", phase="backward"))
    assert [each.verdict for each in report.findings if each.op == "triton::k"] == [
        Verdict.UNSUPPORTED, Verdict.UNSUPPORTED, Verdict.NATIVE,
    ]  # fmt: skip
    assert report.summary.operators[Verdict.UNSUPPORTED] == 1
    assert report.summary.calls[Verdict.UNSUPPORTED] == 2
    assert report.summary.support_rate == 0.5


def test_what_nobody_has_said_is_never_green() -> None:
    report = found(launch("float16"), compiler=None)
    assert report.summary.runs is None
    assert report.findings[0].reason.code == "kernel-not-known"


def test_a_kernel_that_compiles_leaves_the_model_running() -> None:
    assert found(launch("float16")).summary.runs is True


def test_only_the_kernels_of_a_phase_are_refused_in_it() -> None:
    on = replace(matrix("aten::relu"), find_triton=lambda: COMPILER)
    launched = replace(
        trace(node("aten::relu")), launches=(launch("float64"), launch("float16", phase="backward"))
    )
    assert [*refused(launched, on, Phase.FORWARD)] == ["triton::k"]
    assert [*refused(launched, on, Phase.BACKWARD)] == []

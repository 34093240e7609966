"""Code that was to be compiled, on targets whose back ends raise, run, or are not known."""

from typing import Any

import pytest
from msgspec.structs import replace

from opcheck.model.matrix import CompileCondition, Compiler, CompilerDoes
from opcheck.model.predicates import Dtype, OneOf
from opcheck.model.report import Finding, Place, Reason
from opcheck.model.trace import GIVEN_BACKEND, INSIDE, Compilation, CompiledRegion, Trace
from opcheck.model.verdict import Confidence, Evidence, Method, Verdict
from opcheck.resolve.compiled import findings
from opcheck.resolve.findings import resolve
from tests.resolve.made import matrix, node, tensor, trace

SOURCE = (Evidence(Method.REGISTERED, "vendor/code", "compile.py", 7),)
RELU = node("aten::relu")
RAISES = Compiler(CompilerDoes.RAISES, SOURCE, "no such device", instead="npu")
THERE = Compiler(CompilerDoes.RUNS, SOURCE, supported=frozenset({"inference", "train"}))
SEEN = "torch.compile has the backend inductor there; what it makes of this model was not seen"


def of(*regions: CompiledRegion) -> Trace:
    return replace(trace(RELU), compiled=regions)


def region(where: str = "layers.*", backend: str = "inductor", **how: object) -> CompiledRegion:
    return CompiledRegion(where, replace(Compilation(backend), **how))


def on(**compilers: Compiler):  # type: ignore[no-untyped-def]  # a matrix that has relu
    return replace(matrix("aten::relu"), compilers=compilers)


def only(given: Trace, **compilers: Compiler) -> tuple[Finding, Verdict, str, str]:
    (found,) = findings(given, on(**compilers))
    return found, found.verdict, found.reason.code, found.reason.text


def test_a_backend_that_raises_makes_a_finding_with_every_place() -> None:
    found = resolve(of(region(), region("net.py:12")), on(inductor=RAISES))
    first = found.findings[0]
    assert (first.op, first.verdict, first.confidence, first.count, first.evidence) == (
        "torch::compile", Verdict.UNSUPPORTED, Confidence.HIGH, 2, SOURCE,
    )  # fmt: skip
    assert first.reason == Reason(
        "compile-backend-missing",
        'torch.compile with the backend inductor raises there, "no such device"; '
        "the backend npu exists",
    )
    assert first.uses == (
        Place("layers.*", "", 0, (), (), 1), Place("", "net.py", 12, (), (), 1),
    )  # fmt: skip
    assert found.summary.runs is False
    assert found.summary.operators[Verdict.UNSUPPORTED] == 1
    assert found.summary.support_rate == 0.5


def test_a_backend_that_raises_in_the_place_of_none() -> None:
    *_, text = only(of(region()), inductor=replace(RAISES, instead=""))
    assert text == 'torch.compile with the backend inductor raises there, "no such device"'


def test_what_is_inferred_is_of_low_confidence() -> None:
    inferred = replace(RAISES, evidence=(replace(SOURCE[0], method=Method.INFERRED),))
    found, *_ = only(of(region()), inductor=inferred)
    assert found.confidence is Confidence.LOW


def test_a_backend_that_is_supported_there_takes_the_code_with_a_caution() -> None:
    known = replace(THERE, needs="triton", note="so far a prototype")
    found = resolve(of(region()), on(inductor=known))
    assert found.summary.runs is True
    first = found.findings[-1]
    assert (first.op, first.verdict, first.confidence, first.evidence) == (
        "torch::compile", Verdict.NATIVE, Confidence.MEDIUM, SOURCE,
    )  # fmt: skip
    assert first.reason == Reason("compile-backend", f"{SEEN}; it needs triton; so far a prototype")


@pytest.mark.parametrize(
    ("supported", "mode", "runs"),
    [((), "inference", None), (("inference",), "inference", True), (("inference",), "train", None)],
)
def test_a_backend_that_no_source_calls_supported_is_not_known_to_run(
    supported: tuple[str, ...], mode: str, runs: bool | None
) -> None:
    known = replace(THERE, supported=frozenset(supported))
    given = replace(of(region()), mode=mode)
    assert resolve(given, on(inductor=known)).summary.runs is runs
    found, verdict, code, text = only(given, inductor=known)
    if runs is None:
        assert (verdict, code) == (Verdict.UNKNOWN, "compile-backend-not-proven")
        assert text == f"{SEEN}; no source calls it supported for this"
        assert found.confidence is Confidence.LOW


def test_a_mode_that_captures_graphs_is_asked_for_as_well() -> None:
    skips = Compiler(CompilerDoes.SKIPS, SOURCE, "skipping cudagraphs")
    modes = {"reduce-overhead": skips}
    for how in ({"mode": "reduce-overhead"}, {"options": ("triton.cudagraphs=True",)}):
        found = findings(of(region(**how)), on(inductor=THERE, **modes))
        assert sorted((each.reason.code, each.verdict) for each in found) == [
            ("compile-backend", Verdict.NATIVE), ("compile-mode-skipped", Verdict.NATIVE),
        ]  # fmt: skip
    found = findings(of(region(mode="max-autotune")), on(inductor=RAISES, **modes))
    assert [each.reason.code for each in found] == ["compile-backend-missing"]


def texts(given: Trace, **compilers: Compiler) -> set[tuple[str, str]]:
    found = findings(given, on(**compilers))
    return {(each.reason.code, str(each.reason.text)) for each in found}


def test_graphs_that_are_captured_there_may_not_be_those_of_the_model() -> None:
    given = of(region(mode="reduce-overhead"))
    assert texts(given, inductor=THERE, **{"reduce-overhead": THERE}) == {
        ("compile-backend", SEEN),
        (
            "compile-backend",
            "torch.compile captures graphs there in the mode reduce-overhead; whether those of "
            "this model can be captured was not seen",
        ),
    }
    assert texts(given, inductor=THERE) == {
        ("compile-backend", SEEN),
        (
            "compile-backend-not-known",
            "nobody has said whether torch.compile captures graphs there in the mode "
            "reduce-overhead",
        ),
    }


@pytest.mark.parametrize(
    ("backend", "function", "expected"),
    [
        ("hidet", False, "nobody has said whether torch.compile has the backend hidet there"),
        (
            "mine", True,
            "is compiled by torch.compile with mine, which is no backend of PyTorch's; what it "
            "makes of this model was not seen",
        ),
        (
            GIVEN_BACKEND, False,
            "is compiled by torch.compile with the backend that it was given; what the compiler "
            "makes of it was not seen",
        ),
    ],
)  # fmt: skip
def test_nothing_is_known_of_a_name_in_no_table_and_of_what_has_none(
    backend: str, function: bool, expected: str
) -> None:
    found = only(of(region(backend=backend, function=function)))
    assert found[1:] == (Verdict.UNKNOWN, "compile-backend-not-known", expected)


def test_a_backend_of_graphs_alone_may_be_left_out_with_a_warning() -> None:
    skips = Compiler(CompilerDoes.SKIPS, SOURCE, "skipping cudagraphs")
    assert only(of(region(backend="cudagraphs")), cudagraphs=skips)[1:] == (
        Verdict.NATIVE,
        "compile-mode-skipped",
        "with the backend cudagraphs torch.compile leaves the code as it is there and warns, "
        '"skipping cudagraphs"',
    )


@pytest.mark.parametrize(
    ("error", "how", "expected"),
    [
        ("no such device", {"suppressed": True}, Verdict.NATIVE),
        ("no such device", {"suppressed": True, "fullgraph": True}, Verdict.UNSUPPORTED),
        ("Invalid backend: 'x'", {"suppressed": True}, Verdict.UNSUPPORTED),
        ("no such device", {}, Verdict.UNSUPPORTED),
    ],
)
def test_what_fails_to_compile_runs_as_written_where_errors_are_suppressed(
    error: str, how: dict[str, Any], expected: Verdict
) -> None:
    _, verdict, code, text = only(
        of(region(**how)), inductor=replace(RAISES, error=error, instead="")
    )
    assert verdict is expected
    if expected is Verdict.NATIVE:
        assert code == "compile-error-suppressed"
        assert text == (
            'torch.compile with the backend inductor raises there, "no such device"; '
            "torch._dynamo.config.suppress_errors is on, so that the code runs as it is written"
        )


FLOAT8 = replace(THERE, without={"float8_e4m3fn": SOURCE, "float64": SOURCE})


def casting(module: str, op: str, given: str, asked: str, *regions: CompiledRegion) -> Trace:
    call = node(op, given={"self": tensor(given)}, outputs=(tensor(asked),))
    made = trace(call)
    return replace(
        made, uses=tuple(replace(use, module=module) for use in made.uses), compiled=regions
    )


@pytest.mark.parametrize(
    ("module", "op", "given", "asked", "where"),
    [
        ("layers.*.up", "aten::to.dtype", "float8_e4m3fn", "float16", "layers.*"),
        ("", "aten::_to_copy", "float32", "float8_e4m3fn", "(the model)"),
    ],
)
def test_a_cast_whose_kernel_does_not_compile_is_refused(
    module: str, op: str, given: str, asked: str, where: str
) -> None:
    code = casting(module, op, given, asked, region(where), region("elsewhere"))
    found = findings(code, replace(on(inductor=FLOAT8), chip_name="Chip 1"))
    taken, refused = sorted(found, key=lambda each: each.verdict.rank)
    assert (taken.verdict, taken.uses) == (
        Verdict.NATIVE, (Place("elsewhere", "", 0, (), (), 1),),
    )  # fmt: skip
    assert (refused.verdict, refused.evidence, refused.uses) == (
        Verdict.UNSUPPORTED, SOURCE, (Place(where, "", 0, (), (), 1),),
    )  # fmt: skip
    assert refused.reason == Reason(
        "compile-dtype-not-supported",
        "torch.compile with the backend inductor writes a kernel that converts float8_e4m3fn, "
        "which does not compile for Chip 1",
    )


@pytest.mark.parametrize(
    ("module", "op", "given", "where"),
    [
        ("layers.*", "aten::to.dtype", "float8_e4m3fn", "layers.*.up"),  # outside of it
        ("layers.*", "aten::to.dtype", "float8_e4m3fn", "net.py:12"),  # a function's
        ("layers.*", "aten::to.dtype", "float8_e5m2", "layers.*"),
        ("layers.*", "aten::_scaled_mm", "float8_e4m3fn", "layers.*"),  # a kernel of PyTorch's own
    ],
)
def test_what_no_written_kernel_casts_is_not_refused_for_it(
    module: str, op: str, given: str, where: str
) -> None:
    code = casting(module, op, given, "float16", region(where))
    assert only(code, inductor=FLOAT8)[1] is Verdict.NATIVE


def conditioned(does: CompilerDoes, **given: object) -> Compiler:
    half = (Dtype("*", OneOf(frozenset({"bfloat16"}))),)
    condition = CompileCondition(
        does, "{backend} fails on {chip}", frozenset({"aten::relu"}), (half,), SOURCE
    )
    return replace(THERE, conditions=(replace(condition, **given),))


@pytest.mark.parametrize(
    ("does", "where", "expected"),
    [
        (CompilerDoes.RAISES, "layers.*", Verdict.UNSUPPORTED),
        (CompilerDoes.SKIPS, "layers.*", Verdict.NATIVE),
        (CompilerDoes.UNCLEAR, "layers.*", Verdict.UNKNOWN),
        (CompilerDoes.RAISES, "net.py:12", Verdict.UNKNOWN),  # it may be outside of the function
        (CompilerDoes.SKIPS, "net.py:12", Verdict.NATIVE),  # it runs either way
        (CompilerDoes.WRONG, "layers.*", Verdict.NATIVE),  # with a caution
    ],
)
def test_calls_inside_of_a_region_decide_what_becomes_of_it(
    does: CompilerDoes, where: str, expected: Verdict
) -> None:
    code = casting("layers.*.up", "aten::relu", "bfloat16", "bfloat16", region(where))
    on_chip = replace(on(inductor=conditioned(does)), chip_name="Chip 1")
    (found,) = findings(code, on_chip)
    assert (found.verdict, found.reason.text) == (expected, "inductor fails on Chip 1")


@pytest.mark.parametrize(
    ("at", "expected"), [("net.py:12", Verdict.UNSUPPORTED), ("net.py:30", Verdict.UNKNOWN)]
)
def test_calls_that_tell_of_a_function_are_inside_of_it(at: str, expected: Verdict) -> None:
    code = casting("layers.*.up", "aten::relu", "bfloat16", "bfloat16", region("net.py:12"))
    marked = replace(code, nodes=tuple(replace(each, modes=((INSIDE, at),)) for each in code.nodes))
    assert only(marked, inductor=conditioned(CompilerDoes.RAISES))[1] is expected


@pytest.mark.parametrize(
    ("op", "dtype", "how", "given", "matches"),
    [
        ("aten::relu", "bfloat16", {}, {}, True),
        ("aten::relu", "float16", {}, {}, False),
        ("aten::tanh", "bfloat16", {}, {}, False),
        ("aten::tanh", "bfloat16", {}, {"ops": frozenset({"*"})}, True),
        ("aten::relu", "bfloat16", {}, {"fullgraph": True}, False),
        ("aten::relu", "bfloat16", {"fullgraph": True}, {"fullgraph": True}, True),
        ("aten::relu", "bfloat16", {}, {"modes": frozenset({"train"})}, False),
    ],
)
def test_a_condition_holds_for_what_it_names(
    op: str, dtype: str, how: dict[str, Any], given: dict[str, Any], matches: bool
) -> None:
    code = casting("", op, dtype, dtype, region("(the model)", **how))
    known = conditioned(CompilerDoes.RAISES, **given)
    verdict = Verdict.UNSUPPORTED if matches else Verdict.NATIVE
    assert only(code, inductor=known)[1] is verdict

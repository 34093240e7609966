"""Code that was to be compiled, on targets whose back ends raise, run, or are not known."""

import pytest
from msgspec.structs import replace

from opcheck.model.matrix import Compiler, CompilerDoes
from opcheck.model.report import Place, Reason
from opcheck.model.trace import COMPILED_CODE, Compilation, CompiledRegion, Gap
from opcheck.model.verdict import Confidence, Evidence, Method, Verdict
from opcheck.resolve.compiled import refused, told
from opcheck.resolve.findings import resolve
from tests.resolve.made import matrix, node, tensor, trace

SOURCE = (Evidence(Method.REGISTERED, "vendor/code", "compile.py", 7),)
RELU = node("aten::relu")
RAISES = Compiler(CompilerDoes.RAISES, SOURCE, "no such device", instead="npu")


def of(*regions: CompiledRegion):  # type: ignore[no-untyped-def]  # a trace of one call
    gaps = tuple(Gap(region.where, "unseen", COMPILED_CODE) for region in regions)
    return replace(trace(RELU, gaps=gaps), compiled=regions)


def region(where: str = "layers.*", backend: str = "inductor", **how: object) -> CompiledRegion:
    return CompiledRegion(where, replace(Compilation(backend), **how))


def on(**compilers: Compiler):  # type: ignore[no-untyped-def]  # a matrix that has relu
    return replace(matrix("aten::relu"), compilers=compilers)


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
    (found,) = refused(of(region()), on(inductor=replace(RAISES, instead="")))
    assert found.reason is not None
    assert found.reason.text == (
        'torch.compile with the backend inductor raises there, "no such device"'
    )


def test_what_is_inferred_is_of_low_confidence() -> None:
    inferred = replace(RAISES, evidence=(replace(SOURCE[0], method=Method.INFERRED),))
    (found,) = refused(of(region()), on(inductor=inferred))
    assert found.confidence is Confidence.LOW


def test_a_backend_that_is_there_leaves_a_gap_and_says_what_is_known() -> None:
    there = Compiler(CompilerDoes.RUNS, SOURCE, needs="triton", note="so far a prototype")
    found = resolve(of(region()), on(inductor=there))
    assert found.summary.runs is None
    assert [finding.op for finding in found.findings] == ["aten::relu"]
    assert [*told(of(region()), on(inductor=there))] == [
        Reason(
            "compile-backend",
            "torch.compile has the backend inductor there; what it makes of this model was not "
            "seen; it needs triton; so far a prototype (vendor/code, compile.py:7)",
        )
    ]


def test_a_mode_that_captures_graphs_is_asked_for_as_well() -> None:
    there = Compiler(CompilerDoes.RUNS, SOURCE)
    skips = Compiler(CompilerDoes.SKIPS, SOURCE, "skipping cudagraphs")
    for how in ({"mode": "reduce-overhead"}, {"options": ("triton.cudagraphs=True",)}):
        found = told(of(region(**how)), on(inductor=there, **{"reduce-overhead": skips}))
        assert [reason.code for reason in found] == ["compile-backend", "compile-mode-skipped"]
    assert [*told(of(region(mode="max-autotune")), on(inductor=RAISES))] == []


def test_graphs_that_are_captured_there_may_not_be_those_of_the_model() -> None:
    there = Compiler(CompilerDoes.RUNS, SOURCE)
    given = of(region(mode="reduce-overhead"))
    _, found = told(given, on(inductor=there, **{"reduce-overhead": there}))
    assert found == Reason(
        "compile-backend",
        "torch.compile captures graphs there in the mode reduce-overhead; whether those of this "
        "model can be captured was not seen (vendor/code, compile.py:7)",
    )


def test_nobody_has_said_anything_of_a_name_that_is_in_no_table() -> None:
    assert [*told(of(region(backend="hidet")), on())] == [
        Reason(
            "compile-backend-not-known",
            "nobody has said whether torch.compile has the backend hidet there",
        )
    ]


def test_nothing_is_said_of_a_function_of_the_model_s_own() -> None:
    given = region(backend="mine", function=True)
    assert ([*told(of(given), on())], refused(of(given), on())) == ([], ())


def test_a_backend_of_graphs_alone_may_be_left_out_with_a_warning() -> None:
    skips = Compiler(CompilerDoes.SKIPS, SOURCE, "skipping cudagraphs")
    (found,) = told(of(region(backend="cudagraphs")), on(cudagraphs=skips))
    assert found == Reason(
        "compile-mode-skipped",
        "with the backend cudagraphs torch.compile leaves the code as it is there and warns, "
        '"skipping cudagraphs" (vendor/code, compile.py:7)',
    )


def test_a_mode_of_which_nobody_has_said_anything_is_not_known() -> None:
    there = Compiler(CompilerDoes.RUNS, SOURCE)
    _, found = told(of(region(mode="reduce-overhead")), on(inductor=there))
    assert found == Reason(
        "compile-backend-not-known",
        "nobody has said whether torch.compile captures graphs there in the mode reduce-overhead",
    )


FLOAT8 = replace(
    Compiler(CompilerDoes.RUNS, SOURCE), without={"float8_e4m3fn": SOURCE, "float64": SOURCE}
)


def casting(module: str, op: str, given: str, asked: str, *regions: CompiledRegion):  # type: ignore[no-untyped-def]  # a trace of one call
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
    (found,) = refused(code, replace(on(inductor=FLOAT8), chip_name="Chip 1"))
    assert (found.op, found.verdict, found.evidence) == (
        "torch::compile", Verdict.UNSUPPORTED, SOURCE,
    )  # fmt: skip
    assert found.uses == (Place(where, "", 0, (), (), 1),)
    assert found.reason == Reason(
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
    assert refused(casting(module, op, given, "float16", region(where)), on(inductor=FLOAT8)) == ()

"""Launches of kernels compared with what the Triton of a target has."""

import pytest
from msgspec.structs import replace

from opcheck.kernel_code.compare import judge, judge_import
from opcheck.kernel_code.judged import Judged
from opcheck.model.launches import KernelCode, Launch, Operation, TritonCompiler, TritonOperation
from opcheck.model.verdict import Confidence, Evidence, Method, Verdict

LIST = (Evidence(Method.REGISTERED, "vendor/triton", "language.py", 3),)
PAGE = (Evidence(Method.DOCUMENTED, "vendor/triton", "load.md", 9),)
LISTED = TritonOperation(LIST)
LOAD = TritonOperation(PAGE, frozenset({"float16", "float32"}), frozenset({"float64"}))
SCALED = TritonOperation(PAGE, texts={"lhs_format": frozenset({"bf16"})})
COMPILER = TritonCompiler(
    "triton-v", LIST, {"load": LOAD, "store": LISTED, "exp": LISTED, "dot_scaled": SCALED},
    {"float8_e5m2": LIST}, most_programs=100, at_most=PAGE, unless="X=1",
)  # fmt: skip
KERNEL = KernelCode(
    "add", "net.py", 4, parameters=("x", "y", "n"),
    operations=(Operation("load", 5, ("x",)), Operation("store", 6, ("y",))),
)  # fmt: skip
LAUNCH = Launch(KERNEL, "net.py:9", dtypes=(("x", "float16"), ("y", "float16")), programs=4)


def judged(launch: Launch = LAUNCH, compiler: TritonCompiler | None = COMPILER) -> Judged:
    return judge(launch, compiler, "vendor", "Chip 1")


def calling(*operations: Operation, **changed: object) -> Launch:
    return replace(LAUNCH, kernel=replace(KERNEL, operations=operations, **changed))


def test_a_kernel_of_which_all_is_there_is_native_without_having_been_compiled() -> None:
    text = "triton-v has every operation that the kernel calls; nothing compiled it here"
    assert judged() == Judged(
        Verdict.NATIVE, "kernel-compiles", text, Confidence.MEDIUM, LIST
    )  # fmt: skip


@pytest.mark.parametrize(
    ("launch", "compiler"),
    [
        (replace(LAUNCH, dtypes=()), COMPILER),
        (LAUNCH, replace(COMPILER, evidence=(replace(LIST[0], method=Method.INFERRED),))),
    ],
    ids=["a dtype that was not followed", "a compiler that is inferred"],
)
def test_what_is_less_sure_is_native_with_low_confidence(
    launch: Launch, compiler: TritonCompiler
) -> None:
    found = judged(launch, compiler)
    assert (found.verdict, found.confidence) == (Verdict.NATIVE, Confidence.LOW)


@pytest.mark.parametrize(
    ("launch", "code", "text", "evidence"),
    [
        (
            replace(LAUNCH, dtypes=(("x", "float64"),)), "kernel-dtype-not-supported",
            "triton-v has no load of float64, which the kernel calls in line 5", PAGE,
        ),
        (
            calling(Operation("load", 5, ("float64",))), "kernel-dtype-not-supported",
            "triton-v has no load of float64, which the kernel calls in line 5", PAGE,
        ),
        (
            replace(LAUNCH, dtypes=(("x", "float8_e5m2"),)), "kernel-dtype-not-supported",
            "triton-v has no float8_e5m2 on Chip 1", LIST,
        ),
        (
            calling(Operation("dot_scaled", 8, (), (("lhs_format", "e4m3"),))),
            "kernel-operation-missing",
            "triton-v has no dot_scaled with lhs_format='e4m3', which the kernel calls in line 8",
            PAGE,
        ),
        (
            replace(LAUNCH, programs=101), "kernel-grid-too-large",
            "the grid has 101 programs, and triton-v launches at most 100, unless X=1 is set", PAGE,
        ),
    ],
)  # fmt: skip
def test_what_the_table_refuses_is_unsupported(
    launch: Launch, code: str, text: str, evidence: tuple[Evidence, ...]
) -> None:
    sure = Confidence.HIGH if evidence is LIST else Confidence.MEDIUM
    assert judged(launch) == Judged(Verdict.UNSUPPORTED, code, text, sure, evidence)


@pytest.mark.parametrize(
    ("launch", "text"),
    [
        (
            calling(Operation("sort", 7)),
            "nobody has said whether triton-v has sort, which the kernel calls in line 7",
        ),
        (
            replace(LAUNCH, dtypes=(("x", "int8"),)),
            "the pages of triton-v list no load of int8, which the kernel calls in line 5",
        ),
        (calling(unread=("helper",)), "the kernel calls helper, whose source was not read"),
        (calling(file=""), "the kernel's source was not read"),
    ],
)
def test_what_nobody_has_said_or_read_is_unknown(launch: Launch, text: str) -> None:
    found = judged(launch)
    assert (found.verdict, found.code, found.text, found.confidence) == (
        Verdict.UNKNOWN, "kernel-not-known", text, Confidence.LOW,
    )  # fmt: skip


def test_a_function_of_the_math_module_is_the_one_of_the_language() -> None:
    assert judged(calling(Operation("math.exp", 5))).verdict is Verdict.NATIVE


def test_a_target_of_which_nobody_has_said_anything_is_unknown() -> None:
    text = "nobody has said whether there is a Triton for vendor's devices"
    assert judged(compiler=None) == Judged(
        Verdict.UNKNOWN, "kernel-not-known", text, Confidence.LOW
    )


def test_a_target_without_triton_is_unsupported_with_what_a_launch_says() -> None:
    none = TritonCompiler("", PAGE, error="no driver")
    text = 'no Triton compiles for vendor\'s devices: a launch raises, "no driver"'
    assert judged(compiler=none) == Judged(
        Verdict.UNSUPPORTED, "kernel-compiler-missing", text, Confidence.MEDIUM, PAGE
    )


def test_a_compiler_in_doubt_refuses_what_it_refuses_and_is_unknown_else() -> None:
    doubted = replace(COMPILER, doubt="is for others alone")
    found = judged(compiler=doubted)
    assert (found.verdict, found.text) == (Verdict.UNKNOWN, "triton-v is for others alone")
    refused = judged(replace(LAUNCH, dtypes=(("x", "float64"),)), doubted)
    assert refused.verdict is Verdict.UNSUPPORTED


def test_of_several_reasons_the_first_line_is_told_with_their_number() -> None:
    found = judged(calling(Operation("sort", 9), Operation("gather", 7), Operation("flip", 8)))
    assert found.text == (
        "nobody has said whether triton-v has gather, which the kernel calls in line 7 (and 2 more)"
    )


IMPORTED = Launch(KernelCode("import", "net.py", 3), "net.py:3")


def test_an_import_of_what_no_host_of_the_device_can_have_is_unsupported() -> None:
    apple = TritonCompiler("", LIST, error="no driver", not_installed="No module named 'triton'")
    assert judge_import(IMPORTED, apple) == Judged(
        Verdict.UNSUPPORTED, "kernel-language-not-installed",
        "the model imports triton, which is not published for the hosts of this device: "
        "\"No module named 'triton'\"", Confidence.HIGH, LIST,
    )  # fmt: skip
    assert judge_import(IMPORTED, COMPILER) is None
    assert judge_import(IMPORTED, None) is None


def test_a_compiler_that_does_not_know_the_chip_raises_whatever_is_launched() -> None:
    found = judged(compiler=replace(COMPILER, error="no such target"))
    assert found == Judged(
        Verdict.UNSUPPORTED, "kernel-compiler-missing",
        'Triton does not compile for Chip 1: a launch raises, "no such target"',
        Confidence.HIGH, LIST,
    )  # fmt: skip


def test_a_dtype_that_is_loaded_and_stored_alone_is_refused_where_the_kernel_names_it() -> None:
    compiler = replace(COMPILER, computed=frozenset({"float8_e5m2"}))
    given = replace(LAUNCH, dtypes=(("y", "float8_e5m2"),))
    assert judged(given, compiler).verdict is Verdict.NATIVE
    named = replace(given, kernel=replace(KERNEL, dtypes=("float8_e5m2",)))
    assert judged(named, compiler).text == "triton-v has no float8_e5m2 on Chip 1"

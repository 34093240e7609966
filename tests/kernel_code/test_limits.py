"""What compilers and chips ask of a kernel's sizes, dtypes and launch, and what is left alone."""

import textwrap

import pytest
from msgspec.structs import replace

from opcheck.kernel_code.compare import judge
from opcheck.kernel_code.limits import beyond, evaluated
from opcheck.kernel_code.triton_reader import read_kernels
from opcheck.model.launches import ANY_STAGES, Called, KernelCode, Launch, TritonCompiler
from opcheck.model.verdict import Confidence, Verdict
from tests.emulate.matrices import matrix_of

HEAD = """
import triton
import triton.language as tl

@triton.jit
def helper(x):
    return tl.inline_asm_elementwise("{assembly}", "=f,f", [x], tl.float32, True, 1)

@triton.jit
def kernel(x_ptr, y_ptr, z_ptr, n, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
"""
GIVEN = Launch(
    KernelCode("kernel", "net.py", 1), "net.py:20",
    dtypes=(("x_ptr", "float16"), ("y_ptr", "float16"), ("z_ptr", "float32")),
    constants=(("K", "32"), ("M", "64"), ("N", "128")), warps=4, grid=(4,),
)  # fmt: skip
PRODUCT = """
rows, depth, columns = tl.arange(0, M), tl.arange(0, K), tl.arange(0, N)
x = tl.load(x_ptr + rows[:, None] * K + depth[None, :])
y = tl.load(y_ptr + depth[:, None] * N + columns[None, :])
tl.store(z_ptr + rows[:, None] * N + columns[None, :], tl.dot(x, y))
"""
HELD = """
rows, depth, columns = tl.arange(0, M), tl.arange(0, K), tl.arange(0, N)
x = tl.load(x_ptr + rows[:, None] * K + depth[None, :])
for at in range(0, n, N):
    y = tl.load(y_ptr + depth[:, None] + (at + columns)[None, :] * K)
    tl.store(z_ptr + rows[:, None] * N + columns[None, :], tl.dot(x, y))
"""
VECTOR = """
at = tl.arange(0, N)
tl.store(y_ptr + at, tl.load(x_ptr + at) + 1)
"""


def launch(body: str, assembly: str = "", **changed: object) -> Launch:
    text = HEAD.replace("{assembly}", assembly) + textwrap.indent(body, "    ")
    return replace(GIVEN, kernel=read_kernels(text, "net.py")["kernel"], **changed)


def refused(given: Launch, target: str) -> str:
    """What is said first of a launch that a target refuses; "" for none."""
    matrix = matrix_of(target)
    assert matrix.triton is not None
    found = next(iter(beyond(given, matrix.triton, matrix.chip_name)), None)
    if found is None:
        return ""
    assert (found.verdict, found.code) == (Verdict.UNSUPPORTED, "kernel-beyond-limit")
    whole = judge(given, matrix.triton, matrix.target.vendor, matrix.chip_name)
    assert whole.verdict is Verdict.UNSUPPORTED
    return found.text


def sized(**sizes: str) -> tuple[tuple[str, str], ...]:
    return tuple(sorted({**dict(GIVEN.constants), **sizes}.items()))


@pytest.mark.parametrize(
    ("given", "target", "text", "elsewhere"),
    [
        (
            launch(VECTOR, constants=sized(N="96")), "nvidia-h100@2.6.0",
            "triton has ranges of a power of two alone, and that of line 12 has 96 numbers",
            "ascend-910b@26.1.0+torch2.9",
        ),
        (
            launch(VECTOR, constants=sized(N="2097152")), "amd-mi300x@2.8.0",
            "triton has blocks of 1048576 elements at most, and that of line 12 has 2097152", "",
        ),
        (
            launch(PRODUCT, constants=sized(M="8")), "nvidia-a100@2.8.0",
            "triton multiplies blocks of 16, 16, 16 rows, columns and depth or more on NVIDIA "
            "A100, and that of line 15 has 8, 128, 32", "nvidia-a100@2.9.1",
        ),
        (
            launch(PRODUCT, constants=sized(M="8")), "amd-mi300x@2.6.0",
            "triton multiplies blocks of 16, 16, 8 rows, columns and depth or more on AMD "
            "Instinct MI300X, and that of line 15 has 8, 128, 32", "amd-mi300x@2.7.1",
        ),
        (
            launch(PRODUCT, constants=sized(M="4")), "intel-max@2.8.0",
            "triton-xpu multiplies blocks of 8, 16, 16 rows, columns and depth or more on Intel "
            "Data Center GPU Max, and that of line 15 has 4, 128, 32", "intel-max@2.9.1",
        ),
        (
            launch(PRODUCT, dtypes=(("x_ptr", "float16"), ("y_ptr", "bfloat16"))),
            "nvidia-h100@2.13.0",
            "triton multiplies blocks of one dtype alone, and those of line 15 are of float16 and "
            "bfloat16", "ascend-910b@26.1.0+torch2.9",
        ),
        (
            launch(VECTOR.replace("+ 1)", "* 2)").replace("tl.load", "tl.exp(tl.load") + ")"),
            "intel-max@2.9.1",
            "triton-xpu has no exp of float16, which the kernel calls in line 13",
            "nvidia-h100@2.3.1",
        ),
        (
            launch(VECTOR, warps=32), "amd-mi300x@2.8.0",
            "num_warps=32 asks for 2048 threads, and a block has 1024 at most on AMD Instinct "
            "MI300X", "amd-rx7900xt@2.8.0",
        ),
        (
            launch(VECTOR, clusters=2), "nvidia-a100@2.10.0",
            "triton has no num_ctas=2 on NVIDIA A100, where it is one", "nvidia-h100@2.10.0",
        ),
        (
            launch(VECTOR, grid=(1, 70000)), "nvidia-h100@2.10.0",
            "the grid has 70000 programs along its second or third axis, where NVIDIA H100 has "
            "65535 at most", "amd-mi300x@2.10.0",
        ),
        (
            launch(VECTOR, constants=sized(N="65536")), "ascend-910b@26.1.0+torch2.9",
            "the block of line 13 has 131072 bytes, and all blocks of a kernel have 98304 at most "
            "in a core of Ascend 910B", "nvidia-h100@2.10.0",
        ),
        (
            launch(HELD, constants=sized(M="128", K="128", N="64")), "nvidia-t4@2.13.0",
            "the product of line 16 keeps 98304 bytes or more in shared memory, as float32, and "
            "NVIDIA T4 has 65536 for a block of threads", "nvidia-a100@2.13.0",
        ),
        (
            launch(f"while n:\n{textwrap.indent(HELD, '    ')}"), "nvidia-h100@2.3.1",
            "triton does not compile products in loops of while on NVIDIA H100, such as that of "
            "line 17", "nvidia-h100@2.4.1",
        ),
        (
            launch("y = helper(tl.load(x_ptr))", "tanh.approx.f32 $0, $1;"), "amd-mi300x@2.13.0",
            "AMD Instinct MI300X does not run the inline assembly of line 7, which has f32",
            "nvidia-a100@2.13.0",
        ),
        (
            launch("y = helper(tl.load(x_ptr))", "cvt.rn.satfinite.e4m3x2.f32 $0, $1;"),
            "nvidia-a100@2.13.0",
            "NVIDIA A100 does not run the inline assembly of line 7, which has e4m3x2",
            "nvidia-rtx4090@2.13.0",
        ),
    ],
)  # fmt: skip
def test_what_is_beyond_a_limit_is_refused_where_it_holds(
    given: Launch, target: str, text: str, elsewhere: str
) -> None:
    assert refused(given, target) == text
    if elsewhere:
        assert refused(given, elsewhere) == ""


@pytest.mark.parametrize(
    ("given", "target"),
    [
        (launch(VECTOR), "nvidia-h100@2.10.0"),
        (launch(PRODUCT), "nvidia-h100@2.6.0"),
        (launch(PRODUCT, constants=sized(N="65536")), "ascend-910b@26.1.0+torch2.9"),
        (launch(VECTOR, constants=()), "nvidia-h100@2.10.0"),
        (launch(VECTOR, warps=64, stages=ANY_STAGES), "nvidia-h100@2.10.0"),
        (launch("y = helper(tl.load(x_ptr))", "v_exp_f32 $0, $1"), "amd-mi300x@2.13.0"),
        (
            launch("if N > 1:\n    y = helper(tl.load(x_ptr))", "tanh.approx.f32 $0, $1;"),
            "amd-mi300x@2.13.0",
        ),
        (launch(PRODUCT, dtypes=(("x_ptr", "float16"),)), "nvidia-h100@2.6.0"),
        (launch(PRODUCT, constants=sized(M="128", K="128", N="64")), "nvidia-t4@2.13.0"),
        (launch(HELD, dtypes=()), "nvidia-t4@2.13.0"),
        (launch(HELD), "nvidia-h100@2.3.1"),
    ],
    ids=[
        "a block that fits", "a product that fits", "blocks of a product",
        "sizes that were not followed", "threads that an autotuner chooses", "AMD's own assembly",
        "assembly that some runs alone reach",
        "a dtype that was not followed", "operands one after another", "of no known dtype",
        "a product in no while",
    ],
)  # fmt: skip
def test_what_may_be_there_is_not_refused(given: Launch, target: str) -> None:
    assert refused(given, target) == ""


def calls(body: str) -> tuple[Called, ...]:
    return launch(body).kernel.calls


def test_sizes_and_dtypes_are_followed_through_what_a_kernel_computes() -> None:
    found = calls(
        """
        HALF: tl.constexpr = M // 2
        rows, columns = tl.arange(0, HALF), tl.arange(N, 2 * N)
        x = tl.load(x_ptr + rows[:, None] * n + columns[None, :]).to(tl.float32)
        most = tl.max(x, axis=1)
        weights = tl.exp2((x - most[:, None]) * 1.4)
        whole = tl.zeros([HALF, K], dtype=tl.float32)
        for at in range(0, n, N):
            y = tl.load(y_ptr + columns[:, None] + tl.arange(0, K)[None, :])
            whole += tl.dot(tl.trans(tl.trans(x)), y.to(z_ptr.dtype.element_ty))
        tl.store(z_ptr, tl.sqrt(tl.sum(whole, 0)))
        """.replace("\n        ", "\n")
    )
    half = "M // 2"
    assert found == (
        Called("arange", 13, ("2 * N - N",)),
        Called("arange", 13, (half,)),
        Called("arange", 19, ("K",)),
        Called("block", 14, (half, "2 * N - N"), ("*x_ptr",)),
        Called("block", 17, (half, "K"), ("float32",)),
        Called("block", 19, ("2 * N - N", "K"), ("*y_ptr",)),
        Called("dot", 20, (half, "2 * N - N", "K"), ("float32", "*z_ptr"), "held"),
        Called("sqrt", 21, dtypes=("float32",)),
    )


@pytest.mark.parametrize(
    "body",
    [
        "if n:\n    x = tl.exp(tl.load(x_ptr + tl.arange(0, M)))",
        "x = tl.load(x_ptr)\nif n:\n    x = x.to(tl.float32)\ny = tl.exp(x)",
        "x = tl.load(x_ptr) * tl.load(y_ptr)\ny = tl.exp(x)",
    ],
    ids=["in a branch", "bound in a branch", "of two dtypes"],
)
def test_what_a_source_does_not_tell_plainly_is_left_out(body: str) -> None:
    assert calls(body) == ()


def test_functions_of_the_model_s_own_are_told_by_name_and_what_they_give_is_not_followed() -> None:
    assert calls("x = tl.exp(other(x_ptr) + float(1))") == (Called("call", 11, text="other"),)


def test_describing_a_block_gives_its_sizes() -> None:
    found = calls(
        "p = tl.make_block_ptr(x_ptr, (n, n), (n, 1), (0, 0), (M, K), (1, 0))\n"
        "d = tl.make_tensor_descriptor(y_ptr, shape=[n, n], strides=[n, 1], block_shape=[K, N])\n"
        "whole = tl.dot(tl.load(p), d.load([0, 0]))\n"
    )
    assert found == (
        Called("block", 13, ("K", "N"), ("*y_ptr",)),
        Called("block", 13, ("M", "K"), ("*x_ptr",)),
        Called("dot", 13, ("M", "K", "N"), ("*x_ptr", "*y_ptr")),
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("64", 64), ("M", 8), ("(M // 2) * 3 - N + 1", 9), ("M / 2", None), ("M // 0", None),
        ("True", None), ("other", None), ("f(M)", None), ("None", None), ("(", None),
    ],
)  # fmt: skip
def test_a_size_is_a_number_where_its_constants_are(text: str, expected: int | None) -> None:
    assert evaluated(text, {"M": "8", "N": "4", "other": "fp16"}) == expected


def test_what_code_says_is_surer_than_what_users_saw() -> None:
    compiler = matrix_of("nvidia-a100@2.10.0").triton
    assert isinstance(compiler, TritonCompiler)
    (clusters,) = beyond(launch(VECTOR, clusters=2), compiler, "c")
    (grid,) = beyond(launch(VECTOR, grid=(1, 70000)), compiler, "c")
    assert (clusters.confidence, grid.confidence) == (Confidence.HIGH, Confidence.MEDIUM)


@pytest.mark.parametrize(
    ("given", "target", "doubted"),
    [
        (launch(PRODUCT, constants=sized(N="64"), warps=8), "nvidia-h100@2.5.1", True),
        (launch(PRODUCT, constants=sized(N="64"), warps=8), "nvidia-h100@2.7.1", False),
        (launch(PRODUCT, constants=sized(N="64"), warps=8), "nvidia-a100@2.5.1", False),
        (launch(PRODUCT, constants=sized(N="64"), warps=4), "nvidia-h100@2.5.1", False),
        (launch(PRODUCT, warps=8), "nvidia-h100@2.5.1", False),
    ],
    ids=["as users had it", "mended", "on Ampere", "fewer warps", "more columns"],
)
def test_what_users_saw_abort_is_unknown(given: Launch, target: str, doubted: bool) -> None:
    matrix = matrix_of(target)
    found = judge(given, matrix.triton, "nvidia", matrix.chip_name)
    assert (found.verdict is Verdict.UNKNOWN) is doubted
    if doubted:
        assert (found.code, found.text) == (
            "kernel-may-abort",
            "users saw triton abort on NVIDIA H100 where blocks of 64 rows and columns are "
            "multiplied with num_warps=8, as in line 15",
        )

"""What a kernel loads in loops for the products there, and whether a chip can keep it."""

import textwrap

import pytest
from msgspec.structs import replace

from opcheck.kernel_code.judged import Judged
from opcheck.kernel_code.shared_memory import too_large
from opcheck.kernel_code.triton_reader import read_kernels
from opcheck.model.launches import ANY_STAGES, Block, KernelCode, Launch, TritonCompiler
from opcheck.model.verdict import Confidence, Evidence, Method, Verdict

HEAD = "import triton\nimport triton.language as tl\n\n@triton.jit\n"
SHARED = (Evidence(Method.TESTED, "vendor/thread", "issues/8"),)
PAGE = (Evidence(Method.REGISTERED, "vendor/triton", "language.py", 3),)
COMPILER = TritonCompiler("triton", PAGE, shared_memory=65536, stages=3, kept_in_shared=SHARED)


def blocks(body: str) -> tuple[Block, ...]:
    parameters = "a_ptr, b_ptr, n, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr"
    text = f"{HEAD}def kernel({parameters}):\n{textwrap.indent(textwrap.dedent(body), '    ')}"
    return read_kernels(text, "net.py")["kernel"].blocks


def test_blocks_of_the_loop_that_multiplies_them_are_found_with_their_sizes() -> None:
    found = blocks(
        """
        rows, depth = tl.arange(0, M), tl.arange(0, K)
        columns = tl.program_id(1) * N + tl.arange(0, N)
        held = tl.load(a_ptr + rows[:, None] * n + columns[None, :])
        left = a_ptr + rows[:, None] * n + depth[None, :]
        whole = tl.zeros((M, N), tl.float32)
        for at in range(0, n, K):
            a = tl.load(left, mask=depth[None, :] < n - at, other=0.0)
            b = tl.load(b_ptr + (at + depth)[:, None] + columns[None, :] * 64)
            mask = tl.load(b_ptr + rows[:, None] + columns[None, :])
            whole += tl.dot(a, tl.trans(b)) * tl.dot(held, b.T) + mask
            left += K
        """
    )
    assert found == (Block("a_ptr", 13, ("M", "K")), Block("b_ptr", 14, ("K", "N")))


@pytest.mark.parametrize(
    "body",
    [
        "rows = tl.arange(0, M)\na = tl.load(a_ptr + rows[:, None])\ntl.dot(a, a)",  # in no loop
        "for at in range(n):\n    a = tl.load(a_ptr + at)\n    tl.dot(a, a)",  # of no size
        "rows = tl.arange(0, M)\nfor at in tl.static_range(4):\n"
        "    a = tl.load(a_ptr + rows[:, None])\n    tl.dot(a, a)",  # unrolled
        "rows = tl.arange(0, M)\nfor at in tl.range(0, n, num_stages=1):\n"
        "    a = tl.load(a_ptr + rows[:, None])\n    tl.dot(a, a)",  # with stages of its own
        "for at in range(n):\n    a = tl.load(b(a_ptr))\n    tl.dot(a, a)",  # not followed
        "rows = tl.arange(0, M)\nfor at in range(n):\n    a = tl.load(a_ptr + rows)\n"
        "    a = a.to(tl.float16)\n    tl.dot(a, a)",  # cast before
    ],
)
def test_what_is_not_followed_is_left_out(body: str) -> None:
    assert blocks(body) == ()


def launch(**changed: object) -> Launch:
    code = KernelCode(
        "kernel", "net.py", 4, blocks=(Block("a", 9, ("M", "64")), Block("b", 10, ("64", "N")))
    )
    made = Launch(
        code, "net.py:20", dtypes=(("a", "float16"), ("b", "float32")),
        constants=(("M", "64"), ("N", "128")),
    )  # fmt: skip
    return replace(made, **changed)


def in_two_loops() -> Launch:
    made = launch()
    first, second = made.kernel.blocks
    code = replace(made.kernel, blocks=(first, replace(second, loop=2)))
    return replace(made, kernel=code)


def test_blocks_are_kept_once_for_each_stage_less_one() -> None:
    (found,) = too_large(launch(), COMPILER, "Chip 1")
    assert found == Judged(
        Verdict.UNSUPPORTED, "kernel-blocks-too-large",
        "the kernel keeps blocks of 81920 bytes or more in shared memory, for num_stages=3, and "
        "Chip 1 has 65536 for a block of threads",
        Confidence.MEDIUM, SHARED,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("given", "compiler"),
    [
        (launch(stages=2), COMPILER),
        (launch(stages=1), COMPILER),
        (launch(stages=1, constants=(("M", "256"), ("N", "128"))), COMPILER),  # one after another
        (launch(stages=ANY_STAGES), COMPILER),  # of an autotuner
        (launch(constants=(("M", "64"), ("N", "n"))), COMPILER),
        (launch(dtypes=(("a", "float16"),)), COMPILER),
        (in_two_loops(), COMPILER),
        (launch(), replace(COMPILER, shared_memory=0)),
        (launch(), replace(COMPILER, shared_memory=81920)),
    ],
)
def test_what_may_fit_is_not_refused(given: Launch, compiler: TritonCompiler) -> None:
    assert list(too_large(given, compiler, "Chip 1")) == []

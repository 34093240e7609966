"""Functions under ``@triton.jit`` in sources, with what they call of Triton's language."""

import pytest

from tests.lint.helpers import lint

KERNEL = """
import triton
import triton.language as tl

@triton.jit
def kernel(x_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK)).to({dtype})
    tl.store(x_ptr + tl.arange(0, BLOCK), {call})
"""


def told(target: str, dtype: str = "tl.float32", call: str = "tl.exp(x)") -> list[tuple[str, str]]:
    """(verdict, text) of every kernel."""
    found = lint(KERNEL.format(dtype=dtype, call=call), target).findings
    return [(str(each.verdict), each.text) for each in found if each.code == "triton-kernel"]


@pytest.mark.parametrize(
    ("target", "changed", "expected"),
    [
        (
            "nvidia-h100@2.13.0", {},
            (
                "native",
                "triton has every operation that the kernel calls; nothing compiled it here",
            ),
        ),
        (
            "nvidia-a100@2.13.0", {"dtype": "tl.float8e4nv"},
            ("unsupported", "triton has no float8_e4m3fn on a100"),
        ),
        (
            "ascend-910b@26.1.0+torch2.7", {"dtype": "tl.float64"},
            (
                "unsupported",
                "triton-ascend has no exp of float64, which the kernel calls in line 8",
            ),
        ),
        (
            "ascend-910b@26.1.0+torch2.7", {"call": "tl.rand(1, x)"},
            (
                "native",
                "triton-ascend has every operation that the kernel calls; nothing compiled it here",
            ),
        ),
        (
            "nvidia-h100@2.6.0", {"call": "tl.topk(x, 2)"},
            (
                "unknown",
                "nobody has said whether triton has topk, which the kernel calls in line 8",
            ),
        ),
        (
            "apple-mps", {},
            (
                "unsupported",
                "no Triton compiles for apple's devices: a launch raises, "
                '"0 active drivers ([]). There should only be one."',
            ),
        ),
        (
            "ascend-310p", {},
            (
                "unsupported",
                "Triton does not compile for 310p: a launch raises, \"bishengir-compile: for the "
                "--target option: Cannot find option named 'Ascend310P3'!\"",
            ),
        ),
    ],
)  # fmt: skip
def test_a_kernel_is_compared_with_the_target_s_triton(
    target: str, changed: dict[str, str], expected: tuple[str, str]
) -> None:
    assert told(target, **changed) == [expected]


def test_a_kernel_that_nests_deeper_than_python_follows_is_unknown() -> None:
    ((verdict, text),) = told("nvidia-h100@2.13.0", call="+".join(["x"] * 700))
    assert (verdict, text) == ("unknown", "the kernel calls kernel, whose source was not read")

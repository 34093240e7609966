"""What is seen in C++ and CUDA sources."""

import pytest

from opcheck.lint.sources import KernelSource
from tests.lint.helpers import lint

KERNEL = r"""#include <cuda_runtime.h>
#include "cutlass/gemm/device/gemm.h"
#include <vector>
// #include <cub/cub.cuh> and __global__ in a comment
/* kernel<<<1, 2>>>(); */
const char* text = "run<<<1>>> \" __global__";
const char* raw = R"x(k<<<1>>>)x";
__global__ void add(float* a) { asm volatile("mov.u32 %0, %laneid;" : "=r"(i)); }
void run() { add<float><<<grid, 1'000, 0, stream>>>(p); }  // opcheck: ignore[nccl]
"""


def test_code_is_read_and_comments_and_strings_are_not() -> None:
    assert lint(KERNEL, name="k.cu").shown == [
        "cuda-library@1 unsupported",
        "cuda-library@2 unsupported",
        "cuda-kernel@8 unsupported",
        "ptx-assembly@8 unsupported",
        "cuda-kernel@9 unsupported",
    ]


def test_rocm_turns_most_of_it_into_hip() -> None:
    assert lint(KERNEL, "amd-mi300x", "k.cu").shown == [
        "cuda-library@1 caution",
        "cuda-library@2 unknown",
        "cuda-kernel@8 caution",
        "ptx-assembly@8 unsupported",
        "cuda-kernel@9 caution",
    ]
    assert lint(KERNEL, "nvidia-h100", "k.cu").shown == []


def test_assembly_for_the_host_is_no_matter() -> None:
    assert lint('void f() { asm volatile("pause"); }', name="k.cpp").shown == []


def test_a_kernel_is_named() -> None:
    found = lint(
        "template <int N>\n__global__ static void\nk1(int a);\nk1<3><<<1, 2>>>(4);", name="k.cuh"
    )
    assert [one.written for one in found.findings] == ["__global__ k1", "k1<<<>>>"]


@pytest.mark.parametrize("text", [KERNEL, "'", '"', 'R"(', "/*", "//\\\n<<<", "\r\n\r<<<", ""])
def test_what_is_blanked_keeps_every_place(text: str) -> None:
    code = KernelSource(text, ".cu").code
    assert len(code) == len(text)
    assert [c for c in code if c in "\r\n"] == [c for c in text if c in "\r\n"]


def test_bounds_of_a_launch_are_no_name() -> None:
    source = "__global__ void __launch_bounds__(K::threads, K::blocks)\nk2(int a) {}"
    assert [one.written for one in lint(source, name="k.cu").findings] == ["__global__ k2"]


def test_headers_of_ones_own_are_no_library() -> None:
    assert lint('#include "cublas_wrappers.h"\n#include "cuda_utils.h"', name="k.cu").shown == []

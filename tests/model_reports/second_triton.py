"""What users met with kernels written in Triton: the second sample."""

from tests.model_reports.report import Met, ModelReport, python
from tests.model_reports.triton_kernels import TRITON, launched

TRITON_HEAD = """
import torch
import triton
import triton.language as tl
from torch import nn
"""
_DOT = (
    TRITON_HEAD
    + """
@triton.jit
def kernel(a_ptr, b_ptr, c_ptr, SIZE: tl.constexpr):
    at = tl.arange(0, SIZE)[:, None] * SIZE + tl.arange(0, SIZE)[None, :]
    tl.store(c_ptr + at, tl.dot(tl.load(a_ptr + at), tl.load(b_ptr + at)))

class Layer(nn.Module):
    def forward(self, a, b):
        c = torch.empty(a.shape, dtype=torch.float32, device=a.device)
        kernel[(1,)](a, b, c, SIZE=64)
        return c

def model():
    a = torch.ones(64, 64).to(torch.float8_e4m3fn)
    return Layer(), (a, a.clone())
"""
)
_MEDIAN = (
    TRITON_HEAD
    + """
@triton.jit
def kernel(x_ptr, y_ptr, rows, columns, K: tl.constexpr, BLOCK: tl.constexpr):
    for row in range(tl.program_id(0), rows, tl.num_programs(0)):
        at = tl.arange(0, BLOCK)
        mask = at < columns
        raw = tl.load(x_ptr + row * columns + at, mask=mask, other=0)
        values = tl.where(mask, raw.to(tl.float32), tl.full((BLOCK,), float("inf"), tl.float32))
        ordered = tl.sort(values, descending=False)
        tl.store(y_ptr + row, tl.sum(tl.where(at == K, ordered, 0.0), axis=0))

class Layer(nn.Module):
    def forward(self, x):
        y = torch.empty(x.shape[0], device=x.device)
        kernel[(4,)](x, y, x.shape[0], x.shape[1], K=15, BLOCK=32)
        return y

def model():
    return Layer(), (torch.randn(8, 32),)
"""
)
_ADDED = (
    TRITON_HEAD
    + """
@triton.jit
def kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    tl.atomic_add(y_ptr + at, x, mask=at < n)

class Layer(nn.Module):
    def forward(self, x):
        y = torch.zeros_like(x)
        kernel[(4,)](x, y, x.numel(), BLOCK=64)
        return y

def model():
    return Layer(), (torch.ones(256, dtype=torch.{dtype}),)
"""
)
ATTENTION = (
    TRITON_HEAD
    + """
@triton.jit
def kernel(q_ptr, k_ptr, v_ptr, o_ptr, n, scale, D: tl.constexpr, M: tl.constexpr,
           N: tl.constexpr):
    rows = tl.program_id(0) * M + tl.arange(0, M)
    wide = tl.arange(0, D)
    q = tl.load(q_ptr + rows[:, None] * D + wide[None, :])
    most = tl.full((M,), float("-inf"), tl.float32)
    whole = tl.zeros((M,), tl.float32)
    out = tl.zeros((M, D), tl.float32)
    for start in range(0, n, N):
        at = start + tl.arange(0, N)
        k = tl.load(k_ptr + at[None, :] * D + wide[:, None])
        scores = tl.dot(q, k) * scale
        now = tl.maximum(most, tl.max(scores, 1))
        weights = tl.exp(scores - now[:, None])
        decay = tl.exp(most - now)
        v = tl.load(v_ptr + at[:, None] * D + wide[None, :])
        out = out * decay[:, None] + tl.dot(weights.to(tl.bfloat16), v)
        whole = whole * decay + tl.sum(weights, 1)
        most = now
    tl.store(o_ptr + rows[:, None] * D + wide[None, :], (out / whole[:, None]).to(tl.bfloat16))

class Layer(nn.Module):
    def forward(self, q, k, v):
        out = torch.empty_like(q)
        kernel[(q.shape[0] // 128,)](
            q, k, v, out, k.shape[0], 0.088, D=128, M=128, N=128, num_warps=8, num_stages=3
        )
        return out

def model():
    q = torch.randn(1024, 128).bfloat16()
    return Layer(), (q, q.clone(), q.clone())
"""
)

REPORTS = (
    ModelReport(
        "MI300X: float8 with a bias of 15", "vllm-project/vllm#43804",
        "type fp8e4b15 not supported in this architecture, of gfx942, in May 2026",
        {"amd-mi300x@2.11.0": Met.REFUSED},
        python(launched(
            "y = x.to(tl.float8e4b15, bitcast=True).to(tl.float32)", given="uint8",
            dtype="float32",
        )), TRITON,
    ),
    ModelReport(
        "MI300X: float8 with a bias of 8", "triton-lang/triton#3634",
        "casts from and to fp8e4b8 are there for MI300X since April 2024",
        {"amd-mi300x@2.4.1": Met.WORKS},
        python(launched("y = x.to(tl.float8e4b8).to(tl.float32)")), TRITON,
    ),
    ModelReport(
        "MI300X: a product of float8", "triton-lang/triton#6955",
        "float8_e4m3fn given to tl.dot: no match found in MFMA database, in May 2025",
        {"amd-mi300x@2.7.1": Met.REFUSED}, python(_DOT), TRITON,
    ),
    ModelReport(
        "Ascend: a median by tl.sort", "triton-lang/triton-ascend#1495",
        "'builtin.unrealized_conversion_cast' op Unsupported user for root alloc op",
        {"ascend-910b@26.1.0": Met.REFUSED}, python(_MEDIAN), TRITON,
    ),
    ModelReport(
        "Arc: float64 added up", "intel/intel-xpu-backend-for-triton#1548",
        "atomics of float64 raise Triton Error [ZE]: 0x70000004 on an A770",
        {"intel-arc@2.5.1": Met.REFUSED}, python(_ADDED.replace("{dtype}", "float64")), TRITON,
    ),
    ModelReport(
        "PVC: float16 added up", "intel/intel-xpu-backend-for-triton#962",
        "atomics of float16 are emulated since April 2024",
        {"intel-max@2.5.1": Met.WORKS}, python(_ADDED.replace("{dtype}", "float16")), TRITON,
    ),
    ModelReport(
        "Ampere: bfloat16 added up by a kernel", "triton-lang/triton#1387",
        "tl.atomic_add does not support bfloat16, in 2023",
        {"nvidia-a100@2.1.2": Met.REFUSED}, python(_ADDED.replace("{dtype}", "bfloat16")), TRITON,
    ),
    ModelReport(
        "bfloat16 added up since Triton 3.4", "triton-lang/triton#6519",
        "tl.atomic_add of bfloat16 runs on A100, H100 and MI300 since April 2025",
        {
            "nvidia-a100@2.8.0": Met.WORKS, "nvidia-h100@2.8.0": Met.WORKS,
            "amd-mi300x@2.8.0": Met.WORKS,
        },
        python(_ADDED.replace("{dtype}", "bfloat16")), TRITON,
    ),
    ModelReport(
        "RTX 4090: attention with large blocks", "ByteDance-Seed/FlexPrefill#8",
        "out of resource: shared memory, Required: 163842, Hardware limit: 101376",
        {"nvidia-rtx4090@2.6.0": Met.REFUSED}, python(ATTENTION), TRITON,
    ),
)  # fmt: skip

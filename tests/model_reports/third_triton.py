"""What users met with kernels written in Triton: the third sample.

Left out are threads that do not show their kernel.
"""

from tests.model_reports.report import Met, ModelReport, python
from tests.model_reports.second_triton import ATTENTION, TRITON_HEAD
from tests.model_reports.triton_kernels import TRITON, launched

_EXPERTS = (
    TRITON_HEAD
    + """
@triton.jit
def kernel(a_ptr, b_ptr, c_ptr, tokens_ptr, experts_ptr, n, k, total, TOP: tl.constexpr,
           M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    block, column = tl.program_id(0), tl.program_id(1)
    tokens = tl.load(tokens_ptr + block * M + tl.arange(0, M))
    kept = tokens < total
    columns = (column * N + tl.arange(0, N)) % n
    depth = tl.arange(0, K)
    expert = tl.load(experts_ptr + block)
    a = a_ptr + (tokens[:, None] // TOP) * k + depth[None, :]
    b = b_ptr + expert * n * k + depth[:, None] + columns[None, :] * k
    whole = tl.zeros((M, N), tl.float32)
    for start in range(0, k, K):
        left = tl.load(a, mask=kept[:, None] & (depth[None, :] < k - start), other=0.0)
        right = tl.load(b, mask=depth[:, None] < k - start, other=0.0)
        whole += tl.dot(left, right)
        a += K
        b += K
    at = c_ptr + tokens[:, None] * n + columns[None, :]
    tl.store(at, whole.to(tl.bfloat16), mask=kept[:, None] & (columns[None, :] < n))

class Layer(nn.Module):
    def forward(self, x, weights, tokens, experts):
        out = torch.empty(64, weights.shape[1], dtype=x.dtype, device=x.device)
        kernel[(experts.shape[0], weights.shape[1] // 64)](
            x, weights, out, tokens, experts, weights.shape[1], x.shape[1], 64, TOP=2, M=16,
            N=64, K=64,
        )
        return out

def model():
    x, weights = torch.randn(32, 128).bfloat16(), torch.randn(8, 896, 128).bfloat16()
    tokens = torch.arange(64, dtype=torch.int32)
    return Layer(), (x, weights, tokens, torch.arange(4, dtype=torch.int32))
"""
)
_PACKED = (
    TRITON_HEAD
    + """
@triton.jit
def kernel(a_ptr, b_ptr, c_ptr, k, n, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rows, columns, depth = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    a = a_ptr + rows[:, None] * k + depth[None, :]
    b = b_ptr + (depth[:, None] // 8) * n + columns[None, :]
    shift = (depth[:, None] % 8) * 4
    whole = tl.zeros((M, N), tl.float32)
    for _ in range(0, k, K):
        right = ((tl.load(b) >> shift) & 15).to(tl.float16)
        whole = tl.dot(tl.load(a), right, whole)
        a += K
        b += K // 8 * n
    tl.store(c_ptr + rows[:, None] * n + columns[None, :], whole.to(tl.float16))

class Layer(nn.Module):
    def forward(self, x, packed):
        out = torch.empty(x.shape[0], packed.shape[1], dtype=x.dtype, device=x.device)
        kernel[(1,)](x, packed, out, x.shape[1], packed.shape[1], M=16, N=64, K=32)
        return out

def model():
    return Layer(), (torch.ones(16, 256).half(), torch.ones(32, 64, dtype=torch.int32))
"""
)
_SCALED = (
    TRITON_HEAD
    + """
@triton.jit
def kernel(a_ptr, s_ptr, b_ptr, t_ptr, c_ptr, M: tl.constexpr, N: tl.constexpr,
           K: tl.constexpr):
    rows, columns, depth = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    groups = tl.arange(0, K // 32)
    a = tl.load(a_ptr + rows[:, None] * K + depth[None, :])
    b = tl.load(b_ptr + depth[:, None] * N + columns[None, :])
    s = tl.load(s_ptr + rows[:, None] * (K // 32) + groups[None, :])
    t = tl.load(t_ptr + columns[:, None] * (K // 32) + groups[None, :])
    found = tl.dot_scaled(a, s, "e5m2", b, t, "e5m2")
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], found.to(tl.bfloat16))

class Layer(nn.Module):
    def forward(self, a, s, b, t):
        out = torch.empty(128, 128, dtype=torch.bfloat16, device=a.device)
        kernel[(1,)](a, s, b, t, out, M=128, N=128, K=64, num_warps=4)
        return out

def model():
    a, b = torch.zeros(128, 64, dtype=torch.uint8), torch.zeros(64, 128, dtype=torch.uint8)
    s, t = torch.full((128, 2), 127).to(torch.uint8), torch.full((128, 2), 127).to(torch.uint8)
    return Layer(), (a, s, b, t)
"""
)
_VARIED = (
    TRITON_HEAD
    + """
@triton.jit
def kernel(q_ptr, k_ptr, v_ptr, o_ptr, q_starts, k_starts, scale, D: tl.constexpr,
           M: tl.constexpr, N: tl.constexpr):
    batch = tl.program_id(1)
    first, last = tl.load(q_starts + batch), tl.load(q_starts + batch + 1)
    begin, end = tl.load(k_starts + batch), tl.load(k_starts + batch + 1)
    rows, wide = tl.program_id(0) * M + tl.arange(0, M), tl.arange(0, D)
    kept = rows < last - first
    q = tl.load(q_ptr + (first + rows)[:, None] * D + wide[None, :], mask=kept[:, None], other=0.0)
    most = tl.full((M,), float("-inf"), tl.float32)
    whole = tl.zeros((M,), tl.float32)
    out = tl.zeros((M, D), tl.float32)
    for start in range(0, end - begin, N):
        at = start + tl.arange(0, N)
        there = at < end - begin
        k = tl.load(k_ptr + (begin + at)[None, :] * D + wide[:, None], mask=there[None, :])
        scores = tl.where(there[None, :], tl.dot(q, k) * scale, float("-inf"))
        now = tl.maximum(most, tl.max(scores, 1))
        weights = tl.exp(scores - now[:, None])
        decay = tl.exp(most - now)
        v = tl.load(v_ptr + (begin + at)[:, None] * D + wide[None, :], mask=there[:, None])
        out = out * decay[:, None] + tl.dot(weights.to(v.dtype), v)
        whole = whole * decay + tl.sum(weights, 1)
        most = now
    found = (out / whole[:, None]).to(tl.float16)
    tl.store(o_ptr + (first + rows)[:, None] * D + wide[None, :], found, mask=kept[:, None])

class Layer(nn.Module):
    def forward(self, q, k, v, starts):
        out = torch.empty_like(q)
        kernel[(2, starts.shape[0] - 1)](q, k, v, out, starts, starts, 0.125, D=64, M=32, N=32)
        return out

def model():
    q, starts = torch.randn(96, 64).half(), torch.tensor([0, 32, 96], dtype=torch.int32)
    return Layer(), (q, q.clone(), q.clone(), starts)
"""
)
_SPARSE = (
    TRITON_HEAD
    + """
@triton.jit
def kernel(q_ptr, k_ptr, v_ptr, o_ptr, chosen_ptr, scale, count, D: tl.constexpr,
           M: tl.constexpr, N: tl.constexpr):
    row = tl.program_id(0)
    heads, wide = tl.arange(0, M), tl.arange(0, D)
    q = tl.load(q_ptr + (row * M + heads)[:, None] * D + wide[None, :])
    most = tl.full((M,), float("-inf"), tl.float32)
    whole = tl.zeros((M,), tl.float32)
    out = tl.zeros((M, D), tl.float32)
    for start in range(0, count, N):
        chosen = tl.load(chosen_ptr + row * count + start + tl.arange(0, N))
        k = tl.load(k_ptr + chosen[:, None] * D + wide[None, :])
        scores = tl.dot(q, tl.trans(k)) * scale
        now = tl.maximum(most, tl.max(scores, 1))
        weights = tl.exp(scores - now[:, None])
        decay = tl.exp(most - now)
        v = tl.load(v_ptr + chosen[:, None] * D + wide[None, :])
        out = out * decay[:, None] + tl.dot(weights.to(v.dtype), v)
        whole = whole * decay + tl.sum(weights, 1)
        most = now
    found = (out / whole[:, None]).to(tl.float16)
    tl.store(o_ptr + (row * M + heads)[:, None] * D + wide[None, :], found)

class Layer(nn.Module):
    def forward(self, q, k, v, chosen):
        out = torch.empty_like(q)
        kernel[(chosen.shape[0],)](q, k, v, out, chosen, 0.125, chosen.shape[1], D=64, M=16, N=32)
        return out

def model():
    q, k = torch.randn(4, 16, 64).half(), torch.randn(256, 64).half()
    chosen = torch.arange(256, dtype=torch.int32).reshape(4, 64)
    return Layer(), (q, k, k.clone(), chosen)
"""
)
_WIDE = (
    ATTENTION.replace(".bfloat16()", "")
    .replace(".to(tl.bfloat16)", "")
    .replace("1024, 128", "1024, 64")
    .replace("D=128", "D=64")
    .replace("0.088", "0.125")
)

REPORTS = (
    ModelReport(
        "RX 7900: a mixture of experts", "triton-lang/triton#10808",
        "the fused kernel of experts is built and faults on a W7900 (gfx1100), with 2.5.1",
        {"amd-rx7900xt@2.5.1": Met.REFUSED}, python(_EXPERTS), TRITON,
    ),
    ModelReport(
        "Ampere and Hopper: packed bits in a loop", "triton-lang/triton#4922",
        "mma16816 data type not supported, with Triton 3.1.0, which an RTX 2080 Ti runs",
        {
            "nvidia-a100@2.5.1": Met.REFUSED, "nvidia-h100@2.5.1": Met.REFUSED,
            "nvidia-t4@2.5.1": Met.WORKS,
        },
        python(_PACKED), TRITON,
    ),
    ModelReport(
        "Arc: a product with scales", "intel/intel-xpu-backend-for-triton#3016",
        "Cannot compile a kernel in the SIMD mode specified: dot_scaled on an A770",
        {"intel-arc@2.6.0": Met.REFUSED}, python(_SCALED), TRITON,
    ),
    ModelReport(
        "Arc: a kernel that prints", "intel/intel-xpu-backend-for-triton#5815",
        "UR_RESULT_ERROR_INVALID_ARGUMENT: device_print does not work on an A770, January 2026",
        {"intel-arc@2.10.0": Met.REFUSED},
        python(launched('tl.device_print("x", x)\n    y = x')), TRITON,
    ),
    ModelReport(
        "Ascend: attention of varied lengths", "flagos-ai/FlagTree#304",
        "'tensor.empty' op Unsupported op for finding the root alloc, of a 910B3",
        {"ascend-910b@7.3.0": Met.REFUSED}, python(_VARIED), TRITON,
    ),
    ModelReport(
        "Ascend: sparse attention", "triton-lang/triton-ascend#448",
        "what runs on a 910B fails on a 950: Failed to run buildFinalHIVMPipelines pipeline",
        {"ascend-910b@26.0.0": Met.WORKS, "ascend-950@26.0.0": Met.REFUSED}, python(_SPARSE),
        TRITON,
    ),
    ModelReport(
        "910B4-1: any kernel", "sgl-project/sglang#16360",
        "bishengir-compile: Cannot find option named 'Ascend910B4-1', in January 2026",
        {"ascend-910b@7.3.0": Met.REFUSED}, python(launched("y = x * 2")), TRITON,
    ),
    ModelReport(
        "A10G: attention of float32", "catie-aq/flashT5#6",
        "out of resource: shared memory, Required: 163840, Hardware limit: 101376; made for A100",
        {"nvidia-rtx4090@2.4.1": Met.REFUSED, "nvidia-a100@2.4.1": Met.WORKS}, python(_WIDE),
        TRITON,
    ),
)  # fmt: skip

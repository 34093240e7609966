"""What users met with kernels written in Triton: the fifth sample.

Left out are threads that neither show nor name their kernel, those that do not say which device,
and those that tell of the same kernel, device and release as one that was taken before.
"""

from tests.model_reports.report import Met, ModelReport, python
from tests.model_reports.second_triton import ATTENTION, TRITON_HEAD
from tests.model_reports.triton_kernels import TRITON, launched

_PRODUCT = (
    TRITON_HEAD
    + """
@triton.jit
def kernel(a_ptr, b_ptr, c_ptr, k, n, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rows, columns, depth = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    a = a_ptr + rows[:, None] * k + depth[None, :]
    b = b_ptr + depth[:, None] * n + columns[None, :]
    whole = tl.zeros((M, N), tl.int32)
    for _ in range(0, k, K):
        whole += tl.dot(tl.load(a), tl.load(b))
        a += K
        b += K * n
    tl.store(c_ptr + rows[:, None] * n + columns[None, :], whole)

class Layer(nn.Module):
    def forward(self, a, b):
        c = torch.empty(64, 64, dtype=torch.int32, device=a.device)
        kernel[(1,)](a, b, c, 256, 64, M=64, N=64, K=32)
        return c

def model():
    return Layer(), (torch.ones(64, 256, dtype=torch.int8), torch.ones(256, 64, dtype=torch.int8))
"""
)
_SIMPLE = (
    TRITON_HEAD
    + """
@triton.jit
def kernel(a_ptr, b_ptr, o_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rows, columns, depth = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    a = tl.load(a_ptr + rows[:, None] * K + depth[None, :])
    b = tl.load(b_ptr + depth[:, None] * N + columns[None, :])
    o = tl.dot(a, b, out_dtype=o_ptr.dtype.element_ty)
    tl.store(o_ptr + rows[:, None] * N + columns[None, :], o)

class Layer(nn.Module):
    def forward(self, a, b):
        o = torch.empty(32, 16, dtype=torch.int32, device=a.device)
        kernel[(1,)](a, b, o, M=32, N=16, K=32)
        return o

def model():
    return Layer(), (torch.ones(32, 32, dtype=torch.int8), torch.ones(32, 16, dtype=torch.int8))
"""
)
_LONG = (
    ATTENTION.replace("tl.bfloat16", "tl.float16")
    .replace(".bfloat16()", ".half()")
    .replace("N=128, num_warps=8", "N=64, num_warps=8")
)
_GRADIENTS = (
    TRITON_HEAD
    + """
@triton.jit
def kernel(a_ptr, k_ptr, v_ptr, dw_ptr, du_ptr, dk_ptr, dv_ptr, da_ptr, n, T: tl.constexpr,
           V: tl.constexpr):
    rows, wide = tl.arange(0, T), tl.arange(0, V)
    square = rows[:, None] * T + rows[None, :]
    a = tl.load(a_ptr + square)
    da = tl.zeros((T, T), tl.float32)
    for start in range(0, n, V):
        at = rows[:, None] * n + start + wide[None, :]
        v, du = tl.load(v_ptr + at), tl.load(du_ptr + at)
        k, dw = tl.load(k_ptr + at), tl.load(dw_ptr + at)
        da += tl.dot(du, tl.trans(v)) + tl.dot(dw, tl.trans(k))
        tl.store(dv_ptr + at, tl.dot(tl.trans(a), du))
        tl.store(dk_ptr + at, tl.dot(tl.trans(a), dw))
    da = tl.where(rows[:, None] > rows[None, :], da, 0)
    da = tl.dot(tl.trans(a), tl.dot(da, tl.trans(a)))
    tl.store(da_ptr + square, tl.where(rows[:, None] > rows[None, :], da, 0))

class Layer(nn.Module):
    def forward(self, a, k, v, dw, du):
        dk, dv, da = torch.empty_like(k), torch.empty_like(v), torch.empty_like(a)
        kernel[(1,)](a, k, v, dw, du, dk, dv, da, 128, T=64, V=64, num_warps=2)
        return dk, dv, da

def model():
    a, k = torch.randn(64, 64), torch.randn(64, 128)
    return Layer(), (a, k, k.clone(), k.clone(), k.clone())
"""
)
_SCANNED = (
    TRITON_HEAD
    + """
@triton.jit
def kernel(cb_ptr, x_ptr, out_ptr, dt_ptr, sums_ptr, c_ptr, states_ptr, d_ptr, length, hidden,
           M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, S: tl.constexpr):
    rows = tl.program_id(0) * M + tl.arange(0, M)
    columns, depth, wide = tl.arange(0, N), tl.arange(0, K), tl.arange(0, S)
    sums = tl.load(sums_ptr + rows, mask=rows < length, other=0.0).to(tl.float32)
    c = tl.load(c_ptr + rows[:, None] * S + wide[None, :], mask=rows[:, None] < length, other=0.0)
    states = tl.load(states_ptr + wide[:, None] * hidden + columns[None, :])
    out = tl.dot(c, states.to(c.dtype)) * tl.exp(sums)[:, None]
    for start in range(0, min((tl.program_id(0) + 1) * M, length), K):
        at = start + depth
        kept = (rows[:, None] < length) & (at[None, :] < length)
        cb = tl.load(cb_ptr + rows[:, None] * length + at[None, :], mask=kept, other=0.0)
        before = tl.load(sums_ptr + at, mask=at < length, other=0.0).to(tl.float32)
        cb = cb.to(tl.float32) * tl.exp(sums[:, None] - before[None, :])
        cb *= tl.load(dt_ptr + at, mask=at < length, other=0.0).to(tl.float32)[None, :]
        cb = tl.where(rows[:, None] >= at[None, :], cb, 0.0)
        x = tl.load(x_ptr + at[:, None] * hidden + columns[None, :], mask=at[:, None] < length)
        out += tl.dot(cb.to(x.dtype), x)
    left = tl.load(x_ptr + rows[:, None] * hidden + columns[None, :]).to(tl.float32)
    out += left * tl.load(d_ptr)
    tl.store(out_ptr + rows[:, None] * hidden + columns[None, :], out.to(tl.bfloat16))

class Layer(nn.Module):
    def forward(self, cb, x, dt, sums, c, states, d):
        out = torch.empty_like(x)
        kernel[(4,)](cb, x, out, dt, sums, c, states, d, 256, 64, M=64, N=64, K=32, S=128,
                     num_warps=4)
        return out

def model():
    cb, x = torch.randn(256, 256).bfloat16(), torch.randn(256, 64).bfloat16()
    c, states = torch.randn(256, 128).bfloat16(), torch.randn(128, 64)
    return Layer(), (cb, x, torch.rand(256), -torch.rand(256), c, states, torch.ones(1))
"""
)
_DEQUANTISED = (
    TRITON_HEAD
    + """
@triton.jit
def kernel(a_ptr, b_ptr, c_ptr, a_scale_ptr, b_scale_ptr, bias_ptr, m, n, k,
           M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rows = (tl.program_id(0) * M + tl.arange(0, M)) % m
    columns = (tl.program_id(1) * N + tl.arange(0, N)) % n
    depth = tl.arange(0, K)
    a = a_ptr + rows[:, None] * k + depth[None, :]
    b = b_ptr + columns[None, :] * k + depth[:, None]
    whole = tl.zeros((M, N), tl.int32)
    for start in range(0, k, K):
        left = tl.load(a, mask=depth[None, :] < k - start, other=0)
        right = tl.load(b, mask=depth[:, None] < k - start, other=0)
        whole += tl.dot(left, right)
        a += K
        b += K
    found = whole.to(tl.float32) * tl.load(a_scale_ptr + rows)[:, None]
    found = found * tl.load(b_scale_ptr + columns)[None, :] + tl.load(bias_ptr + columns)[None, :]
    tl.store(c_ptr + rows[:, None] * n + columns[None, :], found.to(tl.bfloat16))

class Layer(nn.Module):
    def forward(self, a, b, first, second, bias):
        c = torch.empty(256, 256, dtype=torch.bfloat16, device=a.device)
        kernel[(2, 2)](a, b, c, first, second, bias, 256, 256, 512, M=128, N=128, K=64,
                       num_warps=4, num_stages=3)
        return c

def model():
    a, b = torch.ones(256, 512, dtype=torch.int8), torch.ones(256, 512, dtype=torch.int8)
    return Layer(), (a, b, torch.ones(256), torch.ones(256), torch.zeros(256))
"""
)

REPORTS = (
    ModelReport(
        "2080 Ti: attention with large blocks", "FlashML-org/FreeToken#246",
        "out of resource: shared memory, Required: 98304, Hardware limit: 65536",
        {"nvidia-t4@2.13.0": Met.REFUSED}, python(_LONG), TRITON,
    ),
    ModelReport(
        "T4: a product of int8, in 2023", "triton-lang/triton#1809",
        "Failed to translate TritonGPU to LLVM IR: tl.dot of int8 on a T4, in June 2023",
        {"nvidia-t4@2.0.1": Met.REFUSED}, python(_PRODUCT), TRITON,
    ),
    ModelReport(
        "Turing: a product of int8, in 2026", "triton-lang/triton#9349",
        "'arith.extf' op operand #0 must be floating-point-like: tl.dot of int8, February 2026",
        {"nvidia-t4@2.10.0": Met.REFUSED}, python(_SIMPLE), TRITON,
    ),
    ModelReport(
        "Arc: float8 written by a kernel", "Comfy-Org/comfy-kitchen#24",
        "kernels that quantise to FP8 run on a B60, in January 2026",
        {"intel-arc@2.11.0": Met.WORKS},
        python(launched(
            "y = tl.minimum(tl.maximum(x.to(tl.float32) * 2, -448.0), 448.0).to(tl.float8e4nv)",
            given="bfloat16", dtype="float8_e4m3fn",
        )), TRITON,
    ),
    ModelReport(
        "MI325X: a chunk of Mamba's scan", "ROCm/triton#924",
        "_chunk_scan_fwd_kernel does not compile with Triton 3.6 on an MI325X",
        {"amd-mi300x@2.10.0": Met.REFUSED}, python(_SCANNED), TRITON,
    ),
    ModelReport(
        "Colab's T4: a norm of bfloat16", "unslothai/unsloth#501",
        "Feature '.bf16' requires .target sm_80 or higher, on Colab in May 2024",
        {"nvidia-t4@2.3.1": Met.REFUSED},
        python(launched(
            "z = x.to(tl.float32)\n"
            "    y = (z / tl.sqrt(tl.sum(z * z, 0) / 64 + 1e-6)).to(tl.bfloat16)",
            given="bfloat16",
        )), TRITON,
    ),
    ModelReport(
        "Arc: gradients of a recurrence", "intel/intel-xpu-backend-for-triton#3449",
        "bwd_prepare_wy_repr_kernel: scratch space exceeds what an A770 has, in February 2025",
        {"intel-arc@2.6.0": Met.REFUSED}, python(_GRADIENTS), TRITON,
    ),
    ModelReport(
        "Arc: a product of int8, scaled", "intel/intel-xpu-backend-for-triton#7633",
        "_int8_matmul_dequant_per_row_kernel: total scratch space exceeds 262144 on an A770",
        {"intel-arc@2.14.1": Met.REFUSED}, python(_DEQUANTISED), TRITON,
    ),
)  # fmt: skip

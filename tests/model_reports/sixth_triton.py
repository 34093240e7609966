"""What users met with kernels written in Triton: the sixth sample.

Left out are threads that neither show nor name their kernel, those that do not say which device,
and those that told what compilers and chips ask of kernels, which the database cites.
"""

from tests.model_reports.report import Met, ModelReport, python
from tests.model_reports.second_triton import TRITON_HEAD
from tests.model_reports.triton_kernels import TRITON

_CHUNK = (
    TRITON_HEAD
    + """
@triton.jit
def kernel(q_ptr, k_ptr, v_ptr, h_ptr, g_ptr, o_ptr, scale, T: tl.constexpr, K: tl.constexpr,
           V: tl.constexpr):
    rows, deep, wide = tl.arange(0, T), tl.arange(0, K), tl.arange(0, V)
    start = tl.program_id(0) * T
    q = tl.load(q_ptr + (start + rows)[:, None] * K + deep[None, :])
    k = tl.load(k_ptr + (start + rows)[None, :] * K + deep[:, None])
    h = tl.load(h_ptr + tl.program_id(0) * K * V + deep[:, None] * V + wide[None, :])
    g = tl.load(g_ptr + start + rows)
    out = tl.dot(q, h) * tl.exp(g)[:, None]
    scores = tl.dot(q, k) * tl.exp(g[:, None] - g[None, :])
    scores = tl.where(rows[:, None] >= rows[None, :], scores, 0)
    v = tl.load(v_ptr + (start + rows)[:, None] * V + wide[None, :])
    out = (out + tl.dot(scores.to(v.dtype), v)) * scale
    tl.store(o_ptr + (start + rows)[:, None] * V + wide[None, :], out.to(tl.bfloat16))

class Layer(nn.Module):
    def forward(self, q, k, v, h, g):
        out = torch.empty_like(v)
        kernel[(2,)](q, k, v, h, g, out, 0.125, T=64, K=64, V=64, num_warps=8)
        return out

def model():
    q, h = torch.randn(128, 64).bfloat16(), torch.randn(2, 64, 64).bfloat16()
    return Layer(), (q, q.clone(), q.clone(), h, -torch.rand(128))
"""
)
_BACKWARD = (
    TRITON_HEAD
    + """
@triton.jit
def kernel(q_ptr, k_ptr, dk_ptr, nq_ptr, nk_ptr, D: tl.constexpr, M: tl.constexpr,
           N: tl.constexpr):
    nq, nk = tl.load(nq_ptr), tl.load(nk_ptr)
    columns, wide, rows = tl.arange(0, N), tl.arange(0, D), tl.arange(0, M)
    kt = tl.load(
        k_ptr + columns[None, :] * D + wide[:, None], mask=columns[None, :] < nk, other=0.0
    )
    dk = tl.zeros([N, D], dtype=tl.float32)
    for start in range(0, tl.cdiv(nq, M) * M, M):
        q = tl.load(
            q_ptr + (start + rows)[:, None] * D + wide[None, :],
            mask=(start + rows)[:, None] < nq, other=0.0,
        )
        p = tl.exp(tl.dot(q, kt))
        dk += tl.dot(tl.trans(p).to(tl.float16), q)
    at = dk_ptr + columns[:, None] * D + wide[None, :]
    tl.store(at, dk.to(tl.float16), mask=columns[:, None] < nk)

class Layer(nn.Module):
    def forward(self, q, k, nq, nk):
        dk = torch.empty_like(k)
        kernel[(1,)](q, k, dk, nq, nk, D=32, M=64, N=64)
        return dk

def model():
    q, n = torch.randn(128, 32).half(), torch.tensor([128], dtype=torch.int32)
    return Layer(), (q, torch.randn(64, 32).half(), n, torch.tensor([64], dtype=torch.int32))
"""
)
_LAYOUT = (
    TRITON_HEAD
    + """
@triton.jit
def kernel(out_ptr, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr):
    head = tl.program_id(0)
    x = tl.zeros([N, D], dtype=tl.float16)
    y = tl.zeros([M, N], dtype=tl.float16)
    p = tl.dot(y, x)
    alpha = tl.zeros([M], dtype=tl.float16)
    out = alpha[:, None] * p + p
    at = tl.arange(0, M)[:, None] * D + head * M * D + tl.arange(0, D)[None, :]
    tl.store(out_ptr + at, out.to(tl.float16))

class Layer(nn.Module):
    def forward(self, x):
        out = torch.empty_like(x)
        kernel[(2,)](out, M=64, N=64, D=64, num_warps=8)
        return out

def model():
    return Layer(), (torch.ones(128, 64).half(),)
"""
)
_GROUPED = (
    TRITON_HEAD
    + """
@triton.jit
def kernel(a_ptr, b_ptr, c_ptr, sizes_ptr, groups, n, k, PROGRAMS: tl.constexpr, M: tl.constexpr,
           N: tl.constexpr, K: tl.constexpr):
    tile = tl.program_id(0)
    last = 0
    for group in range(groups):
        m = tl.load(sizes_ptr + group)
        across = tl.cdiv(n, N)
        tiles = tl.cdiv(m, M) * across
        while tile >= last and tile < last + tiles:
            here = tile - last
            rows = here // across * M + tl.arange(0, M)
            columns = here % across * N + tl.arange(0, N)
            depth = tl.arange(0, K)
            a = a_ptr + group * m * k + rows[:, None] * k + depth[None, :]
            b = b_ptr + group * n * k + depth[:, None] * n + columns[None, :]
            whole = tl.zeros((M, N), dtype=tl.float32)
            for _ in range(0, tl.cdiv(k, K)):
                whole += tl.dot(tl.load(a), tl.load(b))
                a += K
                b += K * n
            at = c_ptr + group * m * n + rows[:, None] * n + columns[None, :]
            tl.store(at, whole.to(tl.float16))
            tile += PROGRAMS
        last = last + tiles

class Layer(nn.Module):
    def forward(self, a, b, sizes):
        c = torch.empty(2, 128, 128, dtype=a.dtype, device=a.device)
        kernel[(4,)](a, b, c, sizes, 2, 128, 128, PROGRAMS=4, M=128, N=128, K=32)
        return c

def model():
    a = torch.randn(2, 128, 128).half()
    return Layer(), (a, a.clone(), torch.tensor([128, 128], dtype=torch.int32))
"""
)
_LARGE = (
    TRITON_HEAD
    + """
@triton.jit
def kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    tl.store(y_ptr + at, x * 2, mask=at < n)

class Layer(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        kernel[(triton.cdiv(x.numel(), 48000),)](x, y, x.numel(), BLOCK=48000)
        return y

def model():
    return Layer(), (torch.ones(96000),)
"""
)
_FLIPPED = (
    TRITON_HEAD
    + """
import triton.language.extra.cann.libdevice as libdevice

@triton.jit
def kernel(x_ptr, y_ptr, out_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at[:, None] * BLOCK + at[None, :])
    y = tl.load(y_ptr + at[:, None] * BLOCK + at[None, :])
    column = tl.sum(y, axis=1)
    x = tl.where(at[None, :] == 3, column[:, None], x)
    found = libdevice.tan(tl.flip(libdevice.tan(x), 1))
    tl.store(out_ptr + at[:, None] * BLOCK + at[None, :], found)

class Layer(nn.Module):
    def forward(self, x, y):
        out = torch.empty_like(x)
        kernel[(1,)](x, y, out, BLOCK=64, multibuffer=False, num_stages=1, num_warps=4)
        return out

def model():
    return Layer(), (torch.randn(64, 64), torch.randn(64, 64))
"""
)
_MOVED = (
    TRITON_HEAD
    + """
@triton.jit
def kernel(from_ptr, to_ptr, at_ptr, heads, V: tl.constexpr, K: tl.constexpr, H: tl.constexpr):
    slot = tl.load(at_ptr + tl.program_id(0))
    head = tl.program_id(1) * H + tl.arange(0, H)
    v, k = tl.arange(0, V), tl.arange(0, K)
    inner = head[:, None, None] * V * K + v[None, :, None] * K + k[None, None, :]
    kept = (head < heads)[:, None, None]
    found = tl.load(from_ptr + slot * heads * V * K + inner, mask=kept)
    tl.store(to_ptr + tl.program_id(0) * heads * V * K + inner, found, mask=kept)

class Layer(nn.Module):
    def forward(self, cache, at):
        out = torch.empty(2, 4, 128, 128, device=cache.device)
        kernel[(2, 2)](cache, out, at, 4, V=128, K=128, H=2)
        return out

def model():
    return Layer(), (torch.randn(3, 4, 128, 128), torch.tensor([2, 0], dtype=torch.int32))
"""
)
_NARROW = (
    TRITON_HEAD
    + """
@triton.jit
def kernel(a_ptr, b_ptr, c_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    a = tl.load(a_ptr + tl.arange(0, M)[:, None] * K + tl.arange(0, K)[None, :])
    b = tl.load(b_ptr + tl.arange(0, K)[:, None] * N + tl.arange(0, N)[None, :])
    c = tl.dot(a, b)
    tl.store(c_ptr + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :], c)

class Layer(nn.Module):
    def forward(self, a, b):
        c = torch.zeros(64, 8, device=a.device)
        kernel[(1,)](a, b, c, 64, 8, 16)
        return c

def model():
    return Layer(), (torch.randn(64, 16).half(), torch.randn(16, 8).half())
"""
)
_SHRINK = (
    TRITON_HEAD
    + """
@triton.jit
def kernel(x_ptr, w_ptr, out_ptr, tokens_ptr, experts_ptr, n, k, total, M: tl.constexpr,
           N: tl.constexpr, K: tl.constexpr):
    tokens = tl.load(tokens_ptr + tl.program_id(0) * M + tl.arange(0, M))
    kept = tokens < total
    expert = tl.load(experts_ptr + tl.program_id(0))
    columns, depth = tl.arange(0, N), tl.arange(0, K)
    x = x_ptr + tokens[:, None] * k + depth[None, :]
    w = w_ptr + expert * n * k + columns[None, :] * k + depth[:, None]
    whole = tl.zeros((M, N), dtype=tl.float32)
    for start in range(0, tl.cdiv(k, K)):
        left = tl.load(x, mask=kept[:, None] & (depth[None, :] < k - start * K), other=0.0)
        right = tl.load(w, mask=depth[:, None] < k - start * K, other=0.0)
        whole += tl.dot(left, right)
        x += K
        w += K
    at = out_ptr + tokens[:, None] * n + columns[None, :]
    tl.store(at, whole.to(tl.bfloat16), mask=kept[:, None])

class Layer(nn.Module):
    def forward(self, x, w, tokens, experts):
        out = torch.empty(x.shape[0], 8, dtype=x.dtype, device=x.device)
        kernel[(2,)](x, w, out, tokens, experts, 8, 128, x.shape[0], M=16, N=8, K=64)
        return out

def model():
    x, w = torch.randn(32, 128).bfloat16(), torch.randn(4, 8, 128).bfloat16()
    tokens = torch.arange(32, dtype=torch.int32)
    return Layer(), (x, w, tokens, torch.tensor([0, 2], dtype=torch.int32))
"""
)
_ENTROPY = (
    TRITON_HEAD
    + """
@triton.jit
def kernel(student_ptr, teacher_ptr, loss_ptr, grad_ptr, kept_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    kept = tl.load(kept_ptr + row)
    most, whole, mixed, weight = -float("inf"), 0.0, 0.0, 0.0
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(student_ptr + row * n + at, mask=at < n, other=-float("inf")).to(tl.float32)
        p = tl.load(teacher_ptr + row * n + at, mask=at < n, other=0.0).to(tl.float32)
        now = tl.maximum(most, tl.max(x))
        whole = whole * tl.exp(most - now) + tl.sum(tl.exp(x - now))
        mixed += tl.sum(tl.where(at < n, x * p, 0.0))
        weight += tl.sum(p)
        most = now
    total = tl.log(whole) + most
    tl.store(loss_ptr + row, kept * (weight * total - mixed))
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(student_ptr + row * n + at, mask=at < n, other=-float("inf")).to(tl.float32)
        p = tl.load(teacher_ptr + row * n + at, mask=at < n, other=0.0).to(tl.float32)
        grad = kept * (tl.exp(x - total) * weight - p)
        tl.store(grad_ptr + row * n + at, grad.to(tl.bfloat16), mask=at < n)

class Layer(nn.Module):
    def forward(self, student, teacher, kept):
        loss, grad = torch.empty(8, device=student.device), torch.empty_like(student)
        kernel[(8,)](student, teacher, loss, grad, kept, 1000, BLOCK=1024, num_warps=8)
        return loss, grad

def model():
    student, kept = torch.randn(8, 1000).bfloat16(), torch.ones(8)
    return Layer(), (student, torch.rand(8, 1000).bfloat16(), kept)
"""
)
_EXPERTS = (
    TRITON_HEAD
    + """
@triton.jit
def kernel(a_ptr, b_ptr, c_ptr, a_scale_ptr, b_scale_ptr, tokens_ptr, experts_ptr, n, k, total,
           M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    tokens = tl.load(tokens_ptr + tl.program_id(0) * M + tl.arange(0, M))
    kept = tokens < total
    expert = tl.load(experts_ptr + tl.program_id(0))
    columns, depth = tl.program_id(1) * N + tl.arange(0, N), tl.arange(0, K)
    a = a_ptr + tokens[:, None] * k + depth[None, :]
    b = b_ptr + expert * n * k + columns[None, :] * k + depth[:, None]
    whole = tl.zeros((M, N), dtype=tl.float32)
    for start in range(0, tl.cdiv(k, K)):
        left = tl.load(a, mask=kept[:, None] & (depth[None, :] < k - start * K), other=0.0)
        right = tl.load(b, mask=depth[:, None] < k - start * K, other=0.0)
        whole = tl.dot(left, right, acc=whole)
        a += K
        b += K
    whole = whole * tl.load(a_scale_ptr) * tl.load(b_scale_ptr + expert)
    at = c_ptr + tokens[:, None] * n + columns[None, :]
    tl.store(at, whole.to(tl.bfloat16), mask=kept[:, None])

class Layer(nn.Module):
    def forward(self, a, b, first, second, tokens, experts):
        c = torch.empty(32, 128, dtype=torch.bfloat16, device=a.device)
        kernel[(2, 2)](a, b, c, first, second, tokens, experts, 128, 256, 32, M=16, N=64, K=128,
                       num_warps=4, num_stages=4)
        return c

def model():
    a = torch.randn(32, 256).to(torch.float8_e4m3fn)
    b = torch.randn(4, 128, 256).to(torch.float8_e4m3fn)
    tokens, experts = torch.arange(32, dtype=torch.int32), torch.tensor([0, 2], dtype=torch.int32)
    return Layer(), (a, b, torch.ones(1), torch.ones(4), tokens, experts)
"""
)
_SEGMENTS = (
    TRITON_HEAD
    + """
@triton.jit
def kernel(q_ptr, k_ptr, v_ptr, o_ptr, offsets_ptr, lengths_ptr, scale, D: tl.constexpr,
           M: tl.constexpr, N: tl.constexpr):
    segment = tl.program_id(1)
    begin, length = tl.load(offsets_ptr + segment), tl.load(lengths_ptr + segment)
    rows, wide = tl.program_id(0) * M + tl.arange(0, M), tl.arange(0, D)
    q = tl.load(q_ptr + (begin + rows)[:, None] * D + wide[None, :])
    whole = tl.zeros([M], dtype=tl.float32)
    out = tl.zeros([M, D], dtype=tl.float32)
    for start in range(0, length, N):
        at = start + tl.arange(0, N)
        k = tl.load(k_ptr + (begin + at)[None, :] * D + wide[:, None])
        scores = tl.dot(q, k) * scale
        weights = tl.where(rows[:, None] >= at[None, :], tl.exp(scores), 0.0)
        whole += tl.sum(weights, 1)
        v = tl.load(v_ptr + (begin + at)[:, None] * D + wide[None, :])
        out += tl.dot(weights.to(tl.bfloat16), v)
    found = (out / whole[:, None]).to(tl.bfloat16)
    tl.store(o_ptr + (begin + rows)[:, None] * D + wide[None, :], found)

class Layer(nn.Module):
    def forward(self, q, k, v, offsets, lengths):
        out = torch.empty_like(q)
        kernel[(2, 2)](q, k, v, out, offsets, lengths, 0.088, D=128, M=128, N=128, num_warps=8,
                       num_stages=3)
        return out

def model():
    q = torch.randn(512, 128).bfloat16()
    offsets = torch.tensor([0, 256], dtype=torch.int32)
    return Layer(), (q, q.clone(), q.clone(), offsets, torch.full((2,), 256, dtype=torch.int32))
"""
)

REPORTS = (
    ModelReport(
        "H100: a chunk of gated attention", "fla-org/flash-linear-attention#58",
        "mma -> mma layout conversion is only supported on Ampere: num_warps=8 with Triton 3.0.0",
        {"nvidia-h100@2.4.1": Met.REFUSED}, python(_CHUNK), TRITON,
    ),
    ModelReport(
        "H100: gradients of keys", "triton-lang/triton#5123",
        "modified flash attention crashes on an H100 and runs on an RTX 3060, in November 2024",
        {"nvidia-h100@2.5.1": Met.REFUSED, "nvidia-a100@2.5.1": Met.WORKS}, python(_BACKWARD),
        TRITON,
    ),
    ModelReport(
        "H100: a product and its sum", "triton-lang/triton#4418",
        "mma -> mma layout conversion: a kernel aborts on an H100 and runs on an A100, July 2024",
        {"nvidia-h100@2.4.1": Met.REFUSED, "nvidia-a100@2.4.1": Met.WORKS}, python(_LAYOUT),
        TRITON,
    ),
    ModelReport(
        "H100: groups of products", "triton-lang/triton#2779",
        "FenceInsertionPass does not supported WhileOp: the tutorial of grouped products, by 2.3.0",
        {"nvidia-h100@2.3.1": Met.REFUSED}, python(_GROUPED), TRITON,
    ),
    ModelReport(
        "Ascend: a block of 48000", "triton-lang/triton-ascend#302",
        "ub overflow, requires 3072000 bits while 1572864 bits available, with CANN 8.5.0",
        {"ascend-910b@7.3.0+torch2.9": Met.REFUSED}, python(_LARGE), TRITON,
    ),
    ModelReport(
        "Ascend: a block turned round", "triton-lang/triton-ascend#1638",
        "UB overflow and a failed expand_shape: tl.flip of 64 by 64 on a 910B3, in August 2026",
        {"ascend-910b@26.1.0+torch2.9": Met.REFUSED}, python(_FLIPPED), TRITON,
    ),
    ModelReport(
        "Ascend: states moved", "sgl-project/sgl-kernel-npu#477",
        "ub overflow, requires 2097152 bits: whole blocks of V by K of a cache, in May 2026",
        {"ascend-910b@7.3.0+torch2.8": Met.REFUSED}, python(_MOVED), TRITON,
    ),
    ModelReport(
        "Hopper: a product with eight columns", "triton-lang/triton#8426",
        "Input shapes should have M >= 16, N >= 16 and K >= 16, of Triton 3.3.0 on a GH200",
        {"nvidia-h100@2.7.1": Met.REFUSED}, python(_NARROW), TRITON,
    ),
    ModelReport(
        "XPU: experts with a rank of eight", "intel/intel-xpu-backend-for-triton#7602",
        "tl.dot requires M >= 1, N >= 16, K >= 16: vLLM's kernel of LoRA for experts, July 2026",
        {"intel-max@2.13.0": Met.REFUSED, "intel-arc@2.13.0": Met.REFUSED}, python(_SHRINK),
        TRITON,
    ),
    ModelReport(
        "A100: cross entropy with soft targets", "NVIDIA-NeMo/Automodel#2428",
        "a fused cross entropy is right and up to 6 times faster on an A100, in June 2026",
        {"nvidia-a100@2.12.1": Met.WORKS}, python(_ENTROPY), TRITON,
    ),
    ModelReport(
        "RTX 4090: experts in float8", "vllm-project/vllm#48309",
        "vLLM's kernel of experts runs with fp8_w8a8 on an RTX 4090D with Triton 3.6.0",
        {"nvidia-rtx4090@2.11.0": Met.WORKS}, python(_EXPERTS), TRITON,
    ),
    ModelReport(
        "RTX 3090: attention over segments", "alipay/PainlessInferenceAcceleration#35",
        "out of resource: shared memory, Required: 163842, 101376 there; fewer stages help",
        {"nvidia-rtx4090@2.6.0": Met.REFUSED}, python(_SEGMENTS), TRITON,
    ),
)  # fmt: skip

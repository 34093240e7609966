"""What users met with kernels written in Triton."""

from tests.model_reports.report import Met, ModelReport, python

_CODE = """
import torch
import triton
import triton.language as tl
from torch import nn

@triton.jit
def kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    {body}
    tl.store(y_ptr + at, y, mask=at < n)

class Layer(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x{dtype})
        kernel[(triton.cdiv(x.numel(), 64),)](x, y, x.numel(), BLOCK=64)
        return y

def model():
    return Layer(), (torch.ones(256, dtype=torch.{given}),)
"""
_IMPORTED = """
import torch
import triton
import triton.language as tl
from torch import nn

@triton.jit
def update(x_ptr, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(x_ptr + at, tl.load(x_ptr + at, mask=at < n) * 2, mask=at < n)

def model():
    return nn.Linear(4, 4), (torch.ones(2, 4),)
"""


def launched(body: str, given: str = "float32", dtype: str = "") -> str:
    made = f", dtype=torch.{dtype}" if dtype else ""
    return _CODE.format(body=body, given=given, dtype=made)


_PLAIN = launched("y = x * 2")
TRITON = ("triton",)

REPORTS = (
    ModelReport(
        "Ampere: a cast to float8", "triton-lang/triton#4319",
        "fp8e4nv data type is not supported on CUDA arch < 89",
        {"nvidia-a100@2.4.1": Met.REFUSED},
        python(launched("y = x.to(tl.float8e4nv).to(tl.float32)")), TRITON,
    ),
    ModelReport(
        "Ampere: float8 stored", "kvcache-ai/ktransformers#851",
        "type fp8e4nv not supported in this architecture, of an A10",
        {"nvidia-a100@2.6.0": Met.REFUSED},
        python(launched("y = (x / 448.0).to(y_ptr.dtype.element_ty)", dtype="float8_e4m3fn")),
        TRITON,
    ),
    ModelReport(
        "T4: bfloat16", "Zyphra/Zonos#43",
        "ptxas: feature .bf16 requires .target sm_80 or higher",
        {"nvidia-t4@2.5.1": Met.REFUSED},
        python(launched("y = (x.to(tl.float32) * 2).to(tl.bfloat16)", given="bfloat16")), TRITON,
    ),
    ModelReport(
        "310P: any kernel", "vllm-project/vllm-ascend#7421",
        "bishengir-compile has no target Ascend310P1",
        {"ascend-310p@26.0.0": Met.REFUSED}, python(_PLAIN), TRITON,
    ),
    ModelReport(
        "Ascend: a running sum of booleans", "triton-lang/triton-ascend#2334",
        "tl.cumsum of int1: hfusion.cumsum refuses it",
        {"ascend-910b@26.1.0": Met.REFUSED},
        python(launched("y = tl.cumsum((x > 0).to(tl.int1), axis=0)", dtype="int32")), TRITON,
    ),
    ModelReport(
        "MPS: flash-linear-attention", "fla-org/flash-linear-attention#113",
        "Triton is not available on macOS",
        {"apple-mps@2.5.1": Met.REFUSED}, python(_PLAIN), TRITON,
    ),
    ModelReport(
        "MPS: sparse attention", "lucidrains/native-sparse-attention-pytorch#14",
        "there is no Triton for MPS, and no way around it",
        {"apple-mps@2.6.0": Met.REFUSED}, python(_PLAIN), TRITON,
    ),
    ModelReport(
        "MPS: a model that only imports Triton", "vasqu/mamba2-torch#6",
        "importing the model fails: no module named triton",
        {"apple-mps@2.9.1": Met.REFUSED}, python(_IMPORTED), TRITON,
    ),
    ModelReport(
        "910A: any kernel", "triton-lang/triton-ascend#2115",
        "bishengir-compile does not find a target for an Atlas 800 (Model 9000)",
        {"ascend-910a@26.0.0": Met.REFUSED}, python(_PLAIN), TRITON,
    ),
    ModelReport(
        "Arc: float64 in a kernel", "intel/intel-xpu-backend-for-triton#3015",
        "double type is not supported on this platform, an A770",
        {"intel-arc@2.5.1": Met.REFUSED},
        python(launched("y = tl.math.sqrt(x.to(tl.float64)).to(tl.float32)")), TRITON,
    ),
)  # fmt: skip

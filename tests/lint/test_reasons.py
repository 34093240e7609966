"""Why a source fares as it does: the whole reason, and as it is told in Chinese."""

import pytest

from opcheck.lang.speech import Language, speaking, tell
from tests.lint.helpers import lint
from tests.lint.test_kernels import KERNEL

HIP = "is turned into HIP as the extension is built"
SOURCES_TO_HIP = "its sources are turned into HIP as they are built, where they can be"
BUILT = "from torch.utils.cpp_extension import CUDAExtension, CUDA_HOME\n"
NCCL = "import torch.distributed as dist\ndist.init_process_group('nccl')"
TYPE = "import torch\ntorch.set_default_tensor_type('torch.cuda.HalfTensor')"


def reasons(source: str, target: str, name: str = "file.py") -> tuple[list[str], list[str]]:
    """The reason of each finding, without repetitions, in English and in Chinese."""
    found = dict.fromkeys(finding.text for finding in lint(source, target, name).findings)
    with speaking(Language.CHINESE):
        return [*found], [tell(text) for text in found]


@pytest.mark.parametrize(
    ("target", "english", "chinese"),
    [
        (
            "amd-mi300x",
            ["is turned into HIP's as the extension is built",
             "is NVIDIA's, and is not among what is turned into HIP by name",
             HIP, "is PTX, which only NVIDIA's devices run"],
            ["构建扩展时被转换为 HIP 的对应物", "属于 NVIDIA，且不在按名称转换为 HIP 之列",
             "构建扩展时被转换为 HIP", "是 PTX，只有 NVIDIA 的设备能运行"],
        ),
        ("nvidia-h100", ["the device answers to cuda"], ["该设备以 cuda 之名应答"]),
    ],
)  # fmt: skip
def test_kernels(target: str, english: list[str], chinese: list[str]) -> None:
    assert reasons(KERNEL, target, "k.cu") == (english, chinese)


@pytest.mark.parametrize(
    ("source", "target", "english", "chinese"),
    [
        (BUILT + "CUDAExtension('x', [])", "amd-mi300x", SOURCES_TO_HIP,
         "构建时其源码在可行之处被转换为 HIP"),
        (BUILT + "print(CUDA_HOME)", "ascend-910b", "is None there", "在那里为 None"),
        ("import subprocess\nsubprocess.run(['nvidia-smi', '-L'])", "ascend-910b",
         "is not there: it is NVIDIA's", "那里没有：它属于 NVIDIA"),
        ("if flash_attn_available:\n    import flash_attn", "ascend-910b",
         "is built for CUDA and ROCm; where it is missing, the other branch takes over",
         "为 CUDA 与 ROCm 构建；缺少它时改用另一分支"),
        (NCCL, "ascend-910b", "raises: NCCL is for CUDA alone", "报错：NCCL 只用于 CUDA"),
        (NCCL, "apple-mps", "raises: NCCL is for CUDA alone", "报错：NCCL 只用于 CUDA"),
        ("x.pin_memory()", "ascend-910b",
         "pins for the accelerator that torch has, which torch_npu brings",
         "为 torch 所用的加速器锁页，由 torch_npu 提供"),
        ("x.pin_memory()", "intel-max", "pins for the accelerator that torch has",
         "为 torch 所用的加速器锁页"),
        ("import torch; torch.load('x.pt')", "ascend-910b",
         "raises where the checkpoint holds CUDA tensors", "检查点含有 CUDA 张量时报错"),
        ("import torch\nx.type(torch.cuda.DoubleTensor)", "ascend-910b",
         "raises: the type is not available there", "报错：那里没有该类型"),
        ("import torch; f(torch.cuda)", "ascend-910b",
         "handed on as it is, for code that asks CUDA", "原样传递，供询问 CUDA 的代码使用"),
    ],
)  # fmt: skip
def test_calls(source: str, target: str, english: str, chinese: str) -> None:
    assert reasons(source, target) == ([english], [chinese])


def test_a_name_that_pytorch_has_deprecated() -> None:
    english, chinese = reasons(TYPE, "ascend-910b")
    assert (english[0], chinese[0]) == ("PyTorch has given it up", "PyTorch 已弃用")

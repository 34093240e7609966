"""What users of Chinese vendors' devices met, by searches of threads of the fourth round."""

import torch
from torch import Tensor

from tests.user_reports.report import Because, LeftOut, Met, Report, Why

QUERIES = (
    '昇腾 NPU torch_npu 报错 "not support" torch.linalg torch.fft torch.stft torch.cdist 算子 '
    "回退 CPU issue",
    "Ascend NPU LayerNorm GroupNorm BatchNorm3d InstanceNorm backward error or precision torch_npu "
    "mmcv mmdetection segmentation training",
    '[Bug] NPU sglang verl unsloth RuntimeError aclnn "AclNN_Parameter_Error" or EZ9999 tensor '
    "shape rank exceeds, gather scatter topk",
    "vllm-ascend [BugFix] torch.sort torch.cumsum torch.where int64 float64 slow aicpu operator "
    "replace on NPU pull request",
    "LLaMA-Factory NPU 910B3 Qwen3-VL gemma3 微调 RuntimeError conv3d aclnn index_put bool uint8 "
    "不支持 910A 310P",
    'npu device torch op unsupported skip test "npu" transformers diffusers kornia torchaudio '
    "lightning Ascend CI fails because operator",
    "DeepLink DIOPI dlinfer ascend torch_dipu aclnn operator unsupported dtype workaround fallback "
    "cpu index_put linspace erfinv",
    "FlagGems [Ascend] operator test failed torch_npu golden reference error int16 uint8 complex64 "
    "float64 kron logspace angle polar isclose sort_stable",
    "MindAct mindtorch ascend 310B 910A aclnn unsupported op composite fallback because aclnn "
    "returns wrong or 561103 fix",
)
NPU = "ascend-910b"

INTS = torch.arange(512).remainder(97).view(8, 64)


def _counted(counts: Tensor, tokens: Tensor) -> Tensor:
    return counts.clone().scatter_add_(1, tokens, torch.ones_like(tokens))


REPORTS = (
    Report(
        "910B: argsort of int64", "vllm-project/vllm-ascend#16486", 3,
        "`argsort` of 4096 int64 takes 3.64 ms, and of float32 0.174 ms",
        f"{NPU}@26.1.0", Met.SLOW, Because.DTYPE,
        torch.argsort, (torch.arange(4096),), ("aten::argsort", "aten::sort"),
    ),
    Report(
        "910B: argsort of booleans", "vllm-project/vllm-ascend#9241", 3,
        "a bug of `argsort` of booleans is mended in torch_npu 2.10, stable or not",
        f"{NPU}@26.1.0", Met.WORKS, Because.DTYPE,
        lambda x: torch.argsort(x, stable=True), (torch.tensor([True, False, True, False, True]),),
        ("aten::argsort", "aten::sort"),
    ),
    Report(
        "910B: counts of tokens in int64", "vllm-project/vllm-ascend#8343", 3,
        "`scatter_add_` of int64 runs on the AI CPU, since AI cores have no int64",
        f"{NPU}@7.3.0", Met.SLOW, Because.DTYPE, _counted,
        (torch.zeros(8, 97, dtype=torch.int64), INTS), ("aten::scatter_add_", "aten::scatter_add"),
    ),
    Report(
        "910B: sort of int32", "vllm-project/vllm-ascend#1619", 3,
        "`sort` and `argsort` of integers run on the slower AI CPU, and of floats do not",
        f"{NPU}@7.1.0", Met.SLOW, Because.DTYPE,
        torch.sort, (INTS.int(),), ("aten::sort",),
    ),
)  # fmt: skip

_LEFT_OUT = {
    Why.KNOWN: """
        hiyouga/LlamaFactory#4836 Ascend/pytorch#40 modelscope/ms-swift#1047
        opendatalab/MinerU#1695 opendatalab/MinerU#1941 hiyouga/LlamaFactory#7986 Ascend/pytorch#51
        open-mmlab/mmcv#2998 Ascend/pytorch#16 modelscope/FunASR#3034 sgl-project/sglang#14159
        sgl-project/sglang#10615 Ascend/sglang#724 sgl-project/sglang#17120 candle-org/MindAct#2543
        flagos-ai/FlagGems-vllm#818 hiyouga/LlamaFactory#5425 hiyouga/LlamaFactory#7134
        hiyouga/LlamaFactory#6694 hiyouga/LlamaFactory#4388 Ascend/pytorch#73
        hiyouga/LlamaFactory#7522 hiyouga/LlamaFactory#4339 hiyouga/LlamaFactory#7352
        vllm-project/vllm-ascend#3017 open-mmlab/mmcv#2594 flagos-ai/FlagGems#5953
        flagos-ai/FlagGems#2143 flagos-ai/FlagGems#4043 candle-org/candle#115 candle-org/candle#113
        candle-org/candle#70 candle-org/candle#111
    """,
    Why.NO_CALL: """
        NVIDIA-AI-IOT/torch2trt#730 kenziyuliu/MS-G3D#40 airockchip/rknn-toolkit2#149
        valeoai/WaffleIron#18 PaddlePaddle/PaConvert#7 csuhan/ReDet#4 pytorch/pytorch#13263
        sgl-project/sglang#25887 sgl-project/sglang#28264 vllm-project/vllm-ascend#4652
        PaddlePaddle/PaddleCustomDevice#1146 hiyouga/LlamaFactory#9311
        flagos-ai/TransformerEngine-FL#91 pytorch/helion#3037 flagos-ai/TransformerEngine-FL#90
        linkedin/Liger-Kernel#1022 pytorch/pytorch#30847 sgl-project/sglang#3853
        safetensors/safetensors#372 candle-org/candle#19 linkedin/Liger-Kernel#955
        meta-pytorch/torchtune#1826 DeepLink-org/deeplink.framework#36 DeepLink-org/DIOPI#1335
        DeepLink-org/deeplink.framework#356 DeepLink-org/deeplink.framework#106
        DeepLink-org/deeplink.framework#198 DeepLink-org/deeplink.framework#44
        DeepLink-org/deeplink.framework#168 DeepLink-org/deeplink.framework#427
        DeepLink-org/deeplink.framework#808 DeepLink-org/deeplink.framework#250
        flagos-ai/FlagGems#5641 flagos-ai/Torch-FL#64 flagos-ai/FlagGems#6014
        flagos-ai/FlagGems#3496 flagos-ai/FlagGems#4736 flagos-ai/FlagGems#1555
        flagos-ai/FlagGems#1720 candle-org/MindAct#759 ARM-software/ComputeLibrary#1083
        pytorch/pytorch#180225 uxlfoundation/oneDNN#5101 microsoft/onnxruntime#24063
        candle-org/candle#60 uxlfoundation/oneDNN#910
    """,
    Why.NO_PROGRAM: """
        vllm-project/vllm-ascend#6359 vllm-project/vllm-ascend#3046 vllm-project/vllm-ascend#392
        hiyouga/LlamaFactory#8745 DeepLink-org/deeplink.framework#381 DeepLink-org/DIOPI#1195
    """,
    Why.OTHERS: """
        sgl-project/sglang#17222 flagos-ai/FlagGems#5980 flashserve/flash-linear-attention-npu#216
        vllm-project/vllm-ascend#16840
    """,
}
LEFT_OUT = tuple(
    LeftOut(thread, why) for why, threads in _LEFT_OUT.items() for thread in threads.split()
)

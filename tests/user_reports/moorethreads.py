"""What users of Moore Threads' GPUs met, as threads tell it, written down before any scan of it."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  # as everybody writes it

from tests.user_reports.report import Because, LeftOut, Met, Report, Why

QUERIES = (
    "MooreThreads/torch_musa operator not implemented for MUSA backend",
    "Could not run 'aten::' with arguments from the 'musa' backend",
    "torch_musa wrong result differs from CPU",
    "torch_musa RuntimeError unsupported dtype muDNN",
    "摩尔线程 MUSA 算子 不支持 报错",
    "摩尔线程 torch_musa 结果 错误 精度 不一致",
    "torch_musa 回退 CPU fallback operator",
    "MUSA float64 complex not supported torch_musa",
    "torch_musa conv pooling shape limit error S80 S4000",
    "MTT S80 bfloat16 not supported",
    "MUSA scaled_dot_product_attention flash attention error head dim",
    "torch_musa backward not implemented training error",
    "FlagGems MooreThreads musa operator native unsupported fallback",
    "ComfyUI MUSA MTT error operator",
    "vllm-musa sglang MUSA torch op workaround fix",
    "MooreThreads/torch_musa segmentation fault or crash tensor operation non-contiguous",
    "MooreThreads/torch_musa issue yolo training MTT S80 MUDNN failed",
    "torch_musa NotImplementedError aten:: musa backend S4000 torch_musa 1.3.0 模型 推理 报错",
    "torch_musa bug returns incorrect results native op workaround MTT S5000 FlagGems reference "
    "on CPU",
    "FlagGems mthreads skip test torch native op fails float64 int16 not supported on MUSA",
    "torch_musa yolov10 Conv2d MUDNN failed in: RunFusion half amp 训练 报错 解决",
    "torch_musa funasr paraformer 算子异常 RuntimeError musa traceback wontfix",
    "torch.nn报错 torch_musa nn.Linear nn.Conv2d MUSA issue 64 描述 RuntimeError",
    "svc diffusion RVC GPT-SoVITS torch_musa musa 不支持 fallback cpu stft",
    "native torch layer_norm wrong MTT S5000 musa native ATen op incorrect "
    "post_layer_norm_residual mthreads fp64",
    "[MUSA] sglang fix torch_musa does not support op replace with alternative on MUSA device",
    "MooreThreads torch_musa performance slow operator index_put scatter topk sort MUSA",
    "KakaruHayate musa 适配 中国人用中国显卡 torch_musa 算子 缺少支持",
    "MooreThreads/torch_musa bug report 2026 S5000 torch_musa 2.7.1 2.9 tensor wrong or error "
    "reproduce",
    "torch_musa LSTM GRU RNN ctc_loss grid_sample upsample not support MUSA",
    "torch_musa model training loss nan precision S4000 S80 different from cuda 摩尔线程 训练",
    "torch_musa 建议改进现有 FFT 实现 stft fft_rfft S80 慢 #104",
    "FlagGems [mthreads] fix test cases torch_musa native backend limitation raises "
    "RuntimeError reference on CPU",
    "review comment: torch_musa does not support this dtype, temporarily move to cpu, "
    "mthreads tests benchmark",
    "vendor/MooreThreads label FlagGems issue operator not supported on mthreads torch_musa "
    "musa native",
    "[SiliconFlow] Native torch op is not supported on Moore Threads MUSA benchmark baseline",
    "[SiliconFlow] Native torch op not supported or fails on Hygon DCU benchmark baseline skip",
    "tests/test_torch_musa_unsupport.py operators torch_musa unsupported FlagGems mthreads",
    "[SiliconFlow] native PyTorch aten op not implemented Moore Threads S5000 backend "
    "baseline fails FlagGems issue skip",
    "[SiliconFlow] operator PR: MThreads skipped because its native baseline is "
    "unavailable; Hygon Iluvatar native baseline returns incorrect",
    "FlagGems skip_native marker vendor-aware native baseline mthreads falls back to CPU on MUSA",
    "[SiliconFlow] Add cross-backend operator benchmark summary MThreads MTT S5000 f64:SKIP "
    "c64:SKIP native unsupported on MUSA",
    "FlagGems mthreads native torch_musa baseline crashes or returns wrong values, "
    "benchmark skipped, MTT S5000 dtype",
    "Fix internal: benchmark_fail on mthreads (MTT S5000) native torch baseline raises on "
    "mthreads/MUSA backend",
    "Fix internal: accuracy_fail on mthreads (MTT S5000) native musa op root cause "
    "torch_musa kernel wrong",
    "mthreads backend restricted benchmark dtypes to float32: native avg_pool2d_backward "
    "batch_norm_backward half bf16 not supported on MUSA",
    'xzliu-opt Fix 5xx-internal mthreads MUSA "not implemented for" native op benchmark FlagGems',
    "[KernelGen][Mthreads] Fix bincount feature_dropout: native torch_musa rounding or "
    "dtype root cause",
    "mthreads MUSA native torch differs from CPU fp64 reference S5000 native op imprecise "
    "test reference moved to CPU",
    'FlagGems mthreads "expected scalar type" OR "Unsupported tensor dtype" torch_musa '
    "native benchmark bf16 int16 bool",
    "FlagGems MThreads skip float64 native MUSA linalg cholesky median histc limitation "
    'tests gated "without fp64"',
    "sglang-plugin-FL mthreads MUSA cambricon reference torch op workaround native bincount "
    "argsort hang wrong",
    "MooreThreads/vllm-musa torch op error on musa workaround fix",
    "torch.argsort error on musa stable bool qwen3_5 mtp workaround",
    "MooreThreads/torch_musa Unsupported tensor dtype c10:: empty arange full fill MUSA "
    "bf16 int16 uint16",
    "musa will report an error here is a workaround torch op vllm-musa model fix sort "
    "unique nonzero index",
    "LightX2V diffusers Wan MUSA torch_musa conv3d float64 rope complex not supported fix",
    "MUSA torch_musa torch.compile inductor op unsupported fallback CPU verl RLinf loss "
    "gather cross_entropy",
    "摩尔线程 MTT S4000 S5000 torch_musa 推理 训练 RuntimeError 算子 未实现 issue",
    "xtuner lmdeploy FunASR CosyVoice whisper MUSA device torch_musa NotImplementedError "
    "stft istft complex cpu fallback",
    'MUSA native op tests skip "torch_musa" bug returns incorrect results bf16 matmul '
    "cumsum masked_fill index_select",
    "InfiniCore [2025秋季] 摩尔平台 torch_musa 不支持 没有实现 算子 测试跳过",
    "InfiniCore [2025秋季] moore平台官方没有实现 算子 moore torch 不支持",
    "[2025秋季][T1-1] moore 平台 torch 算子 fallback CPU 结果错误 精度 bfloat16 不支持",
    "[2025秋季][T1-1] 摩尔线程 PyTorch musa Could not run aten 因此跳过 测试 InfiniCore loss "
    "pooling interpolate",
    "InfiniTensor ntops moore musa torch baseline not supported operator competition PR",
    "[2026春季][T1-1] Moore S5000 torch_musa 不支持 参考实现 回退 CPU InfiniCore",
    "InfiniCore issue moore 平台 torch 测试失败 非连续 half 不支持 算子报错",
    "ComfyUI Moore Threads GPU musa interpolate bicubic antialias error "
    "upsample_bicubic2d_aa not implemented",
    "Comfy-Org/ComfyUI 8011 Added support for Moore Threads GPUs IPAdapter clip "
    "vision error traceback musa",
    "Added support for Moore Threads GPUs pull request replace operation because musa raises error",
)

CONVOLUTION = ("aten::conv2d", "aten::convolution", "aten::_convolution")


class Encoder(nn.Module):
    """Layers that read their tokens with a mask, as one that writes text does."""

    def __init__(self) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 2)

    def forward(self, tokens: Tensor, mask: Tensor) -> Tensor:
        found: Tensor = self.layers(tokens, mask)
        return found


def _convolved(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return F.conv2d(x, weight.transpose(0, 1), bias[::2])


def _normed(x: Tensor, bias: Tensor) -> Tensor:
    return F.layer_norm(x, (32,), None, bias)


def _emptied(x: Tensor) -> Tensor:
    return torch.empty((1,), dtype=torch.bfloat16, device=x.device)


def _in_order(x: Tensor) -> Tensor:
    return torch.argsort(x, stable=True)


def _padding_dropped(x: Tensor, places: Tensor) -> Tensor:
    found: Tensor = torch.ops.aten._padded_dense_to_jagged_forward(x, [places], 5)
    return found


def _made_smaller(x: Tensor) -> Tensor:
    return F.interpolate(x, size=(16, 16), mode="bicubic", antialias=True)


REPORTS = (
    Report(
        "MUSA: a convolution of float16", "MooreThreads/torch_musa#58", 3,
        "the check of mixed precision before a YOLO is trained fails in a convolution",
        "moorethreads-s80@1.2.1", Met.REFUSED, Because.DTYPE,
        nn.Conv2d(3, 16, 3, 2, 1, bias=False).half(), (torch.ones(1, 3, 64, 64).half(),),
        CONVOLUTION,
    ),
    Report(
        "MUSA: bfloat16 on an S80", "MooreThreads/torch_musa#122", 9,
        "casts to bfloat16 and computing with it fail on an S80", "moorethreads-s80@2.5.0",
        Met.REFUSED, Because.CHIP, lambda x: x.to(torch.bfloat16) + x.to(torch.bfloat16),
        (torch.ones(4, 4),), ("aten::to.dtype", "aten::_to_copy", "aten::add.Tensor"),
    ),
    Report(
        "MUSA: an encoder in evaluation", "MooreThreads/torch_musa#94", 11,
        "a TransformerEncoder runs while it is trained and raises in evaluation",
        "moorethreads-s80@1.3.0", Met.REFUSED, Because.NO_KERNEL,
        Encoder().eval().requires_grad_(False),
        (torch.ones(2, 3, 16), nn.Transformer.generate_square_subsequent_mask(3)),
        ("aten::_transformer_encoder_layer_fwd",),
    ),
    Report(
        "MUSA: isin", "flagos-ai/sglang-plugin-FL#79", 14,
        "isin gives wrong results", "moorethreads-s5000@2.7.1", Met.WRONG, Because.NO_KERNEL,
        torch.isin, (torch.arange(8), torch.tensor([2, 5])),
        ("aten::isin.Tensor_Tensor", "aten::isin.Tensor_Tensor_out"),
    ),
    Report(
        "MUSA: a convolution with strided weights", "MooreThreads/torch_musa#62", 15,
        "conv2d raises where its weight and bias are not contiguous", "moorethreads-s4000@1.3.0",
        Met.REFUSED, Because.LAYOUT, _convolved,
        (torch.ones(1, 3, 8, 8), torch.ones(3, 4, 3, 3), torch.ones(8)), CONVOLUTION,
    ),
    Report(
        "MUSA: prod of booleans", "MooreThreads/torch_musa#42", 17,
        "ChatGLM fails where booleans are multiplied to an int64", "moorethreads-s80@1.0.0",
        Met.REFUSED, Because.DTYPE, torch.prod, (torch.ones(4, dtype=torch.bool),),
        ("aten::prod",),
    ),
    Report(
        "MUSA: layer_norm without weights", "flagos-ai/FlagGems#4930", 18,
        "layer_norm with a bias and no weight gives wrong values", "moorethreads-s5000@2.7.1",
        Met.WRONG, Because.VALUE, _normed,
        (torch.linspace(-1, 1, 32).view(1, 32), torch.ones(32)),
        ("aten::layer_norm", "aten::native_layer_norm"),
    ),
    Report(
        "MUSA: mish", "yxlllc/ReFlow-VAE-SVC#6", 21,
        "Mish is not supported, so that the user writes it out", "moorethreads-s80@1.0.0",
        Met.REFUSED, Because.NO_KERNEL, F.mish, (torch.ones(2, 8),), ("aten::mish",),
    ),
    Report(
        "MUSA: a signal made longer, trained", "RVC-Boss/GPT-SoVITS#2629", 23,
        "what takes nearest interpolation of a signal back is not supported",
        "moorethreads-s80@2.1.1", Met.REFUSED, Because.NO_KERNEL,
        nn.Sequential(nn.Conv1d(4, 4, 3), nn.Upsample(scale_factor=2, mode="nearest")),
        (torch.ones(1, 4, 16),), ("aten::upsample_nearest1d_backward",), training=True,
    ),
    Report(
        "MUSA: padding dropped from float16", "flagos-ai/FlagGems#6041", 36,
        "the native operator is not available for float16, so its benchmark is skipped",
        "moorethreads-s5000@2.7.1", Met.REFUSED, Because.DTYPE, _padding_dropped,
        (torch.ones(2, 4, 8).half(), torch.tensor([0, 2, 5])),
        ("aten::_padded_dense_to_jagged_forward",),
    ),
    Report(
        "MUSA: bincount with half weights", "flagos-ai/FlagGems#4756", 42,
        "bincount raises that it expected Float and found Half", "moorethreads-s5000@2.7.1",
        Met.REFUSED, Because.DTYPE, lambda x, weights: torch.bincount(x, weights),
        (torch.tensor([0, 1, 1, 3]), torch.ones(4).half()), ("aten::bincount",),
    ),
    Report(
        "MUSA: half times a number", "flagos-ai/FlagGems#4759", 44,
        "the number is rounded to the tensor's dtype first, which differs in the last bit",
        "moorethreads-s5000@2.7.1", Met.WRONG, Because.DTYPE, lambda x: x * (1 / 0.7),
        (torch.linspace(-1, 1, 16).half(),), ("aten::mul.Tensor", "aten::mul.Scalar"),
    ),
    Report(
        "MUSA: an empty bfloat16 tensor", "MooreThreads/torch_musa#21", 49,
        "a tensor of bfloat16 cannot be made", "moorethreads-s80@1.0.0", Met.REFUSED,
        Because.DTYPE, _emptied, (torch.ones(4),), ("aten::empty.memory_format",),
    ),
    Report(
        "MUSA: argsort of a mask", "MooreThreads/vllm-musa#77", 51,
        "argsort raises where Qwen3.5 drafts several tokens", "moorethreads-s5000@2.7.1",
        Met.REFUSED, Because.NO_KERNEL, _in_order, (torch.tensor([True, False, True, False]),),
        ("aten::argsort.stable", "aten::sort.stable"),
    ),
    Report(
        "MUSA: multi_margin_loss", "InfiniTensor/InfiniCore#872", 58,
        "multi_margin_loss is not implemented", "moorethreads-s80@2.5.0", Met.REFUSED,
        Because.NO_KERNEL, F.multi_margin_loss, (torch.ones(3, 5), torch.tensor([1, 0, 4])),
        ("aten::multi_margin_loss",),
    ),
    Report(
        "MUSA: vdot", "InfiniTensor/InfiniCore#912", 61,
        "vdot is not supported, so it was not tested", "moorethreads-s80@2.5.0", Met.REFUSED,
        Because.NO_KERNEL, torch.vdot, (torch.ones(8), torch.ones(8)), ("aten::vdot",),
    ),
    Report(
        "MUSA: logcumsumexp", "InfiniTensor/InfiniCore#909", 61,
        "logcumsumexp is not implemented", "moorethreads-s80@2.5.0", Met.REFUSED,
        Because.NO_KERNEL, lambda x: torch.logcumsumexp(x, 1), (torch.ones(2, 8),),
        ("aten::logcumsumexp", "aten::_logcumsumexp"),
    ),
    Report(
        "MUSA: bicubic interpolation with antialias", "Comfy-Org/ComfyUI#8011", 68,
        "an image made smaller for CLIP raises, so the user takes bilinear interpolation",
        "moorethreads-s4000@1.3.0", Met.REFUSED, Because.NO_KERNEL, _made_smaller,
        (torch.ones(1, 3, 32, 32),), ("aten::_upsample_bicubic2d_aa",),
    ),
)  # fmt: skip

_LEFT_OUT = {
    Why.KNOWN: """
        MooreThreads/torch_musa#17 MooreThreads/torch_musa#72 MooreThreads/torch_musa#18
        flagos-ai/FlagGems#4114 MooreThreads/torch_musa#86 open-mmlab/mmcv#3239
        pytorch/pytorch#90261 intel/torch-xpu-ops#2253 tinygrad/tinygrad#3007
        flagos-ai/FlagGems#4115 flagos-ai/FlagGems#6044 flagos-ai/FlagGems#5354
        flagos-ai/FlagGems#5436 flagos-ai/FlagGems#3387 flagos-ai/FlagGems#6575
        flagos-ai/FlagGems#4785 flagos-ai/FlagGems#4769 flagos-ai/FlagGems#4777
        flagos-ai/FlagGems#4782 modelscope/DiffSynth-Studio#1191 MooreThreads/torch_musa#84
    """,
    Why.NO_CALL: """
        lm-sys/FastChat#3456 MooreThreads/tutorial_on_musa#26 alibaba/MNN#4182
        llmmanorg/llmman#125 ollama/ollama#11083 MooreThreads/LiteGS#23 a1ive/nwinfo#117
        UoB-HPC/BabelStream#216 Comfy-Org/ComfyUI#11618 sgl-project/sglang#26437
        flagos-ai/sglang-plugin-FL#92 flagos-ai/vllm-plugin-FL#308
        flagos-ai/vllm-plugin-FL#226 MooreThreads/vllm-musa#27 flagos-ai/vllm-plugin-FL#458
        sgl-project/sglang#27537 flagos-ai/sglang-plugin-FL#111 MooreThreads/torch_musa#11
        MooreThreads/torch_musa#46 MooreThreads/torch_musa#75 MooreThreads/torch_musa#71
        flagos-ai/FlagPerf#770 voicepaw/so-vits-svc-fork#903 BlinkDL/RWKV-LM#295
        sgl-project/sglang-omni#1869 sgl-project/sglang#35855 sgl-project/sglang-omni#1651
        MooreThreads/torch_musa#32 MooreThreads/torch_musa#60 MooreThreads/torch_musa#81
        MooreThreads/torch_musa#132 MooreThreads/torch_musa#33 MooreThreads/torch_musa#144
        MooreThreads/torch_musa#139 MooreThreads/torch_musa#126 open-mmlab/mmengine#1453
        MooreThreads/torch_musa#12 RL-Align/RL-Kernel#346 MooreThreads/torch_musa#102
        MooreThreads/torch_musa#149 MooreThreads/torch_musa#57 MooreThreads/torch_musa#90
        MooreThreads/torch_musa#82 MooreThreads/torch_musa#76 MooreThreads/torch_musa#101
        MooreThreads/torch_musa#108 flagos-ai/FlagPerf#771 ggml-org/llama.cpp#8383
        flagos-ai/FlagGems#4230 ggml-org/llama.cpp#14941 flagos-ai/FlagPerf#768
        ggml-org/llama.cpp#11843 ggml-org/llama.cpp#12493 flagos-ai/sglang-plugin-FL#95
        MooreThreads/vllm-musa#17 MooreThreads/torch_musa#127 bytedance/xpu-perf#82
        flagos-ai/vllm-plugin-FL#176 MooreThreads/torchada#66 MooreThreads/torchada#22
        MooreThreads/torch_musa#115 MooreThreads/torch_musa#138
        kvcache-ai/ktransformers#936 sgl-project/sglang-omni#1598
        InfiniTensor/InfiniCore#969 MooreThreads/MobiMaliangSDK#20
        open-mmlab/mmsegmentation#3841 xdit-project/xDiT#539 sgl-project/sglang#17246
    """,
    Why.NO_PROGRAM: """
        MooreThreads/torch_musa#114 MooreThreads/torch_musa#64 MooreThreads/torch_musa#15
        MooreThreads/MobiMaliangSDK#23 flagos-ai/FlagGems#298 flagos-ai/FlagGems#468
        yxlllc/ReFlow-VAE-SVC#2 sgl-project/sglang#17105 RLinf/RLinf#617
        MooreThreads/torch_musa#104 flagos-ai/FlagGems#875 flagos-ai/FlagGems#870
        vllm-project/vllm-omni#5164 InfiniTensor/InfiniCore#658 InfiniTensor/InfiniCore#659
    """,
    Why.OTHERS: """
        flagos-ai/Torch-FL#40 flagos-ai/sglang-plugin-FL#6 open-mmlab/mmcv#3240
        flagos-ai/Torch-FL#281 flagos-ai/FlagGems#4820 flagos-ai/FlagGems#2947
        flagos-ai/FlagGems-vllm#118 flagos-ai/FlagGems#4821 flagos-ai/Torch-FL#215
        flagos-ai/Torch-FL#317 flagos-ai/Torch-FL#316 ggml-org/llama.cpp#12419
        ggml-org/llama.cpp#12077 flagos-ai/FlagGems#5556 flagos-ai/FlagGems#2812
        flagos-ai/FlagGems#6371 flagos-ai/FlagGems#6170 flagos-ai/FlagGems#6180
        sgl-project/sglang#23633 ggml-org/llama.cpp#12779 flagos-ai/Torch-FL#275
        flagos-ai/Torch-FL#286 flagos-ai/FlagGems#6080 flagos-ai/FlagGems#912
        flagos-ai/Torch-FL#228 flagos-ai/FlagGems-vllm#117 flagos-ai/FlagGems#458
        sgl-project/sglang#23646 sgl-project/sglang#22774 flagos-ai/Torch-FL#78
        flagos-ai/FlagGems-vllm#758 flagos-ai/FlagGems#4751 flagos-ai/FlagGems#4248
        flagos-ai/Torch-FL#351 flagos-ai/Torch-FL#159 flagos-ai/FlagGems#2965
        flagos-ai/FlagGems#6195 flagos-ai/FlagGems#926 flagos-ai/Torch-FL#271
        flagos-ai/Torch-FL#124 flagos-ai/FlagGems#2319 flagos-ai/FlagGems#4860
        flagos-ai/FlagGems#6427 flagos-ai/FlagGems#4761 flagos-ai/FlagGems#4754
        flagos-ai/FlagGems#4787 flagos-ai/FlagGems#4771 flagos-ai/FlagGems#4760
        flagos-ai/FlagGems#4775 flagos-ai/FlagGems#4792 flagos-ai/FlagGems#4749
        flagos-ai/FlagGems#4748 flagos-ai/FlagGems#4752 flagos-ai/FlagGems#1049
        flagos-ai/FlagGems#6019 flagos-ai/Torch-FL#60 RL-Align/RL-Kernel#395
        flagos-ai/FlagGems#6490 flagos-ai/Torch-FL#145 flagos-ai/FlagGems#4932
        flagos-ai/sglang-plugin-FL#5 InfiniTensor/InfiniCore#425
        InfiniTensor/InfiniCore#981 InfiniTensor/InfiniTensor#262
        InfiniTensor/InfiniCore#779 InfiniTensor/InfiniCore#375 InfiniTensor/operators#153
        InfiniTensor/InfiniCore#1516 MooreThreads/mutlass#5 InfiniTensor/InfiniCore#807
        InfiniTensor/InfiniCore#1441 open-mmlab/mmcv#3018 MooreThreads/tutorial_on_musa#6
        open-mmlab/mmcv#3241
    """,
    Why.UNCONFIRMED: """
        flagos-ai/FlagGems#5106
    """,
    Why.NO_TARGET: """
        ACEsuit/mace#600 pytorch/pytorch#79812 bdhirsh/pytorch_open_registration_example#6
        pytorch/pytorch#79853 pytorch/pytorch#122552 enesmsahin/simple-lama-inpainting#10
        Gadersd/stable-diffusion-burn#8 alibaba/MNN#2565
        meta-pytorch/segment-anything-fast#121 pytorch/pytorch#26456
        hughperkins/distro-cl#43 intel/BigDL#1477 pytorch/pytorch#143905 m4rs-mt/ILGPU#506
        facebookresearch/segment-anything#751 pytorch/pytorch#31250
        NVIDIA/cudnn-frontend#554 intel/torch-xpu-ops#617 intel/torch-xpu-ops#2615
        pytorch/TensorRT#2178 Project-MONAI/research-contributions#253 alibaba/MNN#1305
        emptysoal/TensorRT-YOLO11#6 intel/torch-xpu-ops#1391 intel/torch-xpu-ops#48
        intel/torch-xpu-ops#57 intel/torch-xpu-ops#172 cornell-brg/hb-pytorch#103
        intel/torch-xpu-ops#206 tenstorrent/tt-metal#6888 pytorch/pytorch#154854
        pytorch/pytorch#16566 DeepLink-org/deeplink.framework#381 pytorch/pytorch#155630
        intel/intel-extension-for-pytorch#60 pytorch/pytorch#78044 pytorch/xla#2447
        pytorch/pytorch#50098 pytorch/pytorch#150386 VeriSilicon/TIM-VX#15 torch/cunn#383
        tenstorrent/pytorch2.0_ttnn#419 tenstorrent/tt-metal#13624 torch/cunn#381
        ROCm/MIOpen#25 tenstorrent/pytorch2.0_ttnn#385 pytorch/pytorch#8051
        mlr-org/mlr3torch#474 eosphoros-ai/DB-GPT-Hub#159 pinokiocomputer/pinokio#927
        kijai/ComfyUI-segment-anything-2#26 tenstorrent/tt-metal#6000
        tinygrad/tinygrad#4305 tenstorrent/tt-metal#8768 synnada-ai/mithril#133
        substratusai/vllm-docker#37 sipie800/ComfyUI-PuLID-Flux-Enhanced#48
        pytorch/pytorch#167082 unslothai/unsloth#510 pytorch/pytorch#100326
        Dao-AILab/flash-attention#108 facebookresearch/xformers#408
        Dao-AILab/flash-attention#28 NVIDIA/Megatron-LM#277 triton-lang/triton#621
        PaddlePaddle/PaddleMIX#476 Dao-AILab/flash-attention#1300
        PaddlePaddle/flash-attention#150 xinge008/Cylinder3D#57 SwjtuMa/FER-YOLO-Mamba#9
        candle-org/MindAct#2235 polarisZhao/PFLD-pytorch#62 zhaofuq/Instant-NSR#15
        allenai/savn#31 MicrosoftDocs/windows-ai-docs#104 danieltan07/dagmm#6
        theartificialguy/NLP-with-Deep-Learning#2 jeffheaton/present#25
        open-mmlab/mmagic#175 torch/nn#101 pytorch/FBGEMM#5761 microsoft/BitBLAS#34
        ggml-org/llama.cpp#24886 iapatil/depth-semantic-fully-conv#5
        cornell-brg/hb-pytorch#26 ggml-org/llama.cpp#25028 MIC-DKFZ/nnUNet#215
        Oneflow-Inc/oneflow#8281 pytorch/pytorch#47298 wandb/wandb#1020
        Comfy-Org/ComfyUI#4017 Comfy-Org/ComfyUI#11727 kijai/ComfyUI-MuseTalk-KJ#11
        pytorch/pytorch#88614 InfiniTensor/InfiniCore#320 pytorch/pytorch#50475
        THU-MIG/yolov10#477 THU-MIG/yolov10#6 modelscope/FunASR#1446 modelscope/FunASR#1837
        modelscope/modelscope#627 modelscope/FunASR#2119 modelscope/FunASR#1273
        modelscope/FunASR#2548 modelscope/FunASR#2717 modelscope/FunASR#2767
        modelscope/FunASR#1744 RVC-Boss/GPT-SoVITS#165 RVC-Boss/GPT-SoVITS#1913
        RVC-Project/Retrieval-based-Voice-Conversion-WebUI#1613 intel/torch-xpu-ops#136
        tenstorrent/pytorch2.0_ttnn#539 kulinseth/pytorch#262 pytorch/pytorch#184826
        tenstorrent/tt-metal#21482 tenstorrent/tt-metal#33527 pytorch/pytorch#50090
        open-lm-engine/lm-engine#218 sony/nnabla-ext-cuda#125 mcpaulgeorge/WalMaFa#8
        RVC-Project/Retrieval-based-Voice-Conversion-WebUI#2406 gwenzhang/BEVDilation#3
        ssbuild/moss_finetuning#17 liuyuan-pal/Gen6D#68 mindspore-lab/mindocr#670
        apache/mxnet#3491 bubbliiiing/yolov4-pytorch#379 argusswift/YOLOv4-pytorch#186
        Tongjilibo/bert4torch#107 intel/intel-extension-for-pytorch#814
        iver56/torch-audiomentations#73 librosa/librosa#828 pytorch/pytorch#7883
        ooples/AiDotNet.Tensors#212 pseeth/torch-stft#14 soumith/torch-signal#18
        pytorch/pytorch#3775 tensorflow/tensorflow#6541 pytorch/pytorch#46912
        ejmahler/RustFFT#140 flagos-ai/FlagGems#126 pytorch/benchmark#1326
        pytorch/benchmark#1008 pytorch/torchdynamo#1534 pytorch/benchmark#1559
        flagos-ai/sglang-plugin-FL#75 flagos-ai/Torch-FL#29 flagos-ai/FlagGems#2206
        InfiniTensor/InfiniCore#1305 InfiniTensor/InfiniCore#449 ChipSum-Group/ChipSum#6
        flagos-ai/FlagGems#2890 pytorch/pytorch#30847 pytorch/pytorch#158113
        XPU-Forces/mojo_opset#166 sgl-project/sglang#2241 pytorch/pytorch#137202
        flagos-ai/FlagGems#6045 warpfront/hipfire#61 intel/intel-cmt-cat#138
        warpfront/hipfire#197 ROCm/AMDMIGraphX#4628 mutable-org/mutable#8
        pytorch/pytorch#96080 unifyai/ivy#6333 unifyai/ivy#4545 tally-project/tally#37
        hpcaitech/ColossalAI#999 flagos-ai/FlagGems#5481 pytorch/pytorch#197846
        unifyai/ivy#4847 flagos-ai/FlagGems#6212 flagos-ai/FlagGems#4803
        NVlabs/X-MOBILITY#25 unifyai/ivy#17445 pytorch/pytorch#23337
        flagos-ai/FlagGems#4160 IntelPython/dpnp#553 flagos-ai/FlagGems#3894
        flagos-ai/FlagGems#6010 flagos-ai/FlagGems#5620 flagos-ai/FlagGems#5011
        pytorch/pytorch#183885 pytorch/pytorch#146986 pytorch/pytorch#20894
        intel/torch-xpu-ops#1022 pytorch/pytorch#40616 tenstorrent/tt-xla#5105
        huggingface/open-muse#112 dptech-corp/deepmd-pytorch#110 pytorch/pytorch#69821
        pytorch/pytorch#88947 pytorch/pytorch#139870 hw-native-sys/pypto#2506
        HomericIntelligence/Odyssey#4718 tenstorrent/tt-metal#1981 pytorch/ao#1656
        tenstorrent/tt-metal#25261 NVIDIA/TensorRT-LLM#10346 ModelTC/LightX2V#1333
        huggingface/diffusers#10986 huggingface/diffusers#13432 huggingface/diffusers#13613
        huggingface/diffusers#11649 ModelTC/LightX2V#370 bentoml/BentoDiffusion#32
        huggingface/diffusers#12653 pytorch/torchdynamo#2013 pytorch/pytorch#179135
        pytorch/pytorch#93495 pytorch/pytorch#126619 conda-forge/pytorch-cpu-feedstock#317
        open-lm-engine/accelerated-model-architectures#208 tinygrad/tinygrad#9279
        pytorch/torchdynamo#1974 pytorch/pytorch#145861 pytorch/pytorch#90831
        pytorch/pytorch#179418 InfiniTensor/InfiniCore#525 vllm-project/vllm-omni#7361
        vllm-project/vllm-omni#7520 qi-hua/async_cosyvoice#108 vllm-project/vllm-omni#6454
        modelscope/FunASR#3526 espnet/espnet#3668 vllm-project/vllm-omni#6455
        pytorch/pytorch#95125 modular/modular#6883 intel/torch-xpu-ops#3745
        InfiniTensor/InfiniCore#371 InfiniTensor/InfiniCore#1207
        InfiniTensor/InfiniCore#778 InfiniTensor/InfiniCore#781 InfiniTensor/InfiniCore#777
        InfiniTensor/InfiniCore#1059 pytorch/pytorch#141864 tenstorrent/tt-forge-onnx#369
        pytorch/xla#1330 tensorflow/tensorflow#40455 InternLM/lmdeploy#1270
        pytorch/pytorch#83321 pytorch/pytorch#134812
        intel/intel-xpu-backend-for-triton#1769 meta-pytorch/tritonbench#1157
        alibaba/TinyNeuralNetwork#157 NVIDIA/cuEquivariance#129 InfiniTensor/InfiniCore#252
        ROCm/pytorch#152 InfiniTensor/operators#2 InfiniTensor/InfiniCore#172
        InfiniTensor/InfiniCore#897 InfiniTensor/InfiniCore#572 InfiniTensor/operators#4
        InfiniTensor/operators#5 InfiniTensor/InfiniCore#173 InfiniTensor/InfiniCore#946
        InfiniTensor/InfiniCore#700 InfiniTensor/InfiniCore#798 ROCm/aiter#456
        InfiniTensor/InfiniCore#672 InfiniTensor/InfiniCore#1166
        alimama-creative/SDXL_EcomID_ComfyUI#38 ttulttul/ComfyUI-Iterative-Mixer#22
        cubiq/ComfyUI_IPAdapter_plus#604 pytorch/pytorch#70930 Comfy-Org/ComfyUI#14637
        yolain/ComfyUI-Easy-Use#530
    """,
}
LEFT_OUT = tuple(
    LeftOut(thread, why) for why, threads in _LEFT_OUT.items() for thread in threads.split()
)

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
)  # fmt: skip

_LEFT_OUT = {
    Why.KNOWN: """
        MooreThreads/torch_musa#17 MooreThreads/torch_musa#72 MooreThreads/torch_musa#18
        flagos-ai/FlagGems#4114 MooreThreads/torch_musa#86 open-mmlab/mmcv#3239
        pytorch/pytorch#90261 intel/torch-xpu-ops#2253 tinygrad/tinygrad#3007
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
        MooreThreads/torch_musa#108
    """,
    Why.NO_PROGRAM: """
        MooreThreads/torch_musa#114 MooreThreads/torch_musa#64 MooreThreads/torch_musa#15
        MooreThreads/MobiMaliangSDK#23 flagos-ai/FlagGems#298 flagos-ai/FlagGems#468
        yxlllc/ReFlow-VAE-SVC#2 sgl-project/sglang#17105 RLinf/RLinf#617
        MooreThreads/torch_musa#104
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
        flagos-ai/FlagGems-vllm#758
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
        ejmahler/RustFFT#140
    """,
}
LEFT_OUT = tuple(
    LeftOut(thread, why) for why, threads in _LEFT_OUT.items() for thread in threads.split()
)

"""A second look at what users of NPUs, TPUs and other accelerators of the East met.

Threads of other vendors that these queries gave are here too.
"""

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812  # as everybody writes it

from tests.user_controls.control import Learned
from tests.user_reports.report import Because, LeftOut, Met, Report, Why

QUERIES = (
    "Ascend NPU torch_npu EZ9999 aclnn inner error operator float64 double unsupported",
    "torch_npu index_put scatter gather bug on Ascend 910B wrong result",
    "pytorch/xla masked_fill index_put_ boolean mask dynamic shape nonzero TPU slow or fails",
    "pytorch/xla in-place op view functionalization result differs from eager CPU TPU "
    "torch_xla 2.x bug",
    "CAUTION: The operator is not currently supported on the NPU backend and will "
    "fall back to run on the CPU VariableFallbackKernel",
    "torch_npu Could not run with arguments from the 'NPU' or PrivateUse1 backend "
    "NotImplementedError",
    "昇腾 910B torch_npu 训练 报错 aclnn 算子 shape 不支持 维度 超过 8",
    "torch_npu complex64 fft stft view_as_complex rotary embedding not supported Ascend workaround",
    "torch_xla linalg eigh qr svd slogdet inverse TPU fallback or unimplemented",
    "sglang 14159 self tensor cannot be larger than 8 dimensions aclnnInplaceCopy "
    "traceback preprocess permute reshape npu",
    "Ascend NPU bugfix op does not support this dtype on NPU, cast before calling "
    "torch op diffusers transformers accelerate",
    "torch_npu torch.sort argsort topk unique nonzero wrong or slow on Ascend NPU",
    "vllm-ascend Atlas 300I 310P operator not supported dtype error aclnn torch op",
    "torch_npu conv1d conv_transpose1d grid_sample upsample pooling fails on Ascend "
    "910B TTS vision model",
    "Ascend/pytorch issue torch_npu backward error aclnn gradient operator "
    "unsupported training custom model",
    "Ascend NPU enable_gqa scaled_dot_product_attention is_causal mask shape "
    "unsupported torch_npu SDPA",
    "Torch-FL ascend native aten torch_npu kernel incorrect or raises compared with CPU",
    "FlagGems ascend native torch baseline raises RuntimeError aclnn dtype support "
    "list benchmark operator",
    "NPU Ascend torch.multinomial exponential_ bernoulli random sampling seed "
    "generator error or slow verl vllm-ascend",
    "Ascend NPU torch.bincount searchsorted histc masked_scatter index_add aclnn failed model fix",
    "torch_npu float8 int4 uint8 int16 bool dtype add mul matmul not implemented for "
    "DT_ should be in dtype support list",
    "Ascend MaxPool1d backward RuntimeError loss.backward torch_npu "
    "max_pool2d_with_indices_backward yunyiyun reply",
    "ChatTTS Ascend NPU sample_audio_speaker error torchaudio vocos stft complex npu",
    "diffusers NPU Ascend fix error when running pipeline operator float64 complex "
    "interpolate upsample bf16",
    "npu 昇腾 微调 推理 报错 算子 aclnn float64 DT_DOUBLE DT_INT64 不支持 解决 modelscope ms-swift "
    "mineru funasr",
    "torch_npu F.interpolate bicubic antialias upsample_nearest aclnnUpsample failed "
    "Ascend NPU vision encoder position embedding",
    "vllm-omni sglang diffusion Ascend NPU aclnn error code 161002 operator "
    "workaround native torch op",
    "torch_mlu Cambricon MLU370 MLU590 operator not implemented or cnnl error dtype "
    "unsupported pytorch",
    "pytorch/xla torch.roll flip unfold pixel_shuffle im2col not lowered fallback to "
    "CPU aten:: TPU slow 2023 2024",
    "torch_xla quantization int4 int8 matmul uint8 bool tensor op unsupported TPU "
    "error torch_xla 2.4 2.5",
    "pytorch/xla torch.multinomial bernoulli randperm normal_ random op TPU falls back or fails",
    "torch_xla AssertionError or RuntimeError shape check max_pool avg_pool conv "
    "adaptive pool TPU unlike CPU",
    "[Core ATen Opset] Lower aten_ pytorch/xla unit test fails native_group_norm "
    "reflection_pad embedding slice_scatter argmax",
    "pytorch/xla Support op fallback grid_sampler_2d reflection_pad "
    "upsample_bicubic2d scatter_reduce searchsorted lowering request 2024 2025",
    "torch_musa musa MTT S4000 S5000 torch op NotImplementedError or incorrect sglang "
    "comfyui llama 2026",
)
ATTENTION = ("aten::scaled_dot_product_attention",)

X = torch.linspace(-1, 1, 24).view(4, 6)
SEEN = torch.ones(1, 1, 64, 64, dtype=torch.bool)


def _attention_of_groups(query: Tensor, key: Tensor) -> Tensor:
    return F.scaled_dot_product_attention(query, key, key, enable_gqa=True)


def _masked_attention_of_groups(query: Tensor, key: Tensor, seen: Tensor) -> Tensor:
    return F.scaled_dot_product_attention(query, key, key, attn_mask=seen, enable_gqa=True)


def _marked(x: Tensor) -> Tensor:
    found = x.clone()
    found[found > 0.5] = 1.0
    return found


REPORTS = (
    Report(
        "TPU: a mask filled", "pytorch/xla#4248", 2,
        "`x[mask] = 1.0` computes the mask at once, since the number of places depends on it",
        "google-tpu-v4@r1.13", Met.SLOW, Because.OTHER, _marked, (X,),
        ("aten::index_put_", "aten::index_put", "aten::masked_fill_", "aten::masked_fill"),
    ),
    Report(
        "TPU: svd of three dimensions", "pytorch/xla#4511", 8,
        "`linalg.svd` has no lowering", "google-tpu-v4@r2.0", Met.ON_THE_HOST, Because.NO_KERNEL,
        lambda x: torch.linalg.svd(x, full_matrices=False), (torch.ones(8, 9, 9),),
        ("aten::_linalg_svd", "aten::linalg_svd"),
    ),
    Report(
        "XPU: eig", "intel/torch-xpu-ops#1988", 8,
        "`linalg.eig` does not run on the host by itself until a pull request of August 2025",
        "intel-max@2.8.0", Met.REFUSED, Because.NO_KERNEL,
        torch.linalg.eig, (torch.eye(4),), ("aten::linalg_eig",),
    ),
    Report(
        "XPU: eigvals", "pytorch/pytorch#140965", 8,
        "`linalg.eigvals`, which language models ask for, is not implemented",
        "intel-max@2.5.1", Met.REFUSED, Because.NO_KERNEL,
        torch.linalg.eigvals, (torch.eye(4),),
        ("aten::linalg_eigvals", "aten::_linalg_eigvals", "aten::linalg_eig"),
    ),
    Report(
        "NPU: max_pool1d, trained", "Ascend/pytorch#56", 13,
        "training with a MaxPool1d raises in the backward pass", "ascend-910b@6.0.0",
        Met.REFUSED, Because.NO_KERNEL,
        Learned(lambda scale, x: F.max_pool1d(x * scale, 2), torch.ones(())),
        (torch.linspace(0, 1, 24).view(1, 3, 8),),
        (
            "aten::max_pool2d_with_indices", "aten::max_pool2d_with_indices_backward",
            "aten::max_pool1d", "aten::max_pool1d_with_indices",
        ), training=True,
    ),
    Report(
        "NPU: attention of grouped heads for speech", "sgl-project/sglang-omni#2004", 13,
        "attention with `enable_gqa` is not supported for Qwen3-TTS, in September 2026",
        "ascend-910b@26.1.0", Met.REFUSED, Because.VALUE, _attention_of_groups,
        (torch.ones(1, 16, 1, 64).bfloat16(), torch.ones(1, 8, 1, 64).bfloat16()), ATTENTION,
    ),
    Report(
        "NPU: _foreach_norm of a weight", "ultralytics/ultralytics#22270", 14,
        "`_foreach_norm` of gradients raises, since it takes no internal format",
        "ascend-910b@7.2.0", Met.REFUSED, Because.LAYOUT,
        lambda x: torch._foreach_norm([x], 2.0), (torch.ones(8, 3, 3, 3),),
        ("aten::_foreach_norm",),
    ),
    Report(
        "NPU: attention of grouped heads", "huggingface/transformers#41601", 15,
        "attention with `enable_gqa` works with torch_npu 2.5.1", "ascend-910b@7.1.0",
        Met.WORKS, Because.VALUE, _attention_of_groups,
        (torch.ones(1, 8, 64, 64).bfloat16(), torch.ones(1, 2, 64, 64).bfloat16()), ATTENTION,
    ),
    Report(
        "NPU: attention of grouped heads, masked", "vllm-project/vllm-omni#6788", 15,
        "attention of 28 heads and 7 with a boolean mask is right with torch_npu 2.10",
        "ascend-910c@26.0.0", Met.WORKS, Because.VALUE, _masked_attention_of_groups,
        (torch.ones(1, 28, 64, 120).bfloat16(), torch.ones(1, 7, 64, 120).bfloat16(), SEEN),
        ATTENTION,
    ),
    Report(
        "TPU: grid_sample", "pytorch/xla#6581", 33,
        "`grid_sampler_2d` has no lowering and runs on the host", "google-tpu-v4@r2.2",
        Met.ON_THE_HOST, Because.NO_KERNEL,
        lambda x, grid: F.grid_sample(x, grid, align_corners=False),
        (torch.ones(1, 3, 8, 8), torch.zeros(1, 4, 4, 2)),
        ("aten::grid_sampler_2d", "aten::grid_sampler"),
    ),
)  # fmt: skip

_LEFT_OUT = {
    Why.KNOWN: """
        huggingface/diffusers#10428 hiyouga/LlamaFactory#4165 PaddlePaddle/PaddleCustomDevice#728
        bitsandbytes-foundation/bitsandbytes#1695 huggingface/diffusers#10123 Ascend/pytorch#83
        vllm-project/vllm-ascend#14456 sgl-project/sglang#10402 vllm-project/vllm-ascend#6636
        intel/intel-extension-for-pytorch#682 flagos-ai/Torch-FL#349 vllm-project/vllm#8054
        pytorch/xla#2661 pytorch/xla#1401 pytorch/xla#2254 pytorch/xla#3392 pytorch/xla#3330
        pytorch/xla#2418 pytorch/xla#4189 opendatalab/MinerU#1695 cornell-brg/hb-pytorch#103
        intel/torch-xpu-ops#48 intel/torch-xpu-ops#206 opendatalab/MinerU#1941
        vllm-project/vllm-omni#755 DeepLink-org/deeplink.framework#381 bytedance/xpu-perf#203
        Comfy-Org/ComfyUI#11906 Ascend/pytorch#37 Ascend/pytorch#16 open-compass/opencompass#1618
        sgl-project/sglang#14159 hiyouga/LlamaFactory#4836 vllm-project/vllm-omni#4911
        tenstorrent/tt-xla#3060 vllm-project/vllm-omni#6571 pytorch/pytorch#50234
        ROCm/torch_migraphx#123 flagos-ai/FlagGems#2143 pytorch/xla#6017 pytorch/xla#7674
        pytorch/xla#4537 huggingface/diffusers#14380 sgl-project/sglang#29011
        hiyouga/LlamaFactory#7522 hiyouga/LlamaFactory#7986 CS-BAOYAN/CSYuTuiMian2024#58
        sgl-project/sglang#11407 pytorch/pytorch#20894 pytorch/TensorRT#2508
        vllm-project/vllm-ascend#8186 candle-org/MindAct#1134 vllm-project/vllm-ascend#10979
        sgl-project/sglang#27853 Comfy-Org/ComfyUI#7499 vllm-project/vllm-ascend#1007
        Ascend/pytorch#73 hiyouga/LlamaFactory#3840 llvm/torch-mlir#3690 Ascend/pytorch#88
        sgl-project/sglang#31948 hw-native-sys/PTOAS#21 vllm-project/vllm-ascend#31
        Ascend/pytorch#90 XPU-Forces/xpu_graph#306 flagos-ai/FlagGems#5953 flagos-ai/FlagGems#6195
        flagos-ai/FlagGems#6014 flagos-ai/Torch-FL#151 flagos-ai/FlagGems#5354
        flagos-ai/FlagGems#5641 flagos-ai/Torch-FL#64 flagos-ai/FlagGems#5436
        intel/torch-xpu-ops#383 vllm-project/vllm-ascend#6182 vllm-project/vllm-ascend#6258
        vllm-project/vllm-ascend#15290 Ascend/pytorch#158 tinygrad/tinygrad#3007
        hw-native-sys/pypto#2191 intel/torch-xpu-ops#1896 pytorch/pytorch#156101
        pytorch/pytorch#122024 sgl-project/sglang-omni#1725 hiyouga/LlamaFactory#975
        hiyouga/LlamaFactory#3796 modelscope/FunASR#3034 hiyouga/LlamaFactory#8319
        hiyouga/LlamaFactory#5425 samthakur587/Tvarant#83 PaddlePaddle/Paddle-Lite#4028
        InfiniTensor/InfiniCore#1531 PaddlePaddle/PaddleCustomDevice#639
        vllm-project/vllm-ascend#1047 gpustack/gpustack#937 huggingface/transformers#29627
        open-mmlab/mmcv#1770 bytedance-iaas/vllm#63 InfiniTensor/InfiniTensor#210
        flagos-ai/FlagGems#5535 open-mmlab/mmcv#1768 flagos-ai/FlagGems#5254 cnstark/easytorch#70
        InternLM/xtuner#984 InfiniTensor/InfiniTensor#38 Yuichi1001/2024-AICS-EXP#29
        pytorch/xla#2932 pytorch/xla#1233 pytorch/xla#2588 pytorch/xla#2405 pytorch/xla#4848
        pytorch/xla#5994 Lightning-AI/pytorch-lightning#7471 pytorch/xla#6559 pytorch/xla#7267
        pytorch/xla#5868 pytorch/xla#1239 flagos-ai/sglang-plugin-FL#92 MooreThreads/torch_musa#138
        ggml-org/llama.cpp#12077 sgl-project/sglang#27537 MooreThreads/tutorial_on_musa#26
    """,
    Why.NO_CALL: """
        pytorch/pytorch#191571 pytorch/xla#4616 pytorch/pytorch#130021 pytorch/xla#4158
        pytorch/pytorch#96577 pytorch/pytorch#134318 sgl-project/sglang#3853
        vllm-project/vllm-ascend#5629 Ksuriuri/index-tts-vllm#161 Ascend/pytorch#57
        vllm-project/vllm-ascend#516 vllm-project/vllm-ascend#9262 vllm-project/vllm-omni#6040
        huggingface/transformers#39412 linkedin/Liger-Kernel#1159 vllm-project/vllm-ascend#11455
        vllm-project/vllm#6271 vllm-project/vllm#11953 vllm-project/vllm#8870
        pytorch/pytorch#156087 pytorch/ao#4087 pytorch/pytorch#91577 2noise/ChatTTS#777
        zai-org/GLM-TTS#53 sgl-project/sglang-omni#1691 xdit-project/xDiT#567
        modelscope/FunASR#1662 huggingface/pytorch-image-models#750 intel/torch-xpu-ops#59
        pytorch/xla#4628 pytorch/xla#8373 intel/torch-xpu-ops#520 pytorch/xla#6451
        intel/torch-xpu-ops#1529 pytorch/xla#6513 sgl-project/sglang#23654 sgl-project/sglang#10023
        intel/ipex-llm#101 sgl-project/sgl-kernel-npu#72 trumd9/8w4u8#22 rwth-i6/returnn#1408
    """,
    Why.NO_PROGRAM: """
        InternLM/lmdeploy#2769 vllm-project/vllm-ascend#5297 InternLM/lmdeploy#3247
        vllm-project/vllm-ascend#641 vllm-project/vllm-ascend#811 vllm-project/vllm-ascend#3316
        2noise/ChatTTS#788 Ascend/pytorch#148 huggingface/transformers#41143
        vllm-project/vllm-ascend#12966 vllm-project/vllm-ascend#2892 Tencent-Hunyuan/HunyuanDiT#226
        hiyouga/LlamaFactory#7679 vllm-project/vllm-ascend#2525 vllm-project/vllm-ascend#5695
        pytorch/xla#5886 pytorch/pytorch#168246 pytorch/xla#5884 pytorch/xla#5890 pytorch/xla#5881
        pytorch/xla#5882 pytorch/xla#5891 pytorch/xla#5867 pytorch/xla#5870 pytorch/xla#5847
        pytorch/xla#5996
    """,
    Why.OTHERS: """
        flagos-ai/FlagGems#5746 vllm-project/vllm-ascend#4296 ivan-chai/torch-linear-assignment#28
        DeepLink-org/DeepLinkExt#124 flashserve/flash-linear-attention-npu#309
        linkedin/Liger-Kernel#1035 DeepLink-org/DIOPI#753 candle-org/candle#182
        vllm-project/vllm-ascend#1383 vllm-project/vllm-ascend#237 vllm-project/vllm-ascend#3453
        flagos-ai/Torch-FL#75 linkedin/Liger-Kernel#1220 flagos-ai/Torch-FL#53
        candle-org/candle#115 flagos-ai/FlagGems#3049 flagos-ai/FlagGems#6161
        flagos-ai/vllm-plugin-FL#542 flagos-ai/FlagGems#6446 InfiniTensor/InfiniCore#1487
        vllm-project/vllm-ascend#9948 tile-ai/tilelang-ascend#729 LMCache/LMCache-Ascend#31
        tile-ai/tilelang-mlir-ascend#97 gpustack/gpustack#4363 vllm-project/vllm-ascend#2387
        pytorch/xla#7235 vllm-project/vllm#9301 vllm-project/vllm#7005 pytorch/ao#1022
        vllm-project/tpu-inference#1841 vllm-project/vllm#11785 sgl-project/sglang#22051
    """,
    Why.UNCONFIRMED: """
        pytorch/pytorch#132045 pytorch/pytorch#105794 vllm-project/vllm-ascend#17166
    """,
    Why.NO_TARGET: """
        PaddlePaddle/Paddle#34531 PaddlePaddle/PaddleCustomDevice#258 PaddlePaddle/PaConvert#299
        PaddlePaddle/Paddle#18038 aws-neuron/aws-neuron-sdk#790 PaddlePaddle/Paddle#31607
        pytorch/pytorch#61612 pytorch/pytorch#57515 pytorch/pytorch#93421 pytorch/xla#3315
        pytorch/xla#1718 pytorch/xla#3540 pytorch/pytorch#18189 PaddlePaddle/Paddle#74372
        NervanaSystems/ngraph#4047 nvdla/sw#206 intel/intel-npu-acceleration-library#72
        yhtang/FunFact#98 microsoft/onnxruntime#21254 PaddlePaddle/Paddle#78463
        tenstorrent/tt-metal#2141 microsoft/nni#5755 tenstorrent/tt-metal#18403
        erksch/fnet-pytorch#10 openxla/openxla-pjrt-plugin#25 tinygrad/tinygrad#10612
        pytorch/xla#2689 PaddlePaddle/Paddle#32121 PaddlePaddle/PaddleCustomDevice#1004
        PaddlePaddle/PaddleCustomDevice#332 candle-org/MindAct#2476 pytorch/pytorch#22812
        torch/cutorch#350 openvinotoolkit/nncf#2671 candle-org/MindAct#1499 tinygrad/tinygrad#11097
        flagos-ai/vllm-plugin-FL#432 candle-org/MindAct#759 pytorch/pytorch#15735
        meta-pytorch/torchrec#587 tinygrad/tinygrad#9900 intel/intel-npu-acceleration-library#57
        pytorch/pytorch#49890 pytorch/executorch#8940 llvm/torch-mlir#688 pytorch/pytorch#34450
        pytorch/pytorch#771 pytorch/pytorch#38764 pytorch/pytorch#131659 edwardzhou130/PolarSeg#4
        aharley/pips2#2 mindspore-lab/mindone#895 PaddlePaddle/PaddleOCR#11337
        openvinotoolkit/openvino.genai#4444 Oneflow-Inc/oneflow#2268 Tencent/TNN#641
        Oneflow-Inc/oneflow#2271 PaddlePaddle/Paddle#34881 unifyai/ivy#10211 pytorch/xla#2239
        pytorch/xla#3427 Lightning-AI/pytorch-lightning#7392 pytorch/xla#2326 pytorch/xla#2455
        erfanzar/EasyDeL#190 keras-team/keras#22338 pytorch/executorch#5898
        DeepLink-org/DLOP-Bench#20 tenstorrent/tt-tvm#83 pytorch/xla#2030 unifyai/ivy#15889
        unifyai/ivy#14865 pytorch/xla#1598 tenstorrent/tt-metal#13878 pytorch/pytorch#148247
        unifyai/ivy#28815 tenstorrent/tt-forge-onnx#628 pytorch/xla#3135 jax-ml/jax#19976
        pytorch/TensorRT#180 pytorch/xla#2632 tenstorrent/pytorch2.0_ttnn#362
        tenstorrent/tt-forge-onnx#2770 waleedka/hiddenlayer#35 pytorch/xla#2179 pytorch/xla#8754
        pytorch/xla#1409 pytorch/xla#1403 pytorch/xla#3367 tenstorrent/pytorch2.0_ttnn#377
        tenstorrent/tt-metal#12154 NVIDIA-AI-IOT/torch2trt#75 tenstorrent/tt-metal#15165
        tenstorrent/tt-metal#17701
    """,
}
LEFT_OUT = tuple(
    LeftOut(thread, why) for why, threads in _LEFT_OUT.items() for thread in threads.split()
)

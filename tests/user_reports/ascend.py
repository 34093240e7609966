"""What users of Ascend NPUs met, as threads tell it, written down before any scan of it."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  # as everybody writes it

from tests.user_reports.report import Because, LeftOut, Met, Report, Why

QUERIES = (
    "torch_npu operator not supported on NPU falls back to CPU warning",
    "aclnn error 161002 dtype not supported torch_npu",
    "NPU wrong result differs from CPU torch_npu",
    "could not run aten:: with arguments from the 'NPU' backend",
    "昇腾 NPU 算子 不支持 报错 torch_npu",
    "昇腾 NPU 精度 结果 错误 与 CPU 不一致",
    "Ascend NPU float64 DT_DOUBLE not supported AiCPU",
    "Ascend NPU complex FFT not supported",
    "Ascend 910B EZ9999 EZ3002 inner error kernel operator input shape",
    "Ascend 310P bfloat16 not supported operator",
    "Ascend NPU convolution conv3d kernel stride limit error",
    "Ascend NPU index_put masked_fill scatter bool int64 error",
    "Ascend NPU interpolate bicubic upsample grid_sample not implemented",
    "Ascend NPU backward grad not implemented npu error training",
    "Ascend NPU non-contiguous view strides wrong output",
    "Ascend NPU nms torchvision roi_align not supported",
    "NPU function error: call aclnnIndex failed EZ1001 not implemented for DT_COMPLEX64, should be "
    "in dtype support list",
    "torch_npu scaled_dot_product_attention attn_mask error on NPU",
    "LlamaFactory 昇腾 NPU 训练 推理 RuntimeError call aclnn failed detail EZ1001",
    "Conv3D Ascend NPU InnerRun OPS function error code 500002 Failed to compile Op Qwen2-VL",
    "[NPU] fix: operator not supported on Ascend NPU, replace torch op workaround",
    "310P vllm-ascend NPU function error aclnnIsNegInf failed Op has no binary torch",
    "Ascend/pytorch issue torch_npu operator bug reproduce code incorrect result",
    "call aclnnCat failed error code 161002 dtype promote tensors NPU concatenation different "
    "dtype",
    "Ascend NPU torch.bincount unique nonzero cumsum slow or fails, aicpu exception 507018",
    "scaled_dot_product_attention bool mask torch_npu result differs from float mask",
    "Op Cast does not has any binary 310P bf16 aclnnCast failed 微调 310P 不支持 bf16",
    "ComfyUI Ascend NPU error operator VAE conv3d upsample group_norm float8 torch_npu",
    "vllm-ascend [Bug] call aclnn failed torch op sampler index multimodal dtype DT_INT64 not "
    "implemented",
    "FlagGems Ascend torch_npu reference operator fails or unsupported dtype skip test npu",
    "FlagGems native baseline N/A falls back to CPU on Ascend torch-npu skip_native",
    "FlagGems issue native torch op not supported on Ascend NPU aten",
    "torch_npu native result incorrect FlagGems Ascend reference CANN bug workaround on CPU",
    "Wan VAE decode Conv2D error Ascend NPU 910B CANN EZ9999 large resolution",
    "310P vllm aclnn error EZ1001 Tensor self not implemented for DT_INT32 dtype support list [] "
    "300i duo",
    "昇腾 910A 910ProB torch_npu 不支持 bfloat16 isin exponential multinomial 推理 报错 nan inf "
    "probability tensor",
    "Ascend NPU LSTM GRU interpolate adaptive pool einsum torch_npu fails on 910B model training",
    "verl MindSpeed-MM swift NPU training error aclnn torch operator DT_DOUBLE DT_BFLOAT16 "
    "unsupported",
    "LlamaFactory 310P3 微调 aclnnCast Inner Error 请使用 fp16 解决 Op Cast",
    "sglang diffusion [NPU] fix crash complex rotary float64 unsupported on Ascend",
    "transformers NPU Ascend PR fix torch op wrong result on NPU masked_scatter cumsum argmax",
    "Ascend/pytorch F.interpolate slow, AI CPU operator slow on NPU performance worse than CPU",
    "Ascend/pytorch [bug] interpolate doesn't work with small scale_factor values "
    "minimal_example.py linear scale_factor NPU CosyVoice",
)

HEADS = torch.ones(1, 8, 128, 64)
ROWS = torch.arange(128).unsqueeze(1)
SEEN = ((ROWS.T <= ROWS) & (ROWS.T < 100)).view(1, 1, 128, 128)
BYTES = torch.ones(16, 16).to(torch.float8_e4m3fn)


def _joined(x: Tensor) -> Tensor:
    heads = x.transpose(1, 2)
    found = F.scaled_dot_product_attention(heads, heads, heads)
    return found.transpose(1, 2).view(1, 16, 128)


def _shrunk(x: Tensor) -> Tensor:
    return F.interpolate(x, scale_factor=1 / 480, mode="linear")


def _turned(places: Tensor, speeds: Tensor) -> Tensor:
    return torch.outer(places, speeds).cos().repeat_interleave(2, dim=1).float()


def _scaled(x: Tensor, scale: Tensor) -> Tensor:
    return torch._scaled_mm(x, x.t(), scale, scale, out_dtype=torch.bfloat16)


LINEAR = ("aten::upsample_linear1d", "aten::upsample_linear1d.vec")
CONVOLUTION = ("aten::conv3d", "aten::convolution", "aten::_convolution")
CAST = ("aten::to.dtype", "aten::_to_copy")

REPORTS = (
    Report(
        "NPU: pointers as uint64", "Ascend/pytorch#83", 1,
        "tensors of pointers of uint64 fail when a cache is made", "ascend-910b@7.1.0",
        Met.REFUSED, Because.DTYPE, lambda k, v: torch.cat([k, v]),
        (torch.arange(4).to(torch.uint64), torch.arange(4).to(torch.uint64)),
        ("aten::cat", *CAST),
    ),
    Report(
        "NPU: Conv3d of Wan's decoder", "Comfy-Org/ComfyUI#7499", 8,
        "Conv3D fails on a 910B where Wan 2.1 runs with its VAE in bfloat16", "ascend-910b@6.0.0",
        Met.REFUSED, Because.OTHER, nn.Conv3d(16, 32, 3).bfloat16(),
        (torch.ones(1, 16, 3, 10, 10).bfloat16(),), CONVOLUTION,
    ),
    Report(
        "NPU: Conv3d of bfloat16", "Comfy-Org/ComfyUI#7784", 9,
        "Conv3d of bfloat16 ends in an internal assertion on a 910B", "ascend-910b@6.0.0",
        Met.REFUSED, Because.DTYPE,
        nn.Conv3d(16, 32, (1, 2, 2), stride=(1, 2, 2)).bfloat16(),
        (torch.ones(1, 16, 3, 8, 8).bfloat16(),), CONVOLUTION,
    ),
    Report(
        "NPU: Conv3d of patches", "Ascend/pytorch#73", 10,
        "tuning Qwen2.5 fails in conv3d, of which a maintainer says that it is not fully supported",
        "ascend-910b@7.1.0", Met.REFUSED, Because.OTHER,
        nn.Conv3d(3, 32, (2, 14, 14), stride=(2, 14, 14), bias=False).bfloat16(),
        (torch.ones(4, 3, 2, 14, 14).bfloat16(),), CONVOLUTION,
    ),
    Report(
        "NPU: a view of what attention gives", "sgl-project/sglang#25592", 14,
        "attention gives another memory order than elsewhere, so that a view of it raises",
        "ascend-910b@26.0.0", Met.REFUSED, Because.LAYOUT, _joined,
        (torch.ones(1, 16, 2, 64).bfloat16(),),
        ("aten::view", "aten::scaled_dot_product_attention"),
    ),
    Report(
        "NPU: attention with a boolean mask", "Ascend/pytorch#88", 17,
        "attention with a boolean mask differs from that with the same mask of numbers",
        "ascend-910b@7.2.0", Met.WRONG, Because.DTYPE,
        lambda x, seen: F.scaled_dot_product_attention(x, x, x, seen, scale=0.08838834764831845),
        (HEADS, SEEN), ("aten::scaled_dot_product_attention",),
    ),
    Report(
        "NPU: isin on a 910A", "hiyouga/LlamaFactory#8319", 18,
        "isin runs on the host while a language model writes", "ascend-910a@5.0.0",
        Met.ON_THE_HOST, Because.NO_KERNEL, torch.isin,
        (torch.arange(4), torch.tensor([2])),
        ("aten::isin.Tensor_Tensor", "aten::isin.Tensor_Tensor_out"),
    ),
    Report(
        "NPU: cumsum of integers", "flagos-ai/FlagGems-vllm#818", 24,
        "cumsum of integers runs on the NPU's AI CPU, 15 times slower than on its vector cores",
        "ascend-910c@26.1.0", Met.SLOW, Because.DTYPE, lambda x: torch.cumsum(x, 0),
        (torch.ones(18, dtype=torch.int64),), ("aten::cumsum",),
    ),
    Report(
        "NPU: unique of rows", "flagos-ai/FlagGems#5436", 29,
        "unique_dim runs on the host", "ascend-910b@26.0.0", Met.ON_THE_HOST, Because.NO_KERNEL,
        lambda x: torch.unique(x, sorted=True, return_inverse=True, dim=0),
        (torch.ones(64, 64, dtype=torch.int16),), ("aten::unique_dim",),
    ),
    Report(
        "NPU: _scaled_mm", "flagos-ai/FlagGems#3387", 29,
        "_scaled_mm is not there", "ascend-910b@26.0.0", Met.REFUSED, Because.NO_KERNEL, _scaled,
        (BYTES, torch.ones(())), ("aten::_scaled_mm",),
    ),
    Report(
        "NPU: unique of columns", "flagos-ai/FlagGems#5354", 29,
        "unique along the second dimension takes minutes", "ascend-910b@26.0.0",
        Met.SLOW, Because.OTHER, lambda x: torch.unique(x, dim=1), (torch.ones(1024, 1024),),
        ("aten::unique_dim",),
    ),
    Report(
        "NPU: geometric_", "flagos-ai/FlagGems#6575", 29,
        "geometric_ runs on the host", "ascend-910b@26.1.0", Met.ON_THE_HOST, Because.NO_KERNEL,
        lambda x: torch.empty_like(x).geometric_(0.5), (torch.ones(64, 64).half(),),
        ("aten::geometric", "aten::geometric_"),
    ),
    Report(
        "NPU: bfloat16 on a 910A", "vllm-project/vllm-ascend#9294", 35,
        "a model of bfloat16 fails on a 910A, which has float16 alone", "ascend-910a@26.0.0",
        Met.REFUSED, Because.DTYPE, nn.Linear(8, 8).bfloat16(), (torch.ones(2, 8).bfloat16(),),
        ("aten::linear", "aten::addmm", "aten::mm", "aten::t", *CAST),
    ),
    Report(
        "NPU: linear interpolation by 300", "Ascend/pytorch#69", 36,
        "linear interpolation of float32 is slower than on the host", "ascend-910b@7.1.0",
        Met.SLOW, Because.OTHER,
        lambda x: F.interpolate(x.transpose(1, 2) * 300, scale_factor=300, mode="linear"),
        (torch.ones(1, 518, 9),), LINEAR,
    ),
    Report(
        "NPU: a cast to bfloat16 on a 310P", "hiyouga/LlamaFactory#7522", 38,
        "casting a parameter to bfloat16 raises on a 310P", "ascend-310p@6.0.0",
        Met.REFUSED, Because.DTYPE, lambda x: x.to(torch.bfloat16), (torch.ones(4, 4).half(),),
        CAST,
    ),
    Report(
        "NPU: angles of float64", "huggingface/diffusers#10123", 39,
        "FLUX fails where it repeats rotary angles of float64", "ascend-910b@6.0.0",
        Met.REFUSED, Because.DTYPE, _turned,
        (torch.arange(4, dtype=torch.float64), torch.ones(8, dtype=torch.float64)),
        ("aten::repeat_interleave.self_int", "aten::repeat_interleave.self_Tensor"),
    ),
    Report(
        "NPU: linear interpolation by a small factor", "Ascend/pytorch#150", 41,
        "linear interpolation by a small factor crashes the device", "ascend-910b@26.0.0",
        Met.REFUSED, Because.VALUE, _shrunk, (torch.ones(1, 9, 24000),), LINEAR,
    ),
    Report(
        "NPU: 6720 values from 14", "QwenAudio/CosyVoice#1937", 42,
        "linear interpolation from 6720 values to 14 crashes the device", "ascend-910b@26.0.0",
        Met.REFUSED, Because.VALUE, _shrunk, (torch.ones(1, 9, 6720),), LINEAR,
    ),
)  # fmt: skip

_LEFT_OUT = {
    Why.KNOWN: """
        opendatalab/MinerU#1695 Ascend/pytorch#40 opendatalab/MinerU#1941 Ascend/pytorch#51
        modelscope/ms-swift#1047 Ascend/pytorch#16 hiyouga/LlamaFactory#4836 Ascend/pytorch#100
        hiyouga/LlamaFactory#4165 vllm-project/vllm-ascend#31 FlagOpen/FlagEmbedding#1022
        sgl-project/sglang#18481 huggingface/diffusers#10428 flagos-ai/FlagGems#3267
        Ascend/pytorch#153 flagos-ai/Torch-FL#328 flagos-ai/Torch-FL#323 open-mmlab/mmcv#2985
        ultralytics/ultralytics#13269 vllm-project/vllm-omni#4911 huggingface/diffusers#12979
        sgl-project/sglang#12545 triton-lang/triton-ascend#472 Comfy-Org/ComfyUI#14653
        hiyouga/LlamaFactory#6671 sgl-project/sglang#29011 Comfy-Org/ComfyUI#7307
        flagos-ai/FlagGems#3047 vllm-project/vllm-omni#5242
    """,
    Why.NO_CALL: """
        lm-sys/FastChat#2422 sgl-project/sglang#14747 sgl-project/sglang#29853
        open-compass/opencompass#1618 flagos-ai/FlagScale#4 CS-BAOYAN/CSYuTuiMian2024#58
        vipshop/cache-dit#706 flashserve/flash-linear-attention-npu#2 bytedance/xpu-perf#203
        Ascend/pytorch#37 xdit-project/xDiT#617 Ascend/pytorch#7 hiyouga/LlamaFactory#7986
        hiyouga/LlamaFactory#975 deepseek-ai/DeepSeek-V3#903 NexusGPU/tensor-fusion#456
        flashinfer-ai/flashinfer#2474 stepfun-ai/Step-Audio-R1#7 bytedance/Bernini#42
        ziyuwan/ReMA-public#4 ModelCloud/GPTQModel#2830 ModelCloud/GPTQModel#2285
        ascend-ai-coding/awesome-ascend-skills#42 Ascend/DeepSpeed#1
        huggingface/transformers#35785 vllm-project/vllm-ascend#479 pytorch/vision#6725
        vllm-project/vllm-ascend#4859 Ascend/pytorch#25 sgl-project/sglang#31948
        hiyouga/LlamaFactory#10418 hiyouga/LlamaFactory#3779 hiyouga/LlamaFactory#5425
        hiyouga/LlamaFactory#4610 vllm-project/vllm-ascend#8981 flagos-ai/FlagGems#2143
        ByteDance-Seed/VeOmni#245 open-compass/RePro#2 vllm-project/vllm-ascend#13647
        flagos-ai/FlagGems#729 flagos-ai/FlagGems#5791 vllm-project/vllm-ascend#2795
        vllm-project/vllm-ascend#1993 DeepLink-org/dlinfer#57 modelscope/ms-swift#9245
        modelscope/ms-swift#9135 modelscope/ms-swift#6689 modelscope/ms-swift#3577
        verl-project/verl#955 sgl-project/sglang#34855 Ascend/pytorch#33
    """,
    Why.NO_PROGRAM: """
        sgl-project/sglang#10615 Ascend/pytorch#90 hiyouga/LlamaFactory#8511
        pytorch/pytorch#116682 hiyouga/LlamaFactory#3796 hiyouga/LlamaFactory#3840
        vllm-project/vllm-ascend#4877 vllm-project/vllm-ascend#12268
        vllm-project/vllm-ascend#15586 vllm-project/vllm-ascend#5144
        vllm-project/vllm-ascend#4513 hiyouga/LlamaFactory#3670 vllm-project/vllm-ascend#6082
        hiyouga/LlamaFactory#2385 hiyouga/LlamaFactory#7670 hiyouga/LlamaFactory#3959
        vllm-project/vllm-omni#890 Ascend/pytorch#61 vllm-project/vllm-ascend#382
        sgl-project/sgl-kernel-npu#191 Ascend/pytorch#66 Ascend/pytorch#14 open-mmlab/mmcv#3203
        sgl-project/sglang#27853 vllm-project/vllm-ascend#4286 vllm-project/vllm-ascend#6190
        vllm-project/vllm-ascend#1425 vllm-project/vllm-ascend#10640
        vllm-project/vllm-ascend#3261 vllm-project/vllm-ascend#8463
        vllm-project/vllm-ascend#4713 vllm-project/vllm-ascend#5044 PKU-YuanGroup/Helios#62
        modelscope/ms-swift#6684 vllm-project/vllm-ascend#898 hiyouga/LlamaFactory#9087
        sgl-project/sglang#39609 sgl-project/sglang#11407 vllm-project/vllm-ascend#1563
        sgl-project/sglang#23565
    """,
    Why.OTHERS: """
        vllm-project/vllm-ascend#6636 XPU-Forces/xpu_graph#306 hw-native-sys/PTOAS#21
        feifeibear/long-context-attention#170 sgl-project/sglang#8328 Comfy-Org/ComfyUI#11906
        open-mmlab/mmcv#2998 Ascend/pytorch#23 flagos-ai/FlagTree#987
        bitsandbytes-foundation/bitsandbytes#1695 vllm-project/vllm#8054
        flagos-ai/TransformerEngine-FL#107 tile-ai/tilelang-ascend#1121
        vllm-project/vllm-ascend#8186 tile-ai/tilelang-ascend#621
        fla-org/flash-linear-attention#981 fla-org/flash-linear-attention#1024
        vllm-project/vllm-ascend#15290 DeepLink-org/deeplink.framework#680 xdit-project/xDiT#695
        tile-ai/tilelang-ascend#309 XPU-Forces/xpu_graph#420 open-mmlab/mmcv#2638
        hw-native-sys/PTOAS#836 vipshop/cache-dit#672 XPU-Forces/mojo_opset#263
        vllm-project/vllm-ascend#15503 huggingface/diffusers#13490 huggingface/diffusers#13465
        huggingface/diffusers#13451 vllm-project/vllm-ascend#12623 candle-org/candle#70
        InternLM/lmdeploy#2471 flagos-ai/FlagGems#5657
        flashserve/flash-linear-attention-npu#216 huggingface/transformers#48843
        huggingface/diffusers#14396 huggingface/diffusers#14397 flagos-ai/FlagGems#5953
        flagos-ai/Torch-FL#288 flagos-ai/Torch-FL#64 flagos-ai/FlagGems#6014
        flagos-ai/FlagGems#5954 flagos-ai/FlagGems#6286 flagos-ai/Torch-FL#6
        flagos-ai/Torch-FL#5 flagos-ai/FlagGems#5641 vllm-project/vllm-ascend#10979
        vllm-project/vllm-ascend#3017 candle-org/candle#111 flagos-ai/FlagGems#6324
        vllm-project/vllm-ascend#14456 huggingface/diffusers#14380
        vllm-project/vllm-ascend#2847 candle-org/candle#513 vllm-project/vllm-ascend#1007
    """,
    Why.UNCONFIRMED: """
        Ascend/pytorch#45 sgl-project/sglang#26311 hiyouga/LlamaFactory#7352
    """,
    Why.NO_TARGET: """
        tinygrad/tinygrad#11686 tinygrad/tinygrad#3007 pytorch/pytorch#21608
        intel/intel-npu-acceleration-library#161 pytorch/pytorch#90261
        apple/ml-stable-diffusion#351 Tencent/ncnn#1004 VeriSilicon/tflite-vx-delegate#210
        Tencent/ncnn#994 PaddlePaddle/PaddleCustomDevice#728 deeplearning4j/nd4j#1898
        IntelPython/dpnp#269 intel/torch-xpu-ops#2617 Xilinx/aie_api#8 Cambricon/mlu-ops#1045
        intel/torch-xpu-ops#2616 pytorch/pytorch#74857 ARM-software/CMSIS-DSP#177
        aesara-devs/aesara#1515 mindspore-ai/mindspore#319 gpustack/gpustack#1514
        ggml-org/whisper.cpp#3421 k2-fsa/sherpa-onnx#3076 PaddlePaddle/Paddle#46364
        PaddlePaddle/Paddle#52608 tinygrad/tinygrad#14073 PaddlePaddle/Paddle#43085
        ROCm/pytorch#505 microsoft/CNTK#1692 Comfy-Org/comfy-kitchen#167
        tenstorrent/tt-metal#13274 ARM-software/armnn#60 tensorflow/tensorflow#6362
        kendryte/nncase#48 fastmachinelearning/hls4ml#340 tenstorrent/tt-metal#24633
        Theano/Theano#3665 pytorch/pytorch#45584 intel/torch-xpu-ops#54 pytorch/pytorch#95607
        luminal-ai/luminal#284 pytorch/TensorRT#3438 ROCm/AMDMIGraphX#2960
        samthakur587/Tvarant#83 InfiniTensor/InfiniCore#1531 pytorch/pytorch#44780
        torch/cunn#309 microsoft/onnxruntime#19380 cerbrec/graphbook#229
        dkurt/openvino_pytorch_layers#14 Dobiasd/frugally-deep#403 pytorch/pytorch#44601
        nod-ai/AMD-SHARK-ModelDev#362 intel/intel-npu-acceleration-library#131
        NVIDIA/apex#1573 PaddlePaddle/PaddleCustomDevice#1034 tinygrad/tinygrad#2404
        iree-org/iree-turbine#1300 pytorch/pytorch#178498 TheTom/llama-cpp-turboquant#268
        PaddlePaddle/PaddleCustomDevice#988 pytorch/FBGEMM#4796 ggml-org/llama.cpp#15956
        PaddlePaddle/PaddleCustomDevice#1761 open-mmlab/mmdetection#990 onnx/onnx-tensorrt#289
        PaddlePaddle/PaddleCustomDevice#1210 roytseng-tw/Detectron.pytorch#223
        pytorch/pytorch#89737 qualcomm/aimet#2298 intel/intel-npu-acceleration-library#75
        PaddlePaddle/Paddle#31739 aws-neuron/nkipy#77 tenstorrent/tt-metal#6349
        PaddlePaddle/PaddleCustomDevice#1286 pytorch/pytorch#35684 intel/webml-polyfill#242
        tenstorrent/tt-metal#22541 tenstorrent/tt-metal#4871 Oneflow-Inc/oneflow#7921
        NVIDIA/MatX#157 flagos-ai/FlagGems#178 intel/torch-xpu-ops#383
        PaddlePaddle/PaddleCustomDevice#2358 pytorch/pytorch#103963 pytorch/pytorch#117939
        pytorch/pytorch#103749 huggingface/transformers#38690 pytorch/pytorch#108503
        ArcInstitute/state#213 pytorch/pytorch#163026 PaddlePaddle/Paddle#52246
        intel/neural-compressor#341 PaddlePaddle/Paddle#33388 PaddlePaddle/PaddleOCR#8582
        intel/neural-compressor#1200 intel/ideep#290 intel/intel-xpu-backend-for-triton#45
        AmpereComputingAI/ampere_model_library#189 candle-org/MindAct#1134
        ggml-org/llama.cpp#10161 zai-org/GLM-4#539 zai-org/GLM-4#318
        baichuan-inc/Baichuan2#315 candle-org/MindAct#679 krrishnarraj/clpeak#197
        open-edge-platform/geti_v2#1328 nomic-ai/nomic#8 sgl-project/sglang#733
        PaddlePaddle/PaddleNLP#7895 megvii-research/Sparsebit#127 hiyouga/LlamaFactory#168
        ymcui/Chinese-LLaMA-Alpaca-2#164 PaddlePaddle/PaddleCustomDevice#639
        PaddlePaddle/PaddleCustomDevice#1287 pytorch/pytorch#23531
        PaddlePaddle/Paddle-Lite#4028 pytorch/pytorch#86361 openvinotoolkit/openvino.genai#3862
        pytorch/pytorch#51206 PaddlePaddle/X2Paddle#488 pytorch/pytorch#80807
        sovrasov/flops-counter.pytorch#145 pytorch/pytorch#96236 facebookresearch/dinov2#247
        PaddlePaddle/X2Paddle#487 pytorch/pytorch#28324 candle-org/MindAct#1373
    """,
}
LEFT_OUT = tuple(
    LeftOut(thread, why) for why, threads in _LEFT_OUT.items() for thread in threads.split()
)

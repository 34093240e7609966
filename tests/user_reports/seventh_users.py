"""What users of other people's models met: voices, volumes, texts, pictures of how far things are.

The searches name models and errors, in English and Chinese, and no list of a vendor's.
"""

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812  # as everybody writes it

from tests.user_reports.report import Because, LeftOut, Met, Report, Why

QUERIES = (
    "ComfyUI custom node Mac MPS RuntimeError operator not supported tensor dtype WanVideo "
    "Hunyuan3D SeedVR2 2025",
    "ultralytics YOLO11 YOLO26 device mps wrong boxes or loss NaN or error, cpu is fine",
    "GPT-SoVITS 报错 MPS 或 AMD ROCm 或 Intel XPU 推理 RuntimeError not implemented",
    "FunASR SenseVoice CosyVoice 昇腾 NPU 或 mps 推理报错 算子 不支持",
    'RVC demucs UVR audio separation Apple silicon mps error ComplexFloat istft "Output '
    'channels > 65536"',
    "nnUNet MONAI 3D segmentation training on MPS or XPU or ROCm ConvTranspose3d max_pool3d"
    " error 2025",
    "AMD ROCm ComfyUI VAE decode black image NaN or MIOpen slow gfx1100 gfx1151 Qwen-Image "
    "Wan2.2 bf16 conv3d",
    "摩尔线程 MUSA S4000 S80 运行模型 报错 RuntimeError 算子 不支持 torch_musa",
    "寒武纪 MLU370 MLU590 报错 torch_mlu 算子 不支持 dtype transformers 推理",
    'Intel Arc XPU whisper TTS model error "not implemented" OR "could not create a '
    'primitive" torch.xpu inference 2025',
    "Tesla T4 bfloat16 or flash attention error kernel requires sm80 transformers inference"
    " Colab torch 2.x",
    "torch_tensorrt compile my model fails converter error dynamic shape "
    "scaled_dot_product_attention grid_sample roll 2025 user",
    "Ascend 910B torch_npu RuntimeError EZ9999 or EE9999 or aclnn call failed custom model "
    "F.interpolate grid_sample scatter embedding bf16 transformers 报错 2025",
    "Kaggle TPU v5e torch_xla 2.x my model slow or fails: aten op fallback counter, "
    "unsupported, complex, sort, cumsum, bincount",
    "SAM2 SAM3 Depth-Anything MoGe VGGT on Mac mps error bicubic antialias grid_sampler "
    'float64 linalg "not implemented" 2025 2026',
    'Kokoro chatterbox F5-TTS IndexTTS mps "not currently implemented for the MPS device" '
    'OR "MPS" wrong audio noise silence',
    'Jetson Orin pytorch torchvision model runtime error cuDNN "no kernel image" OR '
    '"CUDNN_STATUS" OR wrong output JetPack 6 2025',
)  # fmt: skip
APPLE = "apple-mps"
VOLUME = torch.ones(1, 2, 2, 4, 4)
HALF = torch.float16
COARSE = torch.bfloat16


def _turned(places: Tensor) -> Tensor:
    scale = torch.arange(0, 8, 2, dtype=torch.float64, device=places.device) / 8
    return torch.einsum("...n,d->...nd", places, 1.0 / 10000**scale)


def _heard(sound: Tensor, taps: Tensor) -> Tensor:
    x = F.gelu(F.conv1d(sound, taps, padding=1)).transpose(1, 2).unsqueeze(1)
    return F.scaled_dot_product_attention(x, x, x)


REPORTS = (
    Report(
        "MPS: angles of FLUX", "Comfy-Org/ComfyUI#4165", 0,
        "FLUX makes its rotary angles in float64, which the framework does not support",
        f"{APPLE}@2.4.1", Met.REFUSED, Because.DTYPE,
        _turned, (torch.ones(1, 4, dtype=torch.float64),),
        ("aten::arange", "aten::div", "aten::einsum", "aten::pow", "aten::mul"),
    ),
    Report(
        "MPS: conv1d of a long sound", "daswer123/rvc-python#34", 4,
        "converting a voice raises: output channels > 65536 not supported",
        f"{APPLE}@2.5.1", Met.REFUSED, Because.SHAPE,
        lambda x, w: F.conv1d(x, w, padding=1), (torch.ones(1, 1, 70000), torch.ones(4, 1, 3)),
        ("aten::conv1d", "aten::convolution", "aten::_mps_convolution"),
    ),
    Report(
        "MPS: volumes of nnU-Net enlarged", "MIC-DKFZ/nnUNet#1862", 5,
        "nnU-Net trains in two dimensions and not in three: ConvTranspose 3D is not supported",
        f"{APPLE}@2.2.2", Met.REFUSED, Because.NO_KERNEL,
        lambda x, w: F.conv_transpose3d(x, w, stride=2), (VOLUME, torch.ones(2, 2, 2, 2, 2)),
        ("aten::conv_transpose3d", "aten::convolution", "aten::_mps_convolution_transpose"),
    ),
    Report(
        "MPS: volumes of a trained nnU-Net enlarged", "ml-explore/mlx-examples#370", 5,
        "a trained nnU-Net raises in its decoder: ConvTranspose 3D is not supported",
        f"{APPLE}@2.3.1", Met.REFUSED, Because.NO_KERNEL,
        lambda x, w: F.conv_transpose3d(x, w, stride=2), (VOLUME, torch.ones(2, 2, 2, 2, 2)),
        ("aten::conv_transpose3d", "aten::convolution", "aten::_mps_convolution_transpose"),
    ),
    Report(
        "MPS: the largest of volumes", "kreshuklab/panseg#385", 5,
        "`max_pool3d_with_indices` is not implemented with 2.3.1, in a segmentation of cells",
        f"{APPLE}@2.3.1", Met.REFUSED, Because.NO_KERNEL,
        lambda x: F.max_pool3d(x, 2), (VOLUME,),
        ("aten::max_pool3d_with_indices", "aten::max_pool3d"),
    ),
    Report(
        "MPS: volumes interpolated", "AdaptiveMotorControlLab/CellSeg3D#74", 5,
        "`upsample_trilinear3d` is not implemented, in May 2024",
        f"{APPLE}@2.3.1", Met.REFUSED, Because.NO_KERNEL,
        lambda x: F.interpolate(x, scale_factor=2.0, mode="trilinear"), (VOLUME,),
        ("aten::upsample_trilinear3d",),
    ),
    Report(
        "RX 7900 XT: videos of Wan decoded", "ROCm/TheRock#2591", 6,
        "MIOpen searches 15 to 30 minutes for convolutions of a VAE, by the resolution",
        "amd-rx7900xt@2.9.1", Met.SLOW, Because.OTHER,
        lambda x, w: F.conv3d(x, w, padding=1),
        (torch.ones(1, 96, 3, 60, 60, dtype=COARSE), torch.ones(96, 96, 3, 3, 3, dtype=COARSE)),
        ("aten::conv3d", "aten::convolution", "aten::miopen_convolution"),
    ),
    Report(
        "Arc: Whisper hears", "fumifumi0831/whisper-transcription#2", 9,
        "Whisper runs on a B570 once `cuda` is called `xpu`, in November 2025",
        "intel-arc@2.9.1", Met.WORKS, Because.OTHER,
        _heard, (torch.ones(1, 80, 16), torch.ones(64, 80, 3)),
        ("aten::conv1d", "aten::gelu", "aten::scaled_dot_product_attention"),
    ),
    Report(
        "T4: attention of bfloat16 by a mask", "huggingface/transformers#28731", 10,
        "a language model writes in float16 and not in bfloat16: no kernel found to launch",
        "nvidia-t4@2.1.2", Met.REFUSED, Because.DTYPE,
        lambda q, mask: F.scaled_dot_product_attention(q, q, q, attn_mask=mask),
        (torch.ones(1, 8, 16, 64, dtype=COARSE), torch.zeros(1, 1, 16, 16, dtype=COARSE)),
        ("aten::scaled_dot_product_attention", "aten::_scaled_dot_product_efficient_attention"),
    ),
    Report(
        "MPS: places of Depth Anything", "DepthAnything/Depth-Anything-V2#17", 14,
        "bicubic interpolation is not there with 2.3.1, so that a change makes it bilinear",
        f"{APPLE}@2.3.1", Met.REFUSED, Because.NO_KERNEL,
        lambda x: F.interpolate(x, scale_factor=2.0, mode="bicubic"), (torch.ones(1, 3, 4, 4),),
        ("aten::upsample_bicubic2d",),
    ),
    Report(
        "MPS: places of Depth Anything in ComfyUI", "kijai/ComfyUI-DepthAnythingV2#12", 14,
        "`upsample_bicubic2d` is not implemented, in July 2024",
        f"{APPLE}@2.3.1", Met.REFUSED, Because.NO_KERNEL,
        lambda x: F.interpolate(x, scale_factor=2.0, mode="bicubic"),
        (torch.ones(1, 3, 4, 4, dtype=HALF),), ("aten::upsample_bicubic2d",),
    ),
    Report(
        "MPS: depth before a picture is made", "Comfy-Org/ComfyUI#5964", 14,
        "`upsample_bicubic2d` is not implemented, in December 2024",
        f"{APPLE}@2.5.1", Met.REFUSED, Because.NO_KERNEL,
        lambda x: F.interpolate(x, size=(6, 6), mode="bicubic"), (torch.ones(1, 3, 4, 4),),
        ("aten::upsample_bicubic2d",),
    ),
    Report(
        "MPS: Depth Pro by a factor", "apple-aiml-research/ml-depth-pro#17", 14,
        "before macOS 13 a factor sends it to the host, which does not interpolate float16",
        f"{APPLE}@2.2.2", Met.REFUSED, Because.DTYPE,
        lambda x: F.interpolate(x, scale_factor=0.5, mode="bilinear"),
        (torch.ones(1, 3, 4, 4, dtype=HALF),), ("aten::upsample_bilinear2d",),
    ),
    Report(
        "Orin: numbers that are not zero", "pytorch/pytorch#145560", 16,
        "the first comparison raises with PyTorch's own wheel: no kernel image is available",
        "nvidia-orin@2.6.0", Met.REFUSED, Because.CHIP,
        lambda x: x != 0, (torch.tensor([0, 1, 1]),), ("aten::ne",),
    ),
)  # fmt: skip

_LEFT_OUT = {
    Why.KNOWN: """
        Comfy-Org/ComfyUI#10866 pytorch/pytorch#141287 Comfy-Org/ComfyUI#12202
        numz/ComfyUI-SeedVR2_VideoUpscaler#103 city96/ComfyUI-GGUF#27 Comfy-Org/ComfyUI#6254
        Lightricks/ComfyUI-LTXVideo#90 ultralytics/hub#1199 ultralytics/ultralytics#9933
        ultralytics/yolov5#13704 ultralytics/ultralytics#280 ultralytics/ultralytics#7554
        ultralytics/ultralytics#25485 RVC-Boss/GPT-SoVITS#165 modelscope/FunASR#3034
        modelscope/FunASR#1662 hiyouga/LlamaFactory#4836 hiyouga/LlamaFactory#3840
        hiyouga/LlamaFactory#8319 Anjok07/ultimatevocalremovergui#863
        nomadkaraoke/python-audio-separator#90 mir-aidj/all-in-one#17 MIC-DKFZ/nnUNet#2435
        pytorch/pytorch#77818 pytorch/pytorch#130256 evshiron/rocm_lab#4
        MooreThreads/torch_musa#11 MooreThreads/torch_musa#114 MooreThreads/tutorial_on_musa#26
        MooreThreads/torch_musa#75 MooreThreads/torch_musa#17 MooreThreads/torch_musa#86
        MooreThreads/torch_musa#72 MooreThreads/torch_musa#64 huggingface/transformers#29627
        InternLM/xtuner#984 gpustack/gpustack#937 Yuichi1001/2024-AICS-EXP#29 cnstark/easytorch#70
        InfiniTensor/InfiniTensor#210 bytedance-iaas/vllm#63 safetensors/safetensors#535
        flagos-ai/FlagGems#5535 AMD-AGI/GEAK#24 open-mmlab/mmcv#1770 intel/torch-xpu-ops#4066
        xorbitsai/inference#3704 Dao-AILab/flash-attention#887 Dao-AILab/flash-attention#762
        pytorch/TensorRT#2901 pytorch/TensorRT#3140 pytorch/TensorRT#1830 pytorch/TensorRT#1271
        vllm-project/vllm-ascend#2892 hiyouga/LlamaFactory#3796 hiyouga/LlamaFactory#4165
        open-mmlab/mmcv#3203 hiyouga/LlamaFactory#4339 vllm-project/vllm-ascend#1007
        vllm-project/vllm#8054 hiyouga/LlamaFactory#7134 pytorch/xla#3080 pytorch/xla#2655
        pytorch/xla#1657 pytorch/xla#6015 pytorch/xla#5932 pytorch/xla#1509 pytorch/xla#4985
        pytorch/xla#1775 pytorch/pytorch#77764 PozzettiAndrea/ComfyUI-SAM3#61
        pytorch/pytorch#160237 opengeos/segment-geospatial#205
        luca-medeiros/lang-segment-anything#75 mit-han-lab/efficientvit#105
    """,
    Why.NO_TARGET: """
        ultralytics/ultralytics#16857 ultralytics/ultralytics#17812 voicepaw/so-vits-svc-fork#1117
        RVC-Boss/GPT-SoVITS#2783 k2-fsa/sherpa-onnx#2744 modular/modular#6886
        guinmoon/rocm7_builds#5 Comfy-Org/ComfyUI#9871 ROCm/legacy-rocm-build#6028
        ssitu/ComfyUI_UltimateSDUpscale#159 ROCm/legacy-rocm-build#5405 Comfy-Org/ComfyUI#16313
        intel/intel-extension-for-pytorch#488 intel/ipex-llm#13149 Dao-AILab/flash-attention#143
        johnsmith0031/alpaca_lora_4bit#62 pytorch/TensorRT#1113 pytorch/TensorRT#595
        pytorch/xla#1178 perminder-klair/subwave#907 CodeBySonu95/VoxSherpa-TTS#12
        robdmac/talkito#57 SillyTavern/SillyTavern#3656 calesthio/OpenMontage#37
        SillyTavern/SillyTavern#3412 EnigmaCurry/d.rymcg.tech#515 gwdevhub/GWToolboxpp#1756
        sauravpanda/BrowserAI#39 NickMonrad/kernel-ai-assistant#854 wAIfu-DEV/w-AI-fu#27
        Gyyyn/OpenWebTTS#1 ultralytics/ultralytics#18931 pytorch/pytorch#22785
        microsoft/onnxruntime#5282 microsoft/onnxruntime#3117 microsoft/onnxruntime#16263
        dusty-nv/jetson-inference#812 idavis/jetson-containers#25 jax-ml/jax#22723
    """,
    Why.NO_PROGRAM: """
        Comfy-Org/ComfyUI#5224 RVC-Boss/GPT-SoVITS#306 RVC-Boss/GPT-SoVITS#61
        RVC-Boss/GPT-SoVITS#93 RVC-Project/Retrieval-based-Voice-Conversion-WebUI#2393
        Lightricks/ComfyUI-LTXVideo#386 ROCm/legacy-rocm-build#4729 MooreThreads/torch_musa#74
        fishaudio/fish-speech#1033 Zyphra/Zonos#6 AutoArk/GPA#26 pytorch/TensorRT#3016
        pytorch/TensorRT#3393 pytorch/TensorRT#2400 modelscope/ms-swift#2517 pytorch/xla#5834
        robrosinc/REALTIME_SAM2#6 facebookresearch/sam3#400
    """,
    Why.NO_CALL: """
        chaojie/ComfyUI-MotionCtrl-SVD#12 RVC-Boss/GPT-SoVITS#422 RVC-Boss/GPT-SoVITS#319
        modelscope/FunASR#2601 QwenAudio/SenseVoice#110 modelscope/FunASR#1888
        Anjok07/ultimatevocalremovergui#2132 Anjok07/ultimatevocalremovergui#2251
        Anjok07/ultimatevocalremovergui#1932 Tiger14n/RVC-GUI#4
        Anjok07/ultimatevocalremovergui#2121 rsxdalv/TTS-WebUI#547 jhj0517/Whisper-WebUI#507
        jamiepine/voicebox#320 vladmandic/sdnext#4357 QwenLM/Qwen3-TTS#262 pytorch/vision#8696
    """,
    Why.OTHERS: """
        sgl-project/sglang#1058 rohitgandikota/sliders#78 mistralai/mistral-inference#160
    """,
    Why.UNCONFIRMED: """
        ultralytics/ultralytics#22228
    """,
}
LEFT_OUT = tuple(
    LeftOut(thread, why) for why, threads in _LEFT_OUT.items() for thread in threads.split()
)

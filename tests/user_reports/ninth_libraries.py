"""What users of libraries met on a device: searches by the name of a library beside a device's, in
Chinese as well, and for wheels that have no kernels for a GPU.

Two searches of stored web pages, of forums and in Chinese, gave no thread of anybody's.
"""

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812  # as everybody writes it

from tests.user_reports.report import Because, LeftOut, Met, Report, Why

QUERIES = (
    "torch_geometric MPS scatter_reduce operator not implemented or wrong Apple silicon",
    "discuss.pytorch.org MPS device RuntimeError operator unsupported float64 convolution Mac M2",
    "昇腾 910B torch_npu 算子 不支持 报错 RuntimeError dtype",
    "stable-baselines3 MPS float64 TypeError Cannot convert a MPS Tensor",
    "ComfyUI Intel Arc XPU RuntimeError operator not supported dtype custom node",
    "detectron2 mmdetection Ascend NPU operator error torch_npu nms roi_align not supported",
    "pyannote speechbrain silero VAD MPS RuntimeError fft complex stft Apple",
    "kornia nerfstudio gsplat PyTorch3D MPS operator linalg not implemented grid_sample 3d",
    "摩尔线程 MTT S4000 S80 torch_musa 报错 不支持 算子 模型 推理",
    "寒武纪 MLU370 torch_mlu 报错 不支持 算子 训练 FunASR LLaMA-Factory",
    "海光 DCU K100 Z100 pytorch 报错 算子 HIP error bf16 训练 推理",
    "昇腾 NPU 算子不支持 complex64 float64 int64 CosyVoice FunASR MinerU docling 报错",
    "ultralytics YOLO MPS M3 M4 training loss NaN wrong predictions torch 2.5 2.6 RuntimeError",
    "diffusers transformers Intel XPU B580 A770 not implemented for XPU error pipeline 2.7 2.8",
    "RX 7900 XTX 9070 ROCm coqui whisper TTS conv1d lstm miopenStatus error PyTorch library",
    "Lightning peft accelerate TPU XLA operator lowering error aten bfloat16 unsupported HF Trainer"
    " v4 v5e",
    'ComfyUI custom node Mac M-series "not currently implemented for the MPS device" face restore '
    "upscale video node",
    "\"not implemented for 'BFloat16'\" CUDA upsample nearest bilinear torch 2.0 library fix",
    "ms-swift verl trl Ascend NPU RuntimeError call aclnn failed dtype DT_ not implemented 910B",
    "bitsandbytes peft LoRA GPTQ MPS bfloat16 autocast unsupported Mac training error transformers "
    "Trainer",
    "MinerU 310P NanToNum operator unsupported EZ3002 PP-OCRv6 dtype",
    "GTX 1080 Ti P40 P100 Pascal torch 2.8 no kernel image available sm_61 whisper stable "
    "diffusion works torch 2.7",
    '"Tesla V100" OR "Titan V" torch 2.11 2.12 cu130 "no kernel image" sm_70 dropped library issue '
    "workaround cu126",
    '"RTX 5090" sm_120 "no kernel image" torch 2.5 2.6 library issue fixed with nightly cu128',
)
APPLE = "apple-mps"
COARSE = torch.bfloat16
HALF = torch.float16
IMAGE = torch.ones(1, 3, 8, 8)
LATENT = torch.ones(1, 4, 8, 8).bfloat16()
ROWS = torch.ones(4, 16).bfloat16()
SUM = ("aten::add.Tensor", "aten::to.dtype", "aten::_to_copy")


def _twice(x: Tensor) -> Tensor:
    return x + x


def _answered(x: Tensor, w: Tensor) -> Tensor:
    found = F.linear(x, w)
    heads = found.view(1, 2, 4, 8)
    return F.scaled_dot_product_attention(heads, heads, heads)


REPORTS = (
    Report(
        "MPS: sums of segments",
        "pytorch/pytorch#197880",
        0,
        "`segment_reduce` is not implemented, nor are its gradients, in September 2026",
        f"{APPLE}@2.14.1",
        Met.REFUSED,
        Because.NO_KERNEL,
        lambda data, lengths: torch.segment_reduce(data, "sum", lengths=lengths),
        (torch.arange(1.0, 7), torch.tensor([2, 1, 3])),
        ("aten::segment_reduce",),
    ),
    Report(
        "MPS: a voice converted from a shell",
        "blaisewf/rvc-cli#1",
        6,
        "`_fft_r2c` is not implemented, where a voice is converted in January 2024",
        f"{APPLE}@2.1.2",
        Met.REFUSED,
        Because.NO_KERNEL,
        torch.fft.rfft,
        (torch.linspace(0, 1, 64),),
        ("aten::_fft_r2c", "aten::fft_rfft"),
    ),
    Report(
        "H20: pictures in bfloat16",
        "aigc-apps/EasyAnimate#32",
        10,
        "bfloat16 ends the process with a floating point exception, and float16 does not",
        "nvidia-h20@2.2.2",
        Met.REFUSED,
        Because.DTYPE,
        F.linear,
        (ROWS, torch.ones(16, 16).bfloat16()),
        ("aten::linear", "aten::matmul", "aten::mm", "aten::addmm"),
    ),
    Report(
        "310P: numbers in place of NaN",
        "opendatalab/MinerU#5312",
        11,
        "the orientation of tables fails in NanToNum, which a 310P does not support",
        "ascend-310p@26.0.0",
        Met.REFUSED,
        Because.NO_KERNEL,
        torch.nan_to_num,
        (torch.ones(2, 8),),
        ("aten::nan_to_num", "aten::nan_to_num_"),
    ),
    Report(
        "MPS: latents of a video enlarged",
        "LBH-123-AI/Comfyui_Minimax_h3_latent_Upscaler#45",
        16,
        "a three-dimensional upscaler runs in float16 on a Mac, in August 2026",
        f"{APPLE}@2.13.0",
        Met.WORKS,
        Because.OTHER,
        lambda x, w: F.silu(F.conv3d(x, w, padding=1)),
        (torch.ones(1, 4, 3, 6, 6).half(), torch.ones(8, 4, 3, 3, 3).half()),
        ("aten::conv3d", "aten::convolution", "aten::silu"),
    ),
    Report(
        "MPS: a picture for CLIP in Wan",
        "kijai/ComfyUI-WanVideoWrapper#180",
        16,
        "`_upsample_bicubic2d_aa` is not implemented, in March 2025",
        f"{APPLE}@2.6.0",
        Met.REFUSED,
        Because.NO_KERNEL,
        lambda x: F.interpolate(x, size=(4, 4), mode="bicubic", antialias=True),
        (IMAGE,),
        ("aten::_upsample_bicubic2d_aa",),
    ),
    Report(
        "CUDA: earthquakes in bfloat16",
        "AI4EPS/EQNet#4",
        17,
        '"upsample_bilinear2d_out_frame" is not implemented for BFloat16, before torch 2.1',
        "nvidia-a100@2.0.1",
        Met.REFUSED,
        Because.DTYPE,
        lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"),
        (IMAGE.bfloat16(),),
        ("aten::upsample_bilinear2d",),
    ),
    Report(
        "CUDA: latents of SD.Next in bfloat16",
        "vladmandic/sdnext#1287",
        17,
        '"upsample_nearest2d_out_frame" is not implemented for BFloat16, in June 2023',
        "nvidia-rtx3090@2.0.1",
        Met.REFUSED,
        Because.DTYPE,
        lambda x: F.interpolate(x, scale_factor=2),
        (LATENT,),
        ("aten::upsample_nearest2d",),
    ),
    Report(
        "CUDA: SUPIR in bfloat16",
        "kijai/ComfyUI-SUPIR#73",
        17,
        '"upsample_nearest2d_out_frame" is not implemented for BFloat16, where SUPIR decodes',
        "nvidia-rtx3090@2.0.1",
        Met.REFUSED,
        Because.DTYPE,
        lambda x: F.interpolate(x, scale_factor=2.0, mode="nearest"),
        (LATENT,),
        ("aten::upsample_nearest2d",),
    ),
    Report(
        "CUDA: masks in bfloat16",
        "yatengLG/ISAT_with_segment_anything#151",
        17,
        '"upsample_bilinear2d_out_frame" is not implemented for BFloat16: a matter of the release',
        "nvidia-rtx3090@2.0.1",
        Met.REFUSED,
        Because.DTYPE,
        lambda x: F.interpolate(x, (16, 16), mode="bilinear", align_corners=False),
        (IMAGE.bfloat16(),),
        ("aten::upsample_bilinear2d",),
    ),
    Report(
        "A40: PuLID for FLUX in bfloat16",
        "ToTheBeginning/PuLID#135",
        17,
        '"upsample_nearest2d_out_frame" is not implemented for BFloat16 with 2.0.1',
        "nvidia-a40@2.0.1",
        Met.REFUSED,
        Because.DTYPE,
        lambda x: F.interpolate(x, scale_factor=2.0),
        (LATENT,),
        ("aten::upsample_nearest2d",),
    ),
    Report(
        "910B: elements chosen by a mask",
        "modelscope/ms-swift#1243",
        18,
        "aclnnMaskedSelect fails with an address that is not aligned, where Qwen is tuned in 2024",
        "ascend-910b@6.0.0",
        Met.REFUSED,
        Because.OTHER,
        lambda x, mask: x.masked_select(mask),
        (ROWS, ROWS > 0),
        ("aten::masked_select",),
    ),
    Report(
        "MPS: Phi-3 tuned",
        "huggingface/autotrain-advanced#602",
        19,
        "BFloat16 is not supported on an M1, in April 2024",
        f"{APPLE}@2.2.2",
        Met.REFUSED,
        Because.DTYPE,
        _twice,
        (ROWS,),
        SUM,
    ),
    Report(
        "MPS: tests of PEFT in half precision",
        "huggingface/peft#1217",
        19,
        "BFloat16 is not supported on MPS, in December 2023",
        f"{APPLE}@2.1.2",
        Met.REFUSED,
        Because.DTYPE,
        _twice,
        (ROWS,),
        SUM,
    ),
    Report(
        "P100: Kaggle's image",
        "Kaggle/kaggle-cli#1151",
        21,
        "every operation fails: the wheel for CUDA 12.8 has no kernels; a T4 runs",
        "nvidia-p100@2.10.0",
        Met.REFUSED,
        Because.CHIP,
        _twice,
        (torch.ones(4),),
        ("aten::add",),
        mended={"nvidia-t4@2.10.0": Met.WORKS},
    ),
    Report(
        "P100: ExLlamaV2 with 2.7",
        "turboderp-org/exllamav2#786",
        21,
        "PyTorch no longer supports this GPU, with the wheel of 2.7.0 for CUDA 12.8",
        "nvidia-p100@2.7.1",
        Met.REFUSED,
        Because.CHIP,
        _twice,
        (torch.ones(4),),
        ("aten::add",),
    ),
    Report(
        "V100: FreeToken",
        "FlashML-org/FreeToken#253",
        22,
        "2.11 has no kernels for Volta in any build, and 2.10 for CUDA 12.8 has",
        "nvidia-v100@2.11.0",
        Met.REFUSED,
        Because.CHIP,
        _twice,
        (torch.ones(4),),
        ("aten::add",),
        mended={"nvidia-v100@2.10.0": Met.WORKS},
    ),
    Report(
        "V100: Unsloth's choice of a wheel",
        "unslothai/unsloth#5876",
        22,
        "wheels for CUDA 13 have no kernels for a V100, in May 2026; a T4 runs with them",
        "nvidia-v100@2.12.1",
        Met.REFUSED,
        Because.CHIP,
        _twice,
        (torch.ones(4),),
        ("aten::add",),
        mended={"nvidia-t4@2.12.1": Met.WORKS},
    ),
    Report(
        "RTX 5090: DeepSeek-VL2",
        "deepseek-ai/DeepSeek-VL2#59",
        23,
        "a nightly build for CUDA 12.8 runs it, in February 2025",
        "nvidia-rtx5090@2.7.1",
        Met.WORKS,
        Because.OTHER,
        _answered,
        (ROWS, torch.ones(16, 16).bfloat16()),
        ("aten::linear", "aten::scaled_dot_product_attention"),
    ),
)
_LEFT_OUT = {
    Why.KNOWN: """
        pytorch/pytorch#97093 pytorch/pytorch#77764 rusty1s/pytorch_scatter#464
        pyg-team/pytorch_geometric#6837 openai/gym#3034 DLR-RM/stable-baselines3#951
        DLR-RM/stable-baselines3#1019 thu-ml/tianshou#1237 DLR-RM/stable-baselines3#2005
        pytorch/rl#1198 tyfeld/MMaDA-Parallel#3 pytorch/pytorch#122602 Comfy-Org/ComfyUI#14623
        Comfy-Org/ComfyUI#409 Comfy-Org/ComfyUI#4154 chflame163/ComfyUI_LayerStyle#209
        open-mmlab/mmcv#2998 open-mmlab/mmcv#2638 open-mmlab/mmcv#2985 open-mmlab/mmcv#3216
        open-mmlab/mmcv#3015 open-mmlab/mmcv#3131 open-mmlab/mmcv#2594
        vllm-project/vllm-ascend#479 pytorch/vision#6725 voicepaw/so-vits-svc-fork#337
        WhisperSpeech/WhisperSpeech#56 pytorch/pytorch#78044 RVC-Boss/GPT-SoVITS#165
        KimberleyJensen/Mel-Band-Roformer-Vocal-Model#11 metavoiceio/metavoice-src#1
        pytorch/pytorch#141287 kornia/kornia#2224 Comfy-Org/ComfyUI#6041
        MooreThreads/tutorial_on_musa#26 MooreThreads/torch_musa#114 InfiniTensor/InfiniCore#658
        MooreThreads/torch_musa#94 ggml-org/llama.cpp#12077 MooreThreads/torch_musa#17
        modelscope/FunASR#3034 openeuler-riscv/oerv-team#23 vllm-project/vllm#9649
        gpustack/gpustack#937 InternLM/xtuner#984 flagos-ai/FlagGems#5254
        flagos-ai/FlagGems#2206 kvcache-ai/ktransformers#984 hiyouga/LlamaFactory#4339
        InfiniTensor/InfiniCore#449 lamikr/rocm_sdk_builder#228
        huggingface/sentence-transformers#2903 vllm-project/vllm-ascend#11627 2noise/ChatTTS#788
        hiyouga/LlamaFactory#4165 hiyouga/LlamaFactory#4836 hiyouga/LlamaFactory#3779
        flagos-ai/FlagGems#3267 hiyouga/LlamaFactory#6694
        cj-mills/pytorch-yolox-object-detection-tutorial-code#5 ultralytics/ultralytics#9933
        ultralytics/hub#1199 ultralytics/ultralytics#9113 ultralytics/ultralytics#7554
        ultralytics/ultralytics#280 huggingface/transformers#25965 mudler/LocalAI#5737
        intel/torch-xpu-ops#2032 pytorch/pytorch#189811 intel/intel-extension-for-pytorch#713
        pytorch/pytorch#150168 ROCm/legacy-rocm-build#1880 Lightning-AI/pytorch-lightning#7471
        pytorch/xla#2897 pytorch/xla#2939 pytorch/xla#3080 huggingface/diffusers#898
        pytorch/xla#2774 kijai/ComfyUI-LivePortraitKJ#33 Comfy-Org/ComfyUI#86
        numz/ComfyUI-SeedVR2_VideoUpscaler#103 pytorch/pytorch#88536 pytorch/pytorch#86679
        pytorch/pytorch#84989 pytorch/pytorch#80339 pytorch/executorch#7910
        modelscope/ms-swift#6684 meta-pytorch/torchtune#1942
        bitsandbytes-foundation/bitsandbytes#252 vllm-project/vllm#34470
        pytorch/pytorch#167244 HybridRobotics/berkeley-humanoid-lite#49
    """,
    Why.NO_CALL: """
        rusty1s/pytorch_scatter#241 Comfy-Org/ComfyUI#2664 Comfy-Org/ComfyUI#11007
        smthemex/ComfyUI_SenseNova_U1#15 Comfy-Org/ComfyUI#6364 hiyouga/LlamaFactory#6429
        modelscope/modelscope#1236 intel/torch-xpu-ops#2601 InfiniTensor/InfiniCore#447
        thu-pacman/chitu#118 qi-hua/async_cosyvoice#117 vllm-project/vllm#50850
        intel/intel-extension-for-pytorch#831 Acly/krita-ai-diffusion#1735
        matatonic/openedai-speech#31 NixOS/nixpkgs#197885 m-bain/whisperX#566 absadiki/subsai#67
        ysharma3501/LuxTTS#50 QuentinFuxa/WhisperLiveKit#373 rhasspy/larynx#44
        rishikanthc/Scriberr#423 GreenLandisaLie/AuraSR-ComfyUI#5
        kijai/ComfyUI-LivePortraitKJ#47 numz/ComfyUI-SeedVR2_VideoUpscaler#395
        modelscope/ms-swift#3662 modelscope/ms-swift#6011 modelscope/ms-swift#4273
        modelscope/ms-swift#2669 vllm-project/vllm-ascend#692 huggingface/peft#1575
        huggingface/transformers#40216 huggingface/transformers#17971 huggingface/diffusers#6154
        huggingface/autotrain-advanced#566 PaddlePaddle/PaddleOCR#18104 breezedeus/CnOCR#295
        breezedeus/CnOCR#178 opendatalab/MinerU#2412 PaddlePaddle/PaddleOCR#17921
        BobLd/RapidOcrNet#30 BobLd/RapidOcrNet#31 PaddlePaddle/PaddleOCR#9018
        PaddlePaddle/PaddleOCR#9017 opendatalab/MinerU#2918 PaddlePaddle/PaddleOCR#18127
        breezedeus/CnOCR#375 Comfy-Org/ComfyUI#16438
    """,
    Why.NO_PROGRAM: """
        camlab-bioml/starling#51 fluxions-ai/vui#14 ultralytics/yolov5#3840
        ultralytics/yolov5#7740 ultralytics/ultralytics#23327 WongKinYiu/yolor#95
        pytorch/pytorch#144143 Lightning-AI/lit-llama#102 pytorch/xla#6611
        ubisoft/ComfyUI-Chord#18 wildminder/ComfyUI-VoxCPM#8 NanoNets/docext#30
    """,
    Why.NO_TARGET: """
        hiyouga/LlamaFactory#4856 PaddlePaddle/PaddleCustomDevice#1135
        intel/intel-extension-for-pytorch#29 intel/intel-extension-for-pytorch#319
        intel/intel-extension-for-pytorch#707 ROCm/TheRock#1113
        Lightning-AI/pytorch-lightning#8863 mmartial/ComfyUI-Nvidia-Docker#61
        aaronsb/knowledge-graph-system#208 jhj0517/Whisper-WebUI#653
        bnsreenu/digitalsreeni-image-annotator#57 easydiffusion/easydiffusion#1980
        vllm-project/vllm#19542 Comfy-Org/desktop#1300 hvoss-tech/AutoForge#59
        pytorch/pytorch#53164 pytorch/TensorRT#2020 lllyasviel/Fooocus#3862
        pytorch/pytorch#146977 pytorch/pytorch#159446 nagadomi/nunif#308
        runew0lf/RuinedFooocus#251
    """,
    Why.OTHERS: """
        Comfy-Org/ComfyUI#10871 OpenMOSS/MOSS#302 vllm-project/vllm-ascend#8849
        vllm-project/vllm-ascend#2845 bitsandbytes-foundation/bitsandbytes#1460
    """,
    Why.UNCONFIRMED: "Comfy-Org/ComfyUI#3593 lllyasviel/FramePack#550",
}
LEFT_OUT = tuple(
    LeftOut(thread, why) for why, threads in _LEFT_OUT.items() for thread in threads.split()
)

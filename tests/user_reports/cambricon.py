"""What users of Cambricon's MLUs met, as threads tell it, written down before any scan of it."""

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812  # as everybody writes it

from tests.user_reports.report import Because, LeftOut, Met, Report, Why

QUERIES = (
    "torch_mlu operator not implemented for MLU backend",
    "寒武纪 MLU 算子 不支持 报错 pytorch",
    "Cambricon MLU float64 int64 complex dtype not supported torch_mlu",
    "MLU370 MLU590 wrong result differs from CPU pytorch",
    "FlagGems Cambricon operator unsupported native torch_mlu fallback skip",
    "MLU cambricon scaled_dot_product_attention index_put scatter masked_fill error torch_mlu "
    "model",
    "fix for MLU: torch op not supported on Cambricon MLU workaround pull request",
    "[Cambricon] FlagGems accuracy failed reference int16 bool float16 MLU590 native baseline",
    "mmdetection mmcv MLU training error operator fallback CPU cnnl",
    "寒武纪 MLU370 训练 推理 torch_mlu RuntimeError cnnl 算子 报错",
    "MLU370 bfloat16 not supported torch_mlu dtype half",
    "lmdeploy dlinfer camb MLU operator error vllm-mlu torch op",
    "diffusers transformers accelerate ms-swift MLU device cambricon float64 rotary embedding "
    "complex error",
    "FlagGems flag_gems.vendor_name == cambricon skip reason torch native TODO cambricon does not "
    "support",
    "sglang-plugin-FL vllm-plugin-FL cambricon mlu torch_mlu raises workaround native op",
    "bytedance-iaas/vllm Cambricon MLU operator error run model torch_mlu issue 70",
    "cambricon MLU complex polar view_as_complex not supported diffusers Qwen-Image Wan Flux MLU "
    "fix",
    "XPU-Forces xpu_graph mojo_opset mlu torch_mlu aten op decomposition unsupported",
    "cambricon FlagGems test fails on MLU unique sort cumsum conv3d grid large tensor int32 index "
    "limit native torch_mlu",
    "Cambricon/mlu-ops [Fix] mluOpExecFFT torch.fft rfft irfft irfft2 wrong stride non-contiguous "
    "pytorch",
    "Cambricon/mlu-ops fix nms roi_align torchvision nan inf large input wrong result MLU590",
    'MLU370 MLU590 torch_mlu RuntimeError "not implemented for" dtype aten operator CNNL error',
    "寒武纪 MLU 算子 不支持 float64 int64 回退 CPU 精度 错误 torch_mlu",
    "fix for Cambricon MLU: avoid unsupported torch op, cast to float32 because MLU does not "
    "support",
    "ComfyUI Cambricon MLU backend support torch.mlu nan float64 stable diffusion",
    "ultralytics YOLO FunASR PaddleSpeech 寒武纪 MLU370 torch_mlu 报错 conv nms complex stft",
    "FlagGems [Cambricon] benchmark baseline torch_mlu native RuntimeError Not implemented skip "
    "dtype complex64 op KernelGen mlu",
    "pytorch/pytorch Cambricon MLU PrivateUse1 device mlu operator wrong result or error fix "
    "inductor mlu",
    "verl LLaMA-Factory Megatron-LM-FL MLU590 training grad norm nan _foreach fused adamw "
    "optimizer mlu op error",
    "flagos-ai/FlagGems [Cambricon] Fix complex dtype issues test cases MLU native PyTorch backend "
    "limitations raises RuntimeError promote dtype",
    "[Cambricon] Fix test cases compute reference on CPU because MLU native backend does not "
    "support",
    "modao1234 FlagGems Cambricon fix op test MLU raises float64 complex32 index negative",
    "torch_mlu inductor stride mismatch meta aten implementation privateuse1 import torch_mlu "
    "issue",
    "our torch-mlu does not support specific data types temporary modification cambricon flag_gems "
    "tests benchmark review",
    "FlagGems cambricon: update cambricon code based on master chenmiao1919 torch_mlu not support "
    "randint int16 bf16 conv pad",
    'Cambricon MLU "Can\'t get a promote dtype when common dtype is" RuntimeError MLU',
    "FlagGems vendor_name cambricon reference to cpu because torch_mlu precision wrong nan inf "
    "argmax topk multinomial",
    "FlagGems 寒武纪 cambricon fix test native kernel unsupported shape large tensor dim exceeds 8 "
    "MLU",
    "Fix internal: benchmark_fail accuracy_fail on cambricon MLU native torch_mlu "
    "baseline root cause",
    "InfiniCore [2025秋季] 寒武纪平台 torch_mlu 官方函数没有实现 算子 测试",
    "feat(cambricon): make sglang serve on torch_mlu runtime native op unsupported "
    "workaround repeat_interleave cumsum int64",
    "Cambricon MLU FlagGems issue int64 fp64 not supported test fails native "
    "torch_mlu median nextafter polar cauchy ctc_loss",
    "MLU torch_mlu upsample_bicubic2d_aa scatter_add multinomial sort precision CPU "
    'fallback warning "MLU" operator falls back to CPU',
)

ANGLES = torch.polar(torch.ones(1, 16, 1, 4), torch.linspace(0, 1, 64).view(1, 16, 1, 4))


def _turned(x: Tensor, angles: Tensor) -> Tensor:
    pairs = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
    return torch.view_as_real(pairs * angles).flatten(3)


def _grouped(x: Tensor, keys: Tensor) -> Tensor:
    return F.scaled_dot_product_attention(x, keys, keys, enable_gqa=True)


def _drawn(x: Tensor) -> Tensor:
    return torch.randint(0, 8, x.shape, dtype=torch.int16, device=x.device)


REPORTS = (
    Report(
        "MLU: bincount with float64", "flagos-ai/FlagGems#5253", 2,
        "float64 and int64 raise in a test of bincount", "cambricon-mlu590@r2.4_develop",
        Met.REFUSED, Because.DTYPE, lambda x, weights: torch.bincount(x, weights),
        (torch.tensor([0, 1, 1, 3]), torch.ones(4, dtype=torch.float64)), ("aten::bincount",),
    ),
    Report(
        "MLU: complex angles", "huggingface/diffusers#13824", 12,
        "Z-Image turns by complex numbers, which MLUs do not support",
        "cambricon-mlu590@r2.4_develop", Met.REFUSED, Because.DTYPE, _turned,
        (torch.ones(1, 16, 2, 8).bfloat16(), ANGLES),
        ("aten::mul.Tensor", "aten::view_as_complex", "aten::view_as_real"),
    ),
    Report(
        "MLU: attention of grouped heads", "flagos-ai/sglang-plugin-FL#90", 14,
        "attention with enable_gqa raises, since torch_mlu does not know it",
        "cambricon-mlu590@r2.4_develop", Met.REFUSED, Because.VALUE, _grouped,
        (torch.ones(1, 8, 16, 64).bfloat16(), torch.ones(1, 2, 16, 64).bfloat16()),
        ("aten::scaled_dot_product_attention",),
    ),
    Report(
        "MLU: Fourier transform of one point", "Cambricon/mlu-ops#1159", 19,
        "the two-dimensional transform of a single point was computed wrongly",
        "cambricon-mlu590@r1.22_pt2.4.0", Met.WRONG, Because.SHAPE, torch.fft.fft2,
        (torch.ones(2, 1, 1, dtype=torch.complex64),), ("aten::_fft_c2c", "aten::fft_fft2"),
    ),
    Report(
        "MLU: complex by real", "flagos-ai/FlagGems#5477", 26,
        "div and mul of a complex and a real tensor raise that they get no promoted dtype",
        "cambricon-mlu590@r2.4_develop", Met.REFUSED, Because.DTYPE, torch.div,
        (torch.ones(4, 4, dtype=torch.complex64), torch.ones(4, 4)), ("aten::div.Tensor",),
    ),
    Report(
        "MLU: randint of int16", "flagos-ai/FlagGems#1126", 29,
        "randint of torch_mlu does not take int16, so that tests draw on the CPU",
        "cambricon-mlu590@r2.4_develop", Met.REFUSED, Because.DTYPE, _drawn,
        (torch.ones(4, 4),), ("aten::randint.low",),
    ),
)  # fmt: skip

_LEFT_OUT = {
    Why.KNOWN: """
        open-mmlab/mmcv#1770 flagos-ai/FlagGems#5535 open-mmlab/mmcv#1429
        huggingface/transformers#29627 flagos-ai/FlagGems#5953 flagos-ai/FlagGems#5254
        flagos-ai/Torch-FL#6 intel/torch-xpu-ops#2469 flagos-ai/FlagGems#5641
        Cambricon/mlu-ops#1045 tinygrad/tinygrad#11686 pytorch/pytorch#77764
        pytorch/pytorch#141287
    """,
    Why.NO_CALL: """
        cnstark/easytorch#70 open-mmlab/mmcv#1768 InternLM/xtuner#984
        Yuichi1001/2024-AICS-EXP#29 gpustack/gpustack#937 DeepLink-org/DLCompiler#55
        huggingface/diffusers#14791 AMD-AGI/GEAK#24 flagos-ai/vllm-plugin-FL#355
        safetensors/safetensors#535 bytedance-iaas/vllm#63 openeuler-riscv/oerv-team#23
        huggingface/transformers#44381 vllm-project/vllm#9649 huggingface/diffusers#12629
        huggingface/peft#1687 safetensors/safetensors#479 sgl-project/sglang#26438
        bytedance-iaas/vllm#51 flagos-ai/vllm-plugin-FL#501 bytedance-iaas/vllm#64
        Cambricon/vllm-mlu#5 Cambricon/vllm-mlu#4 InternLM/xtuner#987
        Cambricon/mlu-ops#1025 Comfy-Org/ComfyUI#6964 Comfy-Org/ComfyUI#13511
        flagos-ai/FlagPerf#668 flagos-ai/FlagPerf#687 flagos-ai/FlagGems#46
        flagos-ai/FlagPerf#635 flagos-ai/FlagGems#770 Cambricon/mlu-ops#1101
        sgl-project/sglang#26898
    """,
    Why.NO_PROGRAM: """
        flagos-ai/FlagGems#47 pytorch/pytorch#175600 flagos-ai/FlagGems#2854
    """,
    Why.OTHERS: """
        flagos-ai/vllm-plugin-FL#411 flagos-ai/FlagGems#1581 flagos-ai/FlagGems#749
        open-mmlab/mmcv#2396 Cambricon/mlu-ops#164 Cambricon/mlu-ops#1078
        Cambricon/mlu-ops#990 Cambricon/mlu-ops#821 Cambricon/mlu-ops#1123
        Cambricon/mlu-ops#935 Cambricon/mlu-ops#1080 Cambricon/mlu-ops#71
        DeepLink-org/deeplink.framework#381 open-mmlab/mmcv#1345 open-mmlab/mmcv#2839
        DeepLink-org/DIOPI#305 Cambricon/mlu-ops#170 Cambricon/mlu-ops#237
        Cambricon/mlu-ops#79 Cambricon/mlu-ops#1038 flagos-ai/vllm-plugin-FL#431
        InfiniTensor/InfiniCore#1462 flagos-ai/FlagGems#87 XPU-Forces/xpu_graph#87
        XPU-Forces/xpu_graph#43 Cambricon/mlu-ops#428 Cambricon/mlu-ops#758
        Cambricon/mlu-ops#967 Cambricon/mlu-ops#818 Cambricon/mlu-ops#411
        Cambricon/mlu-ops#658 Cambricon/mlu-ops#1255 Cambricon/mlu-ops#1017
        Cambricon/mlu-ops#1252 Cambricon/mlu-ops#509 Cambricon/mlu-ops#599
        Cambricon/mlu-ops#508 Cambricon/mlu-ops#351 Cambricon/mlu-ops#1251
        Cambricon/mlu-ops#1319 Cambricon/mlu-ops#589 open-mmlab/mmcv#2500
        Cambricon/mlu-ops#1034 Cambricon/mlu-ops#426 Cambricon/mlu-ops#397
        flagos-ai/FlagGems#31 flagos-ai/FlagGems#40 XPU-Forces/xpu_graph#33
        Cambricon/mlu-ops#879 Cambricon/mlu-ops#852 Cambricon/mlu-ops#949
        Cambricon/mlu-ops#948 Cambricon/mlu-ops#931
    """,
    Why.NO_TARGET: """
        llvm/torch-mlir#380 InfiniTensor/InfiniTensor#38
        PaddlePaddle/PaddleCustomDevice#1223 PaddlePaddle/PaddleCustomDevice#1226
        PaddlePaddle/PaddleCustomDevice#999 InfiniTensor/InfiniCore#462 pytorch/xla#2447
        pytorch/pytorch#109371 ml-explore/mlx#1424 pytorch/pytorch#18218
        ml-explore/mlx#1354 ml-explore/mlx-examples#951 pytorch/pytorch#81384
        pytorch/pytorch#188792 flagos-ai/Torch-FL#259 ml-explore/mlx#2835
        ml-explore/mlx#3585 ml-explore/mlx#2126 bytedance/byteir#506 apple/coremltools#1857
        oxiglade/mlx-rs#255 zhijian-liu/torchprofile#23 pytorch/pytorch#162588
        hong19860320/PaddleLite-generic-demo#1 PaddlePaddle/PaddleFleetX#1079
        PaddlePaddle/PaddleCustomDevice#198 PaddlePaddle/PaddleCustomDevice#465
        PaddlePaddle/Paddle#39523 InfiniTensor/InfiniCore#362 flagos-ai/FlagGems#6273
        InfiniTensor/InfiniCore#363 intel/torch-xpu-ops#48
        intel/intel-extension-for-pytorch#4 open-mmlab/mmdetection#4405
        open-mmlab/mmpretrain#286 intel/torch-xpu-ops#1575 intel/torch-xpu-ops#77
        InfiniTensor/InfiniTensor#210 InfiniTensor/InfiniCore#320
        InfiniTensor/InfiniTensor#87 InfiniTensor/InfiniCore#19 sdpython/mlprodict#200
        dmlc/dgl#4333 lwch/gotorch#42 dotnet/TorchSharp#183 llvm/torch-mlir#857
        ml-explore/mlx-examples#40 asher/gmlx#51 Qihoo360/360zhinao#6 YvanYin/Metric3D#158
        xorbitsai/inference#4229 InternLM/lmdeploy#3753 vllm-project/vllm-ascend#1047
        ByteDance-Seed/seed-oss#4 vllm-project/vllm-ascend#13428
        huggingface/diffusers#10986 flagos-ai/Torch-FL#355 modelscope/ms-swift#4317
        modelscope/ms-swift#7389 modelscope/ms-swift#7330 huggingface/diffusers#12653
        flagos-ai/Torch-FL#218 flagos-ai/FlagGems#1127 flagos-ai/Torch-FL#7
        flagos-ai/FlagGems#548 mlc-ai/mlc-llm#3358 Cambricon/ffmpeg-mlu#17
        llvm/torch-mlir#4659 llvm/torch-mlir#365 llvm/torch-mlir#4732
        intel/torch-xpu-ops#2309 huggingface/transformers#31237
        buddy-compiler/buddy-mlir#637 llvm/torch-mlir#1657 XPU-Forces/xpu_graph#351
        pytorch/pytorch#144150 pytorch/pytorch#168107 pytorch/pytorch#144151
        pytorch/pytorch#6118 pytorch/pytorch#145080 intel/torch-xpu-ops#1469
        pytorch/pytorch#5856 pytorch/pytorch#54376 pytorch/vision#9272 pytorch/vision#9273
        open-mmlab/mmcv#3063 DeepLink-org/DLCompiler#10 hpi-xnor/bitorch#3
        microsoft/DirectML#174 microsoft/DirectML#306 ml-explore/mlx#753
        ml-explore/mlx#2252 ml-explore/mlx#799 ml-explore/mlx#1076
        InfiniTensor/InfiniTensor#117 PaddlePaddle/PaddleClas#2367 llvm/torch-mlir#3115
        llvm/torch-mlir#1474 llvm/torch-mlir#455 PaddlePaddle/PaddleCustomDevice#602
        PaddlePaddle/PaddleSpeech#3461 PaddlePaddle/PaddleCustomDevice#1780
        modelscope/FunASR#1131 PaddlePaddle/PaddleCustomDevice#141
        PaddlePaddle/PaddleCustomDevice#142 modelscope/FunASR#3034 modelscope/FunASR#125
        QwenAudio/Fun-ASR#59 flagos-ai/FlagGems#4043 flagos-ai/Torch-FL#151
        flagos-ai/FlagGems#5006 PaddlePaddle/PaddleCustomDevice#159
        PaddlePaddle/PaddleCustomDevice#161 NVIDIA/Megatron-LM#4091
        hiyouga/LlamaFactory#7890 PaddlePaddle/PaddleCustomDevice#1509
        hiyouga/LlamaFactory#2916 hiyouga/LlamaFactory#9462 flagos-ai/Megatron-LM-FL#135
        hiyouga/LlamaFactory#5627 flagos-ai/Megatron-LM-FL#132 NVIDIA/Megatron-LM#1658
        zyushun/Adam-mini#7 flagos-ai/Torch-FL#153 intel/intel-xpu-backend-for-triton#5950
        pytorch/pytorch#169778 pytorch/pytorch#139312 NVIDIA/cuEquivariance#223
        tenstorrent/tt-forge-onnx#609 pytorch/pytorch#182328 pytorch/pytorch#93545
        InfiniTensor/InfiniTensor#211 PaddlePaddle/Paddle-Lite#9614
        apple/ml-stable-diffusion#285 sdpython/mlprodict#485 PaddlePaddle/Paddle3D#430
        PaddlePaddle/PaddleVideo#666 flagos-ai/FlagPerf#692 flagos-ai/FlagPerf#690
        flagos-ai/FlagGems#308 flagos-ai/FlagGems#304 flagos-ai/FlagGems#6113
        intel/intel-xpu-backend-for-triton#438 intel/torch-xpu-ops#1222 ROCm/apex#134
        pytorch/helion#3269 InfiniTensor/InfiniCore#353 InfiniTensor/InfiniCore#368
        InfiniTensor/InfiniCore#1207 InfiniTensor/InfiniCore#18 InfiniTensor/InfiniCore#565
        InfiniTensor/InfiniCore#378 InfiniTensor/InfiniCore#371 InfiniTensor/InfiniCore#525
        InfiniTensor/InfiniCore#1166 InfiniTensor/InfiniCore#566 tenstorrent/tt-metal#6516
        microsoft/DirectML#449 nod-ai/AMD-SHARK-ModelDev#684 microsoft/DirectML#596
        intel/torch-xpu-ops#173 intel/torch-xpu-ops#416 tenstorrent/tt-mlir#4494
        Comfy-Org/ComfyUI#8011
    """,
}
LEFT_OUT = tuple(
    LeftOut(thread, why) for why, threads in _LEFT_OUT.items() for thread in threads.split()
)

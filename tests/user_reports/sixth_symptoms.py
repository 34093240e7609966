"""What users met, by searches for a symptom: the words of an error, a wrong value, a crash.

Two threads are left out though they name a call: counts that need 17 GB of memory, and a converter
that fails for a size that varies, neither of which a small program can show. One was a report until
the branches of Intel's kernels were read: what it tells of `max_unpool2d` was mended before 2.14.
"""

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812  # as everybody writes it

from tests.user_reports.report import Because, LeftOut, Met, Report, Why

QUERIES = (
    "RuntimeError \"not implemented for 'Half'\" GPU works on CPU, user model 2025 "
    "transformers ultralytics",
    '"is not supported on MPS" or "not currently implemented for the MPS device" user '
    "traceback whisper nnUNet ultralytics 2025",
    "CUDA error: misaligned address torch operator view offset storage float4 vectorized "
    "kernel repro",
    "NPU function error: call aclnn failed, error code is 561103 shape not supported 2025 910B "
    "model inference",
    "RuntimeError on XPU Arc B580 B60 torch 2.8 2.9 diffusers ComfyUI operator wrong image NaN "
    "black output",
    'pytorch MPS MPSNDArray assertion "buffer is not large enough" or "Must have at least 1 '
    'element" 2025 2026 repro torch op',
    "transformers model on mps gives wrong output generation gibberish works on cpu, root "
    "cause torch op argmax multinomial sdpa non-contiguous",
    "XPU NotImplementedError \"Could not run 'aten::\" \"with arguments from the 'XPU' "
    'backend" sparse quantized or "not implemented for" 2025',
    '"invalid configuration argument" torch CUDA kernel launch batch larger than 65535 '
    "scaled_dot_product_attention group_norm interpolate",
    "[MPS] issue September October 2026 torch 2.14 wrong result metal kernel repro",
    "torch.compile off, eager CUDA silent wrong gradient or value 2026 RTX 5090 Blackwell "
    "sm_120 torch operator bug repro",
    "Radeon Strix Halo gfx1151 or R9700 gfx1201 torch operator wrong result NaN or MIOpen "
    "error repro 2026",
    "torch_tensorrt unsupported operator falls back to PyTorch or conversion fails torchvision "
    "yolo whisper sam2 model export 2026",
    "kornia known failures on MPS: operator not implemented or wrong result on mps float16 "
    "float32 device test xfail",
    "workaround: move tensor to CPU because MPS does not support this op (unfold, cdist, "
    "histc, svd, float64, int64) fix pull request 2025 2026",
    "array API compat torch device cuda xpu mps test failure: function gives different result "
    "or unsupported dtype uint16 uint32 searchsorted sort 2025",
    "CUDNN_STATUS_NOT_SUPPORTED conv backward channels_last or large tensor torch 2.7 2.8 2.9 "
    "training fails specific shape",
    "torch.mps float16 overflow inf NaN in layer_norm softmax logsumexp std_mean var on Apple "
    "GPU minimal example",
    "intel XPU torch.linalg or torch.special or index or pooling accuracy failure "
    "AssertionError Tensor-likes are not close torch-xpu-ops 2026 June July August September",
    "torch_npu 昇腾 训练 loss nan 算子 精度 错误 与 GPU CPU 结果不一致 torch.nn 最小复现 2025 2026",
    "CUDA nn.MaxPool or AvgPool or AdaptivePool or Fold/Unfold illegal memory access or wrong "
    "output 64-bit indexing 2025 2026 PyTorch issue",
    "[CUDA] eager kernel integer overflow or out-of-bounds 2026 F.grid_sample F.ctc_loss "
    "F.embedding_bag torch.histc torch.multinomial compute-sanitizer kokol16",
    "MPS random numbers bug: exponential_ geometric_ normal_ randperm multinomial bernoulli "
    "wrong distribution or zeros or repeated on Mac GPU",
    "torch XPU large index offsets or huge tensor wrong gradient pooling embedding upsample "
    "torch-xpu-ops fix 2026",
    "torch_xla TPU RuntimeError INVALID_ARGUMENT or unsupported dtype lowering of aten op "
    "fails in user model 2024 2025",
    "xpu-alignment confirmed on XPU: silently wrong or crash, reproducer torch.xpu 2026 "
    "September non-contiguous empty tensor",
    "MIOpen convolution wrong output or NaN float16 bfloat16 MI300X MI250 gfx942 gfx90a "
    "conv_transpose dilation groups depthwise issue reproducer",
    "[MPS] RuntimeError placeholder tensor is empty, zero-size dimension crash op torch 2.6 "
    "2.7 2.8 2.9 2.10",
    "pytorch/TensorRT bug dynamo converter wrong output compared to PyTorch or AssertionError "
    "2.9 2.10 2.11 2.12 2.13 aten op reproducer script",
    "christianahmed905 MPS INTERNAL ASSERT fuzz crash torch op Apple Silicon size-0 or edge "
    "case 2026",
    "torch-xpu-ops XPU fix pointer or stride bug MaxUnpool pooling non-contiguous output "
    "wrong, cherry-pick release/2.14",
    '[ROCm] torch operator fails "HIP error" OR "hipErrorInvalidValue" OR "not compiled" '
    "on MI300 but works on CUDA: topk sort multinomial linalg attention fp8 2025 2026",
    "vllm-ascend torch_npu op unsupported int64 bool argmax cumsum isin unique "
    "repeat_interleave replace workaround slow AICPU 2026",
)
APPLE, MAX = "apple-mps", "intel-max"

EVEN = torch.tensor([[-9.9e-4, -9.9e-4, 9.9e-4, 9.9e-4]])
NEAR_ONE = torch.tensor([[1.0, 1.001, 0.999, 1.0]])
ENTRIES = torch.tensor([[0, 1, 1], [2, 0, 2]])


def _sparse_rows(values: Tensor, dense: Tensor) -> Tensor:
    return torch.hspmm(torch.sparse_coo_tensor(ENTRIES, values, (2, 3)), dense).to_dense()


def _nested_products(x: Tensor, y: Tensor) -> Tensor:
    left, right = torch.nested.nested_tensor([x, x]), torch.nested.nested_tensor([y, y])
    return torch.bmm(left, right).to_padded_tensor(0.0)


def _large_planes(one: Tensor) -> Tensor:
    planes, gradient = one.new_zeros(1, 2049, 1024, 1024), one.new_ones(1, 2049, 2, 2)
    found: Tensor = torch.ops.aten._adaptive_avg_pool2d_backward(gradient, planes)
    return found


REPORTS = (
    Report(
        "Max: products of nested tensors", "intel/torch-xpu-ops#2420", 7,
        "`bmm` has no kernel for nested tensors on an Intel GPU",
        f"{MAX}@2.10.0", Met.REFUSED, Because.NO_KERNEL,
        _nested_products, (torch.ones(2, 3), torch.ones(3, 4)), ("aten::bmm",),
    ),
    Report(
        "Max: hspmm", "intel/torch-xpu-ops#3169", 7,
        "`hspmm` of a sparse and a dense matrix has no kernel",
        f"{MAX}@2.11.0", Met.REFUSED, Because.NO_KERNEL,
        _sparse_rows, (torch.ones(3), torch.ones(3, 4)), ("aten::hspmm",),
    ),
    Report(
        "MPS: volumes sampled at the nearest", "kornia/kornia#4147", 9,
        "`grid_sampler_3d` raises with 2.5.1 and 2.8.0, in a test of a blur of volumes",
        f"{APPLE}@2.8.0", Met.REFUSED, Because.NO_KERNEL,
        lambda x, grid: F.grid_sample(x, grid, mode="nearest", align_corners=False),
        (torch.ones(1, 1, 2, 4, 4), torch.zeros(1, 2, 4, 4, 3)),
        ("aten::grid_sampler_3d", "aten::grid_sampler"),
    ),
    Report(
        "MPS: durations in double", "openai/whisper#2825", 14,
        "Whisper makes a tensor double before it copies it to the host: no float64 on MPS",
        f"{APPLE}@2.13.0", Met.REFUSED, Because.DTYPE,
        lambda x: x.double().cpu(), (torch.ones(2, 3),), ("aten::to", "aten::_to_copy"),
    ),
    Report(
        "MPS: QR of an array", "data-apis/array-api-tests#434", 15,
        "of linear algebra, `linalg_qr` is not implemented, as tests of April 2026 met",
        f"{APPLE}@2.11.0", Met.REFUSED, Because.NO_KERNEL,
        torch.linalg.qr, (torch.eye(3),), ("aten::linalg_qr",),
    ),
    Report(
        "MPS: layer_norm of tiny values", "pytorch/pytorch#190491", 17,
        "a variance below 1e-6 is taken for zero: values are 990 times too large",
        f"{APPLE}@2.13.0", Met.WRONG, Because.OTHER,
        lambda x: F.layer_norm(x, (4,), eps=1e-12), (EVEN,),
        ("aten::native_layer_norm", "aten::layer_norm"),
    ),
    Report(
        "MPS: layer_norm of values near to each other", "pytorch/pytorch#186367", 17,
        "small variances are clamped: 3.16 instead of 1.29, until a change of June 2026",
        f"{APPLE}@2.12.1", Met.WRONG, Because.OTHER,
        lambda x: F.layer_norm(x, (4,), eps=1e-7), (NEAR_ONE,),
        ("aten::native_layer_norm", "aten::layer_norm"),
    ),
    Report(
        "Max: gradients of means of 2**31 elements", "intel/torch-xpu-ops#4457", 18,
        "gradients of adaptive pooling are wrong where offsets are large",
        f"{MAX}@2.13.0", Met.WRONG, Because.SHAPE,
        _large_planes, (torch.ones(1).half(),), ("aten::_adaptive_avg_pool2d_backward",),
    ),
    Report(
        "MPS: baddbmm of nothing", "pytorch/pytorch#188808", 27,
        "`baddbmm` of empty matrices fails: placeholder tensor is empty",
        f"{APPLE}@2.12.1", Met.REFUSED, Because.SHAPE,
        lambda c, a, b: torch.baddbmm(c, a, b, beta=0.5),
        (torch.ones(2, 0, 1), torch.ones(2, 0, 3), torch.ones(2, 3, 1)), ("aten::baddbmm",),
    ),
    Report(
        "MPS: smooth_l1_loss of nothing", "pytorch/pytorch#81180", 27,
        "the smooth L1 loss meets an empty placeholder with 2.7.0, in a detector without boxes",
        f"{APPLE}@2.7.1", Met.REFUSED, Because.SHAPE,
        lambda x, y: F.smooth_l1_loss(x, y, reduction="sum"),
        (torch.ones(0, 4), torch.ones(0, 4)), ("aten::smooth_l1_loss",),
    ),
)  # fmt: skip

_LEFT_OUT = {
    Why.KNOWN: """
        huggingface/transformers#27769 WhisperSpeech/WhisperSpeech#56 ultralytics/hub#1199
        datalab-to/surya#212 roboflow/rf-detr#29 PaddlePaddle/PaddleOCR#11337
        hiyouga/LlamaFactory#7134 opendatalab/MinerU#2568 InternLM/lmdeploy#3237
        Ascend/pytorch#90 Ascend/pytorch#100 vllm-project/vllm-ascend#4859
        vllm-project/vllm-ascend#5297 Comfy-Org/ComfyUI#10756 Comfy-Org/ComfyUI#10847
        pytorch/pytorch#136132 pytorch/pytorch#113586 pytorch/pytorch#96153
        pytorch/pytorch#167154 pytorch/pytorch#123151 pytorch/pytorch#78043
        huggingface/transformers#22529 pytorch/pytorch#163597 intel/torch-xpu-ops#2358
        intel/torch-xpu-ops#2211 intel/torch-xpu-ops#2418 intel/torch-xpu-ops#2419
        intel/torch-xpu-ops#2421 intel/torch-xpu-ops#3144 zeliu98/CloserLook3D#35
        xmuqimingxia/3D-HANet#3 pytorch/pytorch#22526 pytorch/pytorch#48573 airsplay/lxmert#28
        pytorch/pytorch#16998 pytorch/pytorch#142228 anthony-chaudhary/fak#1112
        pytorch/pytorch#195012 pytorch/pytorch#191794 pytorch/pytorch#152155
        pytorch/pytorch#186369 pytorch/pytorch#96064 pytorch/pytorch#168278
        pytorch/pytorch#95082 ROCm/rocm-libraries#4070 ROCm/MIOpen#3964
        ROCm/legacy-rocm-build#6034 ROCm/pytorch#2837 pytorch/TensorRT#1912
        pytorch/TensorRT#2102 pytorch/TensorRT#730 pytorch/TensorRT#1570 pytorch/TensorRT#170
        pytorch/pytorch#77764 pytorch/pytorch#118362 data-apis/array-api-compat#253
        pytorch/pytorch#4107 pytorch/pytorch#1485 pytorch/pytorch#96602 pytorch/pytorch#96113
        pytorch/pytorch#159103 intel/torch-xpu-ops#3026 intel/torch-xpu-ops#2456
        intel/torch-xpu-ops#2478 liuyuan-pal/Gen6D#68 intel/intel-npu-acceleration-library#161
        wenet-e2e/wenet#2570 vllm-project/vllm-ascend#31 pytorch/pytorch#180103
        pytorch/pytorch#68418 pytorch/pytorch#145453 pytorch/pytorch#145349
        pytorch/pytorch#189082 pytorch/pytorch#189667 pytorch/pytorch#188959
        pytorch/pytorch#195185 pytorch/pytorch#189664 pytorch/pytorch#176784
        pytorch/pytorch#193691 pytorch/pytorch#24818 Jim137/qkan#22 pytorch/pytorch#192577
        pytorch/pytorch#104170 pytorch/pytorch#99802 pytorch/pytorch#106260
        pytorch/pytorch#78110 pytorch/pytorch#92752 pytorch/pytorch#78009 pytorch/pytorch#85611
        intel/torch-xpu-ops#4488 intel/torch-xpu-ops#4694 intel/torch-xpu-ops#4723
        intel/torch-xpu-ops#5475 intel/torch-xpu-ops#4516 intel/torch-xpu-ops#3537
        intel/torch-xpu-ops#4599 pytorch/pytorch#186087 pytorch/xla#2897
        Lightning-AI/pytorch-lightning#7471 pytorch/xla#2939 pytorch/xla#2917 pytorch/xla#6479
        pytorch/xla#6342 pytorch/xla#5932 intel/torch-xpu-ops#4680 intel/torch-xpu-ops#4666
        intel/torch-xpu-ops#5236 sgl-project/sglang#31751 intel/torch-xpu-ops#4480
        ROCm/MIOpen#133 pytorch/pytorch#187551 pytorch/pytorch#117941 pytorch/TensorRT#3025
        pytorch/TensorRT#3135 pytorch/TensorRT#2157 pytorch/TensorRT#3448 pytorch/TensorRT#3231
        pytorch/TensorRT#3004 pytorch/pytorch#194235 pytorch/xla#2202 DeepLink-org/DIOPI#24
        pytorch/pytorch#48219 pytorch/pytorch#47065 pytorch/pytorch#150016 ROCm/MIOpen#2342
        ROCm/pytorch#2389 pytorch/pytorch#138067 ROCm/TheRock#2488 pytorch/pytorch#147626
        huggingface/sentence-transformers#2903 flashinfer-ai/flashinfer#2474
        hiyouga/LlamaFactory#975 sgl-project/sglang#8004 flagos-ai/vllm-plugin-FL#387
        bitsandbytes-foundation/bitsandbytes#1695 vllm-project/vllm-ascend#10206
        vllm-project/vllm-ascend#5044
    """,
    Why.NO_TARGET: """
        intel/torch-xpu-ops#5085
        AGI-Edgerunners/LLM-Adapters#19 Ekko-zn/AIGCDetectBenchmark#9 winninghealth/WiNGPT2#4
        omriav/blended-diffusion#14 ultralytics/yolov5#830 nomic-ai/gpt4all#450
        lm-sys/FastChat#3153 arcee-ai/mergekit#175 vgel/repeng#30 datvuthanh/HybridNets#28
        facebookresearch/flores#30 ultralytics/yolov5#8508 open-mmlab/mmyolo#626
        zhoubolei/TRN-pytorch#88 pytorch/pytorch#32893 openvinotoolkit/openvino#30683
        openvinotoolkit/openvino#28171 pytorch/pytorch#78492 pytorch/pytorch#77851
        pytorch/pytorch#79181 pytorch/pytorch#87351 pytorch/pytorch#77886 jankais3r/LLaMA_MPS#14
        pytorch/pytorch#84169 ROCm/legacy-rocm-build#5339 debpalash/VoiceStudio#1274
        ROCm/legacy-rocm-build#5853 ROCm/legacy-rocm-build#5824 pytorch/pytorch#149332
        open-mmlab/mmdeploy#1728 comfyanonymous/ComfyUI_TensorRT#21 WongKinYiu/yolor#26
        kornia/kornia#2224 pytorch/pytorch#78099 aliutkus/torchsearchsorted#3
        data-apis/array-api-compat#38 data-apis/array-api-compat#278 tenstorrent/tt-metal#26057
        unifyai/ivy#21710 torch-spyre/torch-spyre#3083 mdhaber/marray#82 pytorch/pytorch#31336
        pytorch/pytorch#3038 microsoft/onnxruntime#15715 pytorch/pytorch#1059
        rosinality/style-based-gan-pytorch#83 pytorch/pytorch#544 pytorch/pytorch#186278
        pytorch/pytorch#94043 apple/coremltools#2690 apple/coreai-torch#21
        PaddlePaddle/Paddle#44894 pytorch/pytorch#76024 Oneflow-Inc/oneflow#10321
        bgshih/crnn#151 PaddlePaddle/Paddle#15735 ultralytics/yolov5#7908 pytorch/pytorch#84018
        pytorch/pytorch#84724 pytorch/pytorch#52822 JuliaGPU/Metal.jl#474 pytorch/xla#1725
        tenstorrent/tt-torch#637 ROCm/rocm-libraries#7024 ROCm/composable_kernel#135
        ROCm/MIOpen#3860 ROCm/MIVisionX#58 ROCm/MIOpen#1049 ROCm/MIOpen#1144 ROCm/MIOpen#890
        ROCm/MIOpen#102 pytorch/pytorch#87458 pytorch/torchdynamo#132 chrenn/LoginItemKit#1
        chidiwilliams/buzz#496 fork-dev/Tracker#1353 zbrateam/Firmware#3 kstenerud/KSCrash#395
        sbooth/Max#50 mudkipme/MoeMemos#36 fitztrev/shuttle#291 rust-fuzz/book#28
        mikeroyal/Apple-Silicon-Guide#82 tinygrad/tinygrad#8138 PaddlePaddle/Paddle#78701
        rocm-arch/python-pytorch-rocm#41
    """,
    Why.NO_PROGRAM: """
        kreshuklab/panseg#496 deepspeedai/DeepSpeedExamples#530 huanngzh/ComfyUI-MVAdapter#52
        drubinstein/pokemonred_puffer#8 skgyu/SpaceshipNet#3 Comfy-Org/ComfyUI#8228
        Comfy-Org/ComfyUI#14743 ai-joe-git/ComfyUI-Intel-Arc-Clean-Install-Windows-venv-XPU-#5
        Comfy-Org/ComfyUI#4673 Comfy-Org/ComfyUI#9046 DoctorDiffusion/ComfyUI-BEN#9
        huggingface/diffusers#2758 Comfy-Org/ComfyUI#12839
        TransformerLensOrg/TransformerLens#1008 pytorch/torchchat#471 pytorch/pytorch#116331
        intel/torch-xpu-ops#4901 kornia/kornia#4202 PriorLabs/TabPFN#1078 kornia/kornia#4159
        kornia/kornia#3649 kornia/kornia#4146 kornia/kornia#1717 intel/torch-xpu-ops#779
        pytorch/pytorch#159939 intel/torch-xpu-ops#2642 intel/torch-xpu-ops#2546
        intel/torch-xpu-ops#2453 intel/torch-xpu-ops#2703 intel/torch-xpu-ops#2618
        intel/torch-xpu-ops#2672 pytorch/pytorch#189666 intel/torch-xpu-ops#3936
        pytorch/pytorch#123171 pytorch/pytorch#106256 pytorch/pytorch#148589
        pytorch/TensorRT#3859
    """,
    Why.NO_CALL: """
        ultralytics/yolov5#13704 jhj0517/Whisper-WebUI#517 MIC-DKFZ/nnUNet#2244
        aiola-lab/whisper-medusa#8 modelscope/ms-swift#2866 pytorch/pytorch#187827
        pytorch/pytorch#187894 pytorch/pytorch#159207 pytorch/pytorch#145949
        pytorch/pytorch#136662 pytorch/pytorch#182012 pytorch/pytorch#183898
        pytorch/pytorch#193061 pytorch/pytorch#106321 pytorch/TensorRT#977
        Comfy-Org/ComfyUI#16409 intel/torch-xpu-ops#4492 pytorch/TensorRT#1685
        pytorch/TensorRT#3594 pytorch/TensorRT#3854 pytorch/TensorRT#4484 pytorch/pytorch#190189
        intel/torch-xpu-ops#4576 ROCm/legacy-rocm-build#4208 vllm-project/vllm#7692
        open-mmlab/mmengine#847
    """,
    Why.OTHERS: """
        NVIDIA/Fuser#4970 Jim137/qkan#26 pytorch/pytorch#184714
        huchenlei/ComfyUI-layerdiffuse#99 lllyasviel/sd-forge-layerdiffuse#74
        huchenlei/ComfyUI-layerdiffuse#109 continue-revolution/sd-webui-animatediff#328
    """,
    Why.UNCONFIRMED: """
        pytorch/pytorch#193696 pytorch/pytorch#193095 intel/torch-xpu-ops#5446
        intel/torch-xpu-ops#5080
    """,
}
LEFT_OUT = tuple(
    LeftOut(thread, why) for why, threads in _LEFT_OUT.items() for thread in threads.split()
)

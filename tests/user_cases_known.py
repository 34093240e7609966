"""The cases of the project's list of what users met, by their numbers there."""

import torch
from torch.nn import functional as F  # noqa: N812  # as everybody writes it

from tests.test_cases import COMPLEX, X, case_of, rotate
from tests.user_cases import UserCase

PICTURE = torch.ones(1, 2, 7, 8)
VOLUME = X.view(1, 1, 2, 3, 4)
BOXES = (X.view(6, 4), X[:6])
BOX = torch.tensor([[0, 0, 0, 4, 4.0]])
OLDER_EXPORTER = "torch.onnx before torch 2.13 is no target; the one that is exports it."
"""Of threads about exporters that had no converter yet."""


def _nms(boxes: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
    return torch.ops.torchvision.nms(boxes, scores, 0.5)  # type: ignore[no-any-return]  # of torch


def _roi_align(x: torch.Tensor, boxes: torch.Tensor) -> torch.Tensor:
    found = torch.ops.torchvision.roi_align(x, boxes, 1.0, 2, 2, 2, True)
    return found  # type: ignore[no-any-return]  # of torch


def _mmcv_deformed(x: torch.Tensor) -> torch.Tensor:
    weight, offset = x.new_ones(3, 4, 3, 3), x.new_ones(1, 18, 2, 3)
    found = torch.ops.mmcv.deform_conv2d(x, offset, weight, padding=[1, 1])
    return found  # type: ignore[no-any-return]  # of torch


def _upsampled(x: torch.Tensor) -> torch.Tensor:
    found = torch.ops.mmcv.carafe(x, x.new_ones(1, 25, 4, 6), 5, 1, 2)
    return found  # type: ignore[no-any-return]  # of torch


def _deformed(x: torch.Tensor) -> torch.Tensor:
    weight, bias = torch.ones(3, 2, 3, 3, device=x.device), torch.ones(3, device=x.device)
    offset, mask = (torch.ones(1, n, 5, 6, device=x.device) for n in (18, 9))
    found = torch.ops.torchvision.deform_conv2d(
        x, weight, offset, mask, bias, 1, 1, 1, 1, 1, 1, 1, 1, True
    )
    return found  # type: ignore[no-any-return]  # of torch


def _resized(x: torch.Tensor) -> torch.Tensor:
    return F.interpolate(x, scale_factor=0.5, mode="bicubic", antialias=True)


def _transformed(x: torch.Tensor) -> torch.Tensor:
    return torch.stft(x, 8, return_complex=True, window=torch.ones_like(x[0, :8]))


KNOWN = (
    UserCase(
        "1", "`isin` runs on the host with a warning on torch_npu 2.1 and 2.2, then AI CPU fails",
        ("Ascend/pytorch#40", "pytorch/pytorch#136302", "modelscope/ms-swift#1047",
         "hiyouga/LlamaFactory#4135"),
        torch.isin, (torch.arange(5), torch.arange(3)), "aten::isin.Tensor_Tensor",
        {"ascend-910b@5.0.0": "host-fallback", "ascend-910b": "registered"},
        "The failure of AI CPU after the fallback is one of that release's binary; no source of "
        "the vendor's speaks of it.",
    ),
    UserCase(
        "2", "`isin` is missing on MPS before torch 2.4",
        ("huggingface/transformers#30376", "pytorch/pytorch#124518"),
        torch.isin, (torch.arange(5), torch.arange(3)), "aten::isin.Tensor_Tensor",
        {"apple-mps@2.3.1": "no-kernel", "apple-mps": "registered"},
    ),
    UserCase(
        "4: gather", "`gather` of complex numbers is refused by aclnnGather",
        ("vllm-project/vllm-omni#6571", "huggingface/diffusers#12979"),
        case_of("4: gather of complex numbers").function,
        (COMPLEX, torch.tensor([[0, 1, 2]])), "aten::gather",
        {"ascend-910b": "dtype-not-supported"},
    ),
    UserCase(
        "4: index", "indexing complex numbers is refused by aclnnIndex",
        ("vllm-project/vllm-omni#4911",),
        lambda x, i: x[i], (COMPLEX, torch.tensor([0, 2])), "aten::index.Tensor",
        {"ascend-910b": "dtype-not-supported"},
    ),
    UserCase(
        "5", "rotary embedding in complex128 runs on AI CPU, very slowly",
        ("modelscope/DiffSynth-Studio#1191",),
        rotate, (X.view(4, 6), COMPLEX[:, :3].to(torch.complex128)), "aten::mul.Tensor",
        {"ascend-910b": "runs-on-aicpu"},
    ),
    UserCase(
        "6", "`polar` has no lowering on TPUs, Core ML and Tenstorrent",
        ("pytorch/xla#9215", "apple/coremltools#2258", "tenstorrent/tt-xla#3060",
         "onnx/onnx#6480"),
        lambda x: torch.polar(x, x), (X,), "aten::polar",
        {"google-tpu-v4": "host-fallback", "onnxruntime-cpu": "registered",
         "openvino-cpu": "no-converter"},
        f"Core ML and Tenstorrent are no targets. {OLDER_EXPORTER}",
    ),
    UserCase(
        "7", "`repeat_interleave` of float64 is refused by aclnn",
        ("huggingface/diffusers#10820", "huggingface/diffusers#10428"),
        lambda x: x.repeat_interleave(2, -1), (X.double(),), "aten::repeat_interleave.self_int",
        {"ascend-910b": "dtype-not-supported"},
    ),
    UserCase(
        "10", "torchvision's `nms` warns of the host on a 910B; users think that all is there",
        ("opendatalab/MinerU#1695", "opendatalab/MinerU#1941"),
        _nms, BOXES, "torchvision::nms", {"ascend-910b": "host-fallback"},
    ),
    UserCase(
        "12", "mmcv's `deform_conv` broke with torch_npu 2.1, pads wrongly, lacks operators",
        ("open-mmlab/mmcv#2387", "open-mmlab/mmcv#2985"),
        _mmcv_deformed, (X.view(1, 4, 2, 3),), "mmcv::deform_conv2d", {"ascend-910b": "registered"},
        "mmcv is known as it is now, and runs it by a kernel of torch_npu; what an earlier one did "
        "wrong is not.",
    ),
    UserCase(
        "13", "a boolean mask gives a wrong shape under the Torch-FL plugin for Ascend",
        ("flagos-ai/Torch-FL#323",),
        lacking="Torch-FL's build for Ascend is no target; the advisory torch-fl-index-mask waits "
        "for it. The vendor's own kernel gives the right shape.",
    ),
    UserCase(
        "14", "`std` has no kernel on MUSA", ("MooreThreads/torch_musa#72",),
        lambda x: x.std(unbiased=False), (X,), "aten::std",
        {"moorethreads-s4000@1.3.0": "no-kernel", "moorethreads-s4000@2.0.0": "decomposes"},
    ),
    UserCase(
        "15: cumprod", "`cumprod` has no kernel on MUSA, a later release has it",
        ("MooreThreads/torch_musa#17",),
        lambda x: x.cumprod(-1), (X,), "aten::cumprod",
        {"moorethreads-s80@1.0.0": "no-kernel", "moorethreads-s80@1.3.0": "registered"},
    ),
    UserCase(
        "15: where", "`where` has no kernel on MUSA in a build of September 2023",
        ("MooreThreads/torch_musa#17",),
        lambda x: torch.where(x > 0.5, x, -x), (X,), "aten::where.self",
        {"moorethreads-s80@1.0.0": "registered"},
        "The code of 1.0.0 registers it; the user ran another build, which the sources do not "
        "have.",
    ),
    UserCase(
        "17", "carafe, diff_iou_rotated and others of mmcv are not ported to MUSA",
        ("open-mmlab/mmcv#3239",),
        _upsampled, (X.view(1, 4, 2, 3),), "mmcv::carafe", {"moorethreads-s4000": "registered"},
        "mmcv is known as it is now, with carafe for MUSA; rarely used operators of it are "
        "not known.",
    ),
    UserCase(
        "18", "MLUs have no 64-bit floating point", ("open-mmlab/mmcv#1429",),
        _roi_align, (torch.ones(1, 2, 8, 8).double(), BOX.double()), "torchvision::roi_align",
        {"cambricon-mlu370": "float64-computed-as-float32"},
    ),
    UserCase(
        "19", "FlagGems' `flash_attn_varlen` and `exponential_` do not work on an MLU590",
        ("flagos-ai/FlagGems#5535",),
        lacking="These are kernels of FlagGems, in Triton, not of torch_mlu.",
    ),
    UserCase(
        "20", "sampling a volume (`grid_sampler_3d`) is missing on MPS",
        ("pytorch/pytorch#77764", "pytorch/pytorch#141287", "pytorch/pytorch#160237"),
        lambda x, grid: F.grid_sample(x, grid, align_corners=False),
        (VOLUME, torch.zeros(1, 2, 2, 2, 3)), "aten::grid_sampler",
        {"apple-mps@2.8.0": "no-kernel", "apple-mps@2.9.1": "decomposes"},
    ),
    UserCase(
        "22", "`adaptive_avg_pool2d` raises on MPS where sizes do not divide",
        ("pytorch/pytorch#97109", "pytorch/pytorch#96056", "pytorch/pytorch#143864"),
        lambda x: F.adaptive_avg_pool2d(x, (3, 5)), (PICTURE,), "aten::adaptive_avg_pool2d",
        {"apple-mps@2.0.1": "size-not-supported", "apple-mps": "size-not-supported"},
    ),
    UserCase(
        "22: area", "`interpolate(mode='area')` raises on MPS where sizes do not divide",
        ("pytorch/pytorch#96056",),
        lambda x: F.interpolate(x, size=(3, 5), mode="area"), (PICTURE,),
        "aten::adaptive_avg_pool2d", {"apple-mps": "size-not-supported"},
    ),
    UserCase(
        "23", "`adaptive_max_pool2d` is silently wrong on MPS where sizes do not divide",
        ("pytorch/pytorch#190064", "pytorch/pytorch#190065"),
        lambda x: F.adaptive_max_pool2d(x, (3, 5)), (PICTURE,), "aten::adaptive_max_pool2d",
        {"apple-mps@2.13.0": "mps-adaptive-max-pool2d", "apple-mps@2.14.1": "registered"},
    ),
    UserCase(
        "25", "anything in float64 raises on MPS",
        ("huggingface/transformers#31060", "pytorch/pytorch#122602"),
        lambda x: x * 2, (X.double(),), "aten::mul.Tensor", {"apple-mps": "dtype-not-supported"},
    ),
    UserCase(
        "27: where", "`where` with a transposed condition is wrong on MPS",
        ("pytorch/pytorch#150967",),
        torch.where, ((X.view(4, 6) > 0).mT, X.view(6, 4), X.view(6, 4)), "aten::where.self",
        {"apple-mps@2.7.1": "mps-where-layout", "apple-mps": "registered"},
    ),
    UserCase(
        "27: isfinite", "`isfinite` of a slice overwrites other tensors on MPS",
        ("pytorch/pytorch#183419",),
        lambda x: torch.isfinite(x[:, :3]), (torch.empty(1_500_000, 6, device="meta"),),
        "aten::isfinite", {"apple-mps@2.11.0": "mps-isfinite-slice", "apple-mps": "decomposes"},
    ),
    UserCase(
        "27: silu", "`silu` of a tensor that is not contiguous is random on MPS",
        ("pytorch/pytorch#139006", "2noise/ChatTTS#362"),
        lambda x: F.silu(x.mT), (X.view(4, 6),), "aten::silu",
        {"apple-mps@2.5.1": "mps-silu-layout", "apple-mps": "registered"},
    ),
    UserCase(
        "28: im2col", "`unfold` runs on the host on TPUs: ten times slower", ("pytorch/xla#2932",),
        lambda x: F.unfold(x, 2), (X.view(1, 1, 4, 6),), "aten::im2col",
        {"google-tpu-v4": "host-fallback"},
    ),
    UserCase(
        "28: col2im", "so does `fold`, also as the gradient of `unfold`", ("pytorch/xla#2932",),
        lambda x: F.fold(x, (4, 6), 2), (torch.ones(1, 4, 15),), "aten::col2im",
        {"google-tpu-v4": "host-fallback"},
    ),
    UserCase(
        "29: nms", "torchvision's `nms` has no lowering on TPUs",
        ("pytorch/xla#1667", "pytorch/xla#2587"),
        _nms, BOXES, "torchvision::nms",
        {"google-tpu-v4@r2.0": "host-fallback", "google-tpu-v4": "computed-on-host"},
    ),
    UserCase(
        "29: roi_align", "torchvision's `roi_align` has no lowering on TPUs",
        ("pytorch/xla#2487", "pytorch/vision#3056"),
        _roi_align, (torch.ones(1, 2, 8, 8), BOX), "torchvision::roi_align",
        {"google-tpu-v4": "host-fallback"},
    ),
    UserCase(
        "32", "deformable convolution has no converter in TensorRT, Core ML and others",
        ("open-mmlab/mmdeploy#439", "NVIDIA/TensorRT-RTX#21", "apple/coremltools#1135",
         "pytorch/pytorch#185195"),
        _deformed, (torch.ones(1, 2, 5, 6),), "torchvision::deform_conv2d",
        {"nvidia-tensorrt": "runs-elsewhere", "onnxruntime-cpu": "registered",
         "openvino-cpu": "registered"},
        "Core ML and Qualcomm are no targets; mmcv's own operator never reaches the dispatcher. "
        f"{OLDER_EXPORTER}",
    ),
    UserCase(
        "33", "`stft` and `rfft` with complex results cannot be exported",
        ("pytorch/pytorch#31317", "pytorch/pytorch#65666", "pytorch/audio#982"),
        _transformed, (X.view(1, 24),), "aten::stft",
        {"nvidia-tensorrt": "runs-elsewhere", "onnxruntime-cpu": "registered",
         "openvino-cpu": "no-converter"},
        f"Core ML is no target. {OLDER_EXPORTER}",
    ),
    UserCase(
        "34", "antialiased bicubic resizing cannot be exported, or gives other values",
        ("pytorch/vision#6806", "pytorch/pytorch#80033", "microsoft/onnxscript#2916"),
        _resized, (torch.ones(1, 3, 8, 8),), "aten::_upsample_bicubic2d_aa.vec",
        {"nvidia-tensorrt": "runs-elsewhere", "onnxruntime-cpu": "decomposes",
         "openvino-cpu": "no-converter", "apple-mps@2.5.1": "no-kernel"},
        f"Core ML is no target. {OLDER_EXPORTER}",
    ),
    UserCase(
        "36", "`einsum` is missing on edge NPUs, Tenstorrent and Paddle",
        ("facebookresearch/segment-anything#517", "tenstorrent/tt-metal#19139"),
        lacking="None of these is a target. Where a target has no einsum, it runs as products.",
    ),
    UserCase(
        "37", "MSDeformAttn takes its CUDA branch on ROCm, where the symbol is missing",
        ("IDEA-Research/GroundingDINO#449", "huggingface/transformers#20993"),
        lacking="The kernel is a Python binding outside PyTorch's dispatcher: the scan stops and "
        "names the module that is missing, not the branch that asked for it.",
    ),
    UserCase(
        "39", "torchvision's `nms` is missing on CUDA: torchvision's CPU wheel is installed",
        ("ltdrdata/ComfyUI-Impact-Pack#958",),
        lacking="It is the environment, not the model: packages that do not fit together.",
    ),
    UserCase(
        "41", "`grid_sample` is converted for Core ML, and runs on its CPU alone",
        ("apple/coremltools#1875",),
        lambda x: torch.nn.functional.grid_sample(x, x.permute(0, 2, 3, 1)[..., :2]),
        (torch.rand(1, 3, 4, 4),), "aten::grid_sampler",
        {"coreml-cpu": "registered", "coreml-ane": "placement-not-known"},
        lacking="That it is converted is known; where newer systems than macOS 13 run it no list "
        "says.",
    ),
)  # fmt: skip

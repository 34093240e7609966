"""What users met of functions of functions, of scaled gradients, and of converters again."""

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812  # as everybody writes it

from tests.user_reports.report import Because, LeftOut, Met, Report, Why

QUERIES = (
    "Intel Arc native xpu scaled_dot_product_attention NaN mask causal gradients wrong",
    "Ascend NPU diffusers video generation error torch_npu operator unsupported CogVideoX "
    "HunyuanVideo Wan",
    "torch.func vmap jacrev functorch on mps or xpu error or wrong",
    "[MPS] Add trace kron renorm cross vander tensordot missing operator pull request",
    "Torch-TensorRT SymInt dynamic shape arange slice select converter ITensor error TypeError",
    "MI300X torch.topk sort argsort unique multinomial kthvalue slow or wrong or crash vLLM "
    "sampler",
    "GradScaler _amp_foreach_non_finite_check_and_unscale_ not implemented mps xpu npu",
    "SparseAdam or sparse gradients nn.Embedding sparse=True mps xpu npu error",
    "nested tensor jagged layout mps or xpu or rocm error",
    "channels_last training mps xpu rocm wrong gradient or slow convolution backward",
    "forward mode AD jvp dual numbers on mps cuda xpu operator error",
    "deterministic algorithms mps xpu npu operator not deterministic raises",
    "foreach addcmul complex64 ROCm test_pointwise_op_with_tensor_of_scalarlist_overload fails",
    "pytorch/TensorRT slice does not clamp a finite stop on a dynamic axis repro",
    "VeOmni ascend adamw foreach fused supported optimizer npu test result",
    "Native API returns 29 UR_RESULT_ERROR_INVALID_KERNEL_NAME bernoulli xpu torch 2.9.1 Arc",
)
COARSE = torch.bfloat16
HALF = torch.float16
MPS = "apple-mps"
SCALES = (torch.zeros(1), torch.ones(1))
UNSCALE = "aten::_amp_foreach_non_finite_check_and_unscale_"
DRAWN = ("aten::bernoulli", "aten::bernoulli_")


def _added(into: Tensor, left: Tensor, right: Tensor) -> Tensor:
    return torch._foreach_addcmul([into, into], [left, left], [right, right], [1.0, 2.0])[0]


def _unscaled(gradient: Tensor, found: Tensor, scale: Tensor) -> Tensor:
    kept = gradient.clone()
    torch._amp_foreach_non_finite_check_and_unscale_([kept], found.clone(), scale)
    return kept


def _gathered(x: Tensor, y: Tensor) -> Tensor:
    return torch.nested.as_nested_tensor([x, y])


def _weight_gradient(gradient: Tensor, x: Tensor, weight: Tensor) -> Tensor:
    found: Tensor = torch.ops.aten.convolution_backward.default(
        gradient, x, weight, None, (1, 1), (1, 1), (1, 1), False, (0, 0), 1, (False, True, False)
    )[1]
    return found


def _put(x: Tensor, places: Tensor, values: Tensor) -> Tensor:
    before = torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(True)
    try:
        return x.index_put((places,), values, accumulate=True)
    finally:
        torch.use_deterministic_algorithms(before)


def _last(shape: tuple[int, ...]) -> Tensor:
    return torch.ones(shape, dtype=COARSE).contiguous(memory_format=torch.channels_last)


def _scattered(cache: Tensor, update: Tensor) -> Tensor:
    return torch.slice_scatter(cache, update, dim=2, start=3)


REPORTS = (
    Report(
        "MPS: squared errors of a batch in vmap",
        "pytorch/pytorch#140704",
        2,
        "`mse_loss` in `vmap`, of a batch and one target, asks for tensors of one shape",
        f"{MPS}@2.5.1",
        Met.REFUSED,
        Because.SHAPE,
        torch.vmap(F.mse_loss, (0, None)),
        (torch.ones(2, 150), torch.ones(150)),
        ("aten::mse_loss",),
    ),
    Report(
        "MPS: the Jacobian of nothing",
        "pytorch/pytorch#191711",
        2,
        "`jacrev` of `relu` fails for a tensor without elements: the placeholder is empty",
        f"{MPS}@2.13.0",
        Met.REFUSED,
        Because.SHAPE,
        torch.func.jacrev(torch.relu),
        (torch.empty(0, 4, dtype=HALF),),
        ("aten::relu", "aten::threshold_backward", "aten::new_zeros", "aten::copy_"),
    ),
    Report(
        "XPU: gradients unscaled",
        "intel/torch-xpu-ops#370",
        6,
        "what GradScaler asks for falls back to the CPU, from a pull request of June 2024 on",
        "intel-max@2.4.1",
        Met.ON_THE_HOST,
        Because.NO_KERNEL,
        _unscaled,
        (torch.ones(4, 4, dtype=HALF), *SCALES),
        (UNSCALE,),
    ),
    Report(
        "MPS: gradients unscaled",
        "pytorch/pytorch#150255",
        6,
        "what GradScaler asks for has no kernel, until a pull request of March 2025",
        f"{MPS}@2.7.1",
        Met.REFUSED,
        Because.NO_KERNEL,
        _unscaled,
        (torch.ones(4, 4, dtype=HALF), *SCALES),
        (UNSCALE,),
    ),
    Report(
        "MPS: one over a scale of float64",
        "pytorch/pytorch#142397",
        6,
        "GradScaler turns its scale into float64, which MPS does not have",
        f"{MPS}@2.5.1",
        Met.REFUSED,
        Because.DTYPE,
        lambda scale: scale.double().reciprocal().float(),
        (torch.ones(1),),
        ("aten::to.dtype", "aten::_to_copy", "aten::reciprocal"),
    ),
    Report(
        "MPS: gradients of bfloat16 unscaled",
        "pytorch/pytorch#184286",
        6,
        "gradients of half and bfloat16 become zero: nothing is learned",
        f"{MPS}@2.11.0",
        Met.WRONG,
        Because.DTYPE,
        _unscaled,
        (torch.ones(4, 4, dtype=COARSE), *SCALES),
        (UNSCALE,),
    ),
    Report(
        "MPS: tensors of several lengths in one",
        "pytorch/pytorch#127743",
        8,
        "`as_nested_tensor` of tensors on an M1 raises",
        f"{MPS}@2.3.1",
        Met.REFUSED,
        Because.OTHER,
        _gathered,
        (torch.ones(2, 3), torch.ones(4, 3)),
        ("aten::_nested_tensor_from_tensor_list",),
    ),
    Report(
        "MPS: the gradient of a weight, channels last",
        "pytorch/pytorch#192551",
        9,
        "with channels last in bfloat16 the gradient of a weight takes several times as long",
        f"{MPS}@2.13.0",
        Met.SLOW,
        Because.LAYOUT,
        _weight_gradient,
        (_last((256, 24, 32, 32)), _last((256, 24, 32, 32)), _last((24, 24, 3, 3))),
        ("aten::convolution_backward", "aten::mps_convolution_backward"),
    ),
    Report(
        "MPS: places added to, each time the same",
        "pytorch/pytorch#195754",
        11,
        "`index_put` that accumulates floats raises under deterministic algorithms, from "
        "September 2026 on",
        f"{MPS}@2.15.0",
        Met.REFUSED,
        Because.OTHER,
        _put,
        (torch.zeros(4), torch.tensor([0, 0, 1]), torch.ones(3)),
        ("aten::index_put", "aten::_index_put_impl_"),
    ),
    Report(
        "ROCm: lists of halves multiplied and added",
        "pytorch/pytorch#171053",
        12,
        "`_foreach_addcmul` of float16 with a list of factors fails its test on ROCm",
        "amd-mi300x@2.9.1",
        Met.WRONG,
        Because.DTYPE,
        _added,
        tuple(torch.ones(4, 4, dtype=HALF) for _ in range(3)),
        ("aten::_foreach_addcmul",),
    ),
    Report(
        "TensorRT: a slice without an end, written",
        "pytorch/TensorRT#4512",
        13,
        "`slice_scatter` from 3 to an open end fails: its end is taken for 2**63 - 1 elements",
        "nvidia-tensorrt@2.13.0",
        Met.REFUSED,
        Because.VALUE,
        _scattered,
        (torch.ones(2, 4, 8, 8), torch.zeros(2, 4, 5, 8)),
        ("aten::slice_scatter",),
    ),
    Report(
        "Arc: bernoulli of float32",
        "intel/torch-xpu-ops#1498",
        15,
        "tests of `bernoulli` fail on an Arc under Windows: INVALID_KERNEL_NAME, in March 2025",
        "intel-arc@2.7.1",
        Met.REFUSED,
        Because.OTHER,
        torch.bernoulli,
        (torch.tensor([0.1, 0.5, 0.9]),),
        DRAWN,
    ),
    Report(
        "XPU: draws of what has no probability",
        "intel/torch-xpu-ops#610",
        15,
        "`bernoulli` may draw what has probability 0, which a pull request of July 2024 mends",
        "intel-max@2.4.1",
        Met.WRONG,
        Because.OTHER,
        torch.bernoulli,
        (torch.zeros(1000, dtype=HALF),),
        DRAWN,
    ),
)
_LEFT_OUT = {
    Why.KNOWN: """
        pytorch/pytorch#154051 huggingface/transformers#35647 intel/torch-xpu-ops#1920
        sgl-project/sglang#27853 sgl-project/sglang#29011 open-compass/opencompass#1618
        Comfy-Org/ComfyUI#7307 ultralytics/ultralytics#13269 Tencent-Hunyuan/HunyuanDiT#226
        huggingface/diffusers#10428 PKU-YuanGroup/Helios#62 xdit-project/xDiT#567
        pytorch/TensorRT#2901 pytorch/TensorRT#3127 pytorch/TensorRT#2334 pytorch/TensorRT#3140
        pytorch/TensorRT#2597 BioMedIA/deepali#47 pytorch/pytorch#11931 intel/torch-xpu-ops#369
        pytorch/pytorch#186360 pytorch/pytorch#138180 intel/torch-xpu-ops#4756
        intel/torch-xpu-ops#3216 pytorch/pytorch#171241 pytorch/TensorRT#1110
        flagos-ai/Megatron-LM-FL#135 flagos-ai/Megatron-LM-FL#132 intel/torch-xpu-ops#3132
        intel/intel-extension-for-pytorch#802 intel/intel-extension-for-pytorch#285
    """,
    Why.NO_CALL: """
        vllm-project/vllm-omni#1199 pytorch/functorch#847 pytorch/pytorch#176077
        pytorch/pytorch#182842 pytorch/functorch#292 SciML/SciMLOperators.jl#199
        pymc-devs/pytensor#1090 yhtang/FunFact#134 tensorly/tensorly#458 mattloper/chumpy#25
        pymc-devs/pytensor#640 NVIDIA/nccl#1645 EricLBuehler/mistral.rs#232
        vllm-project/vllm#15105 facebookresearch/fairscale#421 pytorch/pytorch#4684
        pytorch/pytorch#18404 pytorch/pytorch#101465 pytorch/pytorch#4682
        OpenNMT/OpenNMT-py#1015 pytorch/pytorch#4666 pytorch/pytorch#101370 dmlc/dgl#2451
        pytorch/pytorch#145158 pytorch/pytorch#132111 meta-pytorch/segment-anything-fast#26
        pytorch/pytorch#142140 pytorch/pytorch#150252 pytorch/pytorch#111078
        meta-pytorch/segment-anything-fast#99 HomericIntelligence/Odyssey#5721
        HomericIntelligence/Odyssey#5718 pytorch/pytorch#138800 pytorch/functorch#343
        pytorch/pytorch#10223 pytorch/functorch#232 facebookresearch/flowmm#14
        NVIDIA/Megatron-LM#5718 vllm-project/vllm-ascend#11824 pytorch/pytorch#45932
        pytorch/pytorch#170531 onnxsim/onnxsim#120 ByteDance-Seed/VeOmni#271
    """,
    Why.NO_PROGRAM: """
        pytorch/pytorch#152701 pytorch/TensorRT#3269 pytorch/TensorRT#3202 pytorch/TensorRT#2990
        pytorch/pytorch#132695 pytorch/pytorch#185061 intel/torch-xpu-ops#424
        pytorch/TensorRT#4632 pytorch/TensorRT#4486
    """,
    Why.NO_TARGET: """
        pytorch/pytorch#88308 pytorch/functorch#819 pytorch/functorch#1023
        google/TensorNetwork#749 google/TensorNetwork#756 google/TensorNetwork#725
        google/TensorNetwork#731 pytorch/TensorRT#2402 gabrieldemarmiesse/torch-mojo-backend#420
        tenstorrent/tt-xla#4334 pytorch/executorch#17731 microsoft/onnxruntime-genai#1748
        intel/torch-xpu-ops#365 pytorch/pytorch#82486 pytorch/pytorch#41966
        pytorch/pytorch#39437 pytorch/pytorch#129647 kulinseth/pytorch#179
        gabrieldemarmiesse/torch-mojo-backend#418 pytorch/pytorch#94384 tinygrad/tinygrad#69
        intel/torch-xpu-ops#2360 FluxML/NNlibCUDA.jl#42 PaddlePaddle/PaddleCustomDevice#1090
        apache/mxnet#13142 tensorflow/community#346 intel/torch-xpu-ops#2149
        intel/torch-xpu-ops#418 pytorch/pytorch#44304 intel/torch-xpu-ops#376
        pytorch/TensorRT#2517 pytorch/TensorRT#2463 tinygrad/tinygrad#14371
        tinygrad/tinygrad#5487
    """,
    Why.OTHERS: """
        vllm-project/vllm-omni#2880 flagos-ai/FlagGems#292 vllm-project/vllm-ascend#13842
        microsoft/Tutel#289 vllm-project/vllm#51782 fla-org/flash-linear-attention#1156
        ROCm/MIOpen#81 ROCm/rocm-libraries#11192 facebookresearch/xformers#552 NVIDIA/cccl#9350
        flagos-ai/FlagGems#915 ByteDance-Seed/VeOmni#269 ByteDance-Seed/VeOmni#323
        huggingface/transformers#26194 ByteDance-Seed/VeOmni#167
        intel/intel-xpu-backend-for-triton#5012 intel/intel-xpu-backend-for-triton#5374
        intel/intel-xpu-backend-for-triton#4843 ROCm/Tensile#251
    """,
}
LEFT_OUT = tuple(
    LeftOut(thread, why) for why, threads in _LEFT_OUT.items() for thread in threads.split()
)

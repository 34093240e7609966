"""What users of accelerators met that earlier rounds asked little of, and of functions by name.

The searches name Gaudi, MetaX, Biren and Rebellions beside the vendors of earlier rounds.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  # as everybody writes it

from tests.user_reports.report import Because, LeftOut, Met, Report, Why

QUERIES = (
    "Intel Gaudi HPU PyTorch operator error RuntimeError not supported dtype fallback CPU "
    "transformers optimum-habana",
    "MetaX C500 MACA torch operator error not supported attention RuntimeError 沐曦",
    "Biren BR100 BR104 torch_br supa operator unsupported error 壁仞",
    "Rebellions RBLN NPU torch-rbln optimum-rbln operator unsupported dtype error",
    "torch_mlu Cambricon MLU590 RuntimeError operator not supported dtype training error 2025 2026",
    "torch_musa Moore Threads S5000 S4000 operator fails wrong result NaN bf16 conv attention 2026",
    "MPS backend result differs from CPU minimal repro torch 2.12 2.13 2.14 August September 2026",
    "torch-rbln aten op falls back to CPU or runs on device fix op support softmax layer_norm cat "
    "index",
    "XPU NotImplementedError or wrong result Arc B580 torch 2.9 2.10 2.11 minimal reproducer aten "
    "op",
    "torch_npu 910B operator raises RuntimeError minimal script aclnn dtype 2.7 2.8 2.9 npu vs cpu"
    " different result issue 2026",
    "ROCm PyTorch MI300X MI355X gfx1151 gfx1201 op wrong result or crash minimal reproducer "
    "hipErrorInvalid rocm 7",
    'CUDA kernel bug minimal reproducer "not implemented for" OR illegal memory access torch 2.12 '
    "2.13 RTX 5090 B200 H100 CPU works",
    "torch_xla TPU v5e v6e aten op lowering missing or wrong result 2.6 2.7 2.8 minimal repro",
    "Torch-TensorRT converter bug aten op conversion fails dynamo 2.9 2.10 2.11 2.12 minimal repro"
    " 2026",
    "MPS torch.distributions Gamma Dirichlet Poisson Binomial sampling not implemented or wrong",
    "MPS embedding_bag segment_reduce ctc_loss fake_quantize kthvalue pull request adds native "
    "kernel",
    "XPU histogramdd fractional_max_pool replication_pad ctc_loss multi_margin_loss kernel missing"
    " fallback torch-xpu-ops",
    "torch.linalg matrix_exp lu_solve ldl_factor cholesky_ex batched CUDA wrong result or error "
    "cusolver magma batch large",
    "FlagGems Ascend test skipped native torch_npu operator does not support dtype reference "
    "raises",
    "FlagGems metax backend torch reference operator not supported float64 complex skip test maca",
    'gaudi HPU lazy mode aten op not supported "hpu" index_put masked_select nonzero dynamic shape'
    " recompile slow int64 workaround",
    "torch-rbln float16 wrong values NaN softmax matmul padding fix bug kernel RBLN-SW",
)  # fmt: skip
APPLE = "apple-mps"
COARSE = torch.bfloat16
HALF = torch.float16
RATES = torch.ones(4, 4)
SPOKEN = (torch.zeros(6, 1, 5).log_softmax(2), torch.tensor([[1, 2]]))


def _mixed(x: Tensor, w: Tensor) -> Tensor:
    found = F.silu(F.conv2d(x, w, padding=1)).flatten(2)
    keys = F.relu(found)
    return keys.transpose(1, 2) @ (keys @ found.transpose(1, 2))


def _heard(scores: Tensor, words: Tensor) -> Tensor:
    return torch.ctc_loss(scores, words, (6,), (2,), 0, 1)


class Listener(nn.Module):
    """Learns to spell what it hears."""

    def __init__(self) -> None:
        super().__init__()
        self.spelled = nn.Linear(3, 5)

    def forward(self, sound: Tensor, words: Tensor) -> Tensor:
        return _heard(self.spelled(sound).log_softmax(2), words)


REPORTS = (
    Report(
        "Gaudi: a block of Sana", "huggingface/diffusers#11328", 0,
        "fifteen pipelines of diffusers run in bfloat16 on Gaudi, Sana one of them",
        "habana-gaudi2@1.19.0", Met.WORKS, Because.OTHER,
        _mixed, (torch.ones(1, 8, 16, 16, dtype=COARSE), torch.ones(8, 8, 3, 3, dtype=COARSE)),
        ("aten::conv2d", "aten::silu", "aten::relu", "aten::matmul"),
    ),
    Report(
        "ATOM: attention by a mask of booleans", "RBLN-SW/torch-rbln#82", 3,
        "where attention is taken apart, masked places get 0.0 of a boolean mask, until June 2026",
        "rebellions-atom@0.2.0", Met.WRONG, Because.DTYPE,
        lambda x, mask: F.scaled_dot_product_attention(x, x, x, mask),
        (torch.ones(1, 2, 64, 64, dtype=HALF), torch.ones(1, 1, 64, 64, dtype=torch.bool).tril()),
        ("aten::scaled_dot_product_attention", "aten::_scaled_dot_product_attention_math"),
    ),
    Report(
        "Max: modes of rows", "intel/torch-xpu-ops#327", 7,
        "`mode` raises that it supports CPU and CUDA alone, until October 2024",
        "intel-max@2.5.1", Met.REFUSED, Because.NO_KERNEL,
        lambda x: torch.mode(x, 1), (torch.ones(4, 4),), ("aten::mode",),
    ),
    Report(
        "V100: a batch of 191, trained", "pytorch/pytorch#114463", 11,
        "a convolution of kernels of one reads what it may not in 1.12, and never in 2.1",
        "nvidia-v100@2.1.2", Met.WORKS, Because.OTHER,
        nn.Conv1d(64, 64, 1), (torch.ones(191, 64, 299),),
        ("aten::conv1d", "aten::convolution", "aten::convolution_backward"), training=True,
    ),
    Report(
        "MPS: draws of Dirichlet in January 2026", "pytorch/pytorch#173249", 14,
        "`_sample_dirichlet` and `poisson` are missing, which maps of cells need",
        f"{APPLE}@2.9.1", Met.REFUSED, Because.NO_KERNEL,
        torch._sample_dirichlet, (RATES,), ("aten::_sample_dirichlet",),
    ),
    Report(
        "MPS: draws of Poisson in June 2023", "pytorch/pytorch#102852", 14,
        "`poisson` is not implemented, met in a chain of Monte Carlo",
        f"{APPLE}@2.0.1", Met.REFUSED, Because.NO_KERNEL,
        torch.poisson, (RATES,), ("aten::poisson",),
    ),
    Report(
        "MPS: draws of a geometric distribution", "pytorch/pytorch#173287", 14,
        "a pull request of January 2026 writes `geometric_`",
        f"{APPLE}@2.10.0", Met.REFUSED, Because.NO_KERNEL,
        lambda x: torch.empty_like(x).geometric_(0.5), (RATES,), ("aten::geometric_",),
    ),
    Report(
        "MPS: draws of Poisson in 2026", "pytorch/pytorch#173319", 14,
        "`_standard_gamma` is there by then, and `poisson` still is not",
        f"{APPLE}@2.12.1", Met.REFUSED, Because.NO_KERNEL,
        torch.poisson, (RATES,), ("aten::poisson",),
    ),
    Report(
        "MPS: losses of CTC in June 2026", "pytorch/pytorch#187913", 15,
        "the CTC loss has no kernel, so that a variable sends it to the CPU",
        f"{APPLE}@2.12.1", Met.REFUSED, Because.NO_KERNEL,
        _heard, SPOKEN, ("aten::_ctc_loss", "aten::ctc_loss"),
    ),
    Report(
        "MPS: losses of CTC in May 2025", "pytorch/pytorch#154044", 15,
        "the CTC loss has no kernel, of which a pull request writes one after CUDA's",
        f"{APPLE}@2.7.1", Met.REFUSED, Because.NO_KERNEL,
        _heard, SPOKEN, ("aten::_ctc_loss", "aten::ctc_loss"),
    ),
    Report(
        "MPS: losses of CTC, trained", "pytorch/pytorch#188187", 15,
        "a pull request of June 2026 adds the backward pass of the CTC loss",
        f"{APPLE}@2.13.0", Met.REFUSED, Because.NO_KERNEL,
        Listener(), (torch.ones(6, 1, 3), SPOKEN[1]),
        ("aten::_ctc_loss_backward", "aten::_ctc_loss", "aten::ctc_loss"), training=True,
    ),
    Report(
        "C550: casts to uint32", "flagos-ai/FlagGems#4824", 19,
        "`copy_` is not implemented for UInt32 with torch 2.8, so that a sort written on it fails",
        "metax-c550@2.8.0", Met.REFUSED, Because.DTYPE,
        lambda x: x.to(torch.uint32), (torch.ones(8, dtype=torch.int64),),
        ("aten::to", "aten::_to_copy", "aten::copy_"),
    ),
    Report(
        "ATOM: sums of bfloat16", "RBLN-SW/torch-rbln#43", 21,
        "bfloat16 runs on the CPU, until a pull request of May 2026",
        "rebellions-atom@0.2.0", Met.ON_THE_HOST, Because.DTYPE,
        torch.add, (torch.ones(64, 64, dtype=COARSE), torch.ones(64, 64, dtype=COARSE)),
        ("aten::add",),
    ),
)  # fmt: skip
_LEFT_OUT = {
    Why.KNOWN: """
        ACEsuit/mace#600 Ascend/pytorch#57 flagos-ai/FlagGems#5254 tinygrad/tinygrad#11686
        ray-project/ray#9989 tenstorrent/tt-torch#637 gpustack/gpustack#937
        flagos-ai/FlagGems#5535 PaddlePaddle/PaddleCustomDevice#1226 cnstark/easytorch#70
        InternLM/xtuner#984 open-mmlab/mmcv#1768 bytedance-iaas/vllm#63
        PaddlePaddle/PaddleCustomDevice#1223 XPU-Forces/xpu_graph#87
        InfiniTensor/InfiniTensor#210 MooreThreads/torch_musa#42 MooreThreads/torch_musa#122
        flagos-ai/FlagGems#2812 MooreThreads/tutorial_on_musa#26 torch-spyre/torch-spyre#3083
        flagos-ai/FlagGems#4820 scverse/scvi-tools#3981 rasbt/LLMs-from-scratch#324
        MinishLab/model2vec#287 pytorch/pytorch#141287 scverse/scvi-tools#3999
        intel/torch-xpu-ops#57 intel/torch-xpu-ops#48 cornell-brg/hb-pytorch#103
        intel/torch-xpu-ops#4042 intel/torch-xpu-ops#5272 intel/intel-extension-for-pytorch#631
        pytorch/pytorch#87595 intel/torch-xpu-ops#2930 sgl-project/sglang#31751
        Ascend/pytorch#90 XPU-Forces/xpu_graph#306 opendatalab/MinerU#1941
        vllm-project/vllm-ascend#31 open-compass/opencompass#1618 Ascend/pytorch#66
        intel/intel-npu-acceleration-library#161 sgl-project/sglang#10615
        opendatalab/MinerU#2568 CS-BAOYAN/CSYuTuiMian2024#58 ROCm/TheRock#842 ROCm/TheRock#2488
        pytorch/pytorch#117847 ROCm/legacy-rocm-build#4208 pytorch/pytorch#164346
        pytorch/pytorch#147626 ROCm/pytorch#2837 pytorch/pytorch#144612 pytorch/pytorch#171660
        pytorch/pytorch#167244 meta-pytorch/torchtune#1202 pytorch/pytorch#190964
        pytorch/xla#8591 pytorch/xla#6017 pytorch/xla#8746 pytorch/xla#2897 pytorch/xla#6426
        pytorch/xla#6479 pytorch/xla#2123 pytorch/TensorRT#3025 pytorch/TensorRT#3135
        pytorch/TensorRT#1818 pytorch/TensorRT#3004 pytorch/TensorRT#3127 pytorch/TensorRT#957
        pytorch/TensorRT#2068 pytorch/pytorch#166134 pytorch/pytorch#179228
        pytorch/pytorch#176778 intel/torch-xpu-ops#1988 intel/torch-xpu-ops#738
        intel/torch-xpu-ops#3488 intel/torch-xpu-ops#173 intel/torch-xpu-ops#2249
        intel/torch-xpu-ops#895 intel/torch-xpu-ops#2271 intel/torch-xpu-ops#2254
        pytorch/pytorch#36921 pytorch/pytorch#38603 pytorch/pytorch#61929 pytorch/pytorch#24403
        pytorch/pytorch#66072 pytorch/pytorch#196745 flagos-ai/FlagGems#3047
        flagos-ai/FlagGems#5436 flagos-ai/FlagGems#5953 flagos-ai/FlagGems#3387
        flagos-ai/FlagGems#5354 flagos-ai/Torch-FL#64 flagos-ai/FlagGems#5641
        flagos-ai/FlagGems#6014 flagos-ai/FlagGems#3267 flagos-ai/Torch-FL#288
        flagos-ai/FlagGems#3496 flagos-ai/FlagGems#6045 flagos-ai/Torch-FL#7
        bytedance/xpu-perf#141 pytorch/xla#2661
    """,
    Why.NO_CALL: """
        huggingface/optimum-habana#228 bytedance/xpu-perf#34 vllm-project/vllm#6143
        huggingface/optimum-habana#2214 MetaX-MACA/vLLM-metax#49 lz1asl/CaveSurvey#167
        benzBrake/RunFirefox#6 MTK-bypass/bypass_utility#86 skot/bitaxe#182
        brave/brave-browser#30003 vllm-project/vllm-ascend#3100
        lllyasviel/stable-diffusion-webui-forge#988 devkral/lightsonplus#28
        mindspore-lab/mindocr#821 RBLN-SW/vllm-rbln#217 RBLN-SW/torch-rbln#240 ryan112358/mbi#10
        ray-project/ray#34446 deepspeedai/DeepSpeed#4973 rasbt/machine-learning-notes#32
        huggingface/kernels-community#730 huggingface/kernels-community#783
        huggingface/kernels-community#690 intel/torch-xpu-ops#4071 pytorch/xla#8960
        pytorch/pytorch#182266 onnx/turnkeyml#84 meta-pytorch/torchcodec#1024
        pytorch/pytorch#175940 vllm-project/vllm#10897 huggingface/tgi-gaudi#177
        pytorch/pytorch#126614 sgl-project/sglang#5252
    """,
    Why.NO_PROGRAM: """
        instructlab/instructlab#965 huggingface/optimum-habana#1979 MetaX-MACA/vLLM-metax#159
        MetaX-MACA/vLLM-metax#146 broadinstitute/CellBender#467 vllm-project/vllm-ascend#2800
        ROCm/legacy-rocm-build#3999 mila-iqia/milabench#70 flagos-ai/FlagGems#974
    """,
    Why.NO_TARGET: """
        hiyouga/LlamaFactory#7275 huggingface/optimum-habana#1314 PaddlePaddle/PaddleX#4768
        hanamizuki-ai/launcher-support#28 torch-spyre/torch-spyre#440 RBLN-SW/torch-rbln#85
        RBLN-SW/vllm-rbln#494 huggingface/candle#813 dotnet/TorchSharp#1363
        pytorch/TensorRT#1798 ROCm/torch_migraphx#93 microsoft/DirectML#307
        pytorch/pytorch#171948 InfiniTensor/InfiniCore#651
        openvino-dev-samples/comfyui_openvino#6 microsoft/DirectML#215 microsoft/DirectML#677
        pytorch/pytorch#193668 nod-ai/amd-shark-ai#1084 pytorch/xla#3192 llvm/torch-mlir#1703
        pytorch/TensorRT#242 pyro-ppl/pyro#720 scverse/scvi-tools#582 pytorch/pytorch#3841
        pytorch/pytorch#4117 pyro-ppl/numpyro#38 pytorch/pytorch#29476 pytorch/executorch#3019
        huggingface/kernels-community#80 qualcomm/aimet#3234 pytorch/executorch#10223
        PaddlePaddle/PaddleCustomDevice#1322 tenstorrent/tt-metal#1295 pytorch/pytorch#59148
        pytorch/pytorch#47953 pytorch/pytorch#56312 pytorch/pytorch#61815
        huggingface/transformers#36424 HabanaAI/vllm-fork#427 pytorch/pytorch#62619
        pytorch/pytorch#77572 huggingface/optimum-habana#961 tenstorrent/tt-metal#19781
        tensorflow/tensorflow#104247 FluxML/NNlib.jl#489 huggingface/candle#3727
        tenstorrent/tt-metal#56056 ling0322/libllm#73 tenstorrent/tt-metal#56430
        alibaba/MNN#4476 openvinotoolkit/openvino#33456 tenstorrent/tt-metal#12664
    """,
    Why.OTHERS: """
        huggingface/optimum-habana#1447 flagos-ai/FlagGems#2811 flagos-ai/FlagGems#5988
        flagos-ai/FlagGems#5337 flagos-ai/FlagGems#6395 Haoming02/sd-webui-forge-classic#461
        vllm-project/vllm#28444 RBLN-SW/torch-rbln#5 paiml/aprender#1527 ROCm/AMDMIGraphX#4637
        ROCm/AMDMIGraphX#4673 intel/torch-xpu-ops#3795 fla-org/flash-linear-attention#727
        pytorch/pytorch#129432 pyg-team/pytorch_geometric#9173 pytorch/pytorch#168397
        flagos-ai/FlagGems#3265 flagos-ai/FlagGems#3083 pytorch/FBGEMM#761
        flagos-ai/FlagGems#5406 flagos-ai/Torch-FL#306 flagos-ai/Torch-FL#4
        flagos-ai/Torch-FL#283 flagos-ai/FlagGems#5741
    """,
    Why.UNCONFIRMED: """
        pytorch/pytorch#92615 pytorch/pytorch#188953 pytorch/pytorch#138209
    """,
}
LEFT_OUT = tuple(
    LeftOut(thread, why) for why, threads in _LEFT_OUT.items() for thread in threads.split()
)

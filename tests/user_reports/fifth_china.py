"""What users of NPUs, MLUs and Moore Threads' GPUs met, by a fifth round of searches.

Few threads are left that tell of a call of an operator and that no earlier round has.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  # as everybody writes it

from tests.user_controls.control import Learned
from tests.user_reports.report import Because, LeftOut, Met, Report, Why

QUERIES = (
    "meta-pytorch/torchtune NPU fused AdamW not supported on NPU recipes",
    "MooreThreads vllm-musa argsort raises Qwen3.5 draft speculative int32 MTP",
    "mlu-ops fft2d 1x1 single point wrong result execute_fft2d",
    "Ascend NPU operator falls back to CPU torch_npu 2.9 2.10 model slow unsupported op report",
    "Ascend NPU GRU pack_padded_sequence wrong result or RNN packed sequence error torch_npu",
    "torch_musa MUSA operator wrong result or RuntimeError muDNN S4000 S5000 2026 sglang "
    "vllm-musa workaround torch op",
    "vllm-ascend 310P op not supported replace torch op cumsum sort topk scatter bool int64 fix "
    "2026",
    "FlagGems mthreads benchmark native baseline fails: torch_musa aten op not implemented or "
    "raises, skip reference on CPU MUSA",
    "FlagGems Cambricon MLU native torch_mlu op fails unsupported dtype skip test complex int16 "
    "bool",
    "torch_npu torch.linalg qr svd eigh cholesky inverse fails on Ascend NPU falls back or "
    "unsupported training optimizer Muon",
    "Ascend NPU torch.where index masked_select float8_e4m3fn not supported aclnn DT_FLOAT8 "
    "sglang 910B A3 error",
    "Torch-FL musa backend native kernel wrong result compared with CPU embedding scatter layer "
    "norm Moore Threads fix",
    "torch_npu 2.10 CANN 9.0 soc_version 104 torch.nn.functional.linear fails MatMul TransData "
    "Ascend910B minimal repro",
    "torch_musa funasr paraformer 算子异常 musa 1.3.0 RuntimeError traceback SANM conv1d",
    "Ascend/pytorch issue 2026 torch_npu bug torch.compile off eager operator wrong output dtype "
    "reproduce npu vs cpu",
    "[Ascend] FlagGems fix test reference torch_npu does not support: float64 upcast, int16, "
    "uint8, complex, native op error 161002 910B 2026",
    "MooreThreads torch_musa issue NotImplementedError Could not run aten with arguments from the "
    "'PrivateUse1' backend musa",
    "MTT S80 torch_musa stable diffusion comfyui operator error conv mish group_norm attention "
    "mask muDNN NOT_SUPPORTED",
    "昇腾 NPU torch_npu 多模态 TTS 模型 推理 算子 报错 aclnn 不支持 DT_ 解决 numpy 转 cpu 2026 "
    "IndexTTS CosyVoice FunASR PaddleOCR",
    "vllm-ascend aclnnInplaceCos failed 161002 Voxtral test_basic_audio cos_ dtype support list",
    "MooreThreads torch_musa operator result incorrect or crash minimal code torch.musa tensor "
    "indexing sort scatter conv transpose issue 2024 2025",
    "vllm-ascend [Bug][Upstream] NPU function error call aclnn failed op-plugin opapi operator "
    "test failure 2026",
    "transformers OR accelerate OR trl pull request NPU: torch op does not support on Ascend NPU, "
    "use different implementation, torch.unique bincount histc cummax scatter_reduce",
    "mmdetection mmcv mmrotate NPU Ascend 910 torch_npu deform conv roi_align nms grid_sample "
    "unsupported error training detection",
    "Ascend 910B PyTorch model training slow AI CPU operators profiling index_put nonzero unique "
    "where sort replaced speedup npu",
    "torch_mlu MLU590 vllm-mlu sglang operator aten not supported fallback to CPU or cnnl error "
    "bf16 sort topk attention workaround",
    "vllm-omni 310P patch TTS code2wav conv_transpose1d snake activation unsupported or slow op "
    "on Ascend 310P float32 replace",
    "NPU Ascend scatter_add index_add deterministic gradient embedding backward wrong nan loss "
    "torch_npu version fixed upgrade",
    "Cambricon mlu-ops fix bug wrong result operator roi_align_rotated nms ball_query fft irfft "
    "rfft carafe deform 2024 2025 pytorch",
)
ATTENTION = ("aten::scaled_dot_product_attention",)

HALVES = torch.ones(1, 1024).half()
WEIGHT = torch.ones(2048, 1024).half()
HEADS = torch.linspace(-1, 1, 2 * 4 * 16 * 32).view(2, 4, 16, 32)
MASK = torch.zeros(2, 1, 16, 16)
SIGNAL = torch.linspace(-1, 1, 24).view(1, 3, 8).bfloat16()


def _step(weight: Tensor) -> Tensor:
    made = [torch.zeros_like(weight) for _ in range(3)]
    torch._fused_adamw_(
        [weight], [made[0]], [made[1]], [made[2]], [], [torch.ones(())],
        lr=1e-3, beta1=0.9, beta2=0.999, weight_decay=0.01, eps=1e-8, amsgrad=False,
        maximize=False,
    )  # fmt: skip
    return weight


REPORTS = (
    Report(
        "NPU: a fused step of AdamW", "flagos-ai/Megatron-LM-FL#134", 0,
        "`AdamW(fused=True)` is chosen for NPUs in September 2026, where it runs aclnnApplyAdamWV2",
        "ascend-910b@26.0.0", Met.WORKS, Because.NO_KERNEL, _step, (torch.ones(4, 4),),
        ("aten::_fused_adamw_",),
    ),
    Report(
        "NPU: argsort of integers", "vllm-project/vllm-ascend#8967", 1,
        "argsort of int32 or int64 warns that it runs on the AI CPU, in April 2026",
        "ascend-910b@7.3.0", Met.SLOW, Because.DTYPE, torch.argsort, (torch.arange(8),),
        ("aten::argsort", "aten::argsort.stable", "aten::sort"),
    ),
    Report(
        "MLU: Fourier transform of one row", "Cambricon/mlu-ops#1180", 2,
        "a transform of two dimensions is wrong where one of them is 1, until December 2024",
        "cambricon-mlu590@r1.22_pt2.4.0", Met.WRONG, Because.SHAPE, torch.fft.fft2,
        (torch.ones(4, 1, 8, dtype=torch.complex64),), ("aten::fft_fft2", "aten::_fft_c2c"),
    ),
    Report(
        "910A: linear of float16", "Ascend/pytorch#144", 9,
        "`linear` of float16 fails in MatMul and TransData on a die of SoC 104, with torch_npu "
        "2.10 and CANN 9.0",
        "ascend-910a@26.0.0", Met.REFUSED, Because.CHIP, F.linear, (HALVES, WEIGHT),
        ("aten::linear", "aten::matmul", "aten::mm", "aten::t"),
    ),
    Report(
        "NPU: a tensor of float8", "xLLM-AI/xllm#1427", 10,
        "weights of float8_e4m3fn raise: Float8_e4m3fn has not been supported",
        "ascend-910b@7.2.0", Met.REFUSED, Because.DTYPE, lambda x: x.to(torch.float8_e4m3fn),
        (torch.ones(4, 4).bfloat16(),), ("aten::to.dtype", "aten::_to_copy"),
    ),
    Report(
        "MUSA: attention with a mask of four dimensions", "MooreThreads/torch_musa#45", 13,
        "attention of HuBERT ends in muDNN: internal error, 4d mask shape, on an S80 in April 2024",
        "moorethreads-s80@1.2.1", Met.REFUSED, Because.SHAPE,
        lambda x, mask: F.scaled_dot_product_attention(x, x, x, mask), (HEADS, MASK), ATTENTION,
    ),
    Report(
        "NPU: bfloat16 padded by its edges", "vllm-project/vllm-omni#3884", 26,
        "padding of bfloat16 needs a workaround on NPUs in the upsampling of a vocoder",
        "ascend-910b@26.0.0", Met.REFUSED, Because.DTYPE,
        lambda x: F.pad(x, (2, 2), mode="replicate"), (SIGNAL,),
        ("aten::replication_pad1d", "aten::pad"),
    ),
    Report(
        "310P: a vocoder in bfloat16", "vllm-project/vllm-omni#6059", 26,
        "a vocoder's dtype is float16 on a 310P, as this platform requires, and bfloat16 elsewhere",
        "ascend-310p@26.1.0", Met.REFUSED, Because.DTYPE,
        nn.ConvTranspose1d(3, 2, 4, stride=2).bfloat16(), (SIGNAL,),
        ("aten::conv_transpose1d", "aten::convolution"),
        mended={"ascend-910b@26.1.0": Met.WORKS},
    ),
    Report(
        "NPU: gradients of attention", "MinghuasLab/flash-attention-npu#77", 27,
        "gradients of attention are finite on a 910B with torch_npu 2.11, those of a library not",
        "ascend-910b@26.1.0", Met.WORKS, Because.OTHER,
        Learned(lambda s, x: F.scaled_dot_product_attention(x * s, x, x), torch.ones(())),
        (HEADS.bfloat16(),), ATTENTION, training=True,
    ),
)  # fmt: skip

_LEFT_OUT = {
    Why.KNOWN: """
        opendatalab/MinerU#1695 opendatalab/MinerU#1941 hiyouga/LlamaFactory#4836 Ascend/pytorch#40
        lm-sys/FastChat#2422 modelscope/ms-swift#1047 intel/torch-xpu-ops#57
        sgl-project/sglang#12545 hiyouga/LlamaFactory#6671 Ascend/pytorch#51
        MooreThreads/torch_musa#114 ggml-org/llama.cpp#12419 ggml-org/llama.cpp#12779
        ggml-org/llama.cpp#12077 flagos-ai/sglang-plugin-FL#79 flagos-ai/sglang-plugin-FL#92
        MooreThreads/tutorial_on_musa#26 sgl-project/sglang#26437 MooreThreads/torch_musa#42
        vllm-project/vllm-ascend#1383 vllm-project/vllm-ascend#1425 flagos-ai/FlagGems#4114
        flagos-ai/FlagPerf#770 flagos-ai/FlagGems#6195 flagos-ai/FlagGems#298 flagos-ai/FlagPerf#771
        flagos-ai/FlagGems#5556 flagos-ai/FlagGems#4761 flagos-ai/FlagGems#4820
        flagos-ai/FlagGems-vllm#117 flagos-ai/FlagGems#4115 flagos-ai/FlagGems#6080
        flagos-ai/FlagGems#5477 flagos-ai/FlagGems#5253 gpustack/gpustack#937 open-mmlab/mmcv#1429
        InfiniTensor/InfiniTensor#211 flagos-ai/FlagGems#5535 flagos-ai/FlagGems#1126
        aws-neuron/aws-neuron-sdk#816 flagos-ai/FlagGems#5173 deepspeedai/DeepSpeed#8626
        pytorch/pytorch#94772 meta-pytorch/torchtune#2234 flagos-ai/FlagTree#987
        intel/torch-xpu-ops#1939 sgl-project/sglang#10402 Ascend/pytorch#100 Ascend/pytorch#83
        pytorch/pytorch#167082 bitsandbytes-foundation/bitsandbytes#1695
        vllm-project/vllm-ascend#8186 pytorch/pytorch#169656 flagos-ai/Torch-FL#40
        pytorch/pytorch#183864 flagos-ai/FlagGems#4930 pytorch/pytorch#183861
        flagos-ai/FlagGems#4821 pytorch/pytorch#58754 modelscope/FunASR#1446 modelscope/FunASR#1837
        yxlllc/ReFlow-VAE-SVC#6 MooreThreads/torch_musa#104 modelscope/FunASR#2119
        MooreThreads/torch_musa#94 modelscope/FunASR#1744 intel/torch-xpu-ops#3537
        pytorch/pytorch#168278 Ascend/pytorch#66 XPU-Forces/xpu_graph#306
        open-compass/opencompass#1618 vllm-project/vllm-ascend#516 flagos-ai/FlagGems#3267
        hiyouga/LlamaFactory#975 NexusGPU/tensor-fusion#456 flagos-ai/FlagGems#2143
        Ascend/pytorch#158 flagos-ai/Torch-FL#288 huggingface/diffusers#10123
        huggingface/diffusers#10428 MooreThreads/torch_musa#72 lm-sys/FastChat#3456
        Comfy-Org/ComfyUI#8011 flagos-ai/FlagGems#2965 MooreThreads/torch_musa#17
        Comfy-Org/ComfyUI#11618 voicepaw/so-vits-svc-fork#903 MooreThreads/torch_musa#18
        2noise/ChatTTS#788 Ksuriuri/index-tts-vllm#161 modelscope/FunASR#3034
        vllm-project/vllm-ascend#6490 MooreThreads/vllm-musa#77 MooreThreads/torch_musa#76
        MooreThreads/torch_musa#64 MooreThreads/torch_musa#32 MooreThreads/torch_musa#144
        MooreThreads/torch_musa#57 MooreThreads/torch_musa#132 MooreThreads/torch_musa#139
        MooreThreads/torch_musa#126 MooreThreads/torch_musa#81 MooreThreads/torch_musa#90
        vllm-project/vllm-ascend#6082 vllm-project/vllm-ascend#2387 vllm-project/vllm-ascend#11675
        vllm-project/vllm-ascend#14456 vllm-project/vllm-ascend#4286 hiyouga/LlamaFactory#7986
        databricks/megablocks#182 flashinfer-ai/flashinfer#2474 huggingface/accelerate#1676
        flagos-ai/Torch-FL#53 flagos-ai/FlagGems#3642 pytorch/helion#3037 open-mmlab/mmcv#2985
        open-mmlab/mmcv#2998 open-mmlab/mmcv#2638 open-mmlab/mmcv#2594 vllm-project/vllm-ascend#1563
        sgl-project/sglang#23565 huggingface/transformers#35785 ultralytics/ultralytics#13269
        sgl-project/sglang#26898 InternLM/xtuner#984 sgl-project/sglang#26438 vllm-project/vllm#9649
        flagos-ai/sglang-plugin-FL#90 huggingface/transformers#29627 bytedance-iaas/vllm#63
        sgl-project/sglang-omni#2004 CS-BAOYAN/CSYuTuiMian2024#58 vllm-project/vllm-ascend#15290
        sgl-project/sglang#11407 Cambricon/mlu-ops#426 Cambricon/mlu-ops#852 Cambricon/mlu-ops#1101
        vllm-project/vllm-ascend#10206 Cambricon/mlu-ops#1181
    """,
    Why.OTHERS: """
        vllm-project/vllm-ascend#2151 Cambricon/mlu-ops#39 open-mmlab/mmengine#1079
        flagos-ai/Torch-FL#108 Ascend/pytorch#94 flashserve/flash-linear-attention-npu#321
        flagos-ai/Torch-FL#135 vllm-project/vllm-ascend#8512 vllm-project/vllm-ascend#8523
        vllm-project/vllm-ascend#10094 vllm-project/vllm-ascend#16359
        fla-org/flash-linear-attention#973 open-mmlab/mmcv#3015 open-mmlab/mmcv#3131
        open-mmlab/mmcv#2550 open-mmlab/mmcv#3216 flagos-ai/FlagGems#2933
        vllm-project/vllm-omni#4841 sgl-project/sglang-omni#1794
        flashserve/flash-linear-attention-npu#105 Cambricon/mlu-ops#788 Cambricon/mlu-ops#1031
        Cambricon/mlu-ops#427 Cambricon/mlu-ops#669 Cambricon/mlu-ops#297
    """,
    Why.NO_PROGRAM: """
        hiyouga/LlamaFactory#5125 flagos-ai/vllm-plugin-FL#387 vllm-project/vllm-ascend#644
        zai-org/GLM-TTS#54 bytedance/MegaTTS3#103 vllm-project/vllm-ascend#11627
        vllm-project/vllm-ascend#1087 vllm-project/vllm-ascend#4505 Ascend/pytorch#81
        vllm-project/vllm-omni#5117
    """,
    Why.UNCONFIRMED: """
        huggingface/peft#1747 wenet-e2e/wenet#2570
    """,
    Why.NO_CALL: """
        vllm-project/vllm-ascend#2809 vllm-project/vllm-ascend#6787 vllm-project/vllm-ascend#165
        pytorch/pytorch#160213 NVIDIA/Megatron-LM#1768 nunchux-ai/nunchaku#284
        vllm-project/speculators#600 flagos-ai/FlagGems#4944 pytorch/pytorch#144845
        index-tts/index-tts#712 vllm-project/vllm-ascend#11622 vllm-project/vllm-ascend#8525
        flagos-ai/vllm-plugin-FL#11 QwenAudio/CosyVoice#1686 MooreThreads/torch_musa#106
        kvcache-ai/ktransformers#1531 sgl-project/sglang#25830 vipshop/cache-dit#1096
        vllm-project/vllm#10315 vllm-project/vllm-omni#4283 DeepLink-org/dlinfer#212
        NVIDIA-NeMo/Speech#7736 vllm-project/vllm-omni#1664
    """,
    Why.NO_TARGET: """
        VeriSilicon/tflite-vx-delegate#206 hpcaitech/ColossalAI#1092 espnet/espnet#1201
        pytorch/pytorch#146744 pytorch/pytorch#7475 pytorch/pytorch#13324 yzhangcs/parser#89
        ast0414/pointer-networks-pytorch#5 zhangj111/astnn#33 LauraRuis/multimodal_seq2seq_gSCAN#2
        pytorch/pytorch#149227 bentrevett/pytorch-seq2seq#156 pytorch/pytorch#33202
        pytorch/pytorch#107432 pytorch/pytorch#82141 csarofeen/pytorch#662 apache/mxnet#1267
        Dao-AILab/flash-attention#74 llvm/torch-mlir#535 pytorch/pytorch#110149
        tenstorrent/tt-metal#5274 modelscope/FunASR#2635 xorbitsai/inference#3704
        pytorch/pytorch#126848 pytorch/pytorch#178094 pytorch/pytorch#140884 Comfy-Org/ComfyUI#4708
        smthemex/ComfyUI_MangaNinjia#13 TheMistoAI/MistoControlNet-Flux-dev#12
        Comfy-Org/ComfyUI#4297 kijai/ComfyUI-KJNodes#255 googlecolab/colabtools#4824
        PaddlePaddle/PaddleSpeech#4094 PaddlePaddle/PaddleSpeech#4034
        PaddlePaddle/PaddleCustomDevice#784 PaddlePaddle/PaddleCustomDevice#1118
        sgl-project/sglang#29562 deepseek-ai/DeepSeek-VL2#119 vllm-project/vllm#43172
        apache/mxnet#11314 PaddlePaddle/PaddleSeg#3727 PaddlePaddle/PaddleSeg#3729 pytorch/xla#3200
        PaddlePaddle/PaddleCustomDevice#1425 PaddlePaddle/PaddleCustomDevice#791
        PaddlePaddle/PaddleCustomDevice#789 PaddlePaddle/PaddleCustomDevice#790
    """,
}
LEFT_OUT = tuple(
    LeftOut(thread, why) for why, threads in _LEFT_OUT.items() for thread in threads.split()
)

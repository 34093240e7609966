"""What users of Chinese vendors' devices met, by searches of threads of the third round."""

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812  # as everybody writes it

from tests.user_reports.report import Because, LeftOut, Met, Report, Why

QUERIES = (
    "torch_npu Ascend user model error nn.Module forward RuntimeError npu transformer attention "
    "training EZ1001 dtype 2025",
    "MindSpeed-LLM MindSpeed-MM 昇腾 训练 算子 报错 aclnn 不支持 dtype shape RuntimeError npu "
    "解决办法",
    "vllm-ascend bug aclnn error torch op unsupported dtype int64 uint32 bool logits sampler 910B "
    "2026",
    "whisper funasr cosyvoice audio model on Ascend NPU stft complex conv1d lstm not supported "
    "falls back CPU",
    "ComfyUI Ascend NPU 910B error operator float8 bicubic conv3d complex not support",
    "Ascend NPU grid_sample deformable attention DETR mmdet3d BEVFormer point cloud torch_npu "
    "error unsupported op",
    "[NPU] workaround torch op slow or wrong on Ascend: torch.topk torch.where cumsum "
    "repeat_interleave index_copy einsum, pull request replaces op",
    "Ascend NPU linalg inverse det svd qr eigh cholesky lstsq unsupported fallback CPU torch_npu",
    "Ascend A5 950 torch_npu operator not supported RuntimeError fp8 model sglang vllm-ascend "
    "2026 native torch op fails",
    "Torch-TensorRT 2026 converter fails RuntimeError dynamic batch model llama qwen SDPA rope "
    "index_put scatter FP16 TRT engine bug",
    "torch_tensorrt dynamo wrong results yolo rtdetr swin unet segformer compile accuracy "
    "mismatch converter fixed",
    "Ascend Torch-FL or FlagGems issue native NPU op raises aclnn unsupported complex int8 uint8 "
    "bool reduce prod any all 910B reference CPU",
    "accelerate peft trl bitsandbytes npu Ascend error torch op bf16 fp32 mismatch deepspeed "
    "optimizer foreach fused npu unsupported",
    "opencompass vllm lmdeploy MinerU PaddleOCR doc parsing npu 310P 910B interpolation conv "
    "error aclnnConvolution aclnnUpsample dtype",
    "wan2.2 qwen-image flux diffusers ascend npu rope complex float64 aten::polar or "
    "view_as_complex unsupported patch cos sin real",
    "昇腾NPU单机多卡训练Qwen2-VL-2B报错 Conv3D DT_BFLOAT16 not supported 910ProB NPU type CANN "
    "torch_npu",
    "Cambricon MLU FlagGems sglang vllm 2026 native op unsupported torch_mlu error dtype new "
    "issue September",
    "MUSA S5000 torch_musa 2026 native aten op wrong or missing SGLang vLLM-musa LightX2V fix "
    "September August",
    "Hygon DCU K100_AI BW1000 2026 torch native op error wrong nan vllm sglang FlagGems fix "
    "August September",
)


def _adam(param: Tensor, grad: Tensor, mean: Tensor, square: Tensor, step: Tensor) -> Tensor:
    found = param.clone()
    torch._fused_adamw_(
        [found], [grad], [mean.clone()], [square.clone()], [], [step.clone()], lr=1e-3, beta1=0.9,
        beta2=0.99, weight_decay=0.0, eps=1e-8, amsgrad=False, maximize=False,
    )  # fmt: skip
    return found


REPORTS = (
    Report(
        "Max: inv", "intel/torch-xpu-ops#1887", 7,
        "`linalg.inv` runs on the host",
        "intel-max@2.8.0", Met.ON_THE_HOST, Because.NO_KERNEL,
        torch.linalg.inv, (torch.eye(4) * 2,), ("aten::linalg_inv", "aten::linalg_inv_ex"),
    ),
    Report(
        "910B: fused AdamW", "meta-pytorch/torchtune#2646", 12,
        "the fused AdamW is not supported on NPUs, so recipes turn it off",
        "ascend-910b@7.1.0", Met.REFUSED, Because.NO_KERNEL, _adam,
        (torch.ones(4), torch.ones(4), torch.zeros(4), torch.zeros(4), torch.ones(())),
        ("aten::_fused_adamw_", "aten::_fused_adamw"),
    ),
    Report(
        "310B: products of float32", "hiyouga/LlamaFactory#4388", 15,
        "a product of float32 in rotary embedding: DT_FLOAT is not supported by a 310B4",
        "ascend-310b@7.1.0", Met.REFUSED, Because.DTYPE,
        torch.matmul, (torch.ones(1, 8, 1), torch.ones(1, 1, 4)),
        ("aten::bmm", "aten::matmul", "aten::mm"),
    ),
    Report(
        "310P: conv3d of Qwen3-VL's patches", "vllm-project/vllm-ascend#5017", 15,
        "the convolution in three dimensions of Qwen3-VL is not supported on a 300I DUO",
        "ascend-310p@7.1.0", Met.REFUSED, Because.CHIP,
        lambda x, w: F.conv3d(x, w, stride=(2, 16, 16)),
        (torch.ones(4, 3, 2, 16, 16).half(), torch.ones(32, 3, 2, 16, 16).half()),
        ("aten::conv3d", "aten::convolution"),
    ),
)  # fmt: skip

_LEFT_OUT = {
    Why.KNOWN: """
        flagos-ai/sglang-plugin-FL#90 huggingface/transformers#35785 Ascend/pytorch#51
        vllm-project/vllm#8054 open-compass/opencompass#1618 hiyouga/LlamaFactory#7986
        InternLM/lmdeploy#2471 hiyouga/LlamaFactory#4165 hiyouga/LlamaFactory#3779
        hiyouga/LlamaFactory#4836 hiyouga/LlamaFactory#4610 hiyouga/LlamaFactory#3796
        vllm-project/vllm-ascend#1383 open-mmlab/mmcv#2998 Ascend/pytorch#83
        vllm-project/vllm-ascend#5629 sgl-project/sglang#10402 vllm-project/vllm-ascend#1425
        vllm-project/vllm-ascend#516 vllm-project/vllm-ascend#8186 vllm-project/vllm-ascend#10640
        hiyouga/LlamaFactory#4339 modelscope/FunASR#125 vllm-project/vllm-omni#7361
        vllm-project/vllm-omni#7520 modelscope/FunASR#3034 2noise/ChatTTS#788 Comfy-Org/ComfyUI#7499
        Comfy-Org/ComfyUI#7784 Ascend/pytorch#100 Comfy-Org/ComfyUI#7307 Comfy-Org/ComfyUI#14653
        flagos-ai/FlagTree#987 open-mmlab/mmcv#2985 candle-org/MindAct#2543 flagos-ai/Torch-FL#53
        intel/torch-xpu-ops#1988 Ascend/pytorch#40 intel/torch-xpu-ops#1896 intel/torch-xpu-ops#2254
        pytorch/TensorRT#3025 pytorch/TensorRT#3135 flagos-ai/Torch-FL#5 NexusGPU/tensor-fusion#456
        flagos-ai/FlagGems#5953 flagos-ai/Torch-FL#6 flagos-ai/FlagGems#4043 candle-org/candle#115
        deepseek-ai/DeepSeek-V3#903 bitsandbytes-foundation/bitsandbytes#1695
        flashinfer-ai/flashinfer#2474 lm-sys/FastChat#2422 meta-pytorch/torchtune#2234
        vllm-project/vllm-ascend#11936 modelscope/DiffSynth-Studio#1191 huggingface/diffusers#12979
        huggingface/diffusers#13689 vllm-project/vllm-omni#6571 huggingface/diffusers#11649
        flagos-ai/FlagGems#2143 vllm-project/vllm-omni#4911 huggingface/diffusers#13824
        linkedin/Liger-Kernel#1035 hiyouga/LlamaFactory#7352 Ascend/pytorch#73
        bytedance-iaas/vllm#63 gpustack/gpustack#937 huggingface/transformers#29627
        flagos-ai/FlagGems#5535 flagos-ai/sglang-plugin-FL#92 sgl-project/sglang#23654
        sgl-project/sglang#27537
    """,
    Why.NO_CALL: """
        candle-org/MindAct#937 ggml-org/whisper.cpp#3515 intel/intel-npu-acceleration-library#10
        k2-fsa/sherpa-onnx#2741 m-bain/whisperX#1482 QuentinFuxa/WhisperLiveKit#304
        modelscope/FunASR#2976 open-mmlab/mmdeploy#688 tenstorrent/tt-forge-onnx#1273
        robot-learning-freiburg/BEVCar#13 tenstorrent/tt-forge-onnx#1269 PaddlePaddle/Paddle3D#440
        tenstorrent/tt-metal#36334 DerryHub/BEVFormer_tensorrt#16 yanzq95/DHD#5
        apple/coremltools#987 PSAL-POSTECH/PyTorchSim#218 pytorch/pytorch#164459
        candle-org/MindAct#2510 intel/torch-xpu-ops#5196 sgl-project/sglang#8004
        sgl-project/sglang#10503 sgl-project/sglang#21681 NVIDIA-NeMo/Skills#234
        open-mmlab/mmdeploy#997 triton-inference-server/tensorrtllm_backend#215 NVIDIA/TensorRT#3730
        NVIDIA/TensorRT#4177 comfyanonymous/ComfyUI_TensorRT#11 open-mmlab/mmdeploy#2920
        ultralytics/ultralytics#19991 ceccocats/tkDNN#10 Megvii-BaseDetection/YOLOX#570
        huggingface/accelerate#1676 PaddlePaddle/PaddleOCR#17190 PaddlePaddle/PaddleOCR#17810
        PaddlePaddle/PaddleOCR#16823 PaddlePaddle/PaddleOCR#17451 PaddlePaddle/PaddleOCR#17259
        PaddlePaddle/FastDeploy#4792 PaddlePaddle/PaddleOCR#16808 opendatalab/MinerU#1598
        huggingface/optimum-intel#1790 flagos-ai/vllm-plugin-FL#355 flagos-ai/vllm-plugin-FL#501
        sgl-project/sglang#26438 vllm-project/vllm#9649 bytedance-iaas/vllm#51
        sgl-project/sglang#26437 ModelTC/LightLLM#1162 ModelTC/LightX2V#678 flagos-ai/FlagScale#739
        ModelTC/LightLLM#1175 HYGON-AI/inference-cookbook-das#72 HYGON-AI/inference-cookbook-das#286
        HYGON-AI/inference-cookbook-das#391 flagos-ai/FlagScale#614 flagos-ai/FlagScale#597
    """,
    Why.NO_PROGRAM: """
        vllm-project/speculators#531 opendatalab/MinerU#2568 pytorch/TensorRT#3003 Ascend/pytorch#10
        vllm-project/vllm-ascend#11450 vllm-project/vllm-omni#485 hiyouga/LlamaFactory#6694
        hiyouga/LlamaFactory#7134 InternLM/lmdeploy#3237 hiyouga/LlamaFactory#7334
        HYGON-AI/inference-cookbook-das#28
    """,
    Why.OTHERS: """
        vllm-project/vllm-ascend#11675 facebookresearch/xformers#1237 huggingface/transformers#38189
        vllm-project/vllm-ascend#6490 vllm-project/vllm-ascend#9186 vllm-project/vllm-ascend#9677
        open-mmlab/mmcv#2594 vllm-project/vllm-ascend#12232 vllm-project/vllm-ascend#1920
        vllm-project/vllm-ascend#1308 flagos-ai/FlagGems#4607 databricks/megablocks#182
        flagos-ai/FlagGems#6354 flagos-ai/FlagGems#5173 candle-org/candle#113
        deepspeedai/DeepSpeed#5777 deepspeedai/DeepSpeed#8626 flagos-ai/vllm-plugin-FL#411
        sgl-project/sglang#22051 sgl-project/sglang#23646 flagos-ai/vllm-plugin-FL#156
        flagos-ai/FlagGems#4976 flagos-ai/sglang-plugin-FL#75 flagos-ai/FlagGems#4550
        flagos-ai/FlagGems#4552 flagos-ai/FlagGems#4975
    """,
    Why.UNCONFIRMED: """
        pytorch/pytorch#116504 pytorch/pytorch#166490 huggingface/accelerate#3197
    """,
    Why.NO_TARGET: """
        candle-org/MindAct#1403 microsoft/DirectML#671 aws-neuron/aws-neuron-sdk#816
        pytorch/TensorRT#1271 pytorch/TensorRT#1270 pytorch/TensorRT#1830 pytorch/TensorRT#364
        pytorch/TensorRT#805 pytorch/TensorRT#1781 pytorch/TensorRT#2092 pytorch/TensorRT#730
        vllm-project/vllm#35414
    """,
}
LEFT_OUT = tuple(
    LeftOut(thread, why) for why, threads in _LEFT_OUT.items() for thread in threads.split()
)

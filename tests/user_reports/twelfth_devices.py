"""What users of other devices met, and what runs there by the word of who tried it."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  # as everybody writes it

from tests.user_reports.report import Because, LeftOut, Met, Report, Why

QUERIES = (
    "Moore Threads MTT S80 S4000 torch_musa issue operator error cast dtype conv bool",
    "pytorch/xla TPU v5e op error lowering user model pad, roll, bucketize, searchsorted, histc "
    "2024 2025",
    "XPU Intel Arc works with native pytorch 2.8 2.9 model inference confirmed no fallback",
    "AMD ROCm user of nnU-Net, cellpose, DeepLabCut, PyMC, AlphaFold or Stable Audio: operator "
    "fails or differs on gfx1030 gfx1100 gfx90a",
    "ultralytics YOLO or mmdetection or PaddleDetection training on Ascend NPU 910B error operator "
    "torch_npu loss assigner",
    "Intel Arc XPU audio, voice or music model error: istft, complex, conv_transpose1d, float64, "
    "LSTM",
    "tested on Radeon RX 7900 XTX or MI250 with ROCm works, pull request enables AMD GPU",
    "verified on Ascend 910B, pull request adds NPU support, loss aligned with GPU",
    "verified on Intel Arc or Max 1550, pull request adds xpu device, tests pass",
    "CAUTION: The operator 'aten:: is not currently supported on the NPU backend and will fall "
    "back to run on the CPU, user log of a model",
    "Arc or Lunar Lake XPU user: Required aspect fp64 is not supported, or could not create a "
    "primitive, training with native PyTorch 2.6 2.7",
    "vllm-omni fix for XPU, NPU, ROCm or MUSA: native torch operator fails, cast to float32 or run "
    "on CPU as a workaround",
    "torch_xla TPU complex numbers, fft, view_as_real, polar or rotary embedding not supported",
    "transformers or diffusers tests on AMD MI300 MI325 fail, fix for ROCm: operator differs or "
    "raises",
    "LightX2V or sglang diffusion on MUSA, MetaX, MLU, DCU or NPU: conv3d, complex rope, "
    "group_norm fails, patch",
    "Jetson Orin or Thor, GB10, RTX 50 PyTorch native operator raises no kernel image or not "
    "implemented, works on A100",
    "Op(s) not lowered: aten::, pt-xla-profiler TransferFromServerTime too frequent, user training "
    "slow on TPU",
    "Aten Op fallback from XPU to CPU happens, user log of transformers, diffusers or ComfyUI on "
    "Arc",
    "[BMG][Linux] onednn error when running ComfyUI torch xpu 2.8 Wan RuntimeError could not "
    "execute a primitive conv3d",
)
COARSE = torch.bfloat16
ATTENTION = "aten::scaled_dot_product_attention"


def _cleared(x: Tensor) -> Tensor:
    values = torch.zeros(98304 * 64 * 512, device=x.device)
    values[values > 0] = 0.0
    return values[:8].clone()


def _normal(x: Tensor, weight: Tensor) -> Tensor:
    wide = x.float()
    return (wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + 1e-6)).to(x.dtype) * weight


def _kept_in_float8(x: Tensor, weight: Tensor) -> Tensor:
    return F.linear(x, weight.to(x.dtype))


def _chosen(logits: Tensor, words: Tensor) -> Tensor:
    likely = logits.float().log_softmax(-1)
    entropy = torch.logsumexp(logits, -1) - (logits.softmax(-1) * logits).sum(-1)
    return likely.gather(-1, words.unsqueeze(-1)).squeeze(-1) + entropy


class _Acting(nn.Module):
    """A layer of a Gemma in which many heads ask a few, as pi0.5 has them."""

    def __init__(self) -> None:
        super().__init__()
        self.asked, self.told = nn.Linear(32, 32), nn.Linear(32, 16)
        self.gate, self.up, self.down = nn.Linear(32, 64), nn.Linear(32, 64), nn.Linear(64, 32)
        self.to(COARSE)

    def forward(self, x: Tensor, weight: Tensor) -> Tensor:
        normal = _normal(x, weight)
        q = self.asked(normal).unflatten(-1, (4, 8)).transpose(1, 2)
        k, v = self.told(normal).unflatten(-1, (2, 8)).transpose(1, 2).chunk(2, dim=1)
        k, v = k.expand_as(q), v.expand_as(q)
        x = x + F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)
        found: Tensor = x + self.down(F.gelu(self.gate(x), approximate="tanh") * self.up(x))
        return found


class _Seen(nn.Module):
    """The patches of Qwen2-VL and attention over them."""

    def __init__(self) -> None:
        super().__init__()
        self.patches = nn.Conv3d(3, 16, (2, 14, 14), stride=(2, 14, 14), bias=False).to(COARSE)

    def forward(self, x: Tensor) -> Tensor:
        seen = self.patches(x.view(-1, 3, 2, 14, 14)).view(1, 1, -1, 16)
        return F.scaled_dot_product_attention(seen, seen, seen)


class _Read(nn.Module):
    """A layer of a Qwen that turns what it asks and gates what it tells."""

    def __init__(self) -> None:
        super().__init__()
        self.gate, self.up, self.down = nn.Linear(16, 32), nn.Linear(16, 32), nn.Linear(32, 16)
        self.to(COARSE)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        one, other = x.chunk(2, dim=-1)
        turned = x * cos + torch.cat((-other, one), dim=-1) * sin
        heard = F.scaled_dot_product_attention(turned, turned, x, is_causal=True)
        found: Tensor = self.down(F.silu(self.gate(heard)) * self.up(heard))
        return found


class _Voice(nn.Module):
    """What Kokoro makes of a text: both ways through an LSTM, enlarged, and a sound of it."""

    def __init__(self) -> None:
        super().__init__()
        self.both = nn.LSTM(8, 8, batch_first=True, bidirectional=True)
        self.enlarged = nn.ConvTranspose1d(16, 18, 4, stride=2, padding=1)
        self.window = nn.Parameter(torch.hann_window(16), requires_grad=False)

    def forward(self, x: Tensor) -> Tensor:
        heard, _ = self.both(x)
        loud, angle = self.enlarged(heard.transpose(1, 2)).chunk(2, dim=1)
        return torch.istft(
            torch.polar(loud.exp(), angle.sin()), 16, hop_length=4, window=self.window
        )


class _Tuned(nn.Module):
    """A head with factors of low rank, and the loss of its words."""

    def __init__(self) -> None:
        super().__init__()
        self.whole = nn.Linear(16, 32, bias=False)
        self.down, self.up = nn.Linear(16, 4, bias=False), nn.Linear(4, 32, bias=False)
        self.to(COARSE)

    def forward(self, x: Tensor, words: Tensor) -> Tensor:
        logits = self.whole(x) + 2.0 * self.up(self.down(x))
        return F.cross_entropy(logits.float(), words)


class _Found(nn.Module):
    """Boxes and classes of a YOLO, and the loss of them."""

    def __init__(self) -> None:
        super().__init__()
        self.seen = nn.Sequential(
            nn.Conv2d(3, 8, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(8), nn.SiLU()
        )
        self.boxes, self.classes = nn.Conv2d(8, 64, 1), nn.Conv2d(8, 4, 1)

    def forward(self, x: Tensor, wanted: Tensor) -> Tensor:
        seen = self.seen(x)
        sides = self.boxes(seen).view(1, 4, 16, -1).softmax(2)
        places = (sides * torch.arange(16.0, device=x.device).view(1, 1, 16, 1)).sum(2)
        scores = self.classes(seen).flatten(2)
        found: Tensor = F.binary_cross_entropy_with_logits(scores, wanted) + places.mean()
        return found


# fmt: off
REPORTS = (
    Report(
        "MUSA: more than 2**31 numbers cleared by a mask", "MooreThreads/torch_musa#146", 0,
        "`values[mask] = 0` of 3.2e9 numbers on an S5000: FillOp MUDNN failed in: RunMask",
        "moorethreads-s5000@2.7.1", Met.REFUSED, Because.SHAPE, _cleared, (torch.ones(1),),
        ("aten::index_put_", "aten::masked_fill_", "aten::_index_put_impl_"),
    ),
    Report(
        "B70: pi0.5 acts", "Physical-Intelligence/openpi#1009", 2,
        "it takes 130 ms a step on an Arc B70 with torch 2.11",
        "intel-b580@2.11.0", Met.WORKS, Because.OTHER, _Acting(),
        (torch.ones(1, 4, 32, dtype=COARSE), torch.ones(32, dtype=COARSE)),
        (ATTENTION, "aten::linear", "aten::gelu", "aten::rsqrt"),
    ),
    Report(
        "B70: weights kept in float8", "invoke-ai/InvokeAI#9401", 2,
        "weights kept in float8 and cast layer by layer run with torch 2.13",
        "intel-b580@2.13.0", Met.WORKS, Because.DTYPE, _kept_in_float8,
        (torch.ones(2, 16).half(), torch.ones(8, 16).to(torch.float8_e4m3fn)),
        ("aten::to.dtype", "aten::_to_copy", "aten::linear"),
    ),
    Report(
        "NPU: YOLO trains", "ultralytics/ultralytics#23275", 4,
        "training and testing run on NPUs in January 2026",
        "ascend-910b@7.3.0", Met.WORKS, Because.OTHER, _Found(),
        (torch.ones(1, 3, 8, 8), torch.ones(1, 4, 16)),
        ("aten::conv2d", "aten::batch_norm", "aten::silu", "aten::softmax.int",
         "aten::binary_cross_entropy_with_logits"), training=True,
    ),
    Report(
        "RX 7900 XTX: Kokoro speaks", "remsky/Kokoro-FastAPI#393", 6,
        "it was tested on a 7900 XTX in September 2025",
        "amd-rx7900xt@2.8.0", Met.WORKS, Because.OTHER, _Voice(), (torch.ones(1, 12, 8),),
        ("aten::lstm.input", "aten::conv_transpose1d", "aten::istft", "aten::polar"),
    ),
    Report(
        "RX 7900 XTX: factors of low rank", "hiyouga/LlamaFactory#4970", 6,
        "it was tested on a 7900 XTX in July 2024",
        "amd-rx7900xt@2.3.1", Met.WORKS, Because.OTHER, _Tuned(),
        (torch.ones(6, 16, dtype=COARSE), torch.arange(6)),
        ("aten::linear", "aten::cross_entropy_loss", "aten::add.Tensor"), training=True,
    ),
    Report(
        "NPU: likelihoods of words", "verl-project/verl#332", 7,
        "Qwen2-7B learns by SFT and GRPO with results like a GPU's, in March 2025",
        "ascend-910b@6.0.0", Met.WORKS, Because.OTHER, _chosen,
        (torch.ones(2, 4, 16, dtype=COARSE), torch.ones(2, 4, dtype=torch.int64)),
        ("aten::log_softmax.int", "aten::gather", "aten::logsumexp", "aten::softmax.int"),
    ),
    Report(
        "Arc: pages read by Qwen2-VL", "opendatalab/MinerU#4801", 17,
        "transformers run the model of MinerU on an Arc A750, in April 2026",
        "intel-arc@2.11.0", Met.WORKS, Because.OTHER, _Seen(),
        (torch.ones(4, 1176, dtype=COARSE),), (ATTENTION, "aten::conv3d"),
    ),
    Report(
        "Arc: pictures told by Qwen-VL", "1038lab/ComfyUI-QwenVL#60", 17,
        "it was tested on an Arc A770M with torch 2.8.0",
        "intel-arc@2.8.0", Met.WORKS, Because.OTHER, _Read(),
        tuple(torch.ones(1, 1, 4, 16, dtype=COARSE) for _ in range(3)),
        (ATTENTION, "aten::linear", "aten::silu", "aten::cat"),
    ),
)
# fmt: on
_LEFT_OUT = {
    Why.KNOWN: """
        MooreThreads/torch_musa#122 MooreThreads/torch_musa#86 MooreThreads/tutorial_on_musa#26
        MooreThreads/torch_musa#42 MooreThreads/torch_musa#64 sgl-project/sglang#10023
        AI-Hypercomputer/torchprime#380 pytorch/xla#7835 pytorch/xla#6017 pytorch/xla#4985
        pytorch/xla#4511 pytorch/xla#2629 pytorch/xla#1726 pytorch/xla#2721
        uxlfoundation/oneDNN#1465 intel/intel-extension-for-pytorch#699 pnnbao97/VieNeu-TTS#78
        intel/intel-extension-for-pytorch#616 FasterDecoding/Medusa#111 ROCm/legacy-rocm-build#2527
        ultralytics/ultralytics#13269 ultralytics/ultralytics#22270 open-mmlab/mmcv#3203
        huggingface/transformers#35785 2noise/ChatTTS#187 intel/intel-extension-for-pytorch#698
        ryujaehun/pytorch-gpu-benchmark#31 NexusGPU/tensor-fusion#456 ModelCloud/GPTQModel#2831
        ModelCloud/GPTQModel#2830 flashinfer-ai/flashinfer#2474 hiyouga/LlamaFactory#975
        kvcache-ai/ktransformers#1531 linkedin/Liger-Kernel#396 fishaudio/fish-speech#1033
        modelscope/ms-swift#1047 opendatalab/MinerU#1695 Ascend/pytorch#40 Ascend/pytorch#51
        hiyouga/LlamaFactory#4836 opendatalab/MinerU#1941 vllm-project/vllm-omni#755
        hiyouga/LlamaFactory#4135 sgl-project/sglang#31948 lm-sys/FastChat#2422
        openvino-dev-samples/comfyui_openvino#6 intel/torch-xpu-ops#1742
        intel/intel-xpu-backend-for-triton#1840 intel/intel-extension-for-pytorch#257
        intel/intel-extension-for-pytorch#285 intel/torch-xpu-ops#1150
        intel/intel-extension-for-pytorch#251 vllm-project/vllm-ascend#898
        vllm-project/vllm-omni#890 vllm-project/vllm#7670 pytorch/xla#9215 tenstorrent/tt-xla#3060
        pytorch/xla#3070 pytorch/pytorch#33152 pytorch/xla#4838 pytorch/xla#3293 pytorch/xla#1802
        pytorch/xla#2447 ROCm/pytorch#2837 ROCm/AMDMIGraphX#669 sgl-project/sglang#17105
        sgl-project/sglang#23646 sgl-project/sglang#26437 sgl-project/sglang#17346
        ModelTC/LightX2V#678 ModelTC/LightX2V#1333 pytorch/pytorch#145560 pytorch/vision#8696
        jax-ml/jax#22723 HybridRobotics/berkeley-humanoid-lite#49 pytorch/xla#6015
        Lightning-AI/pytorch-lightning#7368 pytorch/xla#2020 pytorch/xla#5000 pytorch/xla#3080
        pytorch/xla#2655 utensils/comfyui-nix#56 Comfy-Org/ComfyUI#409 Comfy-Org/ComfyUI#4154
        smthemex/ComfyUI_SenseNova_U1#15 intel/torch-xpu-ops#57 uxlfoundation/oneDNN#1500
        Comfy-Org/ComfyUI#7499 intel/torch-xpu-ops#1898
    """,
    Why.NO_CALL: """
        pytorch/xla#8139 pytorch/xla#8285 pytorch/helion#2638 MouseLand/cellpose#1075
        xuhuisheng/rocm-gfx803#25 scottt/rocm-TheRock#1 vladmandic/sdnext#4605
        ProGamerGov/neural-style-pt#24 RVC-Project/Retrieval-based-Voice-Conversion-WebUI#1684
        alphacep/vosk-api#665 dphnAI/sonar#95 EleutherAI/gpt-neox#579 WebODM/OpenSplat#36
        ROCm/legacy-rocm-build#4345 ROCm/legacy-rocm-build#2098 deepseek-ai/DeepSeek-VL#14
        eric-haibin-lin/verl-community#1 bitsandbytes-foundation/bitsandbytes#1223
        modelscope/modelscope#1764 intel/auto-round#1352 flujo-app/CommunityAI#28
        runew0lf/RuinedFooocus#182 linkedin/Liger-Kernel#443 open-mmlab/mmcv#2655
        pytorch/pytorch#121878 blake-hamm/bhamm-lab#30 intel/onnxruntime#521 Ancientea/CannotMax#44
        vllm-project/vllm#7940 vllm-project/vllm-ascend#228 vllm-project/vllm-ascend#4480
        vllm-project/vllm#11173 vllm-project/vllm#24817 vllm-project/vllm#14747
        apple/coremltools#1539 pytorch/ao#2662 ROCm/legacy-rocm-build#2831 vllm-project/vllm#45170
        flagos-ai/sglang-plugin-FL#54 vllm-project/vllm-ascend#5353 pollen-robotics/microduck_rl#39
        conda-forge/pytorch-cpu-feedstock#303 roboflow/inference#1935 pytorch/pytorch#145395
        pytorch/xla#3354 EricRollei/comfyui-refocus#4 vladmandic/sdnext#1147 Comfy-Org/ComfyUI#5365
    """,
    Why.NO_PROGRAM: """
        ultralytics/ultralytics#16829 vllm-project/vllm-omni#7538 hexgrad/kokoro#79
        remsky/Kokoro-FastAPI#432 ROCm/pytorch#1296 pytorch/pytorch#156368 ROCm/pytorch#1583
        ROCm/rocm-systems#2400 intel/torch-xpu-ops#1734
    """,
    Why.NO_TARGET: """
        allenai/longformer#122 oobabooga/textgen#1575 intel/intel-extension-for-pytorch#244
        intel/intel-extension-for-pytorch#724 xuhuisheng/rocm-gfx803#37 noamsto/nix-amd-ai#25
        ROCm/TheRock#8186 ROCm/legacy-rocm-build#998 ROCm/legacy-rocm-build#1353
        robertrosenbusch/gfx803_rocm#64 PaddlePaddle/PaddleDetection#7922
        PaddlePaddle/PaddleYOLO#231 mindspore-lab/mindyolo#168
        intel/intel-extension-for-pytorch#639 NVIDIA/TensorRT-RTX-EP-ABI#8
        Le-Xiaohuai-speech/DPCRN_DNS3#30 intel/intel-extension-for-pytorch#307 apache/tvm#3808
        PaddlePaddle/Paddle#42560 RapidAI/RapidLayout#24 PaddlePaddle/PaddleRec#541
        tenstorrent/tt-xla#4464 OpenRAL/openral#167 jax-ml/jax#40487 joryirving/home-ops#9049
        Comfy-Org/ComfyUI#5270
    """,
    Why.OTHERS: """
        unslothai/unsloth#6105 huggingface/kernels#155 linkedin/Liger-Kernel#407
        linkedin/Liger-Kernel#686 vllm-project/vllm-omni#4992 vllm-project/vllm-omni#5568
        ROCm/flash-attention#120 meta-pytorch/MSLK#225 ROCm/xformers#9 MooreThreads/vllm-musa#228
        sgl-project/sglang#16225
    """,
}
LEFT_OUT = tuple(
    LeftOut(thread, why) for why, threads in _LEFT_OUT.items() for thread in threads.split()
)

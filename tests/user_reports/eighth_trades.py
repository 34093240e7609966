"""What users of voices, pages, scans of bodies, sentences and counts of cells met.

The searches name trades and their libraries, and things that are said to run.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  # as everybody writes it

from tests.user_reports.report import Because, LeftOut, Met, Report, Why

QUERIES = (
    "sentence-transformers or FlagEmbedding or reranker on Intel Arc xpu or Ascend npu error or "
    "slow operator attention padding",
    'V100 or P100 or GTX 1080 bfloat16 model error RuntimeError CUDA "not supported" transformers '
    "torch 2.x fix use float16",
    "torchao float8 int8 int4 quantization RTX 3090 A100 _scaled_mm _int_mm compute capability "
    "error requires",
    "medical imaging MONAI TorchIO cellpose stardist on apple mps error max_pool3d "
    "conv_transpose3d median sort unsupported",
    "torchaudio resample MFCC mel spectrogram lfilter on mps error not implemented or wrong",
    "MTT S80 S4000 摩尔线程 torch_musa 运行 stable diffusion whisper yolo 算子 not implemented "
    "MUSA backend",
    "海光 DCU 或 沐曦 C500 或 天数 运行 pytorch 模型 报错 算子 不支持 MinerU PaddleOCR ComfyUI "
    "torch",
    "physics or PINN or neural operator or climate model on mps or xpu error complex einsum fft "
    "float64",
    "spaCy flair stanza allennlp NLP on M1 mps error index_select int64 cumsum sort unsupported "
    "dtype macOS",
    "OCR doctr EasyOCR surya docling on mps error or garbage output aten operator Mac",
    "object detection DETR RT-DETR mmdetection detectron2 on mps or npu grid_sampler_2d_backward "
    "or nms or deformable attention error training",
    "recommender or bayesian or single cell genomics torch model on mps error lgamma digamma "
    "betainc poisson not implemented float32",
    "whisper or wav2vec2 or TTS works on Intel Arc B580 XPU native PyTorch 2.7 2.8 tested model "
    "runs fine",
    "pull request tested on Ascend 910B NPU model runs training inference result matches GPU add "
    "npu support torch_npu 2.5 2.6",
    "kornia MPS float32 failing tests operators linalg svd solve on torch 2.9 fallback unset list",
    "intel extension for pytorch Arc A770 operator error xpu float64 fp64 not supported "
    '"Required aspect fp64 is not supported"',
)  # fmt: skip
APPLE = "apple-mps"
COARSE = torch.bfloat16
PACKED = torch.float8_e4m3fn
NUMBERS = torch.arange(6).view(2, 3)
VOLUME, KERNEL = torch.ones(1, 2, 4, 4, 4), torch.ones(2, 2, 3, 3, 3)
WEIGHT = torch.ones(8, 8)


def _encoded(tokens: Tensor, table: Tensor, weight: Tensor) -> Tensor:
    x = F.layer_norm(F.embedding(tokens, table), (8,))
    x = F.scaled_dot_product_attention(x, x, x)
    return F.normalize(F.gelu(F.linear(x, weight))[:, 0], dim=-1)


def _written(x: Tensor, weight: Tensor) -> Tensor:
    x = F.linear(x * (x.pow(2).mean(-1, keepdim=True) + 1e-6).rsqrt(), weight).unsqueeze(1)
    return F.linear(F.silu(F.scaled_dot_product_attention(x, x, x, is_causal=True)), weight)


def _coarsened(x: Tensor, weight: Tensor) -> Tensor:
    with torch.autocast("cuda", COARSE):
        return F.linear(x, weight)


def _scored(x: Tensor, w: Tensor, one: Tensor) -> Tensor:
    found: Tensor = torch._scaled_mm(x, w.t(), one, one, out_dtype=COARSE)
    return found


def _reverberated(sound: Tensor, room: Tensor) -> Tensor:
    found: Tensor = torch.fft.irfft(torch.fft.rfft(sound) * torch.fft.rfft(room))
    return found


def _likely(counts: Tensor, rate: Tensor) -> Tensor:
    known = torch.lgamma(counts + rate) - torch.lgamma(rate) - torch.lgamma(counts + 1)
    return (known + torch.digamma(rate) + rate.log() - rate.exp()).sum(-1).softmax(-1)


class Tagger(nn.Module):
    """Names what words are."""

    def __init__(self) -> None:
        super().__init__()
        self.read = nn.LSTM(4, 4, bidirectional=True, batch_first=True)
        self.named = nn.Linear(8, 3)

    def forward(self, words: Tensor) -> Tensor:
        found: Tensor = self.named(self.read(words)[0])
        return found.argmax(-1)


AUTOCAST = ("aten::linear", "aten::_to_copy", "aten::addmm", "aten::mm")
CUMSUM = "the attention mask's cumsum of int64 is refused before macOS 13.3"
REPORTS = (
    Report(
        "910B: embeddings of BGE", "FlagOpen/FlagEmbedding#465", 0,
        "embedding models run on NPUs by transformers as they are, in February 2024",
        "ascend-910b@5.0.0", Met.WORKS, Because.OTHER,
        _encoded, (NUMBERS, torch.ones(6, 8), WEIGHT),
        ("aten::embedding", "aten::layer_norm", "aten::scaled_dot_product_attention",
         "aten::gelu", "aten::linear"),
    ),
    Report(
        "Turing: Stable Cascade in autocast", "Nerogar/OneTrainer#186", 1,
        "autocast to bfloat16 is refused on an RTX 2080 Ti, in March 2024",
        "nvidia-t4@2.2.2", Met.REFUSED, Because.CHIP,
        _coarsened, (torch.ones(2, 8), WEIGHT), AUTOCAST,
    ),
    Report(
        "Turing: a robot's policy in autocast", "openvla/openvla#103", 1,
        "autocast to bfloat16 is refused on a Quadro RTX 8000, in September 2024",
        "nvidia-t4@2.2.2", Met.REFUSED, Because.CHIP,
        _coarsened, (torch.ones(4, 8), WEIGHT), AUTOCAST,
    ),
    Report(
        "P100: a world model in autocast", "weipu-zhang/STORM#4", 1,
        "autocast to bfloat16 is refused on a P100, in April 2024",
        "nvidia-p100@2.2.2", Met.REFUSED, Because.CHIP,
        _coarsened, (torch.ones(2, 8), WEIGHT), AUTOCAST,
    ),
    Report(
        "CUDA: products of no rows in float8", "neuralmagic/AutoFP8#9", 2,
        "`_scaled_mm` raises where there are no rows, so that it is not called",
        "nvidia-h100@2.3.1", Met.REFUSED, Because.SHAPE,
        _scored, (torch.ones(0, 16).to(PACKED), torch.ones(16, 16).to(PACKED), torch.ones(1)),
        ("aten::_scaled_mm",),
    ),
    Report(
        "MPS: scans registered", "rohitrango/FireANTs#33", 3,
        "Conv3D is not supported, and is with the version of November 2025",
        f"{APPLE}@2.2.2", Met.REFUSED, Because.NO_KERNEL,
        lambda x, w: F.conv3d(x, w, padding=1), (VOLUME, KERNEL),
        ("aten::conv3d", "aten::convolution", "aten::_mps_convolution"),
        mended={f"{APPLE}@2.9.1": Met.WORKS},
    ),
    Report(
        "MPS: livers outlined", "amine0110/Liver-Segmentation-Using-Monai-and-PyTorch#15", 3,
        "Conv3D is not supported on a MacBook Air in February 2024",
        f"{APPLE}@2.2.2", Met.REFUSED, Because.NO_KERNEL,
        lambda x, w: F.conv3d(x, w), (VOLUME, KERNEL),
        ("aten::conv3d", "aten::convolution", "aten::_mps_convolution"),
    ),
    Report(
        "MPS: a room's echo", "iver56/torch-audiomentations#169", 4,
        "spectra are not multiplied: unsupported operand types, in December 2023",
        f"{APPLE}@2.1.2", Met.REFUSED, Because.DTYPE,
        _reverberated, (torch.ones(1, 64), torch.ones(1, 64)), ("aten::mul",),
    ),
    Report(
        "MPS: stft of speech with warnings", "pytorch/pytorch#174003", 4,
        "stft warns of an output that was resized, and runs, in January 2026",
        f"{APPLE}@2.10.0", Met.WORKS, Because.OTHER,
        lambda x: torch.stft(x, 16, window=torch.ones(16, device=x.device), return_complex=True)
        .abs(), (torch.ones(1, 64),), ("aten::stft", "aten::_fft_r2c"),
    ),
    Report(
        "S70: a voice heard and spoken", "RVC-Boss/GPT-SoVITS#847", 5,
        "GPT-SoVITS infers on an S70, in March 2024",
        "moorethreads-s70@1.2.1", Met.WORKS, Because.OTHER,
        lambda x, w: F.layer_norm(F.gelu(F.conv1d(x, w, padding=1)).transpose(1, 2), (4,)),
        (torch.ones(1, 1, 64), torch.ones(4, 1, 3)),
        ("aten::conv1d", "aten::gelu", "aten::layer_norm"),
    ),
    Report(
        "S5000: a picture of FLUX", "sgl-project/sglang#17346", 5,
        "FLUX.1-dev draws a logo on Moore Threads' GPUs, in January 2026",
        "moorethreads-s5000@2.7.1", Met.WORKS, Because.OTHER,
        _written, (torch.ones(1, 4, 8, dtype=COARSE), WEIGHT.to(COARSE)),
        ("aten::linear", "aten::scaled_dot_product_attention", "aten::silu", "aten::rsqrt"),
    ),
    Report(
        "RTX 5090: pages read", "Yuliang-Liu/MonkeyOCR#90", 6,
        "reading pages works with a nightly build for CUDA 12.8, of June 2025",
        "nvidia-rtx5090@2.8.0", Met.WORKS, Because.OTHER,
        _written, (torch.ones(1, 4, 8, dtype=COARSE), WEIGHT.to(COARSE)),
        ("aten::linear", "aten::scaled_dot_product_attention", "aten::silu", "aten::rsqrt"),
    ),
    Report(
        "MPS: names found in a sentence", "flairNLP/flair#2789", 8,
        "a tagger of names works as it is, in November 2023",
        f"{APPLE}@2.1.2", Met.WORKS, Because.OTHER,
        Tagger(), (torch.ones(1, 5, 4),), ("aten::lstm", "aten::linear", "aten::argmax"),
    ),
    Report(
        "MPS: places of an alpaca's words", "tloen/alpaca-lora#449", 8,
        CUMSUM, f"{APPLE}@2.0.1", Met.REFUSED, Because.DTYPE,
        lambda x: x.cumsum(-1) - 1, (NUMBERS,), ("aten::cumsum",),
    ),
    Report(
        "MPS: places of StableLM's words", "Stability-AI/StableLM#61", 8,
        f"{CUMSUM}; nightly builds of April 2023 take it", f"{APPLE}@2.0.1",
        Met.REFUSED, Because.DTYPE,
        lambda x: x.cumsum(-1).masked_fill(x == 0, 1), (NUMBERS,), ("aten::cumsum",),
    ),
    Report(
        "MPS: places of a chat's words", "oobabooga/textgen#1686", 8,
        "cumsum of int64 is always refused, on macOS 13.3 too",
        f"{APPLE}@2.0.1", Met.REFUSED, Because.DTYPE,
        lambda x: x.ne(0).long().cumsum(-1), (NUMBERS,), ("aten::cumsum",),
    ),
    Report(
        "M4: likelihoods of counts", "scverse/scvi-tools#3980", 11,
        "lgamma, digamma, log, exp, softmax, sum and products are as precise as a CPU's",
        "apple-m4@2.10.0", Met.WORKS, Because.OTHER,
        _likely, (torch.ones(4, 8), torch.ones(4, 8)),
        ("aten::lgamma", "aten::digamma", "aten::log", "aten::exp", "aten::sum", "aten::softmax"),
    ),
    Report(
        "MPS: lgamma of a transpose", "broadinstitute/CellBender#438", 11,
        "lgamma and digamma of tensors that are not contiguous are NaN, and training diverges",
        f"{APPLE}@2.10.0", Met.WRONG, Because.LAYOUT,
        lambda x: torch.lgamma(x.t()) + torch.digamma(x.t()), (torch.ones(4, 8),),
        ("aten::lgamma", "aten::digamma"),
    ),
    Report(
        "Arc: a voice in Vietnamese", "pnnbao97/VieNeu-TTS#78", 12,
        "a model of speech infers on Arc with a nightly build of 2.11",
        "intel-arc@2.11.0", Met.WORKS, Because.OTHER,
        _written, (torch.ones(1, 4, 8), WEIGHT),
        ("aten::linear", "aten::scaled_dot_product_attention", "aten::silu", "aten::rsqrt"),
    ),
    Report(
        "950: a product", "RLinf/RLinf#1577", 13,
        "a product of matrices runs on an Ascend 950PR with torch_npu 2.11 and CANN 9.1",
        "ascend-950@26.1.0", Met.WORKS, Because.OTHER,
        torch.matmul, (WEIGHT, WEIGHT), ("aten::matmul", "aten::mm"),
    ),
    Report(
        "MPS: 911 small matrices factored", "kornia/kornia#4201", 14,
        "svd of a batch of more than 8192 numbers fails with 2.14: no pipeline state is made",
        f"{APPLE}@2.14.1", Met.REFUSED, Because.SHAPE,
        torch.linalg.svd, (torch.eye(3).expand(911, 3, 3).contiguous(),),
        ("aten::_linalg_svd", "aten::linalg_svd"),
    ),
)  # fmt: skip
_LEFT_OUT = {
    Why.KNOWN: """
        intel/intel-extension-for-pytorch#493 thu-ml/SageAttention#375 karpathy/nanoGPT#277
        vllm-project/vllm#946 zai-org/GLM-4#510 facebookresearch/chameleon#39
        kijai/ComfyUI-segment-anything-2#26 kijai/ComfyUI-HunyuanVideoWrapper#98 pytorch/ao#2904
        meta-pytorch/float8_experimental#197 pytorch/pytorch#118703 pytorch/ao#2376
        meta-pytorch/float8_experimental#236 aredden/flux-fp8-api#30 pytorch/pytorch#141287
        kreshuklab/panseg#385 AdaptiveMotorControlLab/CellSeg3D#74 MIC-DKFZ/nnUNet#2435
        pytorch/pytorch#77818 pytorch/pytorch#130256 MIC-DKFZ/nnUNet#1862
        kijai/ComfyUI-LivePortraitKJ#112 pytorch/pytorch#77764 metavoiceio/metavoice-src#1
        pytorch/pytorch#98272 pytorch/pytorch#78044 pytorch/pytorch#116392
        sdatkinson/neural-amp-modeler#453 idiap/coqui-ai-TTS#248 lm-sys/FastChat#3456
        yxlllc/ReFlow-VAE-SVC#2 MooreThreads/torch_musa#18 voicepaw/so-vits-svc-fork#903
        MooreThreads/torch_musa#114 sgl-project/sglang#17105 MooreThreads/MobiMaliangSDK#20
        MooreThreads/tutorial_on_musa#26 PaddlePaddle/PaddleX#4768 PaddlePaddle/PaddleOCR#15920
        neuraloperator/neuraloperator#289 explosion/spaCy#13096 h2oai/h2ogpt#464
        dottxt-ai/outlines#196 scottviteri/MarkovianTraining#9 pytorch/pytorch#96610
        roboflow/rf-detr#622 intel/torch-xpu-ops#555 meta-pytorch/botorch#2724
        pytorch/pytorch#161725 pytorch/pytorch#173249 rsxdalv/TTS-WebUI#547
        jhj0517/Whisper-WebUI#507 QwenLM/Qwen3-TTS#262 pytorch/pytorch#151985
        fumifumi0831/whisper-transcription#2 intel/ipex-llm#13149 DeepLink-org/dlinfer#229
        DeepLink-org/dlinfer#238 NexusGPU/tensor-fusion#456 ultralytics/ultralytics#22270
        meta-pytorch/torchtune#1826 ultralytics/ultralytics#13269 ModelCloud/GPTQModel#2831
        kornia/kornia#4455 kornia/kornia#2224 pytorch/pytorch#114771 kornia/kornia#4159
        intel/torch-xpu-ops#1742 intel/intel-extension-for-pytorch#699
        intel/intel-extension-for-pytorch#257 intel/intel-xpu-backend-for-triton#1840
        pytorch/pytorch#164070 intel/intel-extension-for-pytorch#285 intel/torch-xpu-ops#628
        intel/intel-extension-for-pytorch#303 intel/torch-xpu-ops#1270
    """,
    Why.NO_CALL: """
        modelscope/ms-swift#6989 FlagOpen/FlagEmbedding#1427 intel/xFasterTransformer#138
        IntelLabs/fastRAG#52 Comfy-Org/ComfyUI#14623 SciML/FluxNeuralOperators.jl#83
        SciML/NeuralOperators.jl#120 deepchem/deepchem#4415 ooples/AiDotNet#400
        phydra-labs/phydrax#33 PaddlePaddle/PaddleScience#917 deepchem/deepchem#4435
        tum-pbs/PhiFlow#88 FREVA-CLINT/FieldSpaceNN#9 FREVA-CLINT/FieldSpaceNN#11
        docling-project/docling#426 docling-project/docling#3569
        docling-project/docling-serve#127 JaidedAI/EasyOCR#1398 docling-project/docling#1296
        syncfusion-content/fileformat-docs#1509 docling-project/docling#1880
        docling-project/docling#295 shmsoft/FreeEed#308 docling-project/docling#576
        ahnafnafee/local-llm-pdf-ocr#1 docling-project/docling#1618 open-mmlab/mmdetection#4206
        speaches-ai/speaches#357 meta-pytorch/torchtune#1797 pytorch/pytorch.github.io#2080
    """,
    Why.NO_PROGRAM: """
        NetherlandsForensicInstitute/asmtransformers#125 tianweiy/DMD2#14
        zhao-kun/VibeVoiceFusion#7 MooreThreads/torch_musa#19 stanfordnlp/stanza#1325
        BinItAI/visdet#620 open-mmlab/mmdetection#10142 BayraktarLab/cell2location#329
        BayraktarLab/cell2location#313 datawhalechina/torch-rechub#196
    """,
    Why.NO_TARGET: """
        isi-nlp/rtg#20 salesforce/LAVIS#91 pytorch/pytorch#78168 pytorch/audio#609
        pytorch/audio#375 leejet/stable-diffusion.cpp#529 PaddlePaddle/PaddleOCR#15793
        PaddlePaddle/PaddleX#4399 PaddlePaddle/PaddleOCR#16511 PaddlePaddle/X2Paddle#686
        chaiNNer-org/chaiNNer#3117 PaddlePaddle/PaddleOCR#15089 explosion/spaCy#11641
        facebookresearch/detectron2#4575 facebookresearch/detectron2#4581
        tenstorrent/tt-xla#1858 tenstorrent/tt-xla#1914 facebookresearch/detectron2#4342
        lucidrains/enformer-pytorch#31 openai/whisper#1362 intel/ipex-llm#11329
        intel/intel-extension-for-pytorch#620 kornia/kornia#2785 unifyai/ivy#8279
        kornia/kornia#4117 intel/intel-extension-for-tensorflow#60
    """,
    Why.OTHERS: """
        flagos-ai/FlagAttention#62 flagos-ai/FlagAttention#51 sgl-project/sglang#35213
        vllm-project/vllm-ascend#7363 NVIDIA/cutlass#1062 vllm-project/vllm#25935
        vllm-project/vllm#9419 open-mmlab/mmdetection#11437 open-mmlab/mmcv#2732
        inclusionAI/AReno#571
    """,
}
LEFT_OUT = tuple(
    LeftOut(thread, why) for why, threads in _LEFT_OUT.items() for thread in threads.split()
)

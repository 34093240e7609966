"""A third look at what users of Apple's GPUs met, in models and in programs made of them."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  # as everybody writes it

from tests.user_reports.report import Because, LeftOut, Met, Report, Why

QUERIES = (
    "ComfyUI Mac MPS error during sampling unsupported operator RuntimeError M3 Max",
    "ultralytics YOLO train device=mps M1 M2 RuntimeError Mac loss NaN or wrong boxes",
    "whisper transcription on mps Mac error aten sparse float64 or garbage text",
    "diffusers pipeline mps black image or noise on Mac, works on cpu, attention conv bug M1 M3",
    "transformers mps device model generate gives garbage or error on Apple Silicon, torch op bug",
    '"not currently implemented for the MPS device" TTS voice clone model Mac aten',
    "Cannot convert a MPS Tensor to float64 dtype Mac training model fix rotary scheduler loss",
    "depth estimation or 3D mesh model on Mac mps NotImplementedError aten upsample grid_sampler "
    "linalg",
    "view size is not compatible with input tensor's size and stride mps backward contiguous "
    "Apple Silicon works on cpu cuda",
    "pytorch MPS addmm matmul linear silently wrong result for certain shapes M3 M4 macOS 15 26 "
    "nightly",
    "mps crash training LSTM GRU RNN CTC loss speech recognition Mac NotImplementedError _ctc_loss",
    "pytorch geometric torch_scatter graph neural network MPS Apple M1 scatter_reduce index_add "
    "error wrong",
    "torch.compile mps inductor wrong result or Metal shader compile error fails on Mac",
    "pytorch MPS int64 argmax argmin min max reduction large index wrong, bool sum any all uint8 "
    "overflow Mac",
    "[MPS] Add support for op, metal kernel implementation pull request torch.special linalg 2025 "
    "bessel hermite polygamma",
    "[MPS] chunk split slice view storage offset gives wrong values in-place copy_ unaligned "
    "macOS pytorch nightly regression",
    "SAM2 segment anything Mac mps error upsample_bicubic2d or autocast bfloat16 or float64 points",
    "Mac MPS video model Wan HunyuanVideo LTX CogVideoX conv3d not supported on MPS bfloat16 error",
    "[MPS] regression torch 2.12 2.13 2.14 crash index_put nonzero unique sort flip user script "
    "Mac mini M4",
    "MPS nn.Linear output different from cpu when bias=True on github macos-26 fix root cause "
    "addmm small in_features M1",
    "[MPS] Incorrect result from batch norm with sliced inputs 133520 minimal repro fix",
    "[MPS] Regression from macOS 14.3 to 14.4 in PyTorch 2.2.0/2.2.1 root cause repro int64 "
    "gather where",
)
MPS = "apple-mps"

X = torch.linspace(-1, 1, 24).view(4, 6)
PACKED = torch.arange(16, dtype=torch.uint8).view(2, 1, 8)
BITS = torch.tensor([0, 4], dtype=torch.uint8).view(1, 2, 1)
WHERE = torch.tensor([[0, 1, 2], [1, 2, 0]])
BYTES = torch.ones(64, 64, dtype=torch.int8)
PICTURE = torch.linspace(0, 1, 3 * 16 * 16).view(1, 3, 16, 16)
SPEECH = torch.zeros(20, 1, 5).log_softmax(-1)
LONG = torch.arange(1, 7)
ROWS = torch.linspace(-1, 1, 8 * 4 * 4 * 4).view(8, 4, 4, 4)


class Read(nn.Module):
    """Letters read by an LSTM."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(2, 5, num_layers=2, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        read: Tensor = self.lstm(x)[0]
        return read


def _unpacked(packed: Tensor, bits: Tensor) -> Tensor:
    return packed >> bits


def _sampled(volume: Tensor, grid: Tensor) -> Tensor:
    return F.grid_sample(volume, grid, align_corners=False)


def _sparse(where: Tensor, values: Tensor) -> Tensor:
    return torch.sparse_coo_tensor(where, values, (3, 3))


def _heads(x: Tensor) -> Tensor:
    return torch.empty(x.shape, dtype=x.dtype, layout=torch.sparse_coo, device=x.device)


def _speech_loss(scores: Tensor, letters: Tensor) -> Tensor:
    return F.ctc_loss(scores, letters, torch.tensor([20]), torch.tensor([3]))


def _normalised(x: Tensor, mean: Tensor, var: Tensor) -> Tensor:
    return F.batch_norm(x[4:], mean, var)


REPORTS = (
    Report(
        "MPS: bits shifted by a tensor", "city96/ComfyUI-GGUF#27", 0,
        "`__rshift__` by a tensor, which unpacks quantised weights, is not implemented",
        f"{MPS}@2.4.1", Met.REFUSED, Because.NO_KERNEL,
        _unpacked, (PACKED, BITS), ("aten::__rshift__",),
    ),
    Report(
        "MPS: antialiased bilinear upsampling for SAM3", "PozzettiAndrea/ComfyUI-SAM3#61", 0,
        "`_upsample_bilinear2d_aa` is not implemented, says a release before 2.6",
        f"{MPS}@2.5.1", Met.REFUSED, Because.NO_KERNEL,
        lambda x: F.interpolate(x, size=(7, 7), mode="bilinear", antialias=True),
        (PICTURE,), ("aten::_upsample_bilinear2d_aa",),
    ),
    Report(
        "MPS: _int_mm for MiniMax", "Comfy-Org/ComfyUI#16127", 0,
        "`_int_mm` is not implemented in 2.12.1, whose commit the error names",
        f"{MPS}@2.12.1", Met.REFUSED, Because.NO_KERNEL,
        torch._int_mm, (BYTES, BYTES), ("aten::_int_mm",),
    ),
    Report(
        "MPS: grid_sample of a volume", "PowerHouseMan/ComfyUI-AdvancedLivePortrait#96", 0,
        "`grid_sampler_3d` of a portrait's features is not implemented in June 2025",
        f"{MPS}@2.7.1", Met.REFUSED, Because.NO_KERNEL,
        _sampled, (torch.ones(1, 4, 4, 4, 4), torch.zeros(1, 4, 4, 4, 3)),
        ("aten::grid_sampler_3d", "aten::grid_sampler"),
    ),
    Report(
        "MPS: bicubic upsampling of a mask", "cubiq/ComfyUI_IPAdapter_plus#122", 0,
        "`upsample_bicubic2d` of an attention mask is not implemented",
        f"{MPS}@2.1.2", Met.REFUSED, Because.NO_KERNEL,
        lambda x: F.interpolate(x, size=(8, 8), mode="bicubic"),
        (PICTURE,), ("aten::upsample_bicubic2d",),
    ),
    Report(
        "MPS: a sparse tensor of Whisper", "jhj0517/Whisper-WebUI#276", 2,
        "`_sparse_coo_tensor_with_dims_and_tensors` has no kernel for sparse tensors",
        f"{MPS}@2.4.1", Met.REFUSED, Because.NO_KERNEL,
        _sparse, (WHERE[:, :2], torch.ones(2)),
        ("aten::_sparse_coo_tensor_with_dims_and_tensors", "aten::sparse_coo_tensor"),
    ),
    Report(
        "MPS: an empty sparse tensor", "pytorch/pytorch#87886", 2,
        "`empty` of a sparse layout, which Whisper's alignment heads are of, has no kernel",
        f"{MPS}@2.0.1", Met.REFUSED, Because.NO_KERNEL,
        _heads, (torch.ones(3, 3),), ("aten::empty",),
    ),
    Report(
        "MPS: energies of atoms in float64", "ACEsuit/mace#1271", 6,
        "`double()` of energies raises: there is no float64",
        f"{MPS}@2.9.1", Met.REFUSED, Because.DTYPE,
        lambda x, y: x.clone().double() + y.clone().double(), (X, X),
        ("aten::to", "aten::_to_copy"),
    ),
    Report(
        "MPS: linear to a vocabulary", "pytorch/pytorch#122045", 9,
        "a linear of 9 times 1024 rows to 50304 features is wrong, that of one batch is right",
        f"{MPS}@2.2.2", Met.WRONG, Because.SHAPE,
        F.linear, (torch.ones(9, 1024, 1), torch.ones(50304, 1)), ("aten::linear",),
    ),
    Report(
        "MPS: loss of a reader", "mittagessen/kraken#358", 10,
        "`_ctc_loss` is not implemented in January 2024", f"{MPS}@2.1.2",
        Met.REFUSED, Because.NO_KERNEL,
        _speech_loss, (SPEECH, torch.tensor([[1, 2, 3]])), ("aten::_ctc_loss", "aten::ctc_loss"),
    ),
    Report(
        "MPS: argmax of int64", "pytorch/pytorch#98191", 13,
        "`argmax` of int64 is the least number there is, on macOS 13.0",
        f"{MPS}@2.0.1", Met.WRONG, Because.DTYPE,
        lambda x: torch.argmax(x, dim=1), (torch.tensor([[0, 1], [2, 1], [1, 0]]),),
        ("aten::argmax",),
    ),
    Report(
        "MPS: cumsum of a long mask", "tincans-ai/gazelle#1", 13,
        "`cumsum` of booleans counts in int8 and overflows",
        f"{MPS}@2.2.2", Met.WRONG, Because.DTYPE,
        lambda x: x.cumsum(-1), (torch.ones(1, 300, dtype=torch.bool),), ("aten::cumsum",),
    ),
    Report(
        "MPS: spherical_bessel_j0", "pytorch/pytorch#146818", 14,
        "a pull request of February 2025 writes `special.spherical_bessel_j0`",
        f"{MPS}@2.6.0", Met.REFUSED, Because.NO_KERNEL,
        torch.special.spherical_bessel_j0, (X,), ("aten::special_spherical_bessel_j0",),
        mended={f"{MPS}@2.7.1": Met.WORKS},
    ),
    Report(
        "MPS: laguerre_polynomial_l", "pytorch/pytorch#195225", 14,
        "`special.laguerre_polynomial_l` had no kernel until a pull request of August 2026",
        f"{MPS}@2.13.0", Met.REFUSED, Because.NO_KERNEL,
        torch.special.laguerre_polynomial_l, (X, torch.full((4, 6), 2.0)),
        ("aten::special_laguerre_polynomial_l",),
    ),
    Report(
        "MPS: scaled_modified_bessel_k1", "pytorch/pytorch#149783", 14,
        "a pull request of March 2025 writes `special.scaled_modified_bessel_k1`",
        f"{MPS}@2.7.1", Met.REFUSED, Because.NO_KERNEL,
        torch.special.scaled_modified_bessel_k1, (X.abs() + 1,),
        ("aten::special_scaled_modified_bessel_k1",), mended={f"{MPS}@2.8.0": Met.WORKS},
    ),
    Report(
        "MPS: modified_bessel_k1", "pytorch/pytorch#149687", 14,
        "a pull request of March 2025 writes `special.modified_bessel_k1`",
        f"{MPS}@2.7.1", Met.REFUSED, Because.NO_KERNEL,
        torch.special.modified_bessel_k1, (X.abs() + 1,), ("aten::special_modified_bessel_k1",),
        mended={f"{MPS}@2.8.0": Met.WORKS},
    ),
    Report(
        "MPS: legendre_polynomial_p", "pytorch/pytorch#195226", 14,
        "`special.legendre_polynomial_p` has kernels for CPU, CUDA and XPU alone",
        f"{MPS}@2.13.0", Met.REFUSED, Because.NO_KERNEL,
        torch.special.legendre_polynomial_p, (X, torch.full((4, 6), 2.0)),
        ("aten::special_legendre_polynomial_p",),
    ),
    Report(
        "MPS: zeta of integers", "pytorch/pytorch#155002", 14,
        "`special.zeta` and polynomials take floats alone until a pull request of June 2025",
        f"{MPS}@2.7.1", Met.REFUSED, Because.DTYPE,
        torch.special.zeta, (LONG + 1, LONG), ("aten::special_zeta",),
        mended={f"{MPS}@2.8.0": Met.WORKS},
    ),
    Report(
        "MPS: Cauchy's distribution", "pytorch/pytorch#166134", 14,
        "`cauchy_` and gamma are not implemented in 2.9.0",
        f"{MPS}@2.9.1", Met.REFUSED, Because.NO_KERNEL,
        lambda x: torch.empty_like(x).cauchy_(), (X,), ("aten::cauchy_", "aten::cauchy"),
    ),
    Report(
        "MPS: batch norm of a slice", "pytorch/pytorch#133520", 15,
        "batch norm reads a slice from its beginning of the storage, which 2.5 mends",
        f"{MPS}@2.4.1", Met.WRONG, Because.LAYOUT,
        _normalised, (ROWS, torch.zeros(4), torch.ones(4)),
        (
            "aten::batch_norm", "aten::native_batch_norm",
            "aten::_native_batch_norm_legit_no_training",
        ),
        mended={f"{MPS}@2.5.1": Met.WORKS},
    ),
    Report(
        "MPS: float8 weights", "kijai/ComfyUI-HunyuanVideoWrapper#14", 17,
        "weights cannot become float8_e4m3fn: there is no support for that dtype",
        f"{MPS}@2.5.1", Met.REFUSED, Because.DTYPE,
        lambda x: x.to(torch.float8_e4m3fn), (X,), ("aten::to", "aten::_to_copy"),
    ),
    Report(
        "MPS: bias of vectors", "pytorch/pytorch#188438", 19,
        "a linear of rows of shape (1, 2) leaves the bias out on macOS 26, which 2.14 mends",
        f"{MPS}@2.13.0", Met.WRONG, Because.SHAPE,
        nn.Linear(2, 192), (torch.ones(80, 1, 2),), ("aten::linear",),
        mended={f"{MPS}@2.14.1": Met.WORKS},
    ),
    Report(
        "MPS: LSTM, backwards, of macOS 14.4", "pytorch/pytorch#125803", 21,
        "gradients of an LSTM are wrong on macOS 14.4, unlike before it",
        f"{MPS}@2.3.1", Met.WRONG, Because.OTHER,
        Read(), (torch.linspace(0, 1, 12).view(2, 3, 2),),
        ("aten::lstm", "aten::_lstm_mps", "aten::lstm_mps_backward"), training=True,
    ),
)  # fmt: skip

_LEFT_OUT = {
    Why.KNOWN: """
        pytorch/pytorch#141287 city96/ComfyUI-GGUF#175 openai/whisper#382
        TransformerLensOrg/TransformerLens#1178 pytorch/pytorch#123151
        CAREamics/MicroSplit-reproducibility#22 huggingface/transformers#31060
        pytorch/pytorch#122602 city96/ComfyUI_ExtraModels#48 brkirch/stable-diffusion-webui#36
        thu-ml/tianshou#1237 ClownsharkBatwing/RES4LYF#229 bghira/SimpleTuner#1523
        Comfy-Org/ComfyUI#6041 pytorch/pytorch#77764 pytorch/pytorch#160237 pytorch/pytorch#159419
        pytorch/pytorch#159421 kijai/ComfyUI-LivePortraitKJ#33 ultralytics/ultralytics#18184
        pytorch/pytorch#142344 pytorch/pytorch#140902 pytorch/pytorch#167154 pytorch/pytorch#97239
        pytorch/pytorch#116769 pytorch/pytorch#95188 pytorch/pytorch#195163 pytorch/pytorch#111634
        pytorch/pytorch#193487 pytorch/pytorch#97093 pytorch/pytorch#121557 pytorch/pytorch#163327
        pytorch/pytorch#195595 pytorch/pytorch#90273 pytorch/pytorch#179415 pytorch/pytorch#185663
        pytorch/pytorch#146253 pytorch/pytorch#161927 pytorch/pytorch#182052 pytorch/pytorch#189961
        mit-han-lab/efficientvit#105 kijai/ComfyUI-SUPIR#47 facebookresearch/segment-anything#94
        royerlab/napari-segment-anything#10 opengeos/segment-geospatial#205
        luca-medeiros/lang-segment-anything#75 kijai/ComfyUI-CogVideoXWrapper#359
        kijai/ComfyUI-WanVideoWrapper#963 pytorch/pytorch#122016 pytorch/pytorch#176159
        AUTOMATIC1111/stable-diffusion-webui#16059 pytorch/pytorch#189495 pytorch/pytorch#183535
        pytorch/pytorch#188619 pytorch/pytorch#189496 pytorch/pytorch#109457 pytorch/pytorch#133610
        pytorch/pytorch#134580 pytorch/pytorch#94765 pytorch/pytorch#135543 pytorch/pytorch#141471
        pytorch/pytorch#146085 dbolya/tomesd#15
    """,
    Why.NO_CALL: """
        Lightricks/ComfyUI-LTXVideo#90 Comfy-Org/ComfyUI#86 moona3k/macparakeet#222
        ggml-org/whisper.cpp#3067 sib-swiss/pytorch-practical-training#2
        numz/ComfyUI-SeedVR2_VideoUpscaler#252 pharmapsychotic/clip-interrogator#84
        jianyun8023/soulx-tts-metal#2 coqui-ai/TTS#3563 neonbjb/tortoise-tts#549
        index-tts/index-tts#271 chinokikiss/GSV-TTS-Lite#6 index-tts/index-tts#78
        0xShug0/audio.cpp#57 coqui-ai/TTS#4367 debpalash/VoiceStudio#2147 debpalash/VoiceStudio#2201
        huggingface/diffusers#14639 danisbet/machine-lip-reading#8 unifyai/ivy#22608
        unifyai/ivy#20976 keras-team/keras#18967 unifyai/ivy#12745 mobvoi/lstm_ctc#9
        PaddlePaddle/paddle-ce-latest-kpis#94 chenyuntc/pytorch-book#197
        tommyMessi/crnn_ctc-centerloss#16 T-Almeida/tensorflow-keras-multidimensional-rnn#5
        modelscope/FunASR#37 rusty1s/pytorch_scatter#183 pytorch/pytorch#150454
        pytorch/pytorch#158199 pytorch/pytorch#152155 pytorch/pytorch#150121 pytorch/pytorch#144649
        pytorch/pytorch#96976 pytorch/pytorch#196233 pytorch/pytorch#146259 pytorch/pytorch#147650
        pytorch/pytorch#149794 pytorch/pytorch#119367 pytorch/pytorch#109557 pytorch/pytorch#189967
        pytorch/pytorch#117465 MinishLab/model2vec#287 davidsandberg/facenet#172
        imdeepmind/NeuralPy#137 hpcaitech/ColossalAI#1669 jax-ml/jax#443
    """,
    Why.NO_PROGRAM: """
        kijai/ComfyUI-SUPIR#74 ultralytics/hub#1199 ultralytics/ultralytics#7554
        ultralytics/ultralytics#9933 ultralytics/ultralytics#9113
        cj-mills/pytorch-yolox-object-detection-tutorial-code#5 Vaibhavs10/insanely-fast-whisper#255
        huggingface/diffusers#11342 wooyeolbaek/attention-map-diffusers#10
        boschresearch/Divide-and-Bind#7 huggingface/diffusers#8970 huggingface/diffusers#4480
        suno-ai/bark#19 scverse/scvi-tools#3105 pytorch/pytorch#126862
        oobabooga/one-click-installers#69 myshell-ai/MeloTTS#312
        hiroki-abe-58/Qwen3-TTS-Mac-GeneLab#1 pytorch/pytorch#143123 thuml/Time-Series-Library#625
        Comfy-Org/ComfyUI#8352 pytorch/pytorch#156792 pytorch/pytorch#187976
        kijai/ComfyUI-CogVideoXWrapper#254 huggingface/diffusers#5894 gregcmartin/HunyuanVideo_MLX#1
        kijai/ComfyUI-LivePortraitKJ#112 numz/ComfyUI-SeedVR2_VideoUpscaler#103
        pytorch/pytorch#101251 pytorch/pytorch#133494 pytorch/pytorch#161605 pytorch/pytorch#156867
        ultralytics/ultralytics#17057
    """,
    Why.OTHERS: """
        rusty1s/pytorch_scatter#464
    """,
    Why.UNCONFIRMED: """
        ultralytics/ultralytics#6149 Comfy-Org/ComfyUI#302 kijai/ComfyUI-segment-anything-2#46
        pytorch/pytorch#121645
    """,
    Why.NO_TARGET: """
        Comfy-Org/ComfyUI#4127 ultralytics/ultralytics#280 Vaibhavs10/insanely-fast-whisper#163
        huggingface/diffusers#1398 huggingface/diffusers#6136 huggingface/diffusers#760
        huggingface/diffusers#1251 huggingface/transformers#22529 ankane/torch.rb#50
        huggingface/diffusers#278 pytorch/pytorch#80800 rusty1s/pytorch_scatter#57
        pytorch/pytorch#87753 pytorch/pytorch#109067 pytorch/pytorch#92311 kulinseth/pytorch#267
        kulinseth/pytorch#64 pytorch/pytorch#79271 yatengLG/ISAT_with_segment_anything#126
        huggingface/transformers#22904 huggingface/pytorch-image-models#1890 Comfy-Org/ComfyUI#6254
        pytorch/pytorch#91878 pytorch/pytorch#91047 pytorch/pytorch#91514 pytorch/pytorch#89784
    """,
}
LEFT_OUT = tuple(
    LeftOut(thread, why) for why, threads in _LEFT_OUT.items() for thread in threads.split()
)

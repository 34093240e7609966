"""What users of Apple's GPUs met, by searches of threads of the fifth round."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  # as everybody writes it

from tests.user_reports.report import Because, LeftOut, Met, Report, Why

QUERIES = (
    "[MPS] silent wrong result non-contiguous input strided view expand transpose issue 2026",
    "MPS backend crash assertion failed MPSNDArray shape broadcast zero-size empty tensor pytorch",
    "[MPS] out= argument non-contiguous output wrong results unary binary op",
    "[MPS] remainder fmod floor_divide pow int64 precision float32 large integers wrong on Apple "
    "GPU",
    "torch mps linalg eigh cholesky solve lstsq pinv not implemented or wrong batch Apple silicon "
    "2025 2026",
    "bogatyy [MPS] silently wrong July 2026 reproduces on 2.13.0 stable source build main",
    "[MPS] Fix pull request 2025 wrong results sliced or offset tensor cumsum softmax "
    "cross_entropy logsumexp",
    "[MPS] conv1d conv2d groups dilation channels_last wrong output or crash Mac M3 M4 issue",
    "[MPS] interpolate bicubic trilinear nearest upsample pixel_unshuffle avg_pool3d unsupported "
    "or mismatch CPU issue",
    "christianahmed905 fuzz MPS INTERNAL ASSERT or wrong result torch op mps not affected CPU June "
    "2026",
    "torch mps failed assertion sliceDimension withSubrange 96153 repro index assignment baddbmm",
    "pytorch mps training loss NaN or different from CPU minimal repro nn.LSTM GRU embedding "
    "dropout Mac 2025",
    "[MPS] index_select gather scatter_add masked_select int32 index bool wrong result out of "
    "bounds silent",
    "MPS torch.sort argsort topk kthvalue unique median wrong NaN stable descending Apple",
    "[MPS] chunk split unbind stack cat view storage_offset wrong values torch 2.x Mac",
    "[MPS] grid_sampler_3d nearest border padding backward unsupported volumetric registration Mac "
    "monai",
    "[MPS] softplus gelu silu hardswish logsigmoid large values or noncontiguous wrong Apple GPU "
    "correctness silent 2024",
    "MPS torch.where scalar type promotion bool uint8 inplace add_ mul_ dtype mismatch crash Mac",
    "huggingface transformers mps error generate torch 2.x isin cumsum scatter nonzero Mac crash "
    "workaround cpu",
    "[MPS] cross_entropy label_smoothing weight ignore_index nll_loss2d wrong or crash backward "
    "Mac issue",
    "[MPS] torch.roll tril triu cdist quantile cummax logcumsumexp diff wrong result int bool "
    "dtype M1",
    "MPS Function was not found in the library error getting visible function i64 u8 bool kernel "
    "crash pytorch",
    "MPS distributions Beta Gamma Dirichlet Poisson StudentT sample not implemented "
    "_standard_gamma _sample_dirichlet Mac",
    "pytorch geometric PyG MPS scatter segment_reduce sparse index error Mac GNN training not "
    "implemented",
    'TTS whisper MPS "aten::" unsupported Output channels > 65536 or weight_norm or sparse coo '
    "kokoro f5-tts xtts bark Apple Silicon error",
    "[MPS] in-place assignment to slice view wrong values masked assignment broadcasting copy_ "
    "torch 2.9 2.10 2.11 2.12",
    "[MPS] attention enable_gqa is_causal attn_mask dtype mismatch sdpa error or wrong output Mac "
    "M4 2026",
    "[MPS] einsum matmul batched broadcast expanded tensor wrong result macOS 15 Sequoia M-series "
    "torch 2.5 2.6 2.7",
    "[MPS] gradient wrong backward of pooling upsampling embedding prelu conv_transpose silently "
    "incorrect autograd gradcheck Apple",
    "MPS float16 autocast NaN black image stable diffusion upcast attention baddbmm softmax half "
    "overflow Mac torch",
    "[MPS] torch.nn.functional one_hot, bincount, searchsorted, histc, unique_consecutive, isin "
    "negative wrong or error device mps 2024 2025",
    "macOS 26 27 beta pytorch mps regression crash MLIR pass manager failed op",
    "ultralytics MPS unique return_counts wrong counts negative dimension loss preprocess "
    "9223372036854775807",
    "ultralytics 25782 Predict on MPS collapses box x-coordinates clip_boxes clamp_ torch version "
    "fix",
)
MPS = "apple-mps"

MATRIX = torch.eye(3) * 2


def _unpadded(found: Tensor) -> Tensor:
    found = found.clone()
    boxes = found[:, :4]
    boxes[..., 1] -= 9
    return found


def _clipped(found: Tensor) -> Tensor:
    found = found.clone()
    boxes = found[:, :4]
    boxes[..., 0].clamp_(0, 2560)
    return found


def _larger_than_a_number_of_the_host(x: Tensor) -> Tensor:
    return torch.fmax(x, torch.tensor(0.3))


REPORTS = (
    Report(
        "MPS: baddbmm of no rows", "pytorch/pytorch#187399", 1,
        "`baddbmm` of a batch without rows fails an assertion: the placeholder tensor is empty",
        f"{MPS}@2.12.1", Met.REFUSED, Because.SHAPE,
        lambda x, a, b: torch.baddbmm(x, a, b, beta=0.5, alpha=100),
        (torch.ones(2, 0, 1), torch.ones(2, 0, 3), torch.ones(2, 3, 1)), ("aten::baddbmm",),
    ),
    Report(
        "MPS: no rows times a vector", "pytorch/pytorch#137406", 1,
        "a matrix without rows times a vector fails an assertion with 2.4.1, and not with 2.10",
        f"{MPS}@2.4.1", Met.REFUSED, Because.SHAPE,
        torch.matmul, (torch.ones(0, 9), torch.ones(9)),
        ("aten::mv", "aten::addmv", "aten::matmul", "aten::mm"),
        mended={f"{MPS}@2.10.0": Met.WORKS},
    ),
    Report(
        "MPS: eigenvalues of symmetric matrices", "pytorch/pytorch#151874", 4,
        "`_linalg_eigh` is not implemented in April 2025, and is there in June 2026",
        f"{MPS}@2.6.0", Met.REFUSED, Because.NO_KERNEL, torch.linalg.eigh, (MATRIX,),
        ("aten::_linalg_eigh", "aten::linalg_eigh"), mended={f"{MPS}@2.14.1": Met.WORKS},
    ),
    Report(
        "MPS: solve", "pytorch/pytorch#98222", 4,
        "`_linalg_solve_ex` is not implemented",
        f"{MPS}@2.0.1", Met.REFUSED, Because.NO_KERNEL,
        torch.linalg.solve, (MATRIX, torch.ones(3, 2)),
        ("aten::_linalg_solve_ex", "aten::linalg_solve"),
    ),
    Report(
        "MPS: fmax with a number of the host", "pytorch/pytorch#143933", 9,
        "`fmax` of a tensor of the device and a number that stays on the host crashes with 2.5.1, "
        "and gives the result with 2.6",
        f"{MPS}@2.5.1", Met.REFUSED, Because.OTHER, _larger_than_a_number_of_the_host,
        (torch.rand(7),), ("aten::fmax",), mended={f"{MPS}@2.6.0": Met.WORKS},
    ),
    Report(
        "MPS: a row as a matrix", "pytorch/pytorch#96153", 10,
        "the second of two rows, viewed as (2, 3), plus one ends the process in March 2023, and "
        "does not with a build of April 2024",
        f"{MPS}@2.1.2", Met.REFUSED, Because.LAYOUT, lambda x: x[1].reshape(2, 3) + 1,
        (torch.ones(2, 6),), ("aten::add",), mended={f"{MPS}@2.4.1": Met.WORKS},
    ),
    Report(
        "MPS: LSTM that drops everything", "pytorch/pytorch#190057", 11,
        "two layers with dropout=1.0 give NaN in training",
        f"{MPS}@2.13.0", Met.WRONG, Because.VALUE,
        nn.LSTM(4, 4, num_layers=2, dropout=1.0), (torch.ones(3, 2, 4),),
        ("aten::lstm", "aten::_lstm_mps"), training=True,
    ),
    Report(
        "MPS: sort of NaN with a sign", "pytorch/pytorch#116567", 13,
        "NaN whose sign is negative is sorted to the front",
        f"{MPS}@2.1.2", Met.WRONG, Because.OTHER,
        lambda x: x.sort(), (torch.tensor([1.0, -torch.nan]),), ("aten::sort",),
    ),
    Report(
        "MPS: kthvalue", "pytorch/pytorch#161817", 13,
        "a pull request of August 2025 adds `kthvalue`",
        f"{MPS}@2.8.0", Met.REFUSED, Because.NO_KERNEL,
        lambda x: torch.kthvalue(x, 2), (torch.rand(4, 6),), ("aten::kthvalue",),
        mended={f"{MPS}@2.9.1": Met.WORKS},
    ),
    Report(
        "MPS: softplus in April 2023", "pytorch/pytorch#99428", 16,
        "`softplus` of (10, 1) ends the process: float32 and int64 are not broadcast compatible",
        f"{MPS}@2.0.1", Met.REFUSED, Because.OTHER, F.softplus, (torch.ones(10, 1),),
        ("aten::softplus",),
    ),
    Report(
        "MPS: gamma distributions", "pytorch/pytorch#179228", 22,
        "`_standard_gamma` is asked for, and a pull request of April 2026 writes it",
        f"{MPS}@2.11.0", Met.REFUSED, Because.NO_KERNEL,
        torch._standard_gamma, (torch.ones(5),), ("aten::_standard_gamma",),
        mended={f"{MPS}@2.13.0": Met.WORKS},
    ),
    Report(
        "MPS: counts of a single value", "ultralytics/ultralytics#12999", 30,
        "`unique` of equal numbers counts 9223372036854775807 of them with torch 2.3.0",
        f"{MPS}@2.3.1", Met.WRONG, Because.OTHER,
        lambda x: x.unique(return_counts=True), (torch.zeros(7),),
        ("aten::_unique2", "aten::unique_dim"),
    ),
    Report(
        "MPS: padding taken off a box", "ultralytics/ultralytics#8555", 32,
        "`boxes[..., 1] -= 9` leaves a box as it was, which is a slice of a row",
        f"{MPS}@2.2.2", Met.WRONG, Because.LAYOUT, _unpadded, (torch.linspace(0, 99, 6)[None],),
        ("aten::sub_",),
    ),
    Report(
        "MPS: boxes clamped in place", "ultralytics/ultralytics#25485", 33,
        "`boxes[..., 0].clamp_()` of boxes that are slices of rows gives other boxes than the CPU "
        "with torch 2.4.1",
        f"{MPS}@2.4.1", Met.WRONG, Because.LAYOUT, _clipped,
        (torch.linspace(0, 3000, 36).view(6, 6),), ("aten::clamp_",),
    ),
)  # fmt: skip

_LEFT_OUT = {
    Why.KNOWN: """
        pytorch/pytorch#197636 pytorch/pytorch#170175 pytorch/pytorch#166746 keras-team/keras#21795
        pytorch/pytorch#175683 pytorch/pytorch#190050 pytorch/pytorch#136132 pytorch/pytorch#154171
        pytorch/pytorch#190052 pytorch/pytorch#173010 opendatalab/MinerU#260
        cornellius-gp/gpytorch#2748 pytorch/pytorch#151189
        ACEsuit/mace-foundations#14 pytorch/pytorch#141287 pytorch/pytorch#77764
        pytorch/pytorch#188335 pytorch/pytorch#197114 pytorch/pytorch#142836 pytorch/pytorch#180984
        pytorch/pytorch#144096 pytorch/pytorch#174115 pytorch/pytorch#173640 pytorch/pytorch#190056
        pytorch/pytorch#188756 pytorch/pytorch#155950 pytorch/pytorch#155475 pytorch/pytorch#187016
        pytorch/pytorch#187017 pytorch/pytorch#191694 pytorch/pytorch#184844 pytorch/pytorch#188359
        zhihanyue/ts2vec#33 huggingface/transformers#22468 pytorch/pytorch#98212
        pytorch/pytorch#178709 pytorch/pytorch#178724 pytorch/pytorch#143932 pytorch/pytorch#143949
        pytorch/pytorch#96610 h2oai/h2ogpt#464 dottxt-ai/outlines#196 huggingface/transformers#22502
        sbintuitions/flexeval#145 huggingface/transformers#25891 pytorch/pytorch#108148
        pytorch/pytorch#116095 pytorch/pytorch#144545 pytorch/pytorch#100005 pytorch/pytorch#149813
        pytorch/pytorch#114532 pytorch/pytorch#139960 myshell-ai/MeloTTS#228
        idiap/coqui-ai-TTS#248 index-tts/index-tts#351 Enemyx-net/VibeVoice-ComfyUI#109
        huggingface/transformers#44591 pytorch/pytorch#193389 pytorch/pytorch#189134
        pytorch/pytorch#195012 pytorch/pytorch#132732 pytorch/pytorch#96225 pytorch/pytorch#180201
        pytorch/pytorch#107214 pytorch/pytorch#97310 pytorch/pytorch#176879
        huggingface/diffusers#14459 huggingface/diffusers#11229 ultralytics/ultralytics#14658
        ultralytics/ultralytics#25782 ultralytics/ultralytics#8639 ultralytics/ultralytics#25496
        ultralytics/ultralytics#6670 ultralytics/ultralytics#6694 pytorch/pytorch#147510
    """,
    Why.NO_TARGET: """
        pytorch/pytorch#185515 HomericIntelligence/Odyssey#3391 Einsums/Einsums#258
        m4rs-mt/ILGPU#509 kulinseth/pytorch#203 pytorch/pytorch#96181 kulinseth/pytorch#41
        kulinseth/pytorch#22 ml-explore/mlx#4163 Oneflow-Inc/oneflow#9986 ml-explore/mlx#4411
        kulinseth/pytorch#243 pytorch/pytorch#84206 pytorch/pytorch#82921 pytorch/pytorch#77462
        pytorch/pytorch#82566 pytorch/pytorch#37996 candle-org/MindAct#658 pytorch/pytorch#1884
        pytorch/pytorch#571 pytorch/pytorch#1368 mindspore-ai/mindspore#271 pytorch/pytorch#17824
        pytorch/pytorch#86750 pytorch/pytorch#88554 pytorch/pytorch#91071 pytorch/executorch#22957
        pytorch/pytorch#91617 pytorch/pytorch#87856 pytorch/pytorch#5453 pytorch/pytorch#87780
        pytorch/pytorch#96164 pytorch/pytorch#79835 pytorch/pytorch#82305 pytorch/pytorch#78319
        pytorch/pytorch#84489 pytorch/pytorch#79112 pytorch/pytorch#69339 pytorch/pytorch#72056
        apple/coremltools#2421 apple/coremltools#2687 pytorch/pytorch#82819 pytorch/pytorch#78503
        invoke-ai/InvokeAI#2336 pyg-team/pytorch_geometric#6837 pytorch/pytorch#20962
        pytorch/pytorch#140802 pytorch/pytorch#86185 pytorch/pytorch#1662 pytorch/pytorch#133456
        pytorch/pytorch#78074 pytorch/pytorch#80155 pytorch/pytorch#34761 ml-explore/mlx#657
        ml-explore/mlx#2042 pytorch/pytorch#84736 pytorch/pytorch#82526 pytorch/pytorch#94933
        pytorch/pytorch#82401 pytorch/pytorch#91267 pytorch/pytorch#88532 pytorch/pytorch#92821
        pytorch/pytorch#92222 pytorch/executorch#6746 ultralytics/yolov5#10178
        ultralytics/yolov5#10641 lucadiliello/pytorch-apple-silicon-benchmarks#2
        tensorflow/tensorflow#12405 rs-station/careless#150
    """,
    Why.NO_PROGRAM: """
        pytorch/pytorch#187551 pytorch/pytorch#150024 cocoindex-io/cocoindex#2007
        crispitagorico/sigkernel#8 pytorch/pytorch#112998 chaofengc/IQA-PyTorch#190
        pytorch/pytorch#125832 pytorch/pytorch#94691 pytorch/pytorch#116601
        pytorch/pytorch#103343 coqui-ai/TTS#4124 idiap/coqui-ai-TTS#65
        huggingface/transformers#36413 huggingface/transformers#37317 pytorch/pytorch#117826
        pytorch/pytorch#96602 lllyasviel/FramePack#170 nagadomi/nunif#669
        AUTOMATIC1111/stable-diffusion-webui#6510 huggingface/diffusers#7563
        invoke-ai/InvokeAI#3671 invoke-ai/InvokeAI#7667 lllyasviel/Fooocus#3901
        pytorch/pytorch#148194 ultralytics/ultralytics#22250 ultralytics/hub#591
        ultralytics/ultralytics#21884 ultralytics/ultralytics#24222
        ultralytics/ultralytics#7807
    """,
    Why.UNCONFIRMED: """
        pytorch/pytorch#133182 pytorch/pytorch#144998 pytorch/pytorch#139723
        pytorch/pytorch#134951
    """,
    Why.NO_CALL: """
        ultralytics/ultralytics#26204 ml4t/models#4
        GuillaumeMougeot/biom3d#21 pytorch/pytorch#181503
        SkafteNicki/dtu_mlops#228 pytorch/pytorch#182867 CUNY-CL/yoyodyne#83
        tinygrad/tinygrad#15857 tinygrad/tinygrad#11728 chinokikiss/GSV-TTS-Lite#6
        pyg-team/pytorch_geometric#115 pyg-team/pytorch_geometric#726
        pyg-team/pytorch_geometric#4044 JiaxuanYou/P-GNN#15 Hanjun-Dai/GLN#2
        astaka-pe/Dual-DMP#6 pyg-team/pytorch_geometric#24
        benedekrozemberczki/GraphWaveletNeuralNetwork#4 ucuapps/OpenGlue#17
        JetBrains/MPS-extensions#632 JetBrains/MPS-extensions#1830 JetBrains/MPS-extensions#1848
        JetBrains/MPS-extensions#1432 mbeddr/mbeddr.formal#270 olcf/olcf-user-docs#1088
        JetBrains/MPS-extensions#440 JetBrains/MPS-extensions#319 bdwgc/bdwgc#965
        device-management-toolkit/deployment#624 JetBrains/MPS-extensions#1008
        exowarexyz/monorepo#69 masa-su/Tars#47 patperry/hs-gsl-random#2 idaholab/EMRALD#184
        IntelPython/dpnp#326 heydenberk/stochator#26 PGM-Lab/InferPy#47 UBC-Stat-ML/blangSDK#107
        algorithmfoundry/Foundry#68 miking-lang/miking-dppl#77 idaholab/moose#15780
    """,
}
LEFT_OUT = tuple(
    LeftOut(thread, why) for why, threads in _LEFT_OUT.items() for thread in threads.split()
)

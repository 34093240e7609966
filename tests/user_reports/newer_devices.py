"""What users of accelerators met that became targets last: Gaudi, MetaX, Biren, Rebellions, S60.

The searches name these vendors, their software and the projects that run on it.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  # as everybody writes it

from tests.user_reports.report import Because, LeftOut, Met, Report, Why

QUERIES = (
    "Gaudi HPU operator not supported error habana_frameworks.torch RuntimeError",
    "HabanaAI gaudi-pytorch-bridge issue operator fallback CPU hpu tensor",
    "MetaX C500 沐曦 MACA torch operator error mcPytorch flash attention not supported",
    "torch-rbln rebellions rbln device operator not implemented float16 error",
    "Biren 壁仞 BR100 BR104 torch_br supa operator error",
    "torch-rbln cpu fallback operator NPU dispatch fix wrong result rbln tensor",
    'optimum-habana workaround hpu "not supported" op int64 or float64 or bool, avoid cpu fallback '
    "dynamic shape",
    "HabanaAI vllm-fork HPU torch op crash wrong accuracy int64 topk sort bf16 synNodeCreateWithId",
    'habana gaudi aten operator hpu RuntimeError dtype "HPU" torch.fft complex double unsupported',
    "optimum-habana PR replace op that falls back to CPU on HPU (repeat_interleave, masked_select, "
    "nonzero, unique, bincount) improve performance",
    'vllm-gaudi HPU cpu fallback warning aten:: op fix "fallback" sampler penalties scatter_add '
    "bincount",
    "HabanaAI Model-References issue op not supported on hpu training loss NaN conv3d interpolate "
    "grid_sample",
    "RBLN-SW torch-rbln feat ops run on device instead of CPU fallback logical where cumsum gather "
    "int64",
    "vLLM-metax bug C500 RuntimeError operator torch maca 3.x model fails dtype fp8 not supported",
    "沐曦 C500 曦云 pytorch 模型 推理 训练 报错 算子 精度 问题 maca",
    "壁仞 BIREN BR106 BR166 supa backend pytorch support pull request tested torch_supa",
    "Torch-FL MetaX MACA operator wrong result or error vendor libtorch_cuda kernel fp32 bf16 "
    "issue",
    "FlagGems metax torch native operator bug skip accuracy test MetaX C550 torch 2.8 reference "
    "result wrong",
    "Gaudi2 hpu optimum-habana model output garbage or wrong, workaround masked_fill, index_put, "
    "cumsum, torch.finfo bf16",
    "milabench HPU gaudi failure aten operator not supported lazy mode",
    'rbln torch.compile "rbln" eager op unsupported dtype float32 int64 CPU fallback warning issue '
    "RBLN-SW",
    "vllm-hpu-extension avoid CPU fallback index_reduce index_add hpu bf16 op fix",
    "transformers or accelerate test on Gaudi HPU skip patch torch op int64 gather scatter "
    "synStatus 26 Graph compile failed",
    "rebel-chanheo torch-rbln fix op wrong result copy_ view slice in-place aliasing NPU numerical "
    "mismatch eager",
    "perf(rbln) CPU fast path rsqrt pow mean argmax embedding bool where native kernel replaces "
    "fallback torch-rbln",
    'Torch-FL MetaX hardware test failure aten op "cuda" boxing C500 conv sdpa scatter sort '
    "unsupported",
    "metax maca sglang OR lightllm OR LMDeploy OR xtuner C500 torch op not supported workaround "
    "pull request muxi",
    'torch.max bool tensor hpu fallback OR "falls back to CPU" HPU deepseek topk masked argmax '
    "gaudi optimization",
    "torch_supa Biren DeepSpeed OR sglang OR vllm SUPA device op falls back or dtype float64 "
    "unsupported",
    "Habana HPU complex64 rotary view_as_complex not supported on Gaudi, use real; diffusers flux "
    "hpu float64",
    'DeepSpeed OR PyTorch Lightning OR torchtune hpu Gaudi test skip "not supported on HPU" '
    "operator dtype float16 Gaudi1",
    "RBLN-SW torch-rbln sdpa layer_norm linear bfloat16 falls back host NaN overflow custom float16"
    " ATOM test skip",
    "Torch-FL MetaX C550 test_ops failing operator int64 matmul cudnn conv_transpose RNN LSTM "
    "ctc_loss mcdnn",
    "Biren SUPA GPU BR200 DeepSpeed training verified tests passed bf16 fp64 not supported",
    "Torch-FL Enflame GCU S60 topsaten operator fails or NaN or unsupported flagos",
    "燧原 Enflame S60 gcu torch_gcu 算子 报错 不支持",
)
GAUDI, ATOM, C550 = "habana-gaudi2@1.19.0", "rebellions-atom@0.2.0", "metax-c550@2.10.0"
COARSE, HALF = torch.bfloat16, torch.float16
SQUARE = torch.ones(64, 64, dtype=HALF)
PLACES = torch.tensor([[0, 2, 5], [1, 1, 3]])


def _largest(scores: Tensor, blocks: Tensor) -> Tensor:
    none = torch.full((3,), float("-inf"), dtype=scores.dtype, device=scores.device)
    return none.index_reduce_(0, blocks, scores, "amax")


def _cast(x: Tensor) -> Tensor:
    with torch.autocast(x.device.type, HALF):
        return x @ x


def _amped(x: Tensor, weight: Tensor) -> Tensor:
    with torch.autocast("cuda", HALF):
        return F.linear(x, weight)


class Painter(nn.Module):
    """A block of a transformer for images, as FLUX has it."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = nn.Linear(32, 96, dtype=COARSE)
        self.less, self.more = (nn.Linear(*size, dtype=COARSE) for size in ((32, 4), (4, 32)))

    def forward(self, x: Tensor, scale: Tensor) -> Tensor:
        normed = F.layer_norm(x, (32,)) * (1 + scale)
        query, key, value = (
            part.unflatten(-1, (2, 16)).transpose(1, 2) for part in self.asked(normed).chunk(3, -1)
        )
        seen = F.scaled_dot_product_attention(query, key, value).transpose(1, 2).flatten(2)
        found: Tensor = x + seen + self.more(self.less(F.gelu(seen, approximate="tanh")))
        return found


class Digits(nn.Module):
    """The first network of a tutorial."""

    def __init__(self) -> None:
        super().__init__()
        self.seen, self.named = nn.Conv2d(1, 4, 3), nn.Linear(36, 10)

    def forward(self, x: Tensor, digits: Tensor) -> Tensor:
        found = F.max_pool2d(F.relu(self.seen(x)), 2).flatten(1)
        return F.nll_loss(F.log_softmax(self.named(found), 1), digits)


class Halved(nn.Module):
    """What a test of an optimizer trains."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(16, 16, dtype=COARSE), nn.Linear(16, 4, dtype=COARSE))

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return F.cross_entropy(self.layers(x), y)


PAINTED = (torch.ones(1, 8, 32, dtype=COARSE), torch.ones(1, 1, 32, dtype=COARSE))
PAINTS = ("aten::linear", "aten::layer_norm", "aten::scaled_dot_product_attention", "aten::gelu")
REPORTS = (
    Report(
        "Gaudi: bags of embeddings", "HabanaAI/gaudi-pytorch-bridge#2", 1,
        "`nn.EmbeddingBag` runs on the CPU with everything on the device, in March 2025",
        GAUDI, Met.ON_THE_HOST, Because.NO_KERNEL,
        nn.EmbeddingBag(8, 4), (PLACES,),
        ("aten::embedding_bag", "aten::_embedding_bag", "aten::_embedding_bag_forward_only"),
    ),
    Report(
        "Gaudi: places that lie on the host", "huggingface/optimum-habana#1998", 1,
        "`index.Tensor_out` runs on the CPU where the places are a tensor of the host",
        GAUDI, Met.ON_THE_HOST, Because.OTHER,
        lambda boxes: boxes[torch.tensor([0, 1])], (torch.ones(4, 4),), ("aten::index",),
    ),
    Report(
        "ATOM: a range of integers", "RBLN-SW/torch-rbln#55", 5,
        "`arange.start_out` falls to the CPU, until a pull request of May 2026",
        ATOM, Met.ON_THE_HOST, Because.NO_KERNEL,
        lambda x: torch.arange(8, device=x.device), (SQUARE,), ("aten::arange",),
    ),
    Report(
        "Gaudi: the largest of booleans", "HabanaAI/vllm-fork#970", 6,
        "`max` of a boolean tensor runs on the CPU, and of int32 does not, in March 2025",
        GAUDI, Met.ON_THE_HOST, Because.DTYPE,
        lambda x: (x == 0).max(1).indices, (torch.ones(4, 8),), ("aten::max",),
    ),
    Report(
        "ATOM: probabilities of float32", "RBLN-SW/vllm-rbln#1061", 12,
        "what is not of half precision runs on the CPU, the softmax of rejected drafts among it",
        ATOM, Met.ON_THE_HOST, Because.DTYPE,
        lambda x: torch.softmax(x, -1), (torch.ones(2, 64),), ("aten::softmax", "aten::_softmax"),
    ),
    Report(
        "ATOM: rows joined", "RBLN-SW/torch-rbln#49", 12,
        "`cat` and `index_select` fall to the CPU, until a pull request of May 2026",
        ATOM, Met.ON_THE_HOST, Because.NO_KERNEL,
        lambda x: torch.cat((x, x)), (SQUARE,), ("aten::cat",),
    ),
    Report(
        "C550: products of float32", "flagos-ai/Torch-FL#253", 14,
        "the vendor's `mm` and `bmm` of float32 are off by a thousandth, with MACA 3.8",
        C550, Met.SLOW, Because.DTYPE,
        torch.mm, (torch.ones(64, 64), torch.ones(64, 64)), ("aten::mm",),
    ),
    Report(
        "Gaudi 3: int64 gathered", "huggingface/transformers#39175", 18,
        "`gather` does not work with int64 on Gaudi 3, so that transformers patches it, in 2025",
        "habana-gaudi3@1.19.0", Met.REFUSED, Because.DTYPE,
        lambda x: x.gather(1, x), (PLACES.clamp(max=2),), ("aten::gather",),
    ),
    Report(
        "ATOM: products under autocast", "RBLN-SW/torch-rbln#157", 20,
        "`matmul` has no kernel of Autocastrbln, until autocast turns itself off in July 2026",
        ATOM, Met.REFUSED, Because.OTHER, _cast, (torch.ones(64, 64),),
        ("aten::matmul", "aten::mm", "aten::_to_copy"),
    ),
    Report(
        "ATOM: sizes in int32", "RBLN-SW/torch-rbln#83", 20,
        "`sub`, `mul` and `clamp` of integers fall to the CPU",
        ATOM, Met.ON_THE_HOST, Because.DTYPE,
        lambda sizes: (sizes * 2 - 1).clamp(0), (torch.ones(8, dtype=torch.int32),),
        ("aten::mul", "aten::sub", "aten::clamp"),
    ),
    Report(
        "Gaudi: the largest of blocks, in half", "HabanaAI/vllm-fork#1004", 21,
        "`index_reduce` of float16 is cast to float32 first, until April 2025, for the CPU's sake",
        GAUDI, Met.ON_THE_HOST, Because.DTYPE,
        _largest, (torch.ones(4, dtype=HALF), torch.tensor([0, 0, 1, 2])),
        ("aten::index_reduce", "aten::index_reduce_"),
    ),
    Report(
        "ATOM: a tensor filled", "RBLN-SW/torch-rbln#58", 24,
        "`fill_` falls to the CPU three thousand times while Llama writes, in May 2026",
        ATOM, Met.ON_THE_HOST, Because.NO_KERNEL,
        lambda x: torch.empty_like(x).fill_(0.5), (SQUARE,), ("aten::fill_",),
    ),
    Report(
        "ATOM: sums of half", "RBLN-SW/torch-rbln#19", 24,
        "an addition of 1024 numbers of float16 runs on the device, measured in April 2026",
        ATOM, Met.WORKS, Because.OTHER,
        torch.add, (torch.ones(1024, dtype=HALF), torch.ones(1024, dtype=HALF)), ("aten::add",),
    ),
    Report(
        "C550: attention of a prompt", "flagos-ai/Torch-FL#394", 25,
        "the build has neither flash nor memory-efficient attention: it is taken apart",
        C550, Met.SLOW, Because.NO_KERNEL,
        lambda x: F.scaled_dot_product_attention(x, x, x), (torch.ones(1, 2, 512, 64, dtype=HALF),),
        ("aten::scaled_dot_product_attention", "aten::_scaled_dot_product_attention_math"),
    ),
    Report(
        "C550: autocast", "flagos-ai/Torch-FL#146", 25,
        "autocast to float16 and bfloat16 passes its tests with MACA 3.8, in August 2026",
        C550, Met.WORKS, Because.OTHER, _amped, (torch.ones(2, 8), torch.ones(8, 8)),
        ("aten::linear", "aten::addmm", "aten::mm", "aten::_to_copy"),
    ),
    Report(
        "C500: a product with a transpose", "xLLM-AI/xllm#1851", 26,
        "`x @ x.t()` runs on a C500 as on a GPU of CUDA, tried in 2026",
        "metax-c500@2.8.0", Met.WORKS, Because.OTHER,
        lambda x: x @ x.t(), (torch.ones(2, 3),), ("aten::matmul", "aten::mm"),
    ),
    Report(
        "Gaudi: FLUX", "huggingface/optimum-habana#1450", 29,
        "FLUX of diffusers 0.31 passes its tests on Gaudi 2 in October 2024",
        "habana-gaudi2@1.18.0", Met.WORKS, Because.OTHER, Painter(), PAINTED, PAINTS,
    ),
    Report(
        "Gaudi: FLUX, trained", "huggingface/optimum-habana#1482", 29,
        "FLUX learns a dog by LoRA on Gaudi 2 in November 2024",
        "habana-gaudi2@1.18.0", Met.WORKS, Because.OTHER, Painter(), PAINTED,
        (*PAINTS, "aten::gelu_backward", "aten::native_layer_norm_backward"), training=True,
    ),
    Report(
        "Gaudi: digits", "HabanaAI/Gaudi-tutorials#10", 30,
        "the first tutorial trains on Gaudi 2 in March 2024, where Lightning does not find it",
        "habana-gaudi2@1.18.0", Met.WORKS, Because.OTHER,
        Digits(), (torch.ones(2, 1, 8, 8), torch.tensor([3, 7])),
        ("aten::conv2d", "aten::max_pool2d", "aten::linear", "aten::nll_loss",
         "aten::convolution_backward", "aten::nll_loss_backward"), training=True,
    ),
    Report(
        "ATOM: attention of 16 tokens", "RBLN-SW/torch-rbln#279", 31,
        "attention of 16 tokens runs on the CPU: its kernel wants lengths that 32 divides",
        ATOM, Met.ON_THE_HOST, Because.SHAPE,
        lambda x: F.scaled_dot_product_attention(x, x, x), (torch.ones(1, 2, 16, 64, dtype=HALF),),
        ("aten::scaled_dot_product_attention", "aten::_scaled_dot_product_attention_math"),
    ),
    Report(
        "BR2xx: a layer trained", "deepspeedai/DeepSpeed#8054", 33,
        "DeepSpeed's tests of Adam, ZeRO and autocast pass on SUPA in June 2026",
        "biren-br2xx@1.0.0.21000", Met.WORKS, Because.OTHER,
        Halved(), (torch.ones(4, 16, dtype=COARSE), torch.tensor([0, 1, 2, 3])),
        ("aten::linear", "aten::cross_entropy_loss", "aten::addmm", "aten::mm"), training=True,
    ),
    Report(
        "S60: a convolution", "flagos-ai/Torch-FL#160", 34,
        "under Torch-FL the route of convolutions is missing, until a pull request of August 2026",
        "enflame-s60@0.1.0", Met.REFUSED, Because.NO_KERNEL,
        nn.Conv2d(1, 4, 3, dtype=HALF), (torch.ones(1, 1, 8, 8, dtype=HALF),),
        ("aten::conv2d", "aten::convolution", "aten::convolution_overrideable"),
    ),
)  # fmt: skip
_LEFT_OUT = {
    Why.KNOWN: """
        bytedance/xpu-perf#34 hiyouga/LlamaFactory#7275 instructlab/instructlab#965
        huggingface/optimum-habana#1314 vllm-project/vllm#6143 huggingface/diffusers#11328
        cornell-brg/hb-pytorch#103 intel/torch-xpu-ops#48 intel/torch-xpu-ops#57
        DeepLink-org/deeplink.framework#381 intel/torch-xpu-ops#206
        huggingface/optimum-habana#1979 intel/torch-xpu-ops#172 intel/torch-xpu-ops#2853
        intel/torch-xpu-ops#2344 Dao-AILab/flash-attention#1540 RBLN-SW/torch-rbln#43
        RBLN-SW/torch-rbln#85 skot/bitaxe#182 hiyouga/LlamaFactory#4836 RBLN-SW/torch-rbln#5
        tenstorrent/tt-metal#6888 intel/intel-extension-for-tensorflow#60
        ljleb/prompt-fusion-extension#79 vllm-project/vllm-xpu-kernels#473
        intel/torch-xpu-ops#2615 intel/torch-xpu-ops#2673 Project-MONAI/research-contributions#253
        intel/torch-xpu-ops#2617 intel/torch-xpu-ops#2616 pytorch/pytorch#70664
        ROCm/torch_migraphx#123 InfiniTensor/InfiniCore#1303 NVIDIA/TensorRT#1408
        vllm-project/vllm-ascend#5017 nod-ai/AMD-SHARK-ModelDev#684 vllm-project/vllm#28856
        PaddlePaddle/PaddleX#4768 flagos-ai/FlagGems#5988 OpenBMB/MiniCPM-V#96
        MetaX-MACA/vLLM-metax#49 flagos-ai/Torch-FL#4 ACEsuit/mace#600 MetaX-MACA/vLLM-metax#146
        flagos-ai/FlagGems#2811 flagos-ai/FlagGems#5337 flagos-ai/FlagGems#974
        flagos-ai/Torch-FL#283 intel/torch-xpu-ops#2298 huggingface/transformers#36424
        huggingface/optimum-habana#961 bytedance/xpu-perf#141 sgl-project/sglang#5252
        RBLN-SW/torch-rbln#240 vllm-project/vllm#10897 pytorch/pytorch#191571
        pytorch/pytorch#138908 intel/torch-xpu-ops#302 meta-llama/llama-models#164
        huggingface/hf-nix#102 tinygrad/tinygrad#3007 huggingface/optimum-habana#1331
        deepspeedai/DeepSpeed#6723 Ascend/DeepSpeed#1 kijai/ComfyUI-HunyuanVideoWrapper#364
        Comfy-Org/ComfyUI#14623 zhihu/ZhiLight#15
    """,
    Why.NO_CALL: """
        huggingface/tgi-gaudi#93 HabanaAI/vllm-fork#627 black-forest-labs/flux#422
        huggingface/sentence-transformers#3249 AI4Bharat/IndicTrans2#69
        kijai/ComfyUI-CogVideoXWrapper#97 RBLN-SW/torch-rbln#186 RBLN-SW/torch-rbln#109
        RBLN-SW/torch-rbln#112 RBLN-SW/torch-rbln#211 RBLN-SW/torch-rbln#37 RBLN-SW/torch-rbln#182
        RBLN-SW/torch-rbln#114 RBLN-SW/torch-rbln#121 RBLN-SW/torch-rbln#161
        RBLN-SW/torch-rbln#244 bempp/bempp-cl#108 atticus-lv/super_io#32 pytorch/pytorch#45774
        LeCAR-Lab/BFM-Zero#10 JonasGeiping/breaching#24 broadinstitute/CellBender#104
        NHERI-SimCenter/BRAILS#127 IEIT-Yuan/Yuan-2.0#50 pytorch/executorch#188
        bigtreetech/docs#103 vllm-project/vllm-omni#6792 paiml/entrenar#239 RBLN-SW/vllm-rbln#382
        alibaba/heterogeneity-aware-lowering-and-optimization#728 secretflow/mplang#393
        microsoft/nn-Meter#18 maekawatoshiki/altius#7 HabanaAI/vllm-fork#609
        HabanaAI/vllm-fork#183 HabanaAI/vllm-fork#27 HabanaAI/vllm-fork#2006
        HabanaAI/vllm-fork#163 pytorch/pytorch#34602 pytorch/pytorch#33963 pytorch/pytorch#33269
        vllm-project/vllm#22591 aria1th/Hypernetwork-MonkeyPatch-Extension#50
        RBLN-SW/vllm-rbln#548 InfiniTensor/InfiniCore#282 mlcommons/inference_results_v3.0#14
        open-mmlab/mmpretrain#1592 flagos-ai/vllm-plugin-FL#530 sgl-project/sglang#30607
        DeepLink-org/ditorch#20 sgl-project/sglang#30605 hexane360/phaser#31
        iree-org/iree-torch#10 zj-zhang/AMBER#33 exo-explore/exo#1284 pytorch/pytorch#34451
        MetaX-MACA/vLLM-metax#48 MetaX-MACA/mcPytorch#3 google/gemmlowp#145
        huggingface/optimum-intel#654 mila-iqia/milabench#232 HabanaAI/vllm-fork#389
        alibaba/GraphScope#490 Aquila-Network/aquila#70 HabanaAI/vllm-fork#363
        zama-ai/tfhe-rs#2862 LMCache/LMCache#1066 opea-project/GenAIInfra#831 RBLN-SW/vllm-rbln#64
        RBLN-SW/optimum-rbln#673 huggingface/diffusers#11085 sgl-project/sglang#22747
        Lightning-AI/lightning-thunder#1780 PaddlePaddle/Research#163
        Lightning-AI/lightning-thunder#427 MetaX-MACA/vLLM-metax#2 huggingface/hf-nix#95
        ModelTC/LightLLM#1198 InternLM/lmdeploy#2636 zama-ai/concrete-ml#798 pytorch/pytorch#8817
        pytorch/executorch#16633 vllm-project/vllm#40778 pytorch/serve#3365
        huggingface/diffusers#11479 huggingface/diffusers#2734
        intel/intel-extension-for-transformers#532 HabanaAI/vllm-hpu-extension#91
        vllm-project/vllm-gaudi#10 intel/intel-extension-for-transformers#458
        Lightning-AI/pytorch-lightning#11808 Lightning-AI/pytorch-lightning#17067
        Lightning-AI/pytorch-lightning#10404
        agorevski/A1.5_Smart_Contract_Bytecode_To_Code_Generator#38 OliBomby/Mapperatorinator#77
        EleutherAI/DeeperSpeed#31 OpenBMB/BMTrain#136 flagos-ai/FlagCX#544 flagos-ai/Torch-FL#115
        flagos-ai/FlagCX#546 flagos-ai/vllm-plugin-FL#277 flagos-ai/Torch-FL#102
        hiyouga/LlamaFactory#8085 nunchux-ai/nunchaku#183 nunchux-ai/nunchaku#162
    """,
    Why.NO_PROGRAM: """
        huggingface/transformers#36990 HabanaAI/vllm-fork#1165 mila-iqia/milabench#303
        huggingface/optimum-habana#2311 HabanaAI/vllm-hpu-extension#15
        huggingface/optimum-habana#1666 HabanaAI/vllm-fork#484 HabanaAI/vllm-fork#776
        vllm-project/vllm#16047 HabanaAI/vllm-fork#1005 HabanaAI/vllm-hpu-extension#151
        huggingface/transformers#38363 huggingface/accelerate#3378 intel/llm-on-ray#160
        MetaX-MACA/vLLM-metax#144 intel/llm-scaler#287 pytorch/pytorch#132226
        intel/torch-xpu-ops#4397 intel/torch-xpu-ops#2257 intel/torch-xpu-ops#2248
        intel/torch-xpu-ops#1432 intel/torch-xpu-ops#2110 intel/torch-xpu-ops#363
        intel/torch-xpu-ops#1864 HabanaAI/vllm-fork#1657 huggingface/optimum-habana#1279
        vllm-project/vllm#9215 vllm-project/vllm#6462 HabanaAI/vllm-fork#198
    """,
    Why.NO_TARGET: """
        flagos-ai/sglang-plugin-FL#88 flagos-ai/sglang-plugin-FL#82 flagos-ai/sglang-plugin-FL#76
        flagos-ai/vllm-plugin-FL#532 HabanaAI/Model-References#19 RBLN-SW/torch-rbln#272
        RBLN-SW/torch-rbln#230 flagos-ai/Torch-FL#248 candle-org/MindAct#2451
        microsoft/DirectML#702 hailo-ai/hailo_model_zoo#136 tenstorrent/pytorch2.0_ttnn#470
        tenstorrent/tt-metal#20038 PaddlePaddle/PaddleCustomDevice#708
        PaddlePaddle/PaddleCustomDevice#704 PaddlePaddle/PaddleCustomDevice#712
        PaddlePaddle/PaddleCustomDevice#1812 pytorch/pytorch#105209 tensorflow/models#11121
        keras-team/keras-core#611 apache/mxnet#11568 Jittor/jittor#277 Oneflow-Inc/oneflow#8360
        alibaba/BladeDISC#1316 HuguesTHOMAS/KPConv#33 huggingface/candle#3607 tracel-ai/burn#4181
        stew675/llama-cpp-rdna-boosts#3 InfiniTensor/InfiniCore#312 InfiniTensor/InfiniCore#645
        InfiniTensor/InfiniCore#481 InfiniTensor/InfiniTensor#305 opencv/opencv#22623
        ai-bond/flash-attention-v100#19 pytorch/pytorch#25287 pytorch/pytorch#7154
        pytorch/pytorch#45002 pytorch/pytorch#14368 openvinotoolkit/openvino#30660
        aigc-apps/sd-webui-EasyPhoto#389 mauriceqch/pcc_geo_cnn#1 nod-ai/AMD-SHARK-Studio#332
        securefederatedai/openfederatedlearning#1524 PaddlePaddle/X2Paddle#1099 BlinkDL/ChatRWKV#7
        huggingface/transformers#21989 vllm-project/vllm#27971 vllm-project/vllm#15044
        microsoft/onnxruntime#28442 microsoft/onnxruntime#24915
    """,
    Why.OTHERS: """
        flagos-ai/FlagGems-vllm#282 flagos-ai/FlagGems-vllm#283 kijai/ComfyUI-SUPIR#161
        flagos-ai/FlagGems#2386 flagos-ai/FlagGems#2389 flagos-ai/FlagGems#4264
        flagos-ai/FlagGems#719 flagos-ai/FlagGems#2018 flagos-ai/FlagGems#4088
        flagos-ai/FlagGems#4926 flagos-ai/FlagGems-vllm#620 flagos-ai/FlagGems#4972
        flagos-ai/FlagGems#5517 flagos-ai/sglang-plugin-FL#50 flagos-ai/vllm-plugin-FL#172
        flagos-ai/vllm-plugin-FL#241 vllm-project/vllm#21648 vllm-project/vllm#49584
        vllm-project/vllm#39610 vllm-project/tpu-inference#1262 hiyouga/LlamaFactory#7438
        vllm-project/vllm#15336 vllm-project/vllm#51305 vllm-project/vllm#13053
        HabanaAI/vllm-fork#462 HabanaAI/vllm-fork#20 HabanaAI/vllm-fork#69 HabanaAI/vllm-fork#333
        HabanaAI/vllm-fork#365 huggingface/optimum-habana#1935 pytorch/pytorch#174069
        pytorch/pytorch#143848 pytorch/pytorch#185970 pytorch/pytorch#170688
        pytorch/pytorch#147255 pytorch/pytorch#191002 pytorch/pytorch#190206
        pytorch/pytorch#165738 pytorch/pytorch#195192 isayevlab/aimnetcentral#109
        intel/intel-xpu-backend-for-triton#6224 MinghuasLab/flash-attention-npu#70
        vllm-project/vllm-ascend#7198 vllm-project/vllm-ascend#14158 xLLM-AI/xllm#2055
        laekov/fastmoe#171 ROCm/apex#21 AMD-AGI/Primus-Turbo#47 facebookincubator/AITemplate#191
        deepseek-ai/DeepGEMM#233 sgl-project/sglang#11068 vllm-project/vllm#29107
        Dao-AILab/flash-attention#135 if-ai/ComfyUI-IF_Trellis#40 junjie18/CMT#9
        RBLN-SW/vllm-rbln#594 RBLN-SW/torch-rbln#250 RBLN-SW/torch-rbln#246
        dusty-nv/jetson-containers#704 vllm-project/vllm#12440 vllm-project/vllm#14218
    """,
    Why.UNCONFIRMED: """
        pytorch/pytorch#166401 google-research/l2p#24
    """,
}
LEFT_OUT = tuple(
    LeftOut(thread, why) for why, threads in _LEFT_OUT.items() for thread in threads.split()
)

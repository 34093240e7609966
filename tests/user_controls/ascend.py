"""What users and the vendor's tests saw running on Ascend NPUs."""

from functools import partial

import torch
import torchvision
from torch import nn
from torch.nn import functional as F  # noqa: N812  # as everybody writes it

from tests.user_controls.control import FALLS_BACK, Control, Learned
from tests.user_controls.models import GROUPED, IDS, SIZES, dit, language, unet

SAME_HEADS = {**SIZES, "num_key_value_heads": 4, "head_dim": 8}
"""As users had it: Vicuna has no groups, and ChatGLM3's own code repeats them before attention."""
X = torch.linspace(-1, 1, 24).view(2, 3, 4)
VOLUME = X.view(1, 2, 2, 2, 3)
PICTURE = X.view(1, 2, 3, 4)
HALF = X.half()
BOXES = torch.tensor([[0.0, 0.0, 4.0, 4.0], [1.0, 1.0, 5.0, 5.0], [8.0, 8.0, 9.0, 9.0]])
SCORES = torch.tensor([0.9, 0.8, 0.7])
TESTS = "Ascend/op-plugin:test/test_base_ops/test_"
B = "ascend-910b"

OPERATORS = (
    Control(
        "NPU: _add_relu", B, f"{TESTS}add_relu.py", partial(torch._VF._add_relu, alpha=1), (X, X)
    ),
    Control("NPU: arctan2", B, f"{TESTS}arctan2.py", torch.arctan2, (HALF, HALF[0, 0])),
    Control(
        "NPU: BatchNorm3d, trained", B, f"{TESTS}batchnorm3d_backward.py",
        nn.BatchNorm3d(2), (VOLUME,), train=True,
    ),
    Control(
        "NPU: constant_pad_nd", B, f"{TESTS}constant_pad_nd%20copy.py",
        lambda x: torch.constant_pad_nd(x, (1, 1, 2, 0), 1.0), (HALF,),
    ),
    Control("NPU: cumsum", B, f"{TESTS}cumsum.py", lambda x: x.cumsum(1), (HALF,)),
    Control(
        "NPU: Embedding, trained", B, f"{TESTS}embeddingdensebackward.py",
        nn.Embedding(40, 32), (IDS,), train=True,
    ),
    Control(
        "NPU: _foreach_abs", B, f"{TESTS}foreach_abs.py",
        lambda x: torch._foreach_abs([x, x[0]]), (X.bfloat16(),),
    ),
    Control(
        "NPU: _foreach_tan", B, f"{TESTS}foreach_tan.py",
        lambda x: torch._foreach_tan([x, x[0]]), (X,),
    ),
    Control(
        "NPU: grid_sampler_2d", B, f"{TESTS}grid_sampler_2d.py",
        lambda x, grid: torch.grid_sampler_2d(x, grid, 0, 0, True), (PICTURE, X.view(1, 4, 3, 2)),
    ),
    Control(
        "NPU: l1_loss, trained", B, f"{TESTS}l1_loss_backward.py",
        Learned(F.l1_loss, X), (X + 1,), train=True,
    ),
    Control("NPU: logaddexp2", B, f"{TESTS}log_add_exp2.py", torch.logaddexp2, (HALF, HALF)),
    Control(
        "NPU: masked_select", B, f"{TESTS}masked_select.py",
        lambda x: torch.masked_select(x, x > 0), (X,),
    ),
    Control(
        "NPU: min, trained", B, f"{TESTS}min_backward.py",
        Learned(torch.min, HALF), (HALF * 2,), train=True,
    ),
    Control("NPU: neg", B, f"{TESTS}neg.py", torch.neg, (X,)),
    Control("NPU: pow", B, f"{TESTS}pow.py", torch.pow, (HALF.abs(), HALF)),
    Control("NPU: rsub", B, f"{TESTS}rsub.py", torch.rsub, (X.int(), X.int())),
    Control(
        "NPU: slow_conv3d, trained", B, f"{TESTS}slow_conv3d_backward.py",
        Learned(
            lambda weight, x: torch.ops.aten.slow_conv3d(x, weight, (1, 2, 2)),
            torch.ones(3, 2, 1, 2, 2),
        ),
        (VOLUME,), train=True,
    ),
    Control(
        "NPU: std with a fraction as correction", B, f"{TESTS}std_var_fractional_correction.py",
        lambda x: torch.std(x, dim=1, correction=0.5), (X[0],),
    ),
    Control(
        "NPU: tril_indices", B, f"{TESTS}tril_indices.py",
        lambda x: torch.tril_indices(3, 4, device=x.device), (X,),
    ),
    Control(
        "NPU: upsample_nearest2d", B, f"{TESTS}upsample_nearest2d.py",
        lambda x: F.interpolate(x, (10, 10), mode="nearest"), (PICTURE.half(),),
    ),
    Control(
        "950: max_pool2d with indices", "ascend-950",
        "Ascend/op-plugin:test/test_v1r11_ops/test_max_pool2d_with_indices.py",
        lambda x: F.max_pool2d(x, 3, 2, 1, return_indices=True), (torch.ones(26, 16, 43),),
    ),
)  # fmt: skip

MODELS = (
    Control(
        "910B: a diffusion transformer", B, "facebookresearch/DiT#76", dit,
        (torch.ones(1, 4, 8, 8), torch.tensor([5]), torch.tensor([7])), build=True,
    ),
    Control(
        "910B: Stable Diffusion", B, "Comfy-Org/ComfyUI#6794", partial(unet, torch.float16),
        (torch.ones(1, 4, 8, 8).half(), torch.tensor([5]), torch.ones(1, 4, 16).half()), build=True,
    ),
    Control(
        "910B: isin, of torch_npu 2.3", "ascend-910b@6.0.0", "hiyouga/LlamaFactory#6671",
        torch.isin, (IDS, torch.tensor([2, 3])), seen=FALLS_BACK,
    ),
    Control(
        "910A: nms", "ascend-910a@6.0.0", "ultralytics/ultralytics#13269",
        lambda boxes, scores: torchvision.ops.nms(boxes, scores, 0.5), (BOXES, SCORES),
        seen=FALLS_BACK,
    ),
    Control(
        "310P: Vicuna", "ascend-310p@6.0.0", "lm-sys/FastChat#3532",
        lambda: language("LlamaForCausalLM", **SIZES).half(), (IDS,), build=True,
    ),
    Control(
        "310P: ChatGLM3", "ascend-310p@6.0.0", "lm-sys/FastChat#3532",
        lambda: language("GlmForCausalLM", **SAME_HEADS, partial_rotary_factor=0.5).half(), (IDS,),
        build=True,
    ),
    Control(
        "310P: classes by Qwen2.5", "ascend-310p",
        "vllm-project/vllm-ascend:tests/e2e/pull_request/one_card/_310p/test_classification_310p.py",
        lambda: language("Qwen2ForSequenceClassification", **GROUPED).half(), (IDS,), build=True,
    ),
    Control(
        "310P: vectors by Qwen3", "ascend-310p",
        "vllm-project/vllm-ascend:tests/e2e/pull_request/one_card/_310p/test_embedding_310p.py",
        lambda: language("Qwen3Model", **GROUPED).half(), (IDS,), build=True,
    ),
)  # fmt: skip

ASCEND = (*OPERATORS, *MODELS)

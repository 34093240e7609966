"""Attention without its fused kernel: the rule, and options of libraries that do the same."""

import pytest
import torch
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention as attend

from opcheck.db.store import Database
from opcheck.model.plan import Suggestion
from opcheck.model.target import TargetSpec
from opcheck.rewrite.call import Call
from opcheck.rewrite.library_options import ATTENTION, RULE, SUMMARY
from opcheck.rewrite.live_shim import refused, traced
from opcheck.rewrite.planner import Planner
from opcheck.rewrite.record import Recorder
from opcheck.rewrite.rules.attention import (
    AttentionByProducts,
    AttentionWithDropoutByProducts,
    attention,
)
from opcheck.trace.running.model_state import forget
from opcheck.trace.torch_internals.dispatcher import overload_named
from tests.lang.told import in_chinese
from tests.rewrite.reasons import reads

DATABASE = Database.open()
Q, K, V = (torch.randn(2, heads, 6, 8) for heads in (4, 2, 2))


def planned(module: nn.Module, target: str, *inputs: Tensor) -> list[Suggestion]:
    """Suggestions for the attention of a module."""
    matrix = DATABASE.matrix(DATABASE.resolve(TargetSpec.parse(target)))
    trace = traced(module, inputs, {}, matrix)
    try:
        plans = Planner(trace, Recorder(matrix.target.device_type, matrix.casts)).plan(matrix)
    finally:
        forget()
    found = [way for plan in plans for way in plan.suggestions if way.replaces == ATTENTION]
    return list(dict.fromkeys(found))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_masks_causal_and_shared_heads_are_as_the_operator_has_them(dtype: torch.dtype) -> None:
    q, k, v = (x.to(dtype) for x in (Q, K, V))
    mask = torch.ones(6, 6, dtype=torch.bool).tril(1)
    for more in ({}, {"is_causal": True}, {"attn_mask": mask}, {"attn_mask": q[0, 0] @ q[0, 0].T}):
        for scale in (None, 0.25):
            wanted = attend(q, k, v, **more, scale=scale, enable_gqa=True)
            found = attention(q, k, v, **more, scale=scale, enable_gqa=True)
            torch.testing.assert_close(found, wanted, rtol=1e-3, atol=4 * torch.finfo(dtype).eps)


def test_a_query_that_sees_no_key_gives_zeros_and_gets_no_gradient() -> None:
    q = Q[:, :2].clone().requires_grad_()
    seen = torch.ones(6, 6, dtype=torch.bool)
    seen[3] = False
    for mask in (seen, torch.zeros(6, 6).masked_fill(~seen, -torch.inf)):
        found = attention(q, K, V, mask)
        torch.testing.assert_close(found, attend(q, K, V, mask))
        assert found[:, :, 3].eq(0).all()
        (gradient,) = torch.autograd.grad(found.sum(), q)
        assert gradient.isfinite().all()
        assert gradient[:, :, 3].eq(0).all()


def test_dropout_takes_weights_away_and_makes_the_others_larger() -> None:
    torch.manual_seed(0)
    values = torch.eye(6).expand(2, 4, 6, 6)
    weights, dropped = attention(Q, Q, values), attention(Q, Q, values, dropout_p=0.5)
    gone = dropped == 0
    assert 0.3 < float(gone.double().mean()) < 0.7
    torch.testing.assert_close(dropped[~gone], 2 * weights[~gone])


def test_what_a_rule_leaves_is_told() -> None:
    func = overload_named(ATTENTION)
    mask = torch.ones(6, 6, dtype=torch.bool)

    def refuses(*args: object, **kwargs: object) -> str:
        return AttentionByProducts().refuses(Call(func, (Q, Q, Q, *args), kwargs))

    reads(refuses(None, 0.5), "which weights dropout takes away is drawn")
    reads(refuses(mask, 0.0, True), "it is causal, and has a mask as well")
    reads(refuses(scale=-1.0), "the scale is negative")
    empty = Call(func, (Q, Q[:, :, :0], Q[:, :, :0]), {})
    reads(AttentionByProducts().refuses(empty), "there are no keys")
    whole = Call(func, (Q.long(), Q, Q), {})
    reads(AttentionByProducts().refuses(whole), "the queries are no dense floating-point numbers")
    plain = Call(func, (Q, Q, Q), {})
    reads(AttentionWithDropoutByProducts().refuses(plain), "it has no dropout")


class Attention(nn.Module):
    def __init__(self, *kernels: SDPBackend) -> None:
        super().__init__()
        self.kernels = list(kernels)

    def forward(self, x: Tensor) -> Tensor:
        with sdpa_kernel(self.kernels):
            return attend(x, x, x)


@pytest.mark.slow
def test_where_pytorch_chooses_among_kernels_its_math_is_the_first_advice() -> None:
    ways = planned(Attention(SDPBackend.FLASH_ATTENTION), "nvidia-a100", Q)
    assert [way.rule for way in ways] == [RULE, "attention-by-products"]
    reads(
        ways[0].summary,
        "Call it inside torch.nn.attention.sdpa_kernel(SDPBackend.MATH): PyTorch then multiplies "
        "and takes the softmax itself",
    )
    assert planned(Attention(SDPBackend.MATH), "nvidia-a100", Q) == []


def vision(fused: bool) -> nn.Module:
    import timm.layers

    timm.layers.set_fused_attn(fused)
    try:
        model: nn.Module = timm.create_model("vit_tiny_patch16_224", depth=1).eval()
        return model
    finally:
        timm.layers.set_fused_attn(True)


@pytest.mark.slow
def test_timm_has_an_option_that_asks_for_no_attention() -> None:
    image = torch.randn(1, 3, 224, 224)
    ways = planned(vision(True), "ascend-950", image)
    assert [way.rule for way in ways] == [RULE, "attention-by-products"]
    reads(
        ways[0].summary,
        "Call timm.layers.set_fused_attn(False) before the model is made: timm then multiplies "
        "and takes the softmax itself",
    )
    assert unfused(vision(False), image) == set()


def language(implementation: str) -> nn.Module:
    import transformers

    config = transformers.LlamaConfig(
        hidden_size=32, intermediate_size=64, num_hidden_layers=1, num_attention_heads=4,
        num_key_value_heads=2, vocab_size=50,
    )  # fmt: skip
    config._attn_implementation = implementation
    model: nn.Module = transformers.LlamaModel(config).eval()
    return model


@pytest.mark.slow
def test_transformers_has_an_option_that_asks_for_no_attention() -> None:
    words = torch.randint(0, 50, (1, 6))
    ways = planned(language("sdpa"), "ascend-950", words)
    assert [way.rule for way in ways] == [RULE, "attention-by-products"]
    reads(
        ways[0].summary,
        'Load the model with attn_implementation="eager": transformers then multiplies and takes '
        "the softmax itself",
    )
    assert unfused(language("eager"), words) == set()


def unfused(module: nn.Module, *inputs: Tensor) -> set[str]:
    """The calls of attention that are left, and what the target refuses beside."""
    matrix = DATABASE.matrix(DATABASE.resolve(TargetSpec.parse("ascend-950")))
    trace = traced(module, inputs, {}, matrix)
    called = {str(trace.nodes[use.node].op) for use in trace.uses}
    return {op for op in called if "attention" in op} | refused(trace, matrix)


def test_what_a_way_is_and_what_it_costs_is_told_in_chinese() -> None:
    assert in_chinese([SUMMARY, AttentionWithDropoutByProducts.gives_up]) == [
        "设置该库或 PyTorch 中把注意力写成矩阵乘的选项",
        "同一种子会丢弃不同的权重",
    ]

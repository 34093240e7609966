"""What users saw running on Hygon's DCUs, mostly a BW1000, to which the K100 is the nearest."""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812  # as everybody writes it

from tests.user_controls.control import Control
from tests.user_controls.models import GROUPED, IDS, SIZES, First, language, qwen3

X = torch.linspace(-1, 1, 24).view(2, 3, 4)
PICTURE = torch.ones(2, 3, 8, 8)
TESTS = "flagos-ai/Torch-FL:tests/integration/ops/test_"
RANDOM = f"{TESTS}rng_dispatch.py"
AMP = "flagos-ai/Torch-FL:tests/integration/test_amp.py"
SUPPORT = "flagos-ai/Torch-FL:docs/reference/operator-support.md"
K100 = "hygon-k100@2.9.1"


def _autocast(function: Callable[..., Any], dtype: torch.dtype) -> Callable[..., Any]:
    def run(*args: torch.Tensor) -> Any:
        with torch.autocast("cuda", dtype=dtype):
            return function(*args)

    return run


def _t5() -> nn.Module:
    import transformers

    config = transformers.T5Config(
        vocab_size=96, d_model=32, d_kv=8, d_ff=64, num_layers=1, num_heads=4, pad_token_id=0,
        decoder_start_token_id=0,
    )  # fmt: skip
    return Paired(transformers.T5ForConditionalGeneration(config))


class Paired(nn.Module):
    """A model of a question and an answer."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, ids: torch.Tensor, answer: torch.Tensor) -> Any:
        return self.model(ids, decoder_input_ids=answer, use_cache=False)[0]


def _deepseek() -> nn.Module:
    import transformers

    config = transformers.DeepseekV3Config(
        **SIZES, moe_intermediate_size=16, n_routed_experts=4, num_experts_per_tok=2, n_group=1,
        topk_group=1, first_k_dense_replace=1, q_lora_rank=16, kv_lora_rank=16, qk_rope_head_dim=8,
        qk_nope_head_dim=8, v_head_dim=8, num_key_value_heads=4,
        attn_implementation="eager",
    )  # fmt: skip
    return First(transformers.DeepseekV3ForCausalLM(config).half(), use_cache=False)


HYGON = (
    Control("DCU: abs", K100, f"{TESTS}abs_dispatch.py", torch.abs, (X,)),
    Control("DCU: bmm", K100, f"{TESTS}bmm_dispatch.py", torch.bmm, (X, X.mT)),
    Control("DCU: cat", K100, f"{TESTS}cat_dispatch.py", lambda x: torch.cat([x, x], 1), (X,)),
    Control("DCU: embedding", K100, f"{TESTS}embedding_dispatch.py", nn.Embedding(96, 8), (IDS,)),
    Control("DCU: mean", K100, f"{TESTS}mean_dispatch.py", lambda x: x.mean(1), (X,)),
    Control("DCU: softmax", K100, f"{TESTS}softmax_dispatch.py", lambda x: x.softmax(-1), (X,)),
    Control("DCU: where", K100, f"{TESTS}where_dispatch.py", lambda x: x.where(x > 0, 0), (X,)),
    Control(
        "DCU: exponential_", K100, RANDOM, lambda x: torch.empty_like(x).exponential_(), (X,)
    ),
    Control("DCU: poisson", K100, RANDOM, torch.poisson, (X.abs(),)),
    Control("DCU: multinomial", K100, RANDOM, lambda x: x.multinomial(2), (X[0].abs(),)),
    Control(
        "DCU: convolution under autocast", K100, AMP, _autocast(F.conv2d, torch.bfloat16),
        (PICTURE, torch.ones(4, 3, 3, 3)),
    ),
    Control(
        "DCU: layer_norm under autocast", K100, AMP,
        _autocast(lambda x: F.layer_norm(x, (4,)), torch.float16), (X.half(),),
    ),
    Control(
        "DCU: mse_loss under autocast", K100, AMP, _autocast(F.mse_loss, torch.float16),
        (X.half(), X.half()),
    ),
    Control("DCU: T5", K100, SUPPORT, _t5, (IDS, IDS), build=True),
    Control("DCU: Qwen3", K100, SUPPORT, partial(qwen3, torch.bfloat16), (IDS,), build=True),
    Control(
        "DCU: Gemma3", K100, SUPPORT, lambda: language("Gemma3ForCausalLM", **GROUPED), (IDS,),
        build=True,
    ),
    Control(
        "DCU: DeepSeek on a Z100", "hygon-z100@2.5.1", "kvcache-ai/ktransformers#889", _deepseek,
        (IDS,), build=True,
    ),
)  # fmt: skip

"""Calls whose results have a size of their own, written in a fixed size."""

import re

import pytest
import torch
from msgspec.structs import replace
from torch import Tensor
from transformers import (
    BertConfig,
    BertModel,
    LlamaConfig,
    LlamaForCausalLM,
    MambaConfig,
    MambaForCausalLM,
)

from opcheck.resolve.dynamic import SIZED_BY_DATA
from opcheck.rewrite.padding.caches import static_cache
from opcheck.rewrite.padding.fixed import FORMS, FixedForm, fixed_forms

NAMES = [f"{form.instead.__name__}" for form in FORMS]
SMALL = {
    "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "vocab_size": 50,
}  # fmt: skip


def test_there_are_forms() -> None:
    assert len(FORMS) >= 7


@pytest.mark.parametrize("form", FORMS, ids=NAMES)
def test_each_gives_what_the_call_gives(form: FixedForm) -> None:
    tried = form.tried()
    assert tried.draws == 6
    assert tried.right == tried.draws
    assert re.fullmatch(r"(\w+ = .+\n?)+", tried.code)
    assert "found = " in tried.code
    known = SIZED_BY_DATA | {"aten::index.Tensor", "aten::index_put", "aten::index_put_"}
    assert form.ops & known


@pytest.mark.parametrize("form", FORMS, ids=NAMES)
def test_their_rows_do_not_follow_from_values(form: FixedForm) -> None:
    size = (20,) if form.sized else ()
    assert len({len(form.instead(*form.draw(seed), *size)[0]) for seed in range(6)}) == 1


def _last(x: Tensor, mask: Tensor, size: int) -> tuple[Tensor, Tensor]:
    order = mask.flatten().to(torch.int32).sort(stable=True).indices[:size]
    return x.flatten()[order], mask.sum()


def _loose(x: Tensor, mask: Tensor, size: int) -> tuple[Tensor, Tensor]:
    return x[mask], mask.sum()


def test_a_wrong_form_and_one_that_is_not_fixed_are_seen() -> None:
    masked = next(form for form in FORMS if "aten::masked_select" in form.ops)
    assert replace(masked, instead=_last).tried().right < 6
    assert replace(masked, instead=_loose).tried().right == 0


def test_forms_are_found_by_what_they_stand_for() -> None:
    assert [code.needs for code in fixed_forms(["aten::nonzero", "torchvision::nms"])] == [
        "aten::nonzero_static", "aten::sort.stable",
    ]  # fmt: skip
    assert fixed_forms(["torchvision::nms"]) == ()


def test_a_llama_takes_a_static_cache() -> None:
    found = static_cache(LlamaForCausalLM(LlamaConfig(**SMALL, num_attention_heads=4)))
    assert found is not None
    assert found.taken
    assert found.library.startswith("transformers ")
    assert found.file == "transformers/models/llama/modeling_llama.py"
    assert found.line > 1


def test_a_mamba_does_not_say_so() -> None:
    found = static_cache(MambaForCausalLM(MambaConfig(**{**SMALL, "state_size": 4})))
    assert found is not None
    assert (found.taken, found.file) == (False, "transformers/modeling_utils.py")


def test_what_generates_nothing_has_no_cache() -> None:
    assert static_cache(BertModel(BertConfig(**SMALL, num_attention_heads=4))) is None
    assert static_cache(torch.nn.Linear(2, 2)) is None

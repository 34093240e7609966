"""The zoo's models are what it promises: real values, the same every time, quick to run."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves

from tests.zoo import TRAINABLE, ZOO

LEAST_MODELS = 45
LEAST_TRAINABLE = 14

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::UserWarning")]


def tensors(output: Any) -> list[Tensor]:
    """Every tensor in a model's output."""
    plain = output.to_tuple() if hasattr(output, "to_tuple") else output
    return [leaf for leaf in tree_leaves(plain) if isinstance(leaf, Tensor)]


def run(name: str) -> tuple[nn.Module, list[Tensor]]:
    model, args, kwargs = ZOO[name]()
    with torch.no_grad():
        return model, tensors(model(*args, **kwargs))


def test_there_are_enough_of_them() -> None:
    assert len(ZOO) >= LEAST_MODELS
    assert len(TRAINABLE) >= LEAST_TRAINABLE
    assert set(TRAINABLE) <= set(ZOO)


@pytest.mark.parametrize("name", ZOO)
def test_a_model_computes_the_same_finite_numbers_every_time(name: str) -> None:
    pytest.importorskip("transformers")
    model, made = run(name)
    again = run(name)[1]
    assert not model.training
    assert sum(tensor.numel() for tensor in made) > 0
    assert all(tensor.isfinite().all() for tensor in made)
    for one, other in zip(made, again, strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=0)


@pytest.mark.parametrize("name", TRAINABLE)
def test_a_training_step_reaches_the_weights(name: str) -> None:
    pytest.importorskip("transformers")
    model, args, kwargs = ZOO[name]()
    made = [t for t in tensors(model.train()(*args, **kwargs)) if t.requires_grad]
    torch.autograd.backward(made, [torch.ones_like(tensor) for tensor in made])
    grads = [p.grad for p in model.parameters() if p.requires_grad]
    reached = [grad for grad in grads if grad is not None]
    assert len(reached) > 0.6 * len(grads)
    assert all(grad.isfinite().all() for grad in reached)

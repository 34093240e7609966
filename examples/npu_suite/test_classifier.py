"""The model by itself."""

import copy
from pathlib import Path

import torch
from classifier import Classifier, load, rotation, save
from torch import Tensor
from torch.testing import assert_close


def test_scores_every_class(model: Classifier, tokens: Tensor) -> None:
    """One row of scores for each row of tokens."""
    assert model(tokens).shape == (8, 3)


def test_agrees_with_the_host(model: Classifier, tokens: Tensor) -> None:
    """The same weights give the same scores on the CPU."""
    on_host = copy.deepcopy(model).cpu()
    assert_close(model(tokens).cpu(), on_host(tokens.cpu()), rtol=1e-4, atol=1e-5)


def test_weights_survive_a_file(model: Classifier, tokens: Tensor, tmp_path: Path) -> None:
    """What is saved is what is loaded."""
    save(model, tmp_path / "weights.pt")
    loaded = load(tmp_path / "weights.pt", tokens.device)
    assert_close(loaded(tokens), model(tokens))


def test_bfloat16_weights(model: Classifier, tokens: Tensor) -> None:
    """The model is served in bfloat16."""
    assert model.to(torch.bfloat16)(tokens).dtype is torch.bfloat16


def test_rotation_keeps_lengths(device: torch.device) -> None:
    """A rotation times its transpose is the identity."""
    turned = rotation(torch.tensor([0.1, 0.2, 0.3], device=device))
    assert_close((turned @ turned.T).cpu(), torch.eye(3), rtol=1e-4, atol=1e-5)

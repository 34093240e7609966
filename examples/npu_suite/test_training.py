"""The model while it learns."""

import torch
from classifier import Classifier, train_step
from conftest import HAS_NPU
from torch import Tensor
from torch.nn import functional as f
from torch.utils.data import DataLoader, TensorDataset


def test_adamw_lowers_the_loss(model: Classifier, tokens: Tensor, labels: Tensor) -> None:
    """Five steps on one batch."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    losses = [train_step(model, optimizer, tokens, labels) for _ in range(5)]
    assert losses[-1] < losses[0]


def test_every_weight_has_a_gradient(model: Classifier, tokens: Tensor, labels: Tensor) -> None:
    """Nothing is cut off from the loss."""
    f.cross_entropy(model(tokens), labels).backward()
    assert all(weight.grad is not None for weight in model.parameters())


def test_autocast(model: Classifier, tokens: Tensor) -> None:
    """Mixed precision computes in bfloat16 where the chip has it, else in float16."""
    bfloat16 = not HAS_NPU or torch.npu.is_bf16_supported()
    dtype = torch.bfloat16 if bfloat16 else torch.float16
    with torch.autocast(tokens.device.type, dtype=dtype):
        assert model(tokens).dtype is dtype


def test_loader_feeds_the_device(model: Classifier, tokens: Tensor, labels: Tensor) -> None:
    """Worker processes make batches on the host, which go to the device pinned."""
    rows = TensorDataset(tokens.cpu(), labels.cpu())
    loader = DataLoader(rows, batch_size=4, num_workers=2, pin_memory=HAS_NPU)
    seen = [model(batch.to(tokens.device, non_blocking=True)).shape for batch, _ in loader]
    assert seen == [(4, 3), (4, 3)]

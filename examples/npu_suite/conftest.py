"""Which device the tests run on, as a project for Ascend chooses it: nothing here knows opcheck."""

import pytest
import torch
from classifier import Classifier

HAS_NPU = hasattr(torch, "npu") and torch.npu.is_available()


@pytest.fixture(scope="session")
def device() -> torch.device:
    """The accelerator if there is one."""
    return torch.device("npu" if HAS_NPU else "cpu")


@pytest.fixture
def model(device: torch.device) -> Classifier:
    """A new model with fixed weights."""
    torch.manual_seed(0)
    return Classifier().to(device)


@pytest.fixture
def tokens(device: torch.device) -> torch.Tensor:
    """Eight rows of six words."""
    rows = torch.arange(48).remainder(50).view(8, 6)
    return rows.to(device)


@pytest.fixture
def labels(device: torch.device) -> torch.Tensor:
    """A class for each row."""
    return torch.arange(8).remainder(3).to(device)

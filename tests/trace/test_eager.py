"""A trace leaves torch as it was."""

import pytest
import torch
from torch import nn
from torch.utils._device import _device_constructors

import opcheck
from opcheck.trace.running.eager import numbers_read


class OnOneDevice(nn.Module):
    """Makes a tensor inside a device context, as many models do."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        with torch.device(x.device):
            return x + torch.tensor([1.0])


@pytest.mark.slow
def test_device_contexts_mean_the_same_functions_after_a_trace() -> None:
    _device_constructors.cache_clear()  # as in a process that has used no such context
    opcheck.scan(OnOneDevice(), torch.ones(2), targets=["ascend-910b"])
    with torch.device("meta"):
        made = torch.tensor([]), torch.as_tensor([1.0]), torch.zeros(1)
    assert [tensor.device.type for tensor in made] == ["meta"] * 3


def test_a_context_that_is_first_used_while_numbers_are_read_lasts() -> None:
    _device_constructors.cache_clear()
    with numbers_read(), torch.device("meta"):
        assert torch.tensor([]).is_meta
    with torch.device("meta"):
        assert torch.tensor([]).is_meta

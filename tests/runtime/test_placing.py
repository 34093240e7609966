"""A module is put on a device, and comes back as it was: its tensors, its ties, its modes."""

from typing import Any

import torch
from torch import nn

from opcheck.runtime.loading import Placing

META = torch.device("meta")


class Tied(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(5, 3)
        self.head = nn.Linear(3, 5, bias=False)
        self.head.weight = self.embedding.weight
        self.recurrent = nn.LSTM(3, 3)
        self.register_buffer("steps", torch.arange(4))
        self.head.eval()


def flat(module: Tied) -> list[Any]:
    """What the kernels of a recurrent layer are given."""
    return list(module.recurrent._flat_weights)


def test_what_is_shared_stays_shared_and_comes_back() -> None:
    module = Tied()
    own = dict(module.named_parameters(remove_duplicate=False)) | dict(module.named_buffers())
    placing = Placing(module)
    assert placing.put(META) is module
    assert module.head.weight is module.embedding.weight
    assert {tensor.device.type for tensor in module.state_dict().values()} == {"meta"}
    assert {weight.device.type for weight in flat(module)} == {"meta"}
    assert not any(part.training for part in module.modules())
    placing.back()
    now = dict(module.named_parameters(remove_duplicate=False)) | dict(module.named_buffers())
    assert now.keys() == own.keys()
    assert all(now[name] is own[name] for name in own)
    assert {weight.device.type for weight in flat(module)} == {"cpu"}
    assert (module.training, module.embedding.training, module.head.training) == (True, True, False)


def test_narrow_weights_are_widened_for_a_while() -> None:
    module = nn.Sequential(nn.Linear(2, 2).bfloat16(), nn.Linear(2, 2).double())
    placing = Placing(module)
    placing.put(torch.device("cpu"), widened=True)
    assert [part.weight.dtype for part in module] == [torch.float32, torch.float64]
    placing.back()
    assert [part.weight.dtype for part in module] == [torch.bfloat16, torch.float64]


def test_what_is_forgotten_does_not_come_back() -> None:
    module = nn.Linear(2, 2)
    placing = Placing(module)
    placing.put(META)
    placing.forget()
    placing.back()
    assert module.weight.device.type == "meta"

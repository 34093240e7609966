"""Before its first call, a model is compared with the chip in each precision, the best first."""

from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from opcheck.db.store import Database
from opcheck.model.target import TargetSpec
from opcheck.runtime.batching import Call
from opcheck.runtime.precision import Precision, Settled, settled

DATABASE = Database.open()
ASCEND = DATABASE.matrix(DATABASE.resolve(TargetSpec("ascend-910b")))
ALL = (
    Precision(torch.bfloat16, "known", autocast=True),
    Precision(torch.float16, "known", autocast=True),
    Precision(torch.float32, "the rest"),
)
X = Call.of(torch.randn(2, 4))


def held(
    module: nn.Module, call: Call = X, precisions: Any = ALL, *, always: bool = True
) -> Settled:
    return settled(module.eval(), call, precisions, ASCEND, always=always)


class Complement(nn.Module):
    """An operator of which the vendor's table and the kernel's page leave out bfloat16."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.erfc(x)


@pytest.mark.slow
def test_the_best_that_the_chip_refuses_nothing_in() -> None:
    plain = held(nn.Sequential(nn.Linear(4, 4), nn.ReLU()))
    assert plain.precision == ALL[0]
    stepped = held(nn.Sequential(nn.Linear(4, 4), Complement()))
    assert stepped.precision.dtype == torch.float16
    assert stepped.precision.why == "known; it refuses aten::erfc in bfloat16"


@pytest.mark.slow
def test_what_is_refused_in_float32_too_decides_nothing() -> None:
    class Wide(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return torch.erfc(x.double())

    assert held(Wide()).precision == ALL[0]


@pytest.mark.slow
def test_the_last_one_has_the_reasons_of_all_before_it() -> None:
    found = held(nn.Sequential(nn.Linear(4, 4), Complement()), precisions=(ALL[0], ALL[2]))
    assert found.precision == Precision(
        torch.float32, "the rest; it refuses aten::erfc in bfloat16"
    )


@pytest.mark.slow
def test_nothing_is_traced_that_nobody_needs() -> None:
    assert held(nn.Linear(4, 4), precisions=ALL[2:], always=False) == Settled(ALL[2], None)
    assert held(nn.Linear(4, 4), precisions=ALL[2:]).trace is not None


@dataclass
class Pair:
    left: Tensor
    right: Tensor


class Adds(nn.Module):
    def forward(self, pair: Pair, *, more: dict[str, Tensor]) -> Tensor:
        return pair.left + pair.right * more["x"]


@pytest.mark.slow
def test_tensors_are_followed_wherever_they_stand() -> None:
    one = torch.ones(3)
    found = held(Adds(), Call((Pair(one, one),), {"more": {"x": one}})).trace
    assert found is not None
    assert [str(found.nodes[use.node].op) for use in found.uses] == [
        "aten::mul.Tensor", "aten::add.Tensor",
    ]  # fmt: skip
    assert found.gaps == ()


@pytest.mark.slow
def test_a_model_that_cannot_be_looked_at_is_told() -> None:
    class Wrong(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            raise ValueError("mine")

    with pytest.warns(RuntimeWarning, match="could not be looked at"):
        assert held(Wrong()) == Settled(ALL[0], None)

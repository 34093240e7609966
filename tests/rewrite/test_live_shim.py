"""A live module's shim: exact kernels unasked, others where they are allowed, the rest told."""

import pytest
import torch
from torch import Tensor, nn

from opcheck.db.store import Database
from opcheck.model.plan import Label
from opcheck.model.target import TargetSpec
from opcheck.rewrite.live_shim import refused, shim_of, traced

DATABASE = Database.open()
ASCEND = DATABASE.matrix(DATABASE.resolve(TargetSpec("ascend-910b")))


class Bessel(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        found: Tensor = torch.special.i0e(x)
        return found.relu()


@pytest.mark.slow
def test_a_kernel_that_is_only_close_waits_to_be_allowed() -> None:
    trace = traced(Bessel(), (torch.randn(3),), {}, ASCEND)
    unasked = shim_of(trace, ASCEND)
    assert unasked.shim.text == ""
    assert unasked.left == {
        "aten::special_i0e": "i0e-by-series is labelled tolerance; allow='tolerance' takes it"
    }
    allowed = shim_of(trace, ASCEND, allow=Label.TOLERANCE)
    assert [way.replaces for way in allowed.shim.registered] == ["aten::special_i0e"]
    assert '_register("aten::special_i0e"' in allowed.shim.text
    assert allowed.left == {}


@pytest.mark.slow
def test_a_model_that_the_target_runs_needs_nothing() -> None:
    trace = traced(nn.Linear(2, 2), (torch.randn(1, 2),), {}, ASCEND)
    found = shim_of(trace, ASCEND)
    assert (found.shim.text, found.left) == ("", {})
    assert refused(trace, ASCEND) == frozenset()


@pytest.mark.slow
def test_what_the_target_refuses_is_told_by_operator() -> None:
    trace = traced(Erfc(), (torch.randn(3, dtype=torch.bfloat16),), {}, ASCEND)
    assert refused(trace, ASCEND) == {"aten::erfc"}


class Erfc(nn.Module):
    """One operator, which two sources deny in bfloat16."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.erfc(x)


@pytest.mark.slow
def test_a_module_is_left_as_it_is() -> None:
    module = nn.Sequential(nn.Linear(2, 2), nn.Dropout())
    own = list(module.parameters())
    traced(module, (torch.randn(1, 2),), {}, ASCEND)
    assert all(now is before for now, before in zip(module.parameters(), own, strict=True))
    assert module.training

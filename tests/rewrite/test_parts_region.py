"""Plans for models with complex tensors on targets that have none."""

import pytest
import torch
from torch import Tensor

from opcheck.db.store import Database
from opcheck.model.plan import Label, Tier
from opcheck.model.target import TargetSpec
from opcheck.rewrite.parts.calls import NAME
from opcheck.rewrite.shim import shim
from tests.rewrite.reasons import reads
from tests.rewrite.test_planner import plan, target, traced

REAL = ("aten::mul.Tensor", "aten::sub.Tensor", "aten::add.Tensor")
GIVEN = (torch.rand(2, 3, 4), torch.rand(3, 2, 2))


def rotated(x: Tensor, table: Tensor) -> Tensor:
    numbers = torch.view_as_complex(x.reshape(2, 3, 2, 2)) * torch.view_as_complex(table)
    return torch.view_as_real(numbers).flatten(2)


@pytest.mark.slow
def test_a_complex_region_is_computed_on_parts() -> None:
    trace = traced(rotated, *GIVEN)
    found = plan(trace, target(*REAL, "aten::stack", "aten::cat.out", "aten::cat"))
    ways = [way for node in found for way in node.suggestions]
    assert [node.stuck for node in found] == [()] * len(found)
    assert {way.replaces for way in ways} == {"aten::view_as_complex", "aten::view_as_real"}
    for way in ways:
        assert (way.rule, way.tier, way.label, way.whole) == (
            NAME, Tier.STRUCTURAL, Label.EXACT, True,
        )  # fmt: skip
        assert way.measured is not None
        reads(
            way.gives_up,
            "Complex tensors: each becomes two real ones, those that the model takes, keeps or "
            "returns too; it holds for all calls of the model together or for none",
        )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("registered", "told"),
    [
        (REAL, "aten::view_as_real on parts is no fix: it needs aten::stack"),
        (("aten::cat",), "aten::mul.Tensor on parts is no fix: it needs aten::mul.Tensor"),
    ],
)
def test_one_call_that_cannot_be_on_parts_keeps_all_as_they_are(
    registered: tuple[str, ...], told: str
) -> None:
    found = plan(traced(rotated, *GIVEN), target(*registered))
    assert all(node.stuck for node in found)
    assert not any(way.rule == NAME for node in found for way in node.suggestions)
    reasons = [d.reason for node in found for d in node.declined if d.rule == NAME]
    assert len(reasons) == len(found)
    assert all(reason.startswith(told) for reason in reasons), reasons


@pytest.mark.slow
def test_what_has_no_form_is_named() -> None:
    def sines(x: Tensor) -> Tensor:
        return torch.view_as_complex(x).sinh().abs()

    found = plan(traced(sines, torch.rand(3, 2)), target(*REAL))
    reasons = {d.reason for node in found for d in node.declined if d.rule == NAME}
    assert reasons == {"aten::sinh.out has no form on real and imaginary parts"}


def test_where_every_call_has_a_way_of_its_own_nothing_changes_hands() -> None:
    def turned(x: Tensor) -> Tensor:
        return torch.view_as_real(torch.view_as_complex(x).conj_physical())

    on = target("aten::view_as_complex", "aten::view_as_real", "aten::neg", "aten::cat")
    found = plan(traced(turned, torch.rand(3, 2)), on)
    assert [way.rule for node in found for way in node.suggestions] == ["conj-as-real"]


@pytest.mark.slow
def test_a_chip_without_complex_numbers_gets_ways_for_all_of_a_model() -> None:
    def filtered(x: Tensor) -> Tensor:
        spectrum = torch.fft.rfft(x) * torch.polar(x[:, :5].abs(), x[:, :5])
        back: Tensor = torch.fft.irfft(spectrum)
        return back + torch.stft(x, 8, return_complex=True).abs().sum()

    database = Database.open()
    chip = database.matrix(database.resolve(TargetSpec.parse("ascend-910a")))
    found = plan(traced(filtered, torch.rand(2, 8)), chip)
    assert [node.stuck for node in found] == [()] * len(found)
    assert {way.rule for node in found for way in node.suggestions} == {NAME}
    made = shim(chip, [way for node in found for way in node.suggestions])
    assert made.text == ""
    assert {skip.reason for skip in made.skipped} == {
        "it changes what calls hand to each other, which no kernel can"
    }

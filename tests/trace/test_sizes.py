"""Where sizes matter that are marked as dynamic: found by running a model with others."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from opcheck.errors import UsageError
from opcheck.model.dynamic import DynamicInput, Site, SiteKind
from opcheck.trace.sizes.dynamic import Sized, sites_of_sizes
from tests.lang.told import in_chinese

IDS = torch.zeros(1, 16, dtype=torch.int64)
IMAGE = torch.zeros(1, 3, 32, 32)


def sized(
    model: Callable[..., Any], *args: Any, marked: tuple[str, ...] = ("x:1",), **kwargs: Any
) -> Sized:
    inputs = tuple(map(DynamicInput.parse, marked))
    return sites_of_sizes(inputs, model, args, kwargs, device_type="npu", casts={})


def of(kind: SiteKind, found: Sized) -> list[Site]:
    return [site for site in found.sites if site.kind is kind]


def texts(found: Sized) -> list[str]:
    return [site.text for site in of(SiteKind.SHAPE_BRANCH, found)]


def line(function: Callable[..., Any], after: int) -> int:
    return function.__code__.co_firstlineno + after


def far_threshold(x: Tensor) -> Tensor:
    if x.shape[1] > 128:
        return x[:, :128].relu()
    return x + 1


def padded(x: Tensor) -> Tensor:
    missing = (8 - x.size(1) % 8) % 8
    if missing:
        x = nn.functional.pad(x, (0, missing))
    return x.reshape(x.size(0), -1, 8).sum(-1)


def unrolled(x: Tensor) -> Tensor:
    total = x[:, 0]
    for place in range(1, x.shape[1]):
        total = total * 2 + x[:, place]
    return total


def capped(x: Tensor) -> Tensor:
    return x[:, : min(x.shape[1], 20)].relu()


def counted(x: Tensor) -> Tensor:
    while x.shape[1] < 24:
        x = torch.cat((x, x), 1)
    return x


def any_size(x: Tensor) -> Tensor:
    if x.dim() != 2 or x.shape[0] != 1:
        raise ValueError(x.shape)
    return x.softmax(-1) @ x.T


def wide(x: Tensor) -> Tensor:
    if x.shape[3] > x.shape[2]:
        x = x.transpose(2, 3)
    return x.mean((2, 3))


class FixedPositions(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(10, 4)
        self.places = nn.Parameter(torch.zeros(1, 16, 4))

    def forward(self, ids: Tensor) -> Tensor:
        words: Tensor = self.words(ids)
        return words + self.places


class Masked(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(10, 4)

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        words: Tensor = self.words(ids)
        return words * mask[:, :, None]


class Down(nn.Module):
    """Halves the image and doubles it again, and adds both."""

    def __init__(self) -> None:
        super().__init__()
        self.down = nn.Conv2d(3, 3, 3, 2, 1)
        self.up = nn.Upsample(scale_factor=2)

    def forward(self, x: Tensor) -> Tensor:
        up: Tensor = self.up(self.down(x))
        return up + x


@pytest.mark.slow
def test_what_is_done_meanwhile_is_told() -> None:
    told: list[str] = []
    marked = (DynamicInput.parse("x:1"),)
    sites_of_sizes(marked, any_size, (IDS,), {}, device_type="npu", casts={}, progress=told.append)
    assert told == ["running it with other sizes"]
    assert in_chinese(told) == ["以其他尺寸运行"]


def test_a_threshold_far_from_the_size_is_found() -> None:
    found = sized(far_threshold, torch.zeros(1, 16))
    (branch,) = of(SiteKind.SHAPE_BRANCH, found)
    assert branch == Site(
        SiteKind.SHAPE_BRANCH, "", "", "tests/trace/test_sizes.py", line(far_threshold, 1), 1,
        "16 > 128 is False with x:1 = 16, 129 > 128 is True with x:1 = 129",
    )  # fmt: skip


@pytest.mark.slow
def test_padding_to_a_multiple_is_a_branch() -> None:
    found = sized(padded, torch.zeros(1, 16))
    (branch,) = of(SiteKind.SHAPE_BRANCH, found)
    assert branch.line == line(padded, 2)
    assert branch.text == "0 != 0 is False with x:1 = 16, 7 != 0 is True with x:1 = 17"


@pytest.mark.slow
def test_a_loop_over_a_dimension_is_a_branch() -> None:
    branches = of(SiteKind.SHAPE_BRANCH, sized(unrolled, torch.zeros(1, 16)))
    assert {branch.line for branch in branches} == {line(unrolled, 3)}
    assert all("with x:1 = 17" in branch.text for branch in branches)


@pytest.mark.slow
@pytest.mark.parametrize("model", [capped, counted])
def test_a_size_that_is_capped_or_looped_for_is_a_branch(model: Callable[..., Any]) -> None:
    branches = of(SiteKind.SHAPE_BRANCH, sized(model, torch.zeros(1, 16)))
    assert [branch.line for branch in branches] == [line(model, 1)]


@pytest.mark.slow
def test_checks_that_hold_for_every_size_are_no_branches() -> None:
    found = sized(any_size, torch.zeros(1, 16))
    assert texts(found) == []
    assert {site.op for site in of(SiteKind.DYNAMIC_SIZE, found)} >= {"aten::softmax.int"}
    assert of(SiteKind.FIXED_SIZE, found) == []


@pytest.mark.slow
def test_dimensions_are_changed_alone_as_well() -> None:
    found = sized(wide, IMAGE, marked=("x:2,3",))
    assert texts(found) == [
        "32 > 32 is False with x:2 = 32, x:3 = 32, 64 > 32 is True with x:2 = 32, x:3 = 64"
    ]


@pytest.mark.slow
def test_calls_that_do_not_see_the_dimension_are_not_named() -> None:
    found = sized(lambda x: (x.sum(1) + 1).relu(), torch.zeros(1, 16))
    assert [site.op for site in found.sites] == ["aten::sum.dim_IntList"]
    assert found.sites[0].text == "self float32[1,16] becomes float32[1,17]"


@pytest.mark.slow
def test_what_a_value_decides_is_no_branch_by_a_size() -> None:
    def by_value(x: Tensor) -> Tensor:
        if x.sum().item() > 20:
            x = x + 1
        return x.relu()

    assert texts(sized(by_value, torch.ones(1, 16, dtype=torch.int64))) == []


@pytest.mark.slow
def test_a_size_that_the_model_does_not_take_is_told_with_its_line() -> None:
    found = sized(FixedPositions(), IDS, marked=("ids:1",))
    (fixed,) = of(SiteKind.FIXED_SIZE, found)
    assert fixed.line == line(FixedPositions.forward, 2)
    assert fixed.text.startswith("fails with ids:1 = 17: ")


@pytest.mark.slow
def test_a_size_of_which_only_multiples_run_is_told() -> None:
    found = sized(Down(), IMAGE, marked=("x:2",))
    (fixed,) = of(SiteKind.FIXED_SIZE, found)
    assert fixed.text.startswith("fails with x:2 = 33: ")
    assert fixed.text.endswith("(runs with x:2 = 64)")


@pytest.mark.slow
def test_an_input_that_has_to_go_along_does() -> None:
    mask = torch.ones(1, 16)
    found = sized(Masked(), IDS, marked=("ids:1",), mask=mask)
    assert found.notes[0].startswith("mask:1 was changed along with what --dynamic marks")
    assert of(SiteKind.FIXED_SIZE, found) == []
    assert {site.op for site in found.sites} >= {"aten::embedding", "aten::mul.Tensor"}


def test_what_fails_as_it_is_is_only_noted() -> None:
    def broken(x: Tensor) -> Tensor:
        raise RuntimeError("not today")

    found = sized(broken, torch.zeros(1, 16))
    assert (found.sites, len(found.notes)) == ((), 1)
    assert "not today" in found.notes[0]


@pytest.mark.slow
def test_code_that_wants_plain_numbers_still_runs() -> None:
    def strict(x: Tensor) -> Tensor:
        if type(x.shape[1]) is not int:
            raise TypeError("no int")
        return x.relu()

    found = sized(strict, torch.zeros(1, 16))
    assert [site.op for site in found.sites] == ["aten::relu"]


@pytest.mark.slow
def test_sizes_are_plain_again_afterwards() -> None:
    from opcheck.trace.device.tensors import DeviceTensor

    sized(padded, torch.zeros(1, 16))
    assert "shape" not in vars(DeviceTensor)
    assert "size" not in vars(DeviceTensor)


@pytest.mark.parametrize(
    ("marked", "message", "hint"),
    [
        ("y:1", "no tensor named 'y'", "its inputs are: x"),
        ("x:2", "x has no dimension 2", "its shape is [1, 16]"),
        ("x:-3", "x has no dimension -3", "its shape is [1, 16]"),
        ("7:0", "no tensor named '7'", "its inputs are: x"),
    ],
)
def test_what_is_not_there_is_refused(marked: str, message: str, hint: str) -> None:
    with pytest.raises(UsageError) as refused:
        sized(far_threshold, torch.zeros(1, 16), marked=(marked,))
    assert message in refused.value.message
    assert hint in refused.value.hint


@pytest.mark.slow
@pytest.mark.parametrize("marked", ["x:-1", "0:1", "x:1,1"])
def test_a_dimension_has_several_names(marked: str) -> None:
    found = sized(far_threshold, torch.zeros(1, 16), marked=(marked,))
    assert texts(found) == ["16 > 128 is False with x:1 = 16, 129 > 128 is True with x:1 = 129"]


def test_another_number_of_results_is_a_branch() -> None:
    def parts(x: Tensor) -> Any:
        return x.split(2)

    found = sized(parts, torch.zeros(4, 3), marked=("x:0",))
    assert texts(found) == ["the model gives 2 tensors with x:0 = 4, and 3 with x:0 = 5"]
    assert of(SiteKind.SHAPE_BRANCH, sized(parts, torch.zeros(4, 3), marked=("x:1",))) == []


def test_values_that_point_beyond_a_smaller_size_say_nothing_of_sizes() -> None:
    def picked(x: Tensor, places: Tensor) -> Tensor:
        return x[places.tolist()]

    found = sized(picked, torch.zeros(6, 3), torch.tensor([1, 5]), marked=("x:0",))
    assert of(SiteKind.FIXED_SIZE, found) == []


def test_a_least_size_is_noted_and_fixes_none() -> None:
    def drawn(x: Tensor) -> Tensor:
        if x.shape[0] < 3:
            raise ValueError("three rows at least")
        return x * 2

    found = sized(drawn, torch.zeros(4, 3), marked=("x:0",))
    assert of(SiteKind.FIXED_SIZE, found) == []
    assert any("with x:0 = 2 it fails: ValueError" in note for note in found.notes)

    def few(x: Tensor) -> Tensor:
        if x.shape[0] != 4:
            raise ValueError("four rows")
        return x * 2

    found = sized(few, torch.zeros(4, 3), marked=("x:0",))
    assert of(SiteKind.FIXED_SIZE, found)
    assert not any("three rows" in note or "smaller ones" in note for note in found.notes)


def test_a_site_has_the_arguments_that_vary_and_the_dimension_that_is_named() -> None:
    def halves(x: Tensor) -> Any:
        return x.chunk(2, -1)

    def parts(x: Tensor) -> Any:
        return x.split(x.shape[1] // 2, 1)

    for model, marked, varies in (
        (halves, "x:1", ("dim", "self")),
        (halves, "x:0", ("self",)),
        (parts, "x:1", ("dim", "self", "split_size")),
        (parts, "x:0", ("self",)),
    ):
        found = of(SiteKind.DYNAMIC_SIZE, sized(model, torch.zeros(4, 8), marked=(marked,)))
        assert [site.varies for site in found] == [varies]

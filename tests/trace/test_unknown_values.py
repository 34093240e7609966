"""Control flow on values, and sizes that depend on data."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from opcheck.model.trace import Gap, TensorMeta
from tests.lang.told import in_chinese
from tests.trace.look import calls, node, traced

SMALL = torch.tensor([[1.0, -2.0], [3.0, 4.0]])
LARGE = torch.ones(300, 300)
"""Too large for its values to be kept."""


@pytest.mark.parametrize(
    "branch",
    [
        lambda x: x.sin() if (x > 3).any() else x.cos(),
        lambda x: x.sin() if x.sum().item() == 6 else x.cos(),
        lambda x: x.sin() if bool((x == x).all()) else x.cos(),
        lambda x: x.sin() if int((x > 0).sum()) == 3 else x.cos(),
        lambda x: x.sin() if x.tolist()[1] == [3.0, 4.0] else x.cos(),
        lambda x: x.sin() if torch.equal(x, x.clone()) else x.cos(),
        lambda x: x.sin() if float(x.argmax()) == 3 else x.cos(),
    ],
    ids=["any", "item", "all", "int", "tolist", "equal", "argmax"],
)
def test_python_branches_on_the_true_values_of_small_tensors(
    branch: Callable[[Tensor], Tensor],
) -> None:
    trace = traced(branch, SMALL)
    assert calls(trace)[-1] == "aten::sin"
    assert trace.gaps == ()


def test_values_of_large_integer_masks_are_kept() -> None:
    mask = torch.zeros(1, 1, 500, 500, dtype=torch.bool)
    mask[..., 7] = True
    trace = traced(lambda m: m.long().cumsum(-1) if m.any() else m.float(), mask)
    assert calls(trace)[-2:] == ["aten::to.dtype", "aten::cumsum"]
    assert trace.gaps == ()


@pytest.mark.parametrize(
    ("read", "assumed"),
    [
        (lambda x: x.sum().item(), "it is taken to be 1.0"),
        (lambda x: float(x.max()), "it is taken to be 1.0"),
        (lambda x: int((x > 0).sum()), "it is taken to be 1"),
        (lambda x: bool((x > 0).any()), "it is taken to be False"),
        (lambda x: torch.equal(x, x.clone()), "it is taken to be True"),
    ],
    ids=["item", "float", "int", "bool", "equal"],
)
def test_a_number_read_from_values_that_nobody_knows_is_a_gap_at_its_line(
    read: Callable[[Tensor], object], assumed: str
) -> None:
    def model(x: Tensor) -> Tensor:
        read(x)
        return x.sin()

    trace = traced(model, LARGE)
    line = read.__code__.co_firstlineno
    reason = f"reads a value that depends on data; {assumed} here"
    assert trace.gaps == (Gap(f"tests/trace/test_unknown_values.py:{line}", reason),)
    assert calls(trace)[-1] == "aten::sin"


def test_a_list_read_from_values_that_nobody_knows_is_a_gap() -> None:
    trace = traced(lambda x: x.tolist(), LARGE)
    reasons = [gap.reason for gap in trace.gaps]
    assert reasons == ["reads values that depend on data; they are taken to be 0 here"]
    assert in_chinese(reasons) == ["读取取决于数据的值；此处按 0 处理"]


@pytest.mark.parametrize(
    ("function", "op", "shape"),
    [
        (lambda x: x.nonzero(), "aten::nonzero", (90_000, 2)),
        (lambda x: x[x > 0], "aten::index.Tensor", (90_000,)),
        (lambda x: x[(x > 0).all(1)], "aten::index.Tensor", (300, 300)),
        (lambda x: x[:, (x > 0).all(0), None], "aten::index.Tensor", (300, 300, 1)),
        (lambda x: x.masked_select(x > 0), "aten::masked_select", (90_000,)),
        (lambda x: torch.unique(x), "aten::_unique2", (4,)),
        (lambda x: torch.unique_consecutive(x), "aten::unique_consecutive", (4,)),
        (lambda x: torch.unique(x, dim=0), "aten::unique_dim", (4, 300)),
        (lambda x: torch.unique(x, dim=-1), "aten::unique_dim", (300, 4)),
        (lambda x: torch.bincount(x.long().view(-1)), "aten::bincount", (90_000,)),
        (
            lambda x: x.repeat_interleave(x[0].long(), 0),
            "aten::repeat_interleave.self_Tensor",
            (300, 300),
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_size_that_depends_on_data_is_assumed_and_marked(
    function: Callable[[Tensor], Tensor], op: str, shape: tuple[int, ...]
) -> None:
    trace = traced(function, LARGE)
    found = next(n for n in trace.nodes if str(n.op) == op)
    assert found.data_dependent
    assert found.output_tensors()[0].shape == shape
    assert trace.gaps == ()


@pytest.mark.parametrize(
    ("function", "op", "shape"),
    [
        (lambda x: x.nonzero(), "aten::nonzero", (4, 2)),
        (lambda x: x[x > 0], "aten::index.Tensor", (3,)),
        (lambda x: x.masked_select(x > 0), "aten::masked_select", (3,)),
        (lambda x: torch.unique(x > 0), "aten::_unique2", (2,)),
        (lambda x: torch.bincount(x.abs().long().view(-1)), "aten::bincount", (5,)),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_size_is_the_true_one_where_values_are_known(
    function: Callable[[Tensor], Tensor], op: str, shape: tuple[int, ...]
) -> None:
    found = node(traced(function, SMALL), op)
    assert found.output_tensors()[0].shape == shape


def test_what_follows_an_assumed_size_has_that_size() -> None:
    trace = traced(lambda x: x[x > 0].view(-1, 1) * 2, LARGE)
    assert node(trace, "aten::mul.Tensor").outputs == (TensorMeta("float32", (90_000, 1), (1, 1)),)


def test_a_mask_that_is_set_leaves_the_size_alone() -> None:
    def model(x: Tensor) -> Tensor:
        x = x.clone()
        x[x < 0] = 0
        return x

    trace = traced(model, LARGE)
    assert node(trace, "aten::index_put_").outputs == (TensorMeta("float32", (300, 300), (300, 1)),)
    assert trace.gaps == ()


@pytest.mark.parametrize(
    "write",
    [
        lambda made, x: made[0].copy_(x.sum()),
        lambda made, x: made[:1].add_(x.sum()),
        lambda made, x: torch.sum(x, (0,), out=made[0]),
        lambda made, x: torch._foreach_add_([made[0]], [x.sum()]),
    ],
    ids=["copied", "in place", "out", "list"],
)
def test_a_part_that_is_written_with_unknown_values_leaves_the_whole_unknown(
    write: Callable[[Tensor, Tensor], object],
) -> None:
    def model(x: Tensor) -> Tensor:
        made = torch.zeros(2, device=x.device)
        write(made, x.view(-1))
        return x.sin() if made.sum().item() == 0 else x.cos()

    trace = traced(model, LARGE)
    assert [gap.reason for gap in trace.gaps] == [
        "reads a value that depends on data; it is taken to be 1.0 here"
    ]
    assert calls(trace)[-1] == "aten::cos"


def test_what_is_passed_on_beside_unknown_values_keeps_its_own() -> None:
    def model(x: Tensor) -> Tensor:
        made = torch.zeros(2, device=x.device)
        for _ in range(2):
            made = made.type_as(x)
        return x.sin() if made.sum().item() == 0 else x.cos()

    trace = traced(model, LARGE)
    assert trace.gaps == ()
    assert calls(trace)[-1] == "aten::sin"


FINITE: tuple[tuple[Callable[[Tensor], object], object], ...] = (
    (lambda x: torch.isfinite(x).all().item(), True),
    (lambda x: bool(torch.isnan(x).any() | torch.isinf(x).any()), False),
    (lambda x: bool((torch.isnan(x) | torch.isposinf(x) | torch.isneginf(x)).any()), False),
    (lambda x: bool((~torch.isfinite(x.half())).any()), False),
    (lambda x: bool(torch.isfinite(x.sum())), True),
    (lambda x: bool((x != x).any()), False),
    (lambda x: bool((x.abs() == float("inf")).any()), False),
    (lambda x: bool(x.sum() != float("-inf")), True),
    (lambda x: torch.isfinite(torch.view_as_complex(x.view(-1, 2))).sum().item(), None),
)


@pytest.mark.parametrize("shape", [(300, 300), (3000, 1000)])
@pytest.mark.parametrize(("ask", "truth"), FINITE)
def test_numbers_that_nobody_knows_are_finite(
    ask: Callable[[Tensor], object], truth: object, shape: tuple[int, int]
) -> None:
    """Of a number read by Python it is said what it is taken to be, also here."""
    seen: list[object] = []

    def model(x: Tensor) -> Tensor:
        seen.append(ask(x))
        return x.sin()

    trace = traced(model, torch.empty(shape))
    wanted = shape[0] * shape[1] // 2 if truth is None else truth
    assert seen == [wanted]
    said = {str(gap.reason).partition("; ")[2] for gap in trace.gaps}
    assert f"it is taken to be {wanted} here" in said


def test_a_comparison_with_a_number_that_is_finite_says_nothing() -> None:
    trace = traced(lambda x: x.sin() if (x == 1.0).all() else x.cos(), LARGE)
    assert calls(trace)[-1] == "aten::cos"


def test_a_size_that_rests_on_finite_numbers_is_marked() -> None:
    for size in (lambda x: x[torch.isfinite(x)], lambda x: torch.isfinite(x).nonzero()):
        trace = traced(size, LARGE)
        found = next(n for n in trace.nodes if n.op.base in ("index", "nonzero"))
        assert found.data_dependent
        assert found.output_tensors()[0].shape[0] == 90_000
        assert trace.gaps == ()

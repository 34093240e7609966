"""What a model moves to the host and reads there, of values that a trace does not have."""

import copy
from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn.utils.rnn import pack_padded_sequence

from opcheck.model.trace import VALUE_ASSUMED
from tests.lang.told import in_chinese
from tests.trace.look import calls, node, reasons, traced

LARGE = torch.ones(300, 300)
"""Too large for its values to be kept."""
SMALL = torch.tensor([[1.0, -2.0], [3.0, 4.0]])


@pytest.mark.parametrize(
    ("read", "value"),
    [
        (lambda x: (x > 0).cpu().any(), "True"),
        (lambda x: (x.sum().cpu() + 1).item(), "1.0"),
        (lambda x: x.sum(0).cpu().numpy()[0], "0"),
        (lambda x: np.asarray(x.to("cpu")).max(), "0"),
        (lambda x: x.argmax(1).cpu().tolist()[0], "0"),
        (lambda x: copy.deepcopy(x.cpu()).max(0).values[0], "False"),
        (lambda x: torch.stack([x.mean().cpu(), x.sum().cpu()])[0], "False"),
        (lambda x: range(x.argmax().cpu())[:1], "0"),
    ],
    ids=["mask", "computed", "numpy", "array", "list", "copied", "stacked", "index"],
)
@pytest.mark.filterwarnings("ignore:__array__")
def test_what_is_read_on_the_host_of_values_that_nobody_knows_is_a_gap(
    read: Callable[[Tensor], object], value: str
) -> None:
    trace = traced(lambda x: x.sin() if read(x) else x.cos(), LARGE)
    assert reasons(trace) == [
        f"reads values that depend on data; they are taken to be {value} here"
    ]
    assert [gap.code for gap in trace.gaps] == [VALUE_ASSUMED]
    assert calls(trace)[-1] in ("aten::sin", "aten::cos")
    assert in_chinese(reasons(trace)) == [f"读取取决于数据的值；此处按 {value} 处理"]


@pytest.mark.parametrize(
    "read",
    [
        lambda x: x.sum().cpu().item() == 6,
        lambda x: bool((x > 3).cpu().any()),
        lambda x: x.cpu().numpy()[1, 0] == 3,
    ],
    ids=["item", "mask", "numpy"],
)
def test_what_is_known_of_a_small_tensor_is_known_on_the_host(
    read: Callable[[Tensor], bool],
) -> None:
    trace = traced(lambda x: x.sin() if read(x) else x.cos(), SMALL)
    assert calls(trace)[-1] == "aten::sin"
    assert trace.gaps == ()


def test_to_move_values_to_the_host_is_no_gap() -> None:
    trace = traced(lambda x: (x.mean().cpu(), x.sum(0).cpu() * 2, x.cpu().shape), LARGE)
    assert trace.gaps == ()


def test_what_is_made_of_a_shape_on_the_host_has_values() -> None:
    def model(x: Tensor) -> Tensor:
        ones = torch.ones_like(x.sum(0).cpu())
        return x.sin() if ones.all() and x.cpu().new_zeros(2).sum() == 0 else x.cos()

    trace = traced(model, LARGE)
    assert calls(trace)[-1] == "aten::sin"
    assert trace.gaps == ()


def test_values_that_come_back_from_the_host_are_not_known_either() -> None:
    def model(x: Tensor) -> Tensor:
        back = (x.sum(0).cpu() + 1).to(x.device)
        return x.sin() if back[0].item() == 1 else x.cos()

    trace = traced(model, LARGE)
    assert reasons(trace) == ["reads a value that depends on data; it is taken to be 1.0 here"]


def test_a_mask_that_comes_by_the_host_selects_all_as_one_on_the_device_does() -> None:
    def model(x: Tensor) -> Tensor:
        mask = (x > 0).all(1).cpu()
        assert torch.zeros(300)[mask].shape == (300,)
        return x[mask].sin()

    trace = traced(model, LARGE)
    assert trace.nodes[-1].output_tensors()[0].shape == (300, 300)
    assert trace.gaps == ()


def test_a_loop_that_asks_a_mask_on_the_host_ends() -> None:
    def model(x: Tensor) -> Tensor:
        active = (x > 0).any(1).cpu()
        while active.any():
            x = x.sin()
            active &= (x > 0).any(1).cpu()
        return x.cos()

    trace = traced(model, LARGE)
    assert calls(trace)[-1] == "aten::cos"
    assert all("depend on data" in reason for reason in reasons(trace))
    assert trace.gaps


COUNTS = "reads values that depend on data; they are taken to be 75 here"


@pytest.mark.parametrize(
    ("read", "reason"),
    [
        (lambda n: n.tolist(), COUNTS),
        (lambda n: n.cpu().numpy(), COUNTS),
        (lambda n: n.cumsum(0).cpu().tolist(), COUNTS),
        (
            lambda n: [int(k) for k in n],
            "reads a value that depends on data; it is taken to be 75 here",
        ),
        (
            lambda n: [1 for k in n if k > 0],
            "reads a value that depends on data; it is taken to be True here",
        ),
    ],
    ids=["list", "host", "computed", "number", "truth"],
)
def test_counts_are_even_and_to_read_them_is_a_gap(
    read: Callable[[Tensor], list[int]], reason: str
) -> None:
    def model(x: Tensor) -> Tensor:
        counts = x.argmax(1).bincount(minlength=4)
        assert len(read(counts)) == 4
        return x.sin()

    trace = traced(model, LARGE)
    assert reasons(trace) == [reason]
    assert calls(trace)[-1] == "aten::sin"


def test_rows_are_split_by_their_counts_for_each_expert() -> None:
    def model(x: Tensor) -> Tensor:
        chosen = x.argmax(1)
        parts = x[chosen.argsort()].split(chosen.bincount(minlength=7).tolist())
        return torch.cat([part.sin() for part in parts])

    trace = traced(model, LARGE)
    assert calls(trace).count("aten::sin") == 7
    assert reasons(trace) == ["reads values that depend on data; they are taken to be 43 here"]


@pytest.mark.parametrize(
    ("weights", "dtype"),
    [(torch.float32, "float32"), (torch.float16, "float64"), (torch.int64, "float64")],
    ids=str,
)
def test_counts_by_weights_are_sums_of_floats(weights: torch.dtype, dtype: str) -> None:
    def model(x: Tensor) -> Tensor:
        return torch.bincount(x.argmax(1), x[0].to(weights), 4)

    found = node(traced(model, LARGE), "aten::bincount").output_tensors()[0]
    assert (found.dtype, found.shape) == (dtype, (4,))


def test_rows_of_lengths_that_nobody_knows_are_packed_whole() -> None:
    def model(x: Tensor) -> Tensor:
        rows = x.view(30, 10, 300)
        lengths = (rows > 0).any(-1).sum(1).cpu()
        packed = pack_padded_sequence(rows, lengths, batch_first=True, enforce_sorted=False)
        return packed.data

    trace = traced(model, LARGE)
    packed = node(trace, "aten::_pack_padded_sequence")
    assert packed.output_tensors()[0].shape == (300, 300)
    assert packed.data_dependent
    assert trace.gaps == ()


def test_what_an_operator_in_python_reads_is_told_of_as_well() -> None:
    library = torch.library.Library("opcheck_reading", "DEF")
    library.define("rows(Tensor x, Tensor ends) -> Tensor")

    def rows(x: Tensor, ends: Tensor) -> Tensor:
        return x.sin() if ends.cpu().tolist()[0] else x.cos()

    library.impl("rows", rows, "CompositeExplicitAutograd")
    try:
        trace = traced(lambda x: torch.ops.opcheck_reading.rows(x, x.argmax(1)), LARGE)
    finally:
        library._destroy()
    assert reasons(trace) == ["reads values that depend on data; they are taken to be 0 here"]

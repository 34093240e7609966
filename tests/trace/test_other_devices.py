"""The ways that PyTorch goes on devices of its own, held to its C++ on fake tensors of them.

Only what no library decides can be held: this torch is built without any of them, so that its
convolutions, batch norms, recurrent layers and attention for CUDA answer as such a build does.
"""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.nn import functional
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from opcheck.db.store import Database
from opcheck.db.tables import choices_of
from opcheck.model.target import Target

Program = tuple[Callable[..., Any], tuple[tuple[int, ...], ...]]
BESIDE = {"aten::mm", "aten::t", "aten::unsafe_split.Tensor", "aten::empty_like", "prim::device"}
"""What surrounds the choice: products of weights, views, and memory."""


class Recorder(TorchDispatchMode):
    """Collects every overload that reaches the device."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # torch leaves it untyped
        self.seen: set[str] = set()
        self.dtypes: set[torch.dtype] = set()

    def __torch_dispatch__(
        self, func: Any, types: Sequence[type], args: Any = (), kwargs: Any = None
    ) -> Any:
        """Note it and run it."""
        self.seen.add(func.name())
        made = func(*args, **(kwargs or {}))
        self.dtypes |= {value.dtype for value in tree_leaves(made) if isinstance(value, Tensor)}
        return made


def gru_cell(x: Tensor, hidden: Tensor, w_x: Tensor, w_h: Tensor) -> Any:
    return torch.gru_cell(x, hidden, w_x, w_h)


def lstm_cell(x: Tensor, hidden: Tensor, w_x: Tensor, w_h: Tensor) -> Any:
    return torch.lstm_cell(x, (hidden, hidden), w_x, w_h)


def dropout(x: Tensor) -> Any:
    return functional.dropout(x, 0.5, True)


PROGRAMS: dict[str, Program] = {
    "aten::_thnn_fused_gru_cell": (gru_cell, ((2, 3), (2, 4), (12, 3), (12, 4))),
    "aten::_thnn_fused_lstm_cell": (lstm_cell, ((2, 3), (2, 4), (16, 3), (16, 4))),
    "aten::dropout": (dropout, ((4, 4),)),
}


def asked(program: Program, device_type: str) -> set[str]:
    return recorded(program, device_type).seen - BESIDE


def recorded(program: Program, device_type: str) -> Recorder:
    function, shapes = program
    with FakeTensorMode(), torch.no_grad():
        tensors = [torch.empty(shape, device=device_type) for shape in shapes]
        recorder = Recorder()
        with recorder:
            function(*tensors)
    return recorder


def chosen(op: str, device_type: str) -> set[str]:
    table = Database.open().tables.choices("2.13")
    assert table is not None
    ways = choices_of(Target("vendor", "chip", "1", "2.13", device_type), table.data)
    (way,) = ways[op]
    return set(way.asks or ())


@pytest.mark.parametrize("op", PROGRAMS)
def test_on_mps_and_xla_nothing_is_fused_that_is_on_cuda(op: str) -> None:
    assert asked(PROGRAMS[op], "mps") == chosen(op, "mps")
    # XLA's own functionalization comes after: its table has the functional overloads
    in_place = asked(PROGRAMS[op], "xla")
    assert {_functional(name) for name in in_place} == chosen(op, "xla")


def _functional(name: str) -> str:
    base, dot, overload = name.partition(".")
    if base == "aten::bernoulli_":
        return "aten::bernoulli.p"
    return base.removesuffix("_") + dot + overload


@pytest.mark.parametrize("device_type", ["cuda", "xpu"])
def test_cuda_and_xpu_drop_out_as_privateuse1_does(device_type: str) -> None:
    assert asked(PROGRAMS["aten::dropout"], device_type) == {"aten::native_dropout"}


@pytest.mark.parametrize("device_type", ["cuda", "mps", "xla", "xpu"])
def test_a_pool_to_one_value_is_a_mean_everywhere(device_type: str) -> None:
    pool: Program = (lambda x: functional.adaptive_avg_pool2d(x, 1), ((1, 2, 4, 4),))
    assert asked(pool, device_type) == {"aten::mean.dim"}


def pinv_inside(x: Tensor) -> Any:
    """What the composite kernel calls, which a mode sees as one call else (torch 2.13.0)."""
    key = torch._C.DispatchKey.CompositeExplicitAutogradNonFunctional
    return torch.ops.aten.linalg_pinv.atol_rtol_tensor._op_dk(key, x)


TOLERANCES: dict[str, Callable[[Tensor], Any]] = {
    "aten::linalg_matrix_rank": lambda x: torch.linalg.matrix_rank(x, tol=0.1),
    "aten::linalg_matrix_rank.atol_rtol_float": lambda x: torch.linalg.matrix_rank(x, atol=0.1),
    "aten::linalg_matrix_rank.atol_rtol_float_out": (
        lambda x: torch.linalg.matrix_rank(x, atol=0.1, out=x.new_empty((), dtype=torch.int64))
    ),
    "aten::linalg_matrix_rank.atol_rtol_tensor": torch.linalg.matrix_rank,
    "aten::linalg_matrix_rank.atol_rtol_tensor_out": (
        lambda x: torch.linalg.matrix_rank(x, out=x.new_empty((), dtype=torch.int64))
    ),
    "aten::linalg_matrix_rank.out": (
        lambda x: torch.ops.aten.linalg_matrix_rank.out(
            x, 0.1, out=x.new_empty((), dtype=torch.int64)
        )
    ),
    "aten::linalg_pinv": lambda x: torch.linalg.pinv(x, rcond=0.1),
    "aten::linalg_pinv.atol_rtol_float": lambda x: torch.linalg.pinv(x, atol=0.1),
    "aten::linalg_pinv.atol_rtol_float_out": (
        lambda x: torch.linalg.pinv(x, atol=0.1, out=torch.empty_like(x))
    ),
    "aten::linalg_pinv.atol_rtol_tensor": pinv_inside,
    "aten::linalg_pinv.out_rcond_tensor": (
        lambda x: torch.linalg.pinv(x, rcond=x.new_ones(()), out=torch.empty_like(x))
    ),
    "aten::linalg_pinv.rcond_tensor": lambda x: torch.linalg.pinv(x, rcond=x.new_ones(())),
    "aten::pinverse": torch.pinverse,
}
"""What sets its tolerances from the dtype of the input, on the device of the input."""


@pytest.mark.parametrize("op", TOLERANCES)
def test_tolerances_are_of_a_dtype_that_the_device_has(op: str) -> None:
    program: Program = (TOLERANCES[op], ((3, 3),))
    assert torch.float64 not in recorded(program, "mps").dtypes
    assert torch.float64 in recorded(program, "cuda").dtypes


def test_every_tolerance_of_the_table_is_held_to_pytorch() -> None:
    table = Database.open().tables.choices("2.13")
    assert table is not None
    rows = table.data["choices"].items()
    assert {op for op, ways in rows if any("casts" in way for way in ways)} == set(TOLERANCES)

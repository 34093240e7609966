"""Tensors that are not strided are refused by name, never computed with as if they were."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.nn import functional as F  # noqa: N812  # as everybody writes it

from opcheck.emulate.session import Emulator
from opcheck.errors import EmulationError
from opcheck.trace.outputs.unknown import OtherLayout
from opcheck.trace.predict import predicting
from opcheck.trace.running.training import Registrations

CASES: dict[str, tuple[str, Callable[[torch.Tensor], Any]]] = {
    "made sparse": ("aten::_to_sparse", lambda x: x.to_sparse()),
    "made compressed": ("aten::_to_sparse_csr", lambda x: x.to_sparse_csr()),
    "moved": (
        "aten::_sparse_coo_tensor_with_dims_and_tensors",
        lambda x: torch.eye(3).to_sparse().to(x.device),
    ),
    "compressed on the host": (
        "aten::mm.out",
        lambda x: torch.mm(torch.eye(3).to_sparse_csr(), x),
    ),
    "gradient": (
        "aten::_sparse_coo_tensor_with_dims_and_tensors",
        lambda x: (
            F.embedding(torch.zeros_like(x[0], dtype=torch.int64), x, sparse=True).sum().backward()
        ),
    ),
}
cases = pytest.mark.parametrize("case", CASES)


@pytest.mark.slow
@cases
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_device_says_what_is_not_emulated(either: torch.device, case: str) -> None:
    op, function = CASES[case]
    x = torch.eye(3).to(either).requires_grad_()
    with pytest.raises(EmulationError) as caught:
        function(x)
    assert caught.value.message == (
        f"{op} takes or gives a sparse, quantised or nested tensor, which is not emulated"
    )
    assert caught.value.hint


@cases
def test_a_prediction_ends_there_too(case: str) -> None:
    op, function = CASES[case]
    x = torch.eye(3).requires_grad_()
    with (
        predicting("npu", Registrations(frozenset())) as predictor,
        pytest.raises(OtherLayout) as caught,
    ):
        predictor.call(function, (x,), {}, backward=True)
    layout = "sparse_csr" if "compressed" in case else "sparse_coo"
    said = f"{op} meets a tensor of layout {layout}; only strided ones are followed"
    assert str(caught.value) == said


@pytest.mark.slow
def test_quantised_and_nested_tensors_are_refused(either: torch.device) -> None:
    rows = [torch.ones(2), torch.ones(3)]
    with pytest.raises(EmulationError, match=r"^aten::empty_quantized takes or gives"):
        torch.quantize_per_tensor(torch.eye(3), 0.1, 0, torch.qint8).to(either)
    with pytest.raises(EmulationError, match=r"^aten::_to_copy takes or gives"):
        torch.nested.nested_tensor(rows).to(either)


@pytest.mark.slow
def test_pytorch_alone_refuses_once_the_device_is_closed() -> None:
    found = torch._C.DispatchKeySet(torch._C.DispatchKey.SparsePrivateUse1)

    def refused() -> str:
        with pytest.raises((EmulationError, NotImplementedError)) as caught:
            torch.ops.aten.mm.default.redispatch(found, torch.ones(2, 2), torch.ones(2, 2))
        return type(caught.value).__name__

    with Emulator("ascend-910b"):
        inside = refused()
    assert (inside, refused()) == ("EmulationError", "NotImplementedError")

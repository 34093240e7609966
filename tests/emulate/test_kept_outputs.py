"""Values that are kept of a run's tensors."""

from array import array
from base64 import b64decode
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from opcheck.emulate import kept_outputs
from opcheck.emulate.kept_outputs import MOST, KeptOutputs, sample
from opcheck.model.comparison import Kind, Moment

MOMENT = Moment(Kind.OUTPUT, "Net", 1)


def of(*tensors: Tensor, host: object = lambda _: None) -> KeptOutputs:
    made = KeptOutputs(host, lambda: 8)  # type: ignore[arg-type]  # a lambda, or None
    for i, tensor in enumerate(tensors):
        made.add(MOMENT, f"[{i}]", tensor, ("train.py", 3))
    return made


def values(kept: KeptOutputs) -> list[list[float]]:
    return [array("d", b64decode(one.values)).tolist() for one in kept.outputs(seeded=True).kept]


def test_a_small_tensor_is_kept_whole_in_its_order() -> None:
    kept = of(torch.tensor([[1.5, 2], [3, 4]], dtype=torch.bfloat16).T, torch.tensor([True, False]))
    assert values(kept) == [[1.5, 3, 2, 4], [1, 0]]
    (one, other) = kept.outputs(seeded=True).kept
    assert (one.path, one.file, one.line, one.dtype, one.shape, one.drawn) == (
        "[0]", "train.py", 3, "bfloat16", (2, 2), 8,
    )  # fmt: skip
    assert (other.dtype, other.moment) == ("bool", MOMENT)


def test_complex_lazy_and_empty_tensors_have_their_numbers() -> None:
    lazy = torch.tensor([1 + 2j]).conj()
    assert values(of(lazy, lazy.imag, torch.ones(0), torch.tensor(3))) == [[1, -2], [-2], [], [3]]


@pytest.mark.parametrize("shape", [(65_536, 4), (4, 65_536), (512, 512), (20_000,), (3, 16_384)])
def test_a_sample_leaves_no_row_and_no_column_out(shape: tuple[int, ...]) -> None:
    tensor = torch.arange(torch.Size(shape).numel()).reshape(shape)
    some = sample(tensor, MOST)
    assert MOST / 8 < len(some) <= MOST
    if min(shape) <= 512:
        for i, size in enumerate(shape):
            if size <= 512:
                place = some.long() // (shape[1] if i == 0 and len(shape) > 1 else 1) % size
                assert len(place.unique()) == size


def test_what_has_no_values_of_its_own_is_not_kept() -> None:
    sparse = torch.eye(2).to_sparse()
    kept = of(torch.empty(2, device="meta"), sparse, torch.nested.nested_tensor([torch.ones(1)]))
    torch.vmap(lambda x: [of(x).outputs(seeded=True).kept, x][1])(torch.ones(2))
    assert kept.outputs(seeded=True).kept == ()


def test_reading_asks_nothing_of_what_follows_calls() -> None:
    seen: list[str] = []

    class Seeing(TorchDispatchMode):
        def __torch_dispatch__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            seen.append(str(func))
            return func(*args, **(kwargs or {}))

    tensor = torch.ones(2, requires_grad=True)
    with Seeing():  # type: ignore[no-untyped-call]  # torch leaves it untyped
        kept = of(tensor * 2)
    assert seen == ["aten.mul.Tensor"]
    assert values(kept) == [[2, 2]]


def test_what_is_within_has_room_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_outputs, "MOST_WITHIN", 40)
    kept = of()
    for kind in (Kind.WITHIN, Kind.WITHIN, Kind.WITHIN, Kind.OUTPUT):
        kept.add(Moment(kind, "Net.fc", 1), "", torch.ones(1), ("", 0))
    assert not kept.has_room(within=True)
    assert kept.has_room(within=False)
    found = kept.outputs(seeded=True)
    assert [one.moment.kind for one in found.kept] == [Kind.WITHIN, Kind.WITHIN, Kind.OUTPUT]
    assert found.left_out == 0


def test_no_more_is_kept_of_a_run_than_there_is_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_outputs, "MOST_OF_ALL", 70)
    kept = of(*[torch.ones(1)] * 5)
    found = kept.outputs(seeded=False)
    assert (len(found.kept), found.left_out, found.seeded) == (3, 2, False)

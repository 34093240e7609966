"""Calls compared with the host in this process: what shares memory, lazy conjugates, errors."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from opcheck.errors import EmulationError
from opcheck.lang.sentence import Sentence
from opcheck.model.probe import Observed, Outcome
from opcheck.runtime.probe.arguments import copied
from opcheck.runtime.probe.compare import Held, Tries

CPU = torch.device("cpu")


def held(run: Callable[[], Any], inside: Callable[[], bool] = lambda: False) -> list[Observed]:
    """What was seen of the calls that ``run`` makes."""
    found = Held(Tries(CPU, lambda _: True, tuple, inside), {}, lambda _: None)
    with found.raising(), found:
        run()
    return found.seen


def outcomes(seen: list[Observed]) -> list[tuple[str, Outcome, str]]:
    return [(call.op, call.outcome, call.text) for call in seen]


def test_what_is_written_to_while_it_is_read() -> None:
    memory = torch.linspace(-2, 2, 12)
    rows = memory.view(3, 4)
    seen = held(lambda: torch.mul(rows[1:], rows[:2], out=rows[1:].clone()))
    assert {call.outcome for call in seen} == {Outcome.WORKS}
    (call,) = held(lambda: torch.mul(rows, rows, out=rows))
    assert outcomes([call]) == [("aten::mul.out", Outcome.WORKS, "")]


@given(st.lists(st.sampled_from(["rows", "columns", "turned", "late", "same"]), min_size=2))
def test_what_shares_memory_shares_it_in_the_copy(names: list[str]) -> None:
    memory = torch.arange(24.0)
    views = {
        "rows": memory.view(4, 6),
        "columns": memory.view(4, 6)[:, 2:4],
        "turned": memory.view(4, 6).t(),
        "late": memory[20:],
        "same": memory,
    }
    found: list[Tensor] = copied([views[name] for name in names])
    for name, copy in zip(names, found, strict=True):
        assert torch.equal(copy, views[name])
    for copy in found:
        copy.add_(1)
    for name in names:
        views[name].add_(1)
    for name, copy in zip(names, found, strict=True):
        assert torch.equal(copy, views[name])


def test_a_lazy_conjugate_is_its_values() -> None:
    x = torch.tensor([1 + 2j, 3 - 4j])
    seen = held(lambda: x.conj().unsqueeze(-1).mul(2) + torch.view_as_real(x)[..., 1].sum())
    assert {call.outcome for call in seen} == {Outcome.WORKS}
    assert "aten::unsqueeze" in {call.op for call in seen}


@pytest.mark.filterwarnings("ignore:Warning only once")
def test_a_call_that_is_wrong_is_told() -> None:
    """It would be seen: a kernel that gives something else."""
    x = torch.ones(3)
    library = torch.library.Library("aten", "IMPL")
    calls = iter(range(9))
    try:
        library.impl("neg", lambda t: torch.full_like(t, next(calls)), "CPU", allow_override=True)
        (call,) = (c for c in held(lambda: torch.neg(x)) if c.op == "aten::neg")
    finally:
        library._destroy()
    assert call.outcome is Outcome.WRONG
    assert "Mismatched elements: 3 / 3" in call.text


def test_what_is_not_emulated_says_nothing_of_the_device() -> None:
    library = torch.library.Library("aten", "IMPL")

    def refuse(tensor: Tensor) -> Tensor:
        raise EmulationError(Sentence("not emulated"), Sentence("nothing"))

    try:
        library.impl("erfinv", refuse, "CPU", allow_override=True)
        found = Held(Tries(CPU, lambda _: True, tuple), {}, lambda _: None)
        with pytest.raises(EmulationError), found.raising(), found:
            torch.erfinv(torch.zeros(2))
    finally:
        library._destroy()
    assert [call.op for call in found.seen] == ["aten::zeros"]


def test_an_error_in_backward_is_the_calls_own() -> None:
    library = torch.library.Library("aten", "IMPL")

    def refuse(*_: Any) -> Tensor:
        raise RuntimeError("no such kernel")

    x = torch.ones(2, requires_grad=True)
    try:
        library.impl("sigmoid_backward", refuse, "CPU", allow_override=True)
        found = Held(Tries(CPU, lambda _: True, tuple), {}, lambda _: None)
        with pytest.raises(RuntimeError, match="no such kernel"), found.raising(), found:
            torch.sigmoid(x).sum().backward()
    finally:
        library._destroy()
    last = found.seen[-1]
    assert (last.op, last.outcome) == ("aten::sigmoid_backward", Outcome.RAISES)
    assert last.text == "RuntimeError: no such kernel"


def test_what_a_kernel_does_is_not_asked_of_the_device() -> None:
    assert held(lambda: torch.ones(2).mul(3), inside=lambda: True) == []

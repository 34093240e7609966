"""Collectives among processes that all hold the same, computed on the host.

Nothing arrives from elsewhere: what the other processes send is what this one would. A collective
whose result rests on what only another process has is refused.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from msgspec import Struct
from torch import Tensor

from opcheck.errors import EmulationError
from opcheck.lang.sentence import Sentence

Arguments = Mapping[str, Any]
"""Of a ``c10d`` operator, by the names of its schema."""


class Group(Struct, frozen=True):
    """One process's view of its group."""

    size: int
    rank: int


def collect(op: str, given: Arguments, group: Group, reduction: str) -> None:
    """Write what a ``c10d`` operator writes, where every process gives it the same.

    Args:
        op: in schema spelling: ``c10d::allreduce_``.
        given: its arguments; tensors are on the host.
        group: who takes part.
        reduction: of those that reduce: ``SUM``, ``AVG``, …; else "".

    Raises:
        EmulationError: what it gives cannot be told from what this process has.
    """
    if op in KEEPS:
        return
    if op not in _RULES:
        raise _no_values(op, Sentence("what it receives is known to another process alone"))
    try:
        _RULES[op](_Call(op, given, group, reduction))
    except (RuntimeError, IndexError) as error:  # sizes that processes alike cannot have
        reason = str(error).partition("\n")[0]
        raise _no_values(
            op,
            Sentence("processes that all hold the same cannot meet in it ({text})", text=reason),
        ) from error


class _Call(Struct, frozen=True):
    op: str
    given: Arguments
    group: Group
    reduction: str

    def reduced(self, tensor: Tensor) -> Tensor:
        """What equal tensors of all processes come to."""
        size = self.group.size
        match self.reduction:
            case "SUM":
                return tensor * size
            case "PRODUCT":
                return tensor**size
            case "BXOR":
                return tensor * (size % 2)
            case "AVG" | "MIN" | "MAX" | "BAND" | "BOR":
                return tensor
        raise _no_values(
            self.op,
            Sentence("the reduction {name} is not followed", name=self.reduction)
            if self.reduction
            else Sentence("the reduction it asks for is not followed"),
        )

    def own(self, parts: Sequence[Tensor] | Tensor) -> Tensor:
        """The part that is meant for this process."""
        return parts[self.group.rank]

    @property
    def at_root(self) -> bool:
        """Whether this process is the one that sends to all, or receives from all."""
        root: int = self.given["root_rank"]
        return root == self.group.rank


def _all_reduce(call: _Call) -> None:
    for tensor in call.given["tensors"]:
        tensor.copy_(call.reduced(tensor))


def _reduce(call: _Call) -> None:
    if call.at_root:
        _all_reduce(call)


def _all_gather(call: _Call) -> None:
    for outputs, tensor in zip(
        call.given["output_tensors"], call.given["input_tensors"], strict=False
    ):
        for output in outputs:
            output.copy_(tensor)


def _all_gather_coalesced(call: _Call) -> None:
    for outputs in call.given["output_lists"]:
        for output, tensor in zip(outputs, call.given["input_list"], strict=True):
            output.copy_(tensor)


def _gather(call: _Call) -> None:
    if call.at_root:
        _all_gather(call)


def _all_gather_into(call: _Call) -> None:
    for output, tensor in _pairs(call):
        output.view(call.group.size, -1).copy_(tensor.reshape(1, -1))


def _scatter(call: _Call) -> None:
    if not call.at_root:
        raise _no_values(call.op, Sentence("what it receives is known to another process alone"))
    for output, parts in zip(
        call.given["output_tensors"], call.given["input_tensors"], strict=False
    ):
        output.copy_(call.own(parts))


def _reduce_scatter(call: _Call) -> None:
    for output, parts in zip(
        call.given["output_tensors"], call.given["input_tensors"], strict=False
    ):
        output.copy_(call.reduced(call.own(parts)))


def _reduce_scatter_from(call: _Call) -> None:
    for output, tensor in _pairs(call):
        part = call.own(tensor.reshape(call.group.size, -1))
        output.view(-1).copy_(call.reduced(part))


def _all_to_all(call: _Call) -> None:
    part = call.own(call.given["input_tensors"])
    for output in call.given["output_tensors"]:
        output.copy_(part)


def _all_to_all_single(call: _Call) -> None:
    output, tensor = call.given["output"], call.given["input"]
    part = call.own(_split(tensor, call.given["input_split_sizes"], call.group.size))
    for into in _split(output, call.given["output_split_sizes"], call.group.size):
        if into.shape != part.shape:
            raise IndexError(f"{into.shape[0]} rows are awaited and {part.shape[0]} are sent")
        into.copy_(part)


def _split(tensor: Tensor, sizes: Sequence[int], count: int) -> Sequence[Tensor]:
    even = [tensor.shape[0] // count] * count
    return torch.split(tensor, list(sizes) or even)


def _pairs(call: _Call) -> list[tuple[Tensor, Tensor]]:
    """Outputs with what goes into them: one of each, or lists."""
    given = call.given
    if "outputs" in given:
        return list(zip(given["outputs"], given["inputs"], strict=True))
    return [(given["output_tensor"], given["input_tensor"])]


def _no_values(op: str, reason: Sentence) -> EmulationError:
    return EmulationError(
        Sentence("{op} has no values here: {said}", op=op, said=reason),
        Sentence("leave --values out to follow shapes alone"),
    )


KEEPS = frozenset(
    {"c10d::broadcast_", "c10d::barrier", "c10d::monitored_barrier_", "c10d::send",
     "c10d::check_for_nan"}
)  # fmt: skip
"""Operators after which tensors are as before, where all processes have the same."""

_RULES: Mapping[str, Callable[[_Call], None]] = {
    "c10d::allreduce_": _all_reduce,
    "c10d::allreduce_coalesced_": _all_reduce,
    "c10d::reduce_": _reduce,
    "c10d::allgather_": _all_gather,
    "c10d::allgather_coalesced_": _all_gather_coalesced,
    "c10d::_allgather_base_": _all_gather_into,
    "c10d::allgather_into_tensor_coalesced_": _all_gather_into,
    "c10d::gather_": _gather,
    "c10d::scatter_": _scatter,
    "c10d::reduce_scatter_": _reduce_scatter,
    "c10d::_reduce_scatter_base_": _reduce_scatter_from,
    "c10d::reduce_scatter_tensor_coalesced_": _reduce_scatter_from,
    "c10d::alltoall_": _all_to_all,
    "c10d::alltoall_base_": _all_to_all_single,
}

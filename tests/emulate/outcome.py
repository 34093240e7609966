"""All that a program gives on a device, as values that can be compared with the host's."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

Program = Callable[[torch.device], Any]
HOST = torch.device("cpu")


@dataclass(frozen=True)
class Raised:
    """What ended a program."""

    kind: type[Exception]
    text: str


def outcome(program: Program, device: torch.device, *, values: bool = True) -> Any:
    """What a program returns, or the first line of the error that it raises."""
    try:
        return described(program(device), values=values)
    except (RuntimeError, IndexError, TypeError, ValueError) as error:
        return Raised(type(error), str(error).partition("\n")[0])


def described(value: Any, *, values: bool = True) -> Any:
    """A nested result with each tensor as what can be seen of it, wherever it is."""
    match value:
        case Tensor():
            found = (value.dtype, tuple(value.shape), value.stride(), value.storage_offset())
            flags = (value.requires_grad, value.is_conj(), value.is_neg())
            return (*found, *flags, bits(value)) if values else (*found, *flags)
        case Mapping():
            return {key: described(item, values=values) for key, item in value.items()}
        case list() | tuple():
            return [described(item, values=values) for item in value]
        case _:
            return value


def bits(tensor: Tensor) -> list[Any]:
    """Its values, exactly, whatever they are."""
    host = torch.empty(tensor.shape, dtype=tensor.dtype).copy_(tensor.detach())
    return host.view(-1).view(torch.uint8).tolist()

"""Dropout without the kernel that draws and scales at once."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import torch
from torch import Tensor

from opcheck.model.plan import Label
from opcheck.rewrite.base import REFERENCES, Arguments, Rule
from opcheck.rewrite.call import Call
from opcheck.rewrite.draw import FLOATS, Draw


def native_dropout(input: Tensor, p: float, train: bool | None) -> tuple[Tensor, Tensor]:
    """Keep what a uniform number allows, and make it larger."""
    if train is False or p == 0:
        return input.clone(), torch.ones_like(input, dtype=torch.bool)
    if p == 1:
        return torch.zeros_like(input), torch.zeros_like(input, dtype=torch.bool)
    wide = torch.float64 if input.dtype == torch.float64 else torch.float32
    drawn = torch.empty(input.shape, dtype=wide, device=input.device).uniform_()
    keep = drawn >= p
    return input * keep.to(input.dtype) * (1 / (1 - p)), keep


def dropout_of(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """``dropout`` as users call it."""
    if inplace:
        return torch.nn.functional.dropout(input, p, training, inplace)
    return native_dropout(input, p, training)[0]


class NativeDropoutByUniform(Rule):
    """A uniform number from 0 to 1 is not below ``p`` with the probability of what is kept.

    What is kept is made larger by ``1 / (1 - p)``, as in PyTorch.
    """

    name = "native-dropout-by-uniform"
    label = Label.APPROXIMATE
    random = True
    replaces = ("aten::native_dropout",)
    summary = "Keep what a uniform number allows"
    gives_up = "the same seed gives other numbers of the same distribution"
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.nn.functional.dropout": dropout_of
    }
    references: ClassVar[tuple[str, ...]] = (REFERENCES,)
    replace: ClassVar[Callable[..., Any]] = staticmethod(native_dropout)

    def refuses(self, call: Call) -> str:
        """Decline nothing to draw for, of which PyTorch gives a mask of another dtype."""
        return "" if call.given("input").numel() else "there are no numbers"

    def example(self, op: str, draw: Draw) -> Arguments:
        """Any probability, the certain ones too, in training and out of it."""
        x = draw.tensor(draw.shape(high=2, largest=3, smallest=1), FLOATS[:2], edges=False)
        return (x, draw.choose((0.5, 0.1, 0.0, 1.0)), draw.choose((True, False))), {}

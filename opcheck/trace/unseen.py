"""Calls whose result cannot be known here, and why."""

import torch
from torch import Tensor

from opcheck.lang.sentence import Sentence


class Unseen(Exception):  # noqa: N818  # the reason a trace stops here, not a fault of anybody's
    """A call whose result cannot be known without the device or its extension."""

    @property
    def reason(self) -> str:
        """What is not known, as it was said: :class:`str` would make plain text of a sentence."""
        said = self.args[0] if self.args else ""
        return said if isinstance(said, Sentence) else str(self).strip().split("\n", 1)[0].strip()


class OtherLayout(Unseen):
    """A call that takes or gives a tensor of a layout that is not followed: it has no strides."""

    def __init__(self, op: str, tensor: Tensor) -> None:
        layout = str(tensor.layout).removeprefix("torch.")
        text = "{op} meets a tensor of layout {layout}; only strided ones are followed"
        super().__init__(Sentence(text, op=op, layout=layout))


def require_strides(tensor: Tensor, op: str) -> None:
    """Let only tensors of the usual layout pass.

    Raises:
        OtherLayout: it is sparse, say.
    """
    if tensor.layout is not torch.strided:
        raise OtherLayout(op, tensor)

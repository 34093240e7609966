"""Which operators a layer asks the host for, to hold a stand-in beside a library's own layer."""

from typing import Any

from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode


class Asked(TorchDispatchMode):
    """Which operators are asked for, with the shapes and dtypes of what they give."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # torch leaves it untyped
        self.seen: list[tuple[str, str, tuple[int, ...]]] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Note one call."""
        out = func(*args, **(kwargs or {}))
        if isinstance(out, Tensor):
            self.seen.append((str(func), str(out.dtype), tuple(out.shape)))
        return out

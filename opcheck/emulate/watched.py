"""Device tensors that C++ takes for a tracer's, to hold the tracer's prediction against.

PyTorch's C++ asks of a tensor whether it is "like a subclass" (it has a Python dispatch key), as
everything under a tracer is, and then runs a few composites and derivatives in another way:
``reshape`` asks ``view`` where a plain tensor would ask ``_reshape_alias``. A comparison must not
differ by that, so both sides are watched.

Private torch API used here, checked on 2.13.0: ``torch.Tensor._make_subclass`` and
``torch._C._DisableTorchDispatch``.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor
from torch.utils._pytree import tree_map

from opcheck.emulate.layouts import not_emulated
from opcheck.trace.dispatcher import resolving_lazy


class WatchedTensor(torch.Tensor):
    """A device tensor with a Python dispatch key, which leaves Python at once."""

    failed: ClassVar[Callable[[Exception], Any]]
    """Raises what a call raised, or in backward keeps it for later."""
    met: ClassVar[Callable[[Any], None]]
    """Told of every overload before it is called."""

    __torch_function__ = torch._C._disabled_torch_function_impl  # type: ignore[assignment]  # C

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]  # torch types it more narrowly than it calls
        cls,
        func: Any,
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Have the C++ dispatcher decide alone."""
        __tracebackhide__ = True
        cls.met(func)
        try:
            _only_strided(func, args)
            with torch._C._DisableTorchDispatch(), resolving_lazy():
                result = func(*args, **(kwargs or {}))
        except Exception as error:
            return cls.failed(error)
        return tree_map(cls.of, result)

    @classmethod
    def of(cls, value: Any) -> Any:
        """Give a plain device tensor as one that is watched, which shares its storage.

        Everything else comes back as it is. C++ takes the Python key off the views that it makes.
        """
        if type(value) is not Tensor or value.device.type in ("cpu", "meta"):
            return value
        with torch._C._DisableTorchDispatch():
            return torch.Tensor._make_subclass(cls, value)

    def tolist(self) -> Any:
        """Values as Python numbers, moved to the host first as those of plain tensors are."""
        return self.to("cpu").tolist()

    def numpy(self, *, force: bool = False) -> Any:
        """Refuse as plain tensors of a device do, unless forced."""
        if force:
            return self.detach().to("cpu").numpy(force=True)
        raise TypeError(
            f"can't convert {self.device} device type tensor to numpy. "
            "Use Tensor.cpu() to copy the tensor to host memory first."
        )

    def __format__(self, spec: str) -> str:
        """Format a number as one, as plain tensors are."""
        return format(self.item(), spec) if self.dim() == 0 else object.__format__(self, spec)


def _only_strided(func: Any, args: Sequence[Any]) -> None:
    """Refuse as C++ cannot: it finds no fallback in Python for tensors that have a Python key."""
    for value in args:
        if isinstance(value, Tensor) and value.layout is not torch.strided:
            raise not_emulated(func.name())


def watched_by(keep: Callable[[Exception], Any]) -> type[WatchedTensor]:
    """Give the watched tensors of one device, whose ``keep`` is given what their calls raise."""
    members = {"failed": staticmethod(keep), "met": staticmethod(lambda func: None)}
    return type("WatchedTensor", (WatchedTensor,), members)

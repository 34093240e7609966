"""What the host gets of a tensor of the device whose values a trace does not have.

It is a tensor of the host with made-up values, and so is what Python makes of it. That it decides
by them would else be seen by nobody: what is read on the host asks nothing of the device.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from opcheck.trace.device.state import now
from opcheck.trace.device.tensors import Spec


class HostCopy(torch.Tensor):
    """A tensor of the host whose values depend on data."""

    @classmethod
    def __torch_function__(
        cls,
        func: Any,
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Run on the host; results have made-up values, too, and reading them is noted."""
        __tracebackhide__ = True
        with torch._C.DisableTorchFunctionSubclass():
            result = func(*args, **(kwargs or {}))
            engine = now()
            if engine is None or func not in _READS:
                return result if _makes_anew(func) else _marked(result)
            result = engine.leaves.read_on_host(result)
            engine.note_read(result)
            return result

    def __deepcopy__(self, memo: Any) -> "HostCopy":
        return self.detach().clone().requires_grad_(self.requires_grad)  # type: ignore[return-value]  # marked


def host_copy(spec: Spec) -> Tensor:
    """Make what the host gets: zeros, or truths, as masks are assumed to be."""
    made = spec.zeros()
    return (made.fill_(True) if spec.dtype is torch.bool else made).as_subclass(HostCopy)


def _marked(value: Any) -> Any:
    """What was made of values that depend on data, as such."""
    if type(value) is Tensor and value.device.type == "cpu":
        return value.as_subclass(HostCopy)
    if type(value) in (list, tuple):
        return type(value)(map(_marked, value))
    if isinstance(value, tuple) and type(value).__module__ == "torch.return_types":
        return type(value)(tuple(map(_marked, value)))
    return value


def _makes_anew(func: Any) -> bool:
    """Whether it takes a tensor's shape or dtype and not its values."""
    name = getattr(func, "__name__", "")
    return name.startswith("new_") or name.endswith("_like")


_READS = frozenset(
    {
        *(
            getattr(torch.Tensor, name)
            for name in (
                "__array__", "__bool__", "__complex__", "__contains__", "__float__", "__index__",
                "__int__", "allclose", "equal", "is_nonzero", "item", "numpy", "tolist",
            )
        ),
        torch.allclose, torch.equal, torch.is_nonzero,
    }
)  # fmt: skip
"""What gives a tensor's values to Python."""

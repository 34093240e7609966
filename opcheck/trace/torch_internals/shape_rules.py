"""Shape rules of extension libraries' operators that leave a size open, as ``torchvision::nms``.

Private torch API used here, checked on 2.13.0: ``torch._library.simple_registry.singleton``,
``torch._library.fake_impl.set_ctx_getter`` and ``torch._library.custom_ops.OPDEFS``.
"""

from collections.abc import Callable, Sequence
from typing import Any

from torch import Tensor


class _Sizes:
    """Answers a shape rule that asks for a size which only the data knows."""

    def __init__(self, most: int) -> None:
        self._most = most

    def new_dynamic_size(self, *, min: int = 0, max: int | None = None) -> int:
        """The upper bound: as many as the longest input has rows."""
        return self._most if max is None else sorted((min, self._most, max))[1]

    create_unbacked_symint = new_dynamic_size


def open_sized(func: Any, tensors: Sequence[Tensor]) -> Callable[..., Any] | None:
    """The operator's own shape rule with open sizes at their upper bound; None without a rule."""
    from torch._library import fake_impl, simple_registry

    kernel = simple_registry.singleton.find(func.name().partition(".")[0]).fake_impl.kernel
    if kernel is None:
        return None
    most = max((t.shape[0] for t in tensors if t.dim()), default=1)

    def run(*args: Any, **kwargs: Any) -> Any:
        with fake_impl.set_ctx_getter(lambda: _Sizes(most)):
            return kernel(*args, **kwargs)

    return run


def without_rule(func: Any) -> bool:
    """Whether the operator was made by ``torch.library.custom_op`` and given no shape rule.

    It still has one in the dispatcher, which only raises.
    """
    from torch._library import custom_ops

    made = custom_ops.OPDEFS.get(func.name().partition(".")[0])
    return made is not None and made._abstract_fn is None

"""``flex_attention`` as eager PyTorch runs it: all scores, changed and masked, in plain steps.

Which types of device PyTorch takes differs by its release, which is the target's own and told by
the database: a trace follows it on every device.

Private torch API used here, checked on 2.13.0: ``_validate_device`` and ``flex_attention_hop`` of
``torch.nn.attention.flex_attention``, and ``math_attention`` of the higher-order operator, which is
what eager PyTorch runs.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from torch import Tensor

_PYTHON = "torch.nn.attention.flex_attention"
BY_AUTOGRAD = (
    "the gradient of flex_attention is taken by autograd through its plain steps, where eager "
    "PyTorch has a formula of its own"
)


@contextmanager
def followed(asked: Callable[..., Any]) -> Iterator[None]:
    """Hand the operator and what ``flex_attention`` gives it to ``asked`` inside the block.

    Only where it has been imported already, which takes a second.
    """
    module = sys.modules.get(_PYTHON)
    if module is None:
        yield
        return
    from torch._higher_order_ops.flex_attention import flex_attention

    def hop(*args: Any, **kwargs: Any) -> Any:
        return asked(flex_attention, args, kwargs)

    with (
        patch.object(module, "_validate_device", lambda *_: None),
        patch.object(module, "flex_attention_hop", hop),
    ):
        yield


def plain_steps(query: Tensor, *args: Any, **kwargs: Any) -> tuple[Tensor, ...]:
    """The result as the operator's kernel for eager PyTorch gives it: (B, H, L, E) and (B, H, L).

    Takes what the higher-order operator takes. The output has its dimensions in the order of the
    query's, as the kernel leaves them.
    """
    from torch._higher_order_ops.flex_attention import math_attention

    out, *rest = math_attention(query, *args, **kwargs)
    order = sorted(range(out.dim() - 1), key=query.stride().__getitem__)
    strides, step = [1] * out.dim(), out.shape[-1]
    for dim in order:
        strides[dim], step = step, step * out.shape[dim]
    laid = out.new_empty_strided(out.shape, strides)
    laid.copy_(out)
    return laid, *rest

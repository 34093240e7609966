"""Higher-order operators: each one's parts are run under the trace as eager PyTorch would."""

from collections.abc import Callable
from typing import Any


def branches(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run every part of a higher-order operator once and give its result.

    Raises:
        NotImplementedError: this operator is not known here.
    """
    run = _KNOWN.get(func.name())
    if run is None:
        raise NotImplementedError("what it runs cannot be followed")
    return run(*args, **kwargs)


def _cond(predicate: Any, true_fn: Any, false_fn: Any, operands: Any = ()) -> Any:
    """Both branches run, since either may be taken; the result is the first one's."""
    result = true_fn(*operands)
    false_fn(*operands)
    return result


def _while_loop(cond_fn: Any, body_fn: Any, carried: Any, additional: Any = ()) -> Any:
    """One turn of the loop."""
    cond_fn(*carried, *additional)
    return body_fn(*carried, *additional)


def _map(function: Any, xs: Any, args: Any = ()) -> Any:
    import torch

    columns = [x.unbind(0) for x in xs]
    rows = [function(*row, *args) for row in zip(*columns, strict=True)]
    return tuple(torch.stack(parts) for parts in zip(*rows, strict=True))


def _wrapped(function: Any, *args: Any, **kwargs: Any) -> Any:
    """Operators that only carry a function: checkpointing, hints, invoke_subgraph."""
    return function(*args, **kwargs)


def _set_grad(enabled: Any, function: Any, *args: Any, **kwargs: Any) -> Any:
    return function(*args, **kwargs)


def _autocast(
    device: Any, dtype: Any, enabled: Any, cache: Any, function: Any, *args: Any, **kwargs: Any
) -> Any:
    return function(*args, **kwargs)


def _subgraph(function: Any, identifier: Any, *args: Any) -> Any:
    return function(*args)


def _flex_attention(
    query: Any,
    key: Any,
    value: Any,
    score_mod: Any,
    block_mask: Any,
    scale: Any,
    kernel_options: Any,
    score_mod_other_buffers: Any = (),
    mask_mod_other_buffers: Any = (),
) -> Any:
    """The score modification is not followed; its result has the query's shape."""
    import torch

    out = query.new_empty(*query.shape[:-1], value.shape[-1])
    logsumexp = torch.empty(query.shape[:-1], dtype=torch.float32, device=query.device)
    return out, logsumexp, logsumexp


_KNOWN: dict[str, Callable[..., Any]] = {
    "cond": _cond,
    "while_loop": _while_loop,
    "map_impl": _map,
    "wrap": _wrapped,
    "wrap_activation_checkpoint": _wrapped,
    "tag_activation_checkpoint": _wrapped,
    "wrap_with_set_grad_enabled": _set_grad,
    "wrap_with_autocast": _autocast,
    "invoke_subgraph": _subgraph,
    "flex_attention": _flex_attention,
}

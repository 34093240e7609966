"""Higher-order operators: each one's parts are run under the trace as eager PyTorch would.

Private torch API used here, checked on 2.13.0: ``torch._higher_order_ops.scan.generic_scan``, which
is what eager PyTorch runs as ``scan``. ``tests/trace/test_operators.py`` fails when it moves.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_flatten, tree_unflatten

from opcheck.lang.sentence import Sentence
from opcheck.trace.calls.engine import Engine
from opcheck.trace.calls.flex_attention import plain_steps
from opcheck.trace.device.tensors import DeviceTensor

EVERY_BRANCH = "every branch of a conditional is counted; a run takes one of them"
ONE_PASS = "a loop's body is counted once, however often it runs"
MOST_TURNS = 10_000
"""Of a loop whose end is known: one that has none would be followed until the time is over."""


def branches(engine: Engine, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run every part of a higher-order operator as often as eager does, and give its result.

    What decides between its parts is read by Python, as eager PyTorch reads it. Where its value is
    not known, every branch runs, a loop's body once, and a note of ``engine`` says so.

    Raises:
        NotImplementedError: this operator is not known here.
    """
    decided = _DECIDED.get(func.name())
    if decided is not None:
        return decided(engine, *args, **kwargs)
    run = _KNOWN.get(func.name())
    if run is None:
        raise NotImplementedError("what it runs cannot be followed")
    return run(*args, **kwargs)


def _cond(engine: Engine, predicate: Any, true_fn: Any, false_fn: Any, operands: Any = ()) -> Any:
    """Both branches run, since either may be taken; the result is the first one's."""
    _read(engine, predicate)
    engine.note(EVERY_BRANCH)
    result = true_fn(*operands)
    false_fn(*operands)
    return result


def _while_loop(
    engine: Engine, cond_fn: Any, body_fn: Any, carried: Any, additional: Any = (), **_: Any
) -> Any:
    """Turns of the loop as long as its end is known; one more where it is not."""
    predicate = cond_fn(*carried, *additional)
    if not _read(engine, predicate) and _is_known(predicate):
        return tuple(value.clone() if isinstance(value, Tensor) else value for value in carried)
    turns = 0
    while _read(engine, predicate) or not _is_known(predicate):  # eager reads the first one twice
        turns += 1
        if turns > MOST_TURNS:
            raise NotImplementedError(
                Sentence("it makes more than {count} turns", count=f"{MOST_TURNS:,}")
            )
        known = _is_known(predicate)
        carried = body_fn(*carried, *additional)
        predicate = cond_fn(*carried, *additional)
        if not known:
            engine.note(ONE_PASS)
            _read(engine, predicate)
            break
    return carried


def _read(engine: Engine, predicate: Any) -> bool:
    """Have Python read what decides; what it is makes no difference here where it is not known."""
    if _is_known(predicate):
        return bool(predicate)
    with engine.not_steered():
        return bool(predicate)


def _is_known(predicate: Any) -> bool:
    return not isinstance(predicate, DeviceTensor) or predicate.value is not None


def _map(function: Any, xs: Any, args: Any = ()) -> Any:
    """The function runs once for each element."""
    columns = [x.unbind(0) for x in xs]
    rows = [tree_flatten(function(*row, *args)) for row in zip(*columns, strict=True)]
    if not rows:
        raise ValueError("map is given no elements, of which its result could be made")
    parts = zip(*(flat for flat, _ in rows), strict=True)
    return tree_unflatten([_stacked(part) for part in parts], rows[0][1])


def _stacked(parts: Any) -> Any:
    return None if all(part is None for part in parts) else torch.stack(parts)


def _scan(function: Any, init: Any, xs: Any, additional_inputs: Any = ()) -> Any:
    """The function runs once for each element."""
    from torch._higher_order_ops.scan import generic_scan

    return generic_scan(function, init, xs, additional_inputs=additional_inputs)


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


_DECIDED: dict[str, Callable[..., Any]] = {"cond": _cond, "while_loop": _while_loop}
_KNOWN: dict[str, Callable[..., Any]] = {
    "map_impl": _map,
    "scan": _scan,
    "wrap": _wrapped,
    "wrap_activation_checkpoint": _wrapped,
    "tag_activation_checkpoint": _wrapped,
    "wrap_with_set_grad_enabled": _set_grad,
    "wrap_with_autocast": _autocast,
    "invoke_subgraph": _subgraph,
    "flex_attention": plain_steps,
}

"""Recognises the optimizer's step in code that is not ours."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial, wraps
from types import FunctionType, MethodType
from typing import Any

from torch.optim.optimizer import (
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
)
from torch.utils._pytree import tree_map

from opcheck.emulate.record import Record
from opcheck.model.trace import Phase


@contextmanager
def optimizer_noticed(record: Record) -> Iterator[None]:
    """Count what any optimizer's ``step`` asks for as of that phase, inside the block."""
    before: list[Phase | None] = []

    def begins(_: Any, args: Any, kwargs: Any) -> tuple[Any, Any]:
        if before:  # the last step raised, and never told that it ended
            record.phase = before.pop()
        before.append(record.phase)
        record.phase = Phase.OPTIMIZER
        around = before[-1]
        return tree_map(partial(_outside, record, around), (args, kwargs))  # type: ignore[no-any-return]  # torch

    def ends(*_: Any) -> None:
        record.phase = before.pop()

    hooks = (register_optimizer_step_pre_hook(begins), register_optimizer_step_post_hook(ends))
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


def _outside(record: Record, phase: Phase | None, value: Any) -> Any:
    """Have a closure that the step calls, to compute the loss again, count as of ``phase``."""
    if not isinstance(value, FunctionType | MethodType | partial):
        return value

    @wraps(value)
    def call(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        inside, record.phase = record.phase, phase
        result = value(*args, **kwargs)
        record.phase = inside  # where it raises, so does the step
        return result

    return call

"""Recognises the optimizer's step in code that is not ours."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torch.optim.optimizer import (
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
)

from opcheck.emulate.record import Record
from opcheck.model.trace import Phase


@contextmanager
def optimizer_noticed(record: Record) -> Iterator[None]:
    """Count what any optimizer's ``step`` asks for as of that phase, inside the block."""
    before: list[Phase | None] = []

    def begins(*_: Any) -> None:
        if before:  # the last step raised, and never told that it ended
            record.phase = before.pop()
        before.append(record.phase)
        record.phase = Phase.OPTIMIZER

    def ends(*_: Any) -> None:
        record.phase = before.pop()

    hooks = (register_optimizer_step_pre_hook(begins), register_optimizer_step_post_hook(ends))
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()

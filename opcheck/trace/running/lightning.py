"""A training step as a LightningModule has it: its own loss, and its own optimizers.

Lightning's ``Trainer`` calls ``training_step(batch, batch_idx)`` in the place of the forward that
its strategies wrap, steps what ``configure_optimizers`` gives, and leaves both to a module that
sets ``automatic_optimization`` to false (Lightning 2.6: ``strategies/strategy.py``,
``core/optimizer.py``). What a module logs without a trainer is dropped.
"""

import inspect
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn

from opcheck.errors import TraceError
from opcheck.lang.sentence import Sentence

_PACKAGES = frozenset({"lightning", "pytorch_lightning"})
NOTE = Sentence("trained by its own training_step, without a trainer")


def is_lightning(module: nn.Module) -> bool:
    """Whether it is a LightningModule that says how it is trained."""
    kinds = (
        kind
        for kind in type(module).__mro__
        if kind.__name__ == "LightningModule" and kind.__module__.partition(".")[0] in _PACKAGES
    )
    return next(kinds, None) is not None


def require_automatic(module: nn.Module) -> None:
    """Refuse a module that steps its optimizers itself.

    Raises:
        TraceError: it does.
    """
    if not getattr(module, "automatic_optimization", True):
        raise TraceError(
            Sentence(
                "{module} steps its optimizers itself (automatic_optimization is false), which "
                "needs the trainer",
                module=type(module).__name__,
            ),
            Sentence("write a function of the loss, and name it with --step loss=FILE.py:NAME"),
        )


def optimizers_of(module: Any) -> Sequence[torch.optim.Optimizer]:
    """What ``configure_optimizers`` gives, without the schedulers.

    Raises:
        TraceError: it gives none.
    """
    found = tuple(_optimizers(module.configure_optimizers()))
    if not found:
        raise TraceError(
            Sentence(
                "configure_optimizers of {module} gives no optimizer", module=type(module).__name__
            ),
            Sentence("name one with --step, such as optimizer=sgd"),
        )
    return found


def _optimizers(given: Any) -> Iterator[torch.optim.Optimizer]:
    """One, a list of them, (a list, a list of schedulers), or a mapping that names one."""
    if isinstance(given, torch.optim.Optimizer):
        yield given
    elif isinstance(given, Mapping):
        yield from _optimizers(given.get("optimizer"))
    elif isinstance(given, list | tuple):
        for one in given:
            yield from _optimizers(one)


def batch_of(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """The batch that inputs stand for: one alone, several as a tuple, named ones as a mapping."""
    if kwargs and not args:
        return dict(kwargs)
    return args[0] if len(args) == 1 else args


@contextmanager
def training_step_as_forward(module: Any) -> Iterator[None]:
    """Have the next call of the module be its ``training_step``, which may call it as ever."""
    step = module.training_step
    numbered = len(inspect.signature(step).parameters) > 1

    def forward(batch: Any) -> Any:
        vars(module).pop("forward", None)
        return step(batch, 0) if numbered else step(batch)

    module.forward = forward
    try:
        yield
    finally:
        vars(module).pop("forward", None)


def unwrapped(module: nn.Module) -> nn.Module:
    """The model that DDP trains, or the module itself."""
    return module.module if isinstance(module, nn.parallel.DistributedDataParallel) else module

"""One run of a model on the traced device, and another way where it fails."""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import nn

from opcheck.errors import TraceError
from opcheck.lang.sentence import Sentence
from opcheck.model.trace import run_ended
from opcheck.trace.calls.engine import Engine
from opcheck.trace.calls.modules import ModuleStack, raise_if_bug, reason_of
from opcheck.trace.calls.tree import CallTreeRecorder
from opcheck.trace.outputs.unknown import UnknownResult
from opcheck.trace.running.distributed import as_sharded
from opcheck.trace.running.eager import asks_for_other
from opcheck.trace.running.model_state import forget, fresh_copy, on_device

RunModel = Callable[[nn.Module, Engine, tuple[Any, ...], dict[str, Any]], object]
"""Has a module do its work with inputs that are on the engine's device."""


def forward(
    module: nn.Module, engine: Engine, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> object:
    """Have the module compute its output."""
    return module(*args, **kwargs)


def attempt(
    module: nn.Module,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    make: Callable[[ModuleStack], Any],
    play: RunModel = forward,
    inputs_given: bool = False,
) -> Any:
    """Run once; where that fails, once more letting failing modules pass their input on.

    Gives the engine, one of those that ``make`` makes.
    """
    fresh = fresh_copy(module)
    engine, error = _once(fresh, args, kwargs, make(ModuleStack(fresh)), play)
    if error is None:
        return engine
    if _refused_at_once(engine, error) or (inputs_given and engine.refused is error):
        raise _inputs_refused(module, args, kwargs, engine, error) from error
    return _once_more(module, args, kwargs, make, play, error)


def _once_more(
    module: nn.Module,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    make: Callable[[ModuleStack], Any],
    play: RunModel,
    error: Exception,
) -> Any:
    """Run as if CUDA were the device if that was the trouble, else past what fails."""
    forget()
    if asks_for_other(error):
        fresh = fresh_copy(module)
        engine = make(ModuleStack(fresh))
        engine.other_as_device = True
        engine, again = _once(fresh, args, kwargs, engine, play)
        if again is None:
            return engine
        forget()
    fresh = fresh_copy(module)
    engine, again = _once(fresh, args, kwargs, make(ModuleStack(fresh, recover=True)), play)
    if again is not None:
        where = engine.modules.current or "(the model)"
        engine.gap(run_ended(where, reason_of(again)))
    return engine


def _once(
    module: nn.Module,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    engine: Engine,
    play: RunModel,
) -> tuple[Engine, Exception | None]:
    inputs = on_device((tuple(args), dict(kwargs)), engine.device)
    try:
        with engine.running(until=_once.__code__), as_sharded(module, engine.quiet()):
            play(module, engine, *inputs)
    except (TraceError, MemoryError):
        raise
    except Exception as error:  # the user's model failed; the caller decides what that means
        raise_if_bug(error)
        return engine, error
    return engine, None


def _refused_at_once(engine: Engine, error: Exception) -> bool:
    """Nothing was computed before the failure, and it is not one of ours: the inputs do not fit."""
    if isinstance(error, UnknownResult) or asks_for_other(error):
        return False
    return isinstance(engine, CallTreeRecorder) and not engine.sequence


def _inputs_refused(
    module: nn.Module,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    engine: Engine,
    error: Exception,
) -> TraceError:
    given = [_described(value) for value in args]
    given += [f"{name}={_described(value)}" for name, value in kwargs.items()]
    computed = isinstance(engine, CallTreeRecorder) and engine.sequence
    where = Sentence("at once")
    if computed:
        failed = engine.modules.failed
        where = Sentence("in {text}", text=failed) if failed else Sentence("in its forward")
    return TraceError(
        Sentence(
            "{name} refuses its inputs {said}: {text} (given: {said_list})",
            name=type(module).__name__,
            said=where,
            text=reason_of(error),
            said_list=", ".join(given) or Sentence("nothing"),
        ),
        hint=Sentence(
            "give inputs that it takes with --input NAME=SHAPE:DTYPE, as in --input x=1x3x224x224"
        ),
    )


def _described(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return f"{str(value.dtype).removeprefix('torch.')}{list(value.shape)}"
    return repr(value)

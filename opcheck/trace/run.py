"""Runs a model on the traced device and gives its trace."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import nn

from opcheck.errors import TraceError
from opcheck.model.trace import Kernel, Node, Trace, Use
from opcheck.trace.autocast import autocasting
from opcheck.trace.caches import forget
from opcheck.trace.disguise import DISGUISES, device_for, undisguised, worn
from opcheck.trace.eager import asks_for_cuda
from opcheck.trace.engine import Engine
from opcheck.trace.exact import Exact
from opcheck.trace.fresh import fresh_copy
from opcheck.trace.modules import ModuleStack, raise_if_bug, reason_of
from opcheck.trace.swap import on_device, swapped
from opcheck.trace.tree import Tree
from opcheck.trace.unseen import Unseen

Progress = Callable[[str], None]
Play = Callable[[nn.Module, Engine, tuple[Any, ...], dict[str, Any]], object]
"""Has a module do its work with inputs that are on the engine's device."""


def trace_model(
    model: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    *,
    device_type: str,
    exact: Mapping[str, frozenset[str]] | None = None,
    casts: Mapping[str, str] | None = None,
    inputs_given: bool = False,
    progress: Progress = lambda _: None,
) -> Trace:
    """Record every overload that one forward of ``model`` asks of a device.

    Args:
        model: a module, or any callable on tensors.
        args: positional inputs; tensors of any device, those on meta have no values.
        kwargs: keyword inputs.
        device_type: what tensors say they are on: ``npu``, or a type that this torch cannot have
            such as ``cuda``, which a stand-in then says it is.
        exact: for each target (its text), the overloads that it registers; the trace then holds
            the exact kernels asked of it, or a note why not.
        casts: dtype that a cast on the device asks for -> the dtype that it gives instead.
        inputs_given: the user chose these inputs, so an operator that refuses them is an error,
            not a gap.
        progress: told one short line per step.

    Raises:
        TraceError: the inputs do not fit: the model fails before it computes anything, or, with
            ``inputs_given``, an operator refuses what they became.
    """
    device = device_for(device_type)
    module = as_module(model)
    changed = dtypes(casts or {})
    seen = device_type if device_type in DISGUISES else device.type
    with (
        worn(device_type), autocasting({}, seen), reproducible(module), swapped(module, device)
    ):  # fmt: skip
        progress("recording the operators")
        make_tree = partial(Tree, device, changed)
        tree = attempt(module, args, kwargs, make_tree, inputs_given=inputs_given)
        kernels: dict[str, tuple[Kernel, ...]] = {}
        notes = _stood_in(device, device_type)
        done: dict[frozenset[str], Exact] = {}
        for target, registered in (exact or {}).items():
            if registered not in done:
                progress(f"counting the kernels that {target} is asked for")
                forget()
                make = partial(Exact, device, changed, registered, tree.leaves.learned)
                done[registered] = attempt(module, args, kwargs, make)
            counted = done[registered]
            if counted.modules.gaps == tree.modules.gaps:
                kernels[target] = counted.kernels
            else:
                notes.append(f"no exact kernels for {target}: {_told(counted)}")
    return _trace(tree, device_type, kernels, tuple(notes))


def _stood_in(device: torch.device, device_type: str) -> list[str]:
    """Say where Python saw another name than the device's own: torch has one a process."""
    if device_type in DISGUISES or device.type == device_type:
        return []
    return [
        f"traced under the name {device.type!r}, which this process has given its device: code "
        f"that asks for {device_type!r} by name was not followed"
    ]


def _told(engine: Engine) -> str:
    failures = engine.modules.gaps
    return f"the run that counts them failed: {failures[0].reason if failures else 'too early'}"


def as_module(model: Callable[..., Any]) -> nn.Module:
    """The model itself, or a plain callable as a module."""
    return model if isinstance(model, nn.Module) else _Function(model)


def dtypes(casts: Mapping[str, str]) -> dict[torch.dtype, torch.dtype]:
    """A table of dtypes by name as one of torch's."""
    return {getattr(torch, asked): getattr(torch, given) for asked, given in casts.items()}


class _Function(nn.Module):
    """A plain callable as a module."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self._function = function

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self._function(*args, **kwargs)


@contextmanager
def reproducible(module: nn.Module) -> Iterator[None]:
    """Evaluation mode and fixed random numbers inside the block; both as before after it."""
    modes = [(m, m.training) for m in module.modules()]
    module.eval()
    try:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            yield
    finally:
        for part, training in modes:
            part.training = training


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
    play: Play = forward,
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
    play: Play,
    error: Exception,
) -> Any:
    """Run as if CUDA were the device if that was the trouble, else past what fails."""
    if asks_for_cuda(error):
        fresh = fresh_copy(module)
        engine = make(ModuleStack(fresh))
        engine.cuda_as_device = True
        engine, again = _once(fresh, args, kwargs, engine, play)
        if again is None:
            return engine
    fresh = fresh_copy(module)
    engine, again = _once(fresh, args, kwargs, make(ModuleStack(fresh, recover=True)), play)
    if again is not None:
        where = engine.modules.current or "(the model)"
        engine.gap(where, f"the run ended here: {reason_of(again)}")
    return engine


def _once(
    module: nn.Module,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    engine: Engine,
    play: Play,
) -> tuple[Engine, Exception | None]:
    inputs = on_device((tuple(args), dict(kwargs)), engine.device)
    try:
        with engine.running(until=_once.__code__):
            play(module, engine, *inputs)
    except (TraceError, MemoryError):
        raise
    except Exception as error:  # the user's model failed; the caller decides what that means
        raise_if_bug(error)
        return engine, error
    return engine, None


def _refused_at_once(engine: Engine, error: Exception) -> bool:
    """Nothing was computed before the failure, and it is not one of ours: the inputs do not fit."""
    if isinstance(error, Unseen) or asks_for_cuda(error):
        return False
    return isinstance(engine, Tree) and not engine.sequence


def _inputs_refused(
    module: nn.Module,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    engine: Engine,
    error: Exception,
) -> TraceError:
    given = [_described(value) for value in args]
    given += [f"{name}={_described(value)}" for name, value in kwargs.items()]
    computed = isinstance(engine, Tree) and engine.sequence
    where = f"in {engine.modules.failed or 'its forward'}" if computed else "at once"
    return TraceError(
        f"{type(module).__name__} refuses its inputs {where}: {reason_of(error)} "
        f"(given: {', '.join(given) or 'nothing'})",
        hint="give inputs that it takes with --input NAME=SHAPE:DTYPE, as in --input x=1x3x224x224",
    )


def _described(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return f"{str(value.dtype).removeprefix('torch.')}{list(value.shape)}"
    return repr(value)


def _trace(
    tree: Tree,
    device_type: str,
    kernels: Mapping[str, tuple[Kernel, ...]],
    notes: tuple[str, ...],
) -> Trace:
    gaps = sorted({*tree.gaps, *tree.modules.gaps})
    nodes, uses = _reachable(tree.nodes, tree.uses)
    if device_type != tree.device.type:
        nodes = tuple(undisguised(nodes, tree.device, device_type))
    return Trace(
        torch_version=torch.__version__.partition("+")[0],
        device_type=device_type,
        mode="inference",
        nodes=nodes,
        uses=uses,
        sequence=tuple(tree.sequence),
        gaps=tuple(gaps),
        modules_not_called=tree.modules.not_called(),
        kernels=dict(kernels),
        notes=notes,
    )


def _reachable(
    nodes: tuple[Node, ...], uses: tuple[Use, ...]
) -> tuple[tuple[Node, ...], tuple[Use, ...]]:
    """Drop nodes of calls that failed before they counted, and number the rest anew."""
    wanted: set[int] = set()
    todo = [use.node for use in uses]
    while todo:
        index = todo.pop()
        if index not in wanted:
            wanted.add(index)
            todo += [child for child, _ in nodes[index].children or ()]
    order = {old: new for new, old in enumerate(sorted(wanted))}
    return tuple(_renumbered(nodes[old], order) for old in order), tuple(
        Use(order[u.node], u.module, u.file, u.line, u.count, u.phase) for u in uses
    )


def _renumbered(node: Node, order: Mapping[int, int]) -> Node:
    if not node.children:
        return node
    children = tuple((order[child], count) for child, count in node.children)
    return replace(node, children=children)

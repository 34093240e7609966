"""A model run again with other sizes in the dimensions that the user marked."""

import difflib
import inspect
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

import torch
from msgspec import Struct
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves, tree_map

from opcheck.errors import UsageError
from opcheck.lang.sentence import Sentence
from opcheck.model.dynamic import DynamicInput
from opcheck.trace.calls.call_site import NOWHERE, Site, from_error
from opcheck.trace.calls.modules import ModuleStack, raise_if_bug, reason_of
from opcheck.trace.calls.tree import CallTreeRecorder
from opcheck.trace.device.alias import device_for
from opcheck.trace.run import as_module, dtypes, reproducible
from opcheck.trace.running.device_in_place import taking_place
from opcheck.trace.running.eager import asks_for_other
from opcheck.trace.running.model_state import forget, fresh_copy, on_device, swapped
from opcheck.trace.sizes.events import Called, Decision, Event, watched

Inputs = tuple[tuple[Any, ...], dict[str, Any]]


class Axis(Struct, frozen=True):
    """One dimension of one input."""

    key: int | str
    """Position among the inputs, or name."""
    name: str
    """As the user knows it: ``ids:1``."""
    dim: int
    """Not negative."""
    size: int
    """In the example inputs."""

    def __str__(self) -> str:
        return self.name


Sizes = Mapping[Axis, int]


def axes_of(
    marked: Sequence[DynamicInput],
    model: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
) -> tuple[Axis, ...]:
    """The dimensions that the user marked, each once.

    Raises:
        UsageError: there is no such input or dimension.
    """
    known = dict(_tensors(model, args, kwargs))
    found: dict[Axis, None] = {}
    for one in marked:
        name = _called(one.name, known, args)
        key, tensor = known[name]
        for dim in one.dims:
            if not -tensor.dim() <= dim < tensor.dim():
                raise UsageError(
                    Sentence(
                        "--dynamic {text}: {name} has no dimension {dim}",
                        text=repr(str(one)),
                        name=name,
                        dim=dim,
                    ),
                    Sentence(
                        "its shape is {text}, so give one of 0 to {count}",
                        text=list(tensor.shape),
                        count=tensor.dim() - 1,
                    )
                    if tensor.dim()
                    else Sentence("it has no dimensions at all"),
                )
            found[_axis(key, name, dim % tensor.dim(), tensor)] = None
    return tuple(found)


def alike(
    axes: Sequence[Axis],
    model: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
) -> tuple[Axis, ...]:
    """Dimensions of other inputs that stand where a marked one does, and have its size."""
    marked = {axis.key for axis in axes}
    wanted = {(axis.dim, axis.size) for axis in axes}
    return tuple(
        _axis(key, name, dim, tensor)
        for name, (key, tensor) in _tensors(model, args, kwargs)
        if key not in marked
        for dim, size in enumerate(tensor.shape)
        if (dim, size) in wanted
    )


def resized(args: Sequence[Any], kwargs: Mapping[str, Any], sizes: Sizes) -> Inputs:
    """The inputs with these sizes, their values repeated."""
    changed = _by_key(args, kwargs)
    for axis, size in sizes.items():
        changed[axis.key] = tree_map(_resizing(axis.dim, size), changed[axis.key])
    return tuple(changed[place] for place in range(len(args))), {k: changed[k] for k in kwargs}


def _resizing(dim: int, size: int) -> Callable[[Any], Any]:
    def change(value: Any) -> Any:
        if not isinstance(value, Tensor) or value.dim() <= dim:
            return value
        if not value.shape[dim]:
            shape = [*value.shape[:dim], size, *value.shape[dim + 1 :]]
            return value.new_zeros(shape)
        places = torch.arange(size, device=value.device)
        if value.device.type != "meta":
            places %= value.shape[dim]
        return value.index_select(dim, places)

    return change


def _axis(key: int | str, name: str, dim: int, tensor: Tensor) -> Axis:
    return Axis(key, f"{name}:{dim}", dim, int(tensor.shape[dim]))


def _tensors(
    model: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> list[tuple[str, tuple[int | str, Tensor]]]:
    """Name -> key and tensor of every input that is one, or a list of them."""
    names = parameters(model)
    found = []
    for key, value in _by_key(args, kwargs).items():
        tensors = [leaf for leaf in tree_leaves(value) if isinstance(leaf, Tensor)]
        if tensors:
            known = names[key] if isinstance(key, int) and key < len(names) else str(key)
            found.append((known, (key, tensors[0])))
    return found


def _by_key(args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[int | str, Any]:
    """Every input by its position or name."""
    by_key: dict[int | str, Any] = dict(enumerate(args))
    by_key.update(kwargs)
    return by_key


def parameters(model: Callable[..., Any]) -> list[str]:
    """Names of what the model takes by position, as far as Python knows them."""
    known = getattr(model, "user_inputs", None)
    if isinstance(known, dict):  # of an exported program, which takes them by position
        return list(known)
    call = model.forward if isinstance(model, nn.Module) else model
    try:
        parameters = inspect.signature(call).parameters.values()
    except (TypeError, ValueError):  # written in C
        return []
    by_position = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [parameter.name for parameter in parameters if parameter.kind in by_position]


def _called(asked: str, known: Mapping[str, Any], args: Sequence[Any]) -> str:
    if asked in known:
        return asked
    if asked.isdecimal():
        by_place = {key: name for name, (key, _) in known.items()}
        if int(asked) in by_place:
            return by_place[int(asked)]
    near = difflib.get_close_matches(asked, known, 1)
    names = ", ".join(known) or Sentence("none that is a tensor")
    raise UsageError(
        Sentence("--dynamic: the model is given no tensor named {name}", name=repr(asked)),
        Sentence("did you mean {text}?", text=near[0])
        if near
        else Sentence("its inputs are: {said}", said=names),
    )


class SizeRun(Struct, frozen=True):
    """One run with the sizes that it had."""

    sizes: Sizes
    events: tuple[Event, ...]
    error: str = ""
    """Why it failed; "": it did not."""
    site: Site = NOWHERE
    """The model's line that failed."""
    module: str = ""
    """The module that failed."""
    results: int = 0
    """How many tensors it gave."""

    def __str__(self) -> str:
        return ", ".join(f"{axis} = {size}" for axis, size in self.sizes.items())


class Runner:
    """Runs one model with sizes of choice."""

    def __init__(
        self,
        module: nn.Module,
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        device: torch.device,
        casts: Mapping[torch.dtype, torch.dtype],
    ) -> None:
        self._module, self._args, self._kwargs = module, args, kwargs
        self._device, self._casts = device, casts
        self._other_as_device = False
        self._watches = True

    def first(self, sizes: Sizes) -> SizeRun:
        """Run with the sizes that the inputs have, and find out how the model is to be run."""
        run = self._run(sizes)
        if run.error and not self._other_as_device:
            self._watches = False  # a number of another type may be what the model fails on
            run = self._run(sizes)
        return run

    def run(self, sizes: Sizes) -> SizeRun:
        """Run with these sizes."""
        forget()
        return self._run(sizes)

    def _run(self, sizes: Sizes) -> SizeRun:
        module = fresh_copy(self._module)
        tree = CallTreeRecorder(self._device, self._casts, ModuleStack(module))
        tree.other_as_device = self._other_as_device
        log = _Log(tree)
        inputs = resized(self._args, self._kwargs, sizes)
        args, kwargs = on_device(inputs, self._device)
        watching = watched(log.decided) if self._watches else nullcontext()
        try:
            with tree.running(until=Runner._run.__code__), watching:
                given = module(*args, **kwargs)
        except MemoryError:
            raise
        except Exception as error:  # the user's model failed with these sizes: an answer
            raise_if_bug(error)
            if asks_for_other(error) and not self._other_as_device:
                self._other_as_device = True
                return self._run(sizes)
            failed = tree.modules.failed
            return SizeRun(sizes, log.events(), reason_of(error), from_error(error), failed)
        results = sum(isinstance(leaf, Tensor) for leaf in tree_leaves(given))
        return SizeRun(sizes, log.events(), results=results)


class _Log:
    """What happens while a tree records, in order."""

    def __init__(self, tree: CallTreeRecorder) -> None:
        self._tree = tree
        self._log: list[tuple[int | Decision, str]] = []
        tree.told = self._called

    def decided(self, decision: Decision) -> None:
        self._log.append((decision, self._tree.modules.current))

    def _called(self, tree: CallTreeRecorder) -> None:
        self._log.append((tree.sequence[-1], tree.modules.current))

    def events(self) -> tuple[Event, ...]:
        """All of it, with the calls as they were recorded."""
        nodes, uses = self._tree.nodes, self._tree.uses
        calls = [
            Called((u.file, u.line), str(nodes[u.node].op), u.module, nodes[u.node].arguments)
            for u in uses
        ]
        return tuple(
            Event(what if isinstance(what, Decision) else calls[what], module)
            for what, module in self._log
        )


@contextmanager
def runner(
    model: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    device_type: str,
    casts: Mapping[str, str],
    autocast: Mapping[str, Collection[str]],
) -> Iterator[Runner]:
    """What runs the model as a trace for this device type does, in evaluation mode."""
    device = device_for(device_type)
    module = as_module(model)
    with taking_place(device_type, autocast), reproducible(module), swapped(module, device):
        yield Runner(module, args, kwargs, device, dtypes(casts))

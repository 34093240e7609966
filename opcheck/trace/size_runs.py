"""A model run again with other sizes, each run as the events that it came to."""

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext
from typing import Any

import torch
from msgspec import Struct
from torch import nn

from opcheck.trace.autocast import autocasting
from opcheck.trace.caches import forget
from opcheck.trace.disguise import DISGUISES, device_for, worn
from opcheck.trace.eager import asks_for_other
from opcheck.trace.fresh import fresh_copy
from opcheck.trace.modules import ModuleStack, raise_if_bug, reason_of
from opcheck.trace.place import NOWHERE, Site, from_error
from opcheck.trace.run import as_module, dtypes, reproducible
from opcheck.trace.size_compare import Called, Event
from opcheck.trace.size_inputs import Sizes, resized
from opcheck.trace.size_watch import Decision, watched
from opcheck.trace.swap import on_device, swapped
from opcheck.trace.tree import Tree


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
        tree = Tree(self._device, self._casts, ModuleStack(module))
        tree.other_as_device = self._other_as_device
        log = _Log(tree)
        inputs = resized(self._args, self._kwargs, sizes)
        args, kwargs = on_device(inputs, self._device)
        watching = watched(log.decided) if self._watches else nullcontext()
        try:
            with tree.running(until=Runner._run.__code__), watching:
                module(*args, **kwargs)
        except MemoryError:
            raise
        except Exception as error:  # the user's model failed with these sizes: an answer
            raise_if_bug(error)
            if asks_for_other(error) and not self._other_as_device:
                self._other_as_device = True
                return self._run(sizes)
            failed = tree.modules.failed
            return SizeRun(sizes, log.events(), reason_of(error), from_error(error), failed)
        return SizeRun(sizes, log.events())


class _Log:
    """What happens while a tree records, in order."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._log: list[tuple[int | Decision, str]] = []
        tree.told = self._called

    def decided(self, decision: Decision) -> None:
        self._log.append((decision, self._tree.modules.current))

    def _called(self, tree: Tree) -> None:
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
    with ExitStack() as stack:
        stack.enter_context(worn(device_type))
        seen = device_type if device_type in DISGUISES else device.type
        stack.enter_context(autocasting(autocast, seen))
        stack.enter_context(reproducible(module))
        stack.enter_context(swapped(module, device))
        yield Runner(module, args, kwargs, device, dtypes(casts))

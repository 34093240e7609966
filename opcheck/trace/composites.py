"""What composites run as on a device, gathered over PyTorch's own operator samples.

The result is a table for scans without torch (``compat_db/pytorch/composites@…``). It is a lower
bound: a composite that no sample reaches is not in it, and a branch that none takes is missing.
"""

import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import chain
from typing import Any

import torch
from torch import nn

from opcheck.trace.calls.modules import ModuleStack
from opcheck.trace.calls.tree import CallTreeRecorder
from opcheck.trace.device.tensors import prepare
from opcheck.trace.running.model_state import on_device, swapped
from opcheck.trace.torch_internals.dispatcher import composite_kind
from opcheck.trace.torch_internals.kernels import Kernels

_LOG = logging.getLogger(__name__)
_DTYPES = (torch.float32, torch.float16, torch.int64, torch.bool, torch.complex64)
_MOST_SAMPLES = 40
"""Samples per operator and dtype; the first ones cover the branches, later ones vary sizes."""

Table = dict[str, list[list[str]]]
"""Overload -> every way it went, each the sorted overloads that it called; ``overload|bool`` the
ways for a class of dtypes, where they are fewer."""


def record(device_type: str) -> Table:
    """Run every sample of ``torch.testing`` on a traced device."""
    device = prepare(device_type)
    found: dict[str, set[tuple[str, ...]]] = defaultdict(set)
    runs = (*_operators(), *_modules(device))
    kernels = Kernels()
    with kernels.kept():
        for run in chain(runs, _by_schema(found)):
            tree = CallTreeRecorder(device, {}, ModuleStack(nn.Module()))
            tree.device_kernels = kernels
            with tree.running():
                try:
                    run(device)
                except Exception as error:  # a sample that this device refuses says nothing
                    _LOG.debug("passed over: %s: %s", type(error).__name__, error)
            _collect(tree, found)
    return _without_repeats(found)


def _collect(tree: CallTreeRecorder, found: dict[str, set[tuple[str, ...]]]) -> None:
    nodes = tree.nodes
    for node in nodes:
        if node.composite is not None and node.children is not None and not node.note:
            names = {str(nodes[child].op) for child, _ in node.children}
            branch = tuple(sorted(names - {str(node.op)}))
            found[str(node.op)].add(branch)
            found[f"{node.op}|{node.dtype_class}"].add(branch)


def _without_repeats(found: Mapping[str, set[tuple[str, ...]]]) -> Table:
    """Drop rows of one class of dtypes that say no more than the overload's own row."""
    return {
        name: [list(branch) for branch in sorted(branches)]
        for name, branches in sorted(found.items())
        if "|" not in name or branches != found[name.partition("|")[0]]
    }


def _operators() -> Iterator[Callable[[torch.device], None]]:
    from torch.testing._internal.common_methods_invocations import op_db

    for info in op_db:
        for dtype in _DTYPES:
            if dtype in info.supported_dtypes("cpu"):
                yield _samples(info, dtype)


def _samples(info: Any, dtype: torch.dtype) -> Callable[[torch.device], None]:
    def run(device: torch.device) -> None:
        with torch._C._DisableTorchDispatch():
            samples = list(_first(info.sample_inputs("cpu", dtype, requires_grad=False)))
        for sample in samples:
            for call in (info.op, info.method_variant, info.inplace_variant):
                if call is not None:
                    args, kwargs = on_device((sample.input, *sample.args), device), sample.kwargs
                    _tried(call, args, on_device(kwargs, device))

    return run


def _first(samples: Iterable[Any]) -> Iterator[Any]:
    for count, sample in enumerate(samples):
        if count == _MOST_SAMPLES:
            return
        yield sample


def _tried(call: Any, args: Any, kwargs: Any) -> None:
    with suppress(Exception):  # this sample is refused; the others still count
        call(*args, **kwargs)


def _modules(device: torch.device) -> Iterator[Callable[[torch.device], None]]:
    from torch.testing._internal.common_modules import module_db

    for info in module_db:
        inputs = info.module_inputs_func(
            info, device="cpu", dtype=torch.float32, requires_grad=False, training=False
        )
        for sample in inputs:
            yield _module_run(info, sample)


def _module_run(info: Any, sample: Any) -> Callable[[torch.device], None]:
    def run(device: torch.device) -> None:
        made, given = sample.constructor_input, sample.forward_input
        with torch._C._DisableTorchDispatch():
            module = info.module_cls(*made.args, **made.kwargs).eval()
        if given is not None:
            with swapped(module, device):
                _tried(module, on_device(given.args, device), on_device(given.kwargs, device))

    return run


def _by_schema(found: Mapping[str, object]) -> Iterator[Callable[[torch.device], None]]:
    """Plain arguments for composites that no sample reached."""
    for name in sorted(torch._C._dispatch_get_all_op_names()):
        if name.startswith("aten::") and name not in found and composite_kind(name):
            base, _, overload = name.removeprefix("aten::").partition(".")
            packet = getattr(torch.ops.aten, base, None)
            if packet is None or base in _NOT_BY_SCHEMA:
                continue
            func = getattr(packet, overload or "default")
            if not any(argument.is_out for argument in func._schema.arguments):
                yield _plain_calls(func)


_NOT_BY_SCHEMA = frozenset({"sym_size", "sym_stride", "sym_numel", "sym_storage_offset"})
"""Operators that the tensor itself answers."""


def _plain_calls(func: Any) -> Callable[[torch.device], None]:
    def run(device: torch.device) -> None:
        for dtype in (torch.float32, torch.int64, torch.bool):
            for shape in ((2, 3), (2, 3, 4, 4), (4,)):
                args, kwargs = plain_arguments(func, dtype, shape)
                _tried(func, on_device(args, device), on_device(kwargs, device))

    return run


def plain_arguments(
    func: Any, dtype: torch.dtype, shape: tuple[int, ...]
) -> tuple[list[Any], dict[str, Any]]:
    """Arguments of the schema's types, for those without a default."""
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    for argument in func._schema.arguments:
        if argument.has_default_value():
            continue
        value = _plain_value(str(argument.type), dtype, shape)
        if argument.kwarg_only:
            kwargs[argument.name] = value
        else:
            args.append(value)
    return args, kwargs


def _plain_value(kind: str, dtype: torch.dtype, shape: tuple[int, ...]) -> Any:
    tensor = torch.empty(shape, dtype=dtype, device="meta")
    match kind:
        case "Tensor":
            return tensor
        case "List[Tensor]":
            return [tensor, tensor]
        case "int" | "number" | "SymInt":
            return 1
        case "float":
            return 1.0
        case "bool":
            return False
        case "List[int]" | "List[SymInt]":
            return list(shape)
        case "Device":
            return torch.device("cpu")
        case _:
            return None

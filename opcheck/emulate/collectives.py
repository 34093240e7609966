"""Collectives as the emulated device answers them: its backend is asked, no peer is.

Private torch API used here, checked on 2.13.0: ``torch.distributed.ProcessGroup.unbox``
and ``Library._destroy``.
"""

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from typing import Any

import torch
from torch import Tensor
from torch.library import Library
from torch.utils._pytree import tree_leaves, tree_map_only

from opcheck.emulate.device import Device
from opcheck.emulate.host_collectives import KEEPS, Arguments, Group, collect
from opcheck.errors import EmulationError
from opcheck.lang.sentence import Sentence
from opcheck.model.matrix import SupportMatrix
from opcheck.model.verdict import Verdict
from opcheck.resolve.collectives import NAMESPACE, Sent, collective
from opcheck.trace.running.distributed import done
from opcheck.trace.torch_internals.dispatcher import overload_named
from opcheck.trace.torch_internals.reductions import reduction_of

_WRITTEN = frozenset(
    {"tensors", "output", "outputs", "output_tensor", "output_tensors", "output_lists"}
)
"""Names of the arguments that ``c10d`` operators write."""

_Answer = Callable[[str, Arguments, Group, str], None]
_Raised = Callable[[Exception], Any]
"""What becomes of an error that a kernel raises."""


@contextmanager
def collecting(device: Device) -> Iterator[None]:
    """Have the target's backend of ``torch.distributed`` answer inside the block."""

    def answer(name: str, given: Arguments, group: Group, reduction: str) -> None:
        device.collective(name, collective(name, device.matrix, Sent(_dtypes(given), reduction)))
        if name in KEEPS:
            return
        if device.computes and group.size > 1:
            device.record.note(Sentence(_ALIKE, count=group.size))
        try:
            collect(name, _held(device, given), group, reduction)
        except EmulationError:
            if device.computes:
                raise
            _forget(device, given)

    with (
        _registered("PrivateUse1", answer, device.backward.keep),
        _default(device.torch_device.type, device.matrix),
    ):
        yield


@contextmanager
def _default(device_type: str, matrix: SupportMatrix) -> Iterator[None]:
    """Have torch know the target's backend as the device type's own, where one is known."""
    import torch.distributed as dist

    names = {said.backend for said in matrix.collectives.values()}
    if not names or not dist.is_available():
        yield
        return
    known = dist.Backend.default_device_backend_map
    known[device_type] = min(names).lower()
    try:
        yield
    finally:
        del known[device_type]


_ALIKE = "collectives have the values that they give where all {count} processes hold the same"


@contextmanager
def collecting_on_host() -> Iterator[None]:
    """Have groups without peers give on the host what they give on the device."""
    import torch.distributed as dist

    if not dist.is_available() or (dist.is_initialized() and dist.get_backend() != "fake"):
        yield
        return

    def answer(name: str, given: Arguments, group: Group, reduction: str) -> None:
        collect(name, _mapped(lambda tensor: tensor.data, given), group, reduction)

    with _registered("CPU", answer, _raise):
        yield


@contextmanager
def _registered(key: str, answer: _Answer, raised: _Raised) -> Iterator[None]:
    library = Library(NAMESPACE, "IMPL")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch's own kernels, which are back afterwards
            for name in _overloads():
                base = name.partition("::")[2]
                library.impl(base, partial(_kernel, name, answer, raised), key)
        yield
    finally:
        library._destroy()


def answered(matrix: SupportMatrix) -> frozenset[str]:
    """Collectives that the target's backend has, and those that nobody has said anything about."""
    return frozenset(
        name for name in _overloads() if collective(name, matrix).verdict is not Verdict.UNSUPPORTED
    )


@cache
def _overloads() -> tuple[str, ...]:
    names: Iterable[str] = torch._C._dispatch_get_all_op_names()
    return tuple(sorted(name for name in names if name.startswith(f"{NAMESPACE}::")))


def _kernel(name: str, answer: _Answer, raised: _Raised, *args: Any, **kwargs: Any) -> Any:
    __tracebackhide__ = True
    func = overload_named(name)
    names = [argument.name for argument in func._schema.arguments]
    given = dict(zip(names, args, strict=False)) | kwargs
    group = torch.distributed.ProcessGroup.unbox(given["process_group"])
    try:
        answer(name, given, Group(group.size(), group.rank()), reduction_of(given.get("reduce_op")))
    except Exception as error:
        return raised(error)
    return _returned(func, args)


def _returned(func: Any, args: Sequence[Any]) -> Any:
    """What was written, and a piece of work that is done: as many of them as the schema says."""
    kinds = len(func._schema.returns)
    if not kinds:
        return None
    work = done(tree_leaves(args[0]))
    return work if kinds == 1 else (args[0], work)


def _held(device: Device, given: Arguments) -> Arguments:
    """The arguments with their tensors' values on the host.

    Raises:
        EmulationError: some are not followed.
    """

    def held(tensor: Tensor) -> Tensor:
        if tensor.device.type != device.torch_device.type:
            return tensor.data
        found = device.memory.host(tensor)
        if found is None:
            raise EmulationError(Sentence("a collective is given what is not followed"))
        return found

    return _mapped(held, given)


def _mapped(function: Callable[[Tensor], Tensor], given: Arguments) -> Arguments:
    return {name: tree_map_only(Tensor, function, value) for name, value in given.items()}


def _dtypes(given: Arguments) -> frozenset[str]:
    """The dtypes of the tensors that a collective is given, by torch's names."""
    tensors = (leaf for leaf in tree_leaves(list(given.values())) if isinstance(leaf, Tensor))
    return frozenset(str(tensor.dtype).removeprefix("torch.") for tensor in tensors)


def _forget(device: Device, given: Arguments) -> None:
    for name in _WRITTEN & given.keys():
        for tensor in tree_leaves(given[name]):
            if isinstance(tensor, Tensor) and tensor.device.type == device.torch_device.type:
                device.memory.forget(tensor)


def _raise(error: Exception) -> Any:
    raise error

"""Memory of the emulated device - storages whose values the host has - and pinned memory.

Tensors of the emulated device: plain torch tensors whose storages know their values on the host.
They are no subclasses, so that C++ treats them as it treats those of the real device.

Storages made by hand on the emulated device, as ``torch.load`` and ``storage.to`` make them. torch
asks the device's C++ allocator for them, which Python cannot give: without this it crashes, and so
does what gives their memory back, as ``fully_shard`` does. Checked on 2.13.0:
``torch.UntypedStorage`` is a Python class that inherits ``__new__``, ``resize_``, ``nbytes`` and
``size``.

Pinned host memory beside the emulated device: plain memory that says it is pinned. torch asks the
device's C++ hooks for an allocator of pinned memory, which Python cannot give, so that
``pin_memory()`` and ``DataLoader(pin_memory=True)`` raise. ``torch.empty(pin_memory=True)`` asks
below the dispatcher and still does.

Private torch API used here, checked on 2.13.0: ``torch._C._acc.create_empty_tensor``,
``torch._C._construct_storage_from_data_pointer``, ``OpOverload._op_dk``, and that the Python object
of a storage, with its ``__dict__``, lives as long as the storage does.

Private torch API used here, checked on 2.13.0: ``Library._destroy``, and that the Python object of
a storage, with its ``__dict__``, lives as long as the storage does.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from typing import Any
from weakref import WeakValueDictionary

import torch
from torch import Tensor

from opcheck.trace.device.host_copies import HostCopy
from opcheck.trace.device.state import alive
from opcheck.trace.running.model_state import extent
from opcheck.trace.torch_internals.dispatcher import at_key

_BLOCK = "_emulated_block"
_CPU = torch._C.DispatchKey.CPU
_SET: Any = torch.ops.aten.set_.source_Storage_storage_offset
_STORAGE: Any = torch._C.StorageBase
_FIRST_ADDRESS = 1 << 40
_PAGE = 512
"""Bytes between two addresses given out, as device allocators align."""


class Block:
    """What the device knows of one storage: its bytes, and its values where they are followed."""

    __slots__ = ("__weakref__", "alive", "host", "made_up", "memory", "nbytes")

    def __init__(self, memory: "Memory", nbytes: int, host: torch.UntypedStorage | None) -> None:
        self.memory = memory
        self.nbytes = nbytes
        self.host = host
        self.made_up = False
        """Whether the values rest on what was assumed of others, which are not known."""
        memory.take(nbytes)
        self.alive = alive()

    def __del__(self) -> None:
        self.memory.take(-self.nbytes)


def known_block(tensor: Tensor) -> Block | None:
    """Give what stands behind a tensor of an emulated device; None for any other tensor."""
    if tensor.device.type != torch._C._get_privateuse1_backend_name() or not _plain(tensor):
        return None
    return tensor.untyped_storage().__dict__.get(_BLOCK)


def _plain(tensor: Tensor) -> bool:
    """Whether its storage can be asked for and says what it holds."""
    wrapped = torch._C._functorch.is_functorch_wrapped_tensor(tensor)
    return tensor.layout is torch.strided and not wrapped and not tensor._is_zerotensor()


class Memory:
    """Makes the tensors of one device and finds the host values behind them."""

    def __init__(self, device: torch.device) -> None:
        self.device = device
        self.allocated = 0
        """Bytes of all live storages."""
        self.peak = 0
        """Most bytes that were live at once since the program last began to count anew."""
        self.most = 0
        """Most bytes that were ever live at once."""
        self._pages = count()
        self._blocks: WeakValueDictionary[int, Block] = WeakValueDictionary()

    def take(self, nbytes: int) -> None:
        """Count ``nbytes`` as allocated, or as given back where negative."""
        self.allocated += nbytes
        self.peak = max(self.peak, self.allocated)
        self.most = max(self.most, self.allocated)

    def adopt(self, host: Tensor) -> Tensor:
        """Give the device tensor whose values are those of ``host``, which it shares."""
        if host._is_zerotensor():  # it has no values to share
            host = torch.zeros(host.size(), dtype=host.dtype)
        storage = host.untyped_storage()
        block = Block(self, storage.nbytes(), storage)
        block.made_up = type(host) is HostCopy
        return self._dressed(
            self._storage(block), host.dtype, host.size(), host.stride(), host.storage_offset()
        )

    def blank(
        self, dtype: torch.dtype, shape: Sequence[int], stride: Sequence[int], offset: int = 0
    ) -> Tensor:
        """Give a device tensor without values; it takes no memory."""
        storage = self._storage(
            Block(self, (offset + extent(shape, stride)) * dtype.itemsize, None)
        )
        return self._dressed(storage, dtype, shape, stride, offset)

    def sharing(self, tensor: Tensor, host: Tensor) -> Tensor:
        """Give ``host``, a view of the host values of ``tensor``, as a view of ``tensor``."""
        storage = tensor.untyped_storage()
        return self._dressed(storage, host.dtype, host.size(), host.stride(), host.storage_offset())

    def host(self, tensor: Tensor) -> Tensor | None:
        """Give a view of the host values of a device tensor; None where they are not known."""
        if tensor._is_zerotensor():
            return torch.zeros(tensor.size(), dtype=tensor.dtype)
        while torch._C._functorch.is_functorch_wrapped_tensor(tensor):
            if not torch._C._functorch.is_gradtrackingtensor(tensor):
                return None  # what it holds has other sizes
            tensor = torch._C._functorch.get_unwrapped(tensor)
        block = self.block_of(tensor)
        if block.host is None:
            return None
        found = torch.empty(0, dtype=tensor.dtype)
        found.set_(block.host, tensor.storage_offset(), tensor.size(), tensor.stride())
        if tensor.is_conj():
            found = found.conj()
        found = found._neg_view() if tensor.is_neg() else found
        return found.as_subclass(HostCopy) if block.made_up else found

    def point(
        self,
        tensor: Tensor,
        source: Tensor | torch.UntypedStorage | None = None,
        storage_offset: int = 0,
        size: Sequence[int] | None = None,
        stride: Sequence[int] = (),
    ) -> Tensor:
        """Have ``tensor`` stand for another storage, as every overload of ``set_`` does."""
        if isinstance(source, Tensor):
            self.replace(tensor, source)
            return tensor
        if source is None:
            source = self.adopt(torch.empty(0, dtype=tensor.dtype)).untyped_storage()
        if size is None:
            size = (source.nbytes() // tensor.dtype.itemsize,)
        whole = tuple(torch.empty(tuple(size), device="meta").stride())
        at_key(_SET, _CPU, tensor, source, storage_offset, size, tuple(stride) or whole)
        return tensor

    def replace(self, tensor: Tensor, other: Tensor) -> None:
        """Have ``tensor`` stand for the storage, sizes and strides of ``other``."""
        at_key(
            _SET, _CPU, tensor, other.untyped_storage(), other.storage_offset(), other.size(),
            other.stride(),
        )  # fmt: skip

    def give_values(self, tensor: Tensor) -> None:
        """Have a tensor of the device be zeros where its values are not known."""
        if tensor.device.type == self.device.type:
            block = self.block_of(tensor)
            if block.host is None:
                block.host = torch.zeros(block.nbytes, dtype=torch.uint8).untyped_storage()

    def forget(self, tensor: Tensor) -> None:
        """Drop the host values behind a tensor, because it was written with unknown ones."""
        self.block_of(tensor).host = None

    def know(self, tensor: Tensor, host: Tensor) -> None:
        """Take ``host``, of the same sizes and strides, as the values behind a tensor."""
        block = self.block_of(tensor)
        same = host.storage_offset() == tensor.storage_offset()
        if same and host.untyped_storage().nbytes() >= block.nbytes:
            block.host = host.untyped_storage()
            block.made_up = type(host) is HostCopy

    def block_of(self, tensor: Tensor) -> Block:
        """Give the block behind a device tensor.

        C++ wraps a bare address in a new storage where it writes and reads old-style files.
        """
        storage = tensor.untyped_storage()
        found: Block | None = storage.__dict__.get(_BLOCK)
        return self._blocks[storage.data_ptr()] if found is None else found

    def _storage(self, block: Block) -> torch.UntypedStorage:
        address = 0 if block.host is None else block.host.data_ptr()
        if not address and block.nbytes:
            address = _FIRST_ADDRESS + next(self._pages) * _PAGE
        made: torch.UntypedStorage
        made = torch._C._construct_storage_from_data_pointer(address, self.device, block.nbytes)  # type: ignore[assignment]  # the stub says StorageBase
        made.__dict__[_BLOCK] = block
        self._blocks[address] = block
        return made

    def _dressed(
        self,
        storage: torch.UntypedStorage,
        dtype: torch.dtype,
        shape: Sequence[int],
        stride: Sequence[int],
        offset: int | torch.SymInt,
    ) -> Tensor:
        made: Tensor = torch._C._acc.create_empty_tensor((0,), dtype)
        at_key(_SET, _CPU, made, storage, offset, shape, stride)
        return made


@contextmanager
def allocated(memory: Memory, values: bool) -> Iterator[None]:
    """Have storages of the device be made, given back and taken again inside the block."""

    def new(cls: Any, *args: Any, device: Any = None, **kwargs: Any) -> Any:
        if device is None or torch.device(device).type != memory.device.type:
            wanted = {} if device is None else {"device": device}
            return torch._C.StorageBase.__new__(cls, *args, **wanted, **kwargs)
        host = torch.empty(0, dtype=torch.uint8)
        host.set_(torch.UntypedStorage(*args, **kwargs))
        if values:
            return memory.adopt(host).untyped_storage()
        return memory.blank(host.dtype, host.size(), host.stride()).untyped_storage()

    made: dict[str, Any] = {"__new__": new, "resize_": _resize, "nbytes": _nbytes, "size": _nbytes}
    for name, method in made.items():
        setattr(torch.UntypedStorage, name, method)
    try:
        yield
    finally:
        for name in made:
            delattr(torch.UntypedStorage, name)


def _resize(storage: torch.UntypedStorage, size: int) -> torch.UntypedStorage:
    """Give memory of the device back, or take it again, up to what there was at first."""
    block: Block | None = storage.__dict__.get(_BLOCK)
    if block is None or size > _STORAGE.nbytes(storage):
        _STORAGE.resize_(storage, size)
    else:
        block.memory.take(size - block.nbytes)
        block.nbytes = size
    return storage


def _nbytes(storage: torch.UntypedStorage) -> int:
    block: Block | None = storage.__dict__.get(_BLOCK)
    return _STORAGE.nbytes(storage) if block is None else block.nbytes


_PINNED = "_emulated_pinned"


@contextmanager
def pinning() -> Iterator[None]:
    """Have host tensors pinned by Python inside the block."""
    library = torch.library.Library("aten", "IMPL")
    try:
        library.impl("_pin_memory", _pin, "CPU")
        library.impl("is_pinned", _is_pinned, "CPU")
        yield
    finally:
        library._destroy()


def _pin(tensor: Tensor, device: torch.device | None = None) -> Tensor:
    made = torch.empty_strided(tensor.size(), tensor.stride(), dtype=tensor.dtype).copy_(tensor)
    made.untyped_storage().__dict__[_PINNED] = True
    return made


def _is_pinned(tensor: Tensor, device: torch.device | None = None) -> bool:
    return _PINNED in tensor.untyped_storage().__dict__


def bytes_on_device(value: Any) -> int:
    """Bytes of the device tensors in a value, views counted as if dense."""
    if isinstance(value, (list, tuple)):
        return sum(map(bytes_on_device, value))
    on_device = isinstance(value, Tensor) and value.device.type != "cpu"
    return value.numel() * value.dtype.itemsize if on_device else 0

"""Tensors that say they are on the accelerator and hold only what a trace needs.

Private torch API used here, checked on 2.13.0: ``torch.utils.backend_registration.
_setup_privateuseone_for_python_backend`` (device guard and hooks from Python; absent before 2.10,
where the name, ``torch._register_device_module`` and a borrowed guard do, checked on 2.6.0),
``torch._C._get_privateuse1_backend_name``, ``torch._C._set_conj``, ``torch._C._set_neg``,
``torch._C._disabled_torch_dispatch_impl``, ``torch._C.DisableTorchFunctionSubclass`` and
``torch.Tensor._make_wrapper_subclass``, of which an alias has no Python key; and that the Python
object of a storage, with its ``__dict__``, lives as long as the storage does.
``tests/trace/test_private_api.py`` fails when they move.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar

import torch
from torch import Tensor

from opcheck.errors import TraceError
from opcheck.lang.sentence import Sentence
from opcheck.model.trace import TensorMeta
from opcheck.trace.device.module import DeviceModule
from opcheck.trace.device.state import Alive, alive, now
from opcheck.trace.torch_internals import device_guard
from opcheck.trace.torch_internals.autograd import HELD, LOST, address

_UNNAMED = "privateuseone"


def prepare(device_type: str) -> torch.device:
    """Make this process know ``device_type`` as its PrivateUse1 device; once per process.

    Raises:
        TraceError: the process already uses PrivateUse1 under another name.
    """
    current = torch._C._get_privateuse1_backend_name()
    if current == _UNNAMED:
        _register(device_type)
    elif current != device_type:
        raise TraceError(
            Sentence(
                "this process already uses torch's PrivateUse1 device as {device}, so "
                "a model cannot be traced for {device_asked} in it",
                device=repr(current),
                device_asked=repr(device_type),
            ),
            hint=Sentence("scan from the command line or in a fresh process"),
        )
    return torch.device(device_type, 0)


def require_backward() -> None:
    """Refuse a training step where a backward on a device that Python gives would end the process.

    Raises:
        TraceError: torch is too old.
    """
    from torch.utils import backend_registration

    if not hasattr(backend_registration, "_setup_privateuseone_for_python_backend"):
        raise TraceError(
            Sentence(
                "torch {version} cannot run a backward on a device written in Python",
                version=torch.__version__,
            ),
            hint=Sentence(
                "--train needs torch 2.10 or newer; a forward can be scanned with this one"
            ),
        )


def _register(device_type: str) -> None:
    from torch.utils import backend_registration

    make_way(device_type)
    module = DeviceModule(device_type)
    setup = getattr(backend_registration, "_setup_privateuseone_for_python_backend", None)
    if setup is None:
        backend_registration.rename_privateuse1_backend(device_type)
        torch._register_device_module(device_type, module)
        device_guard.borrow()
        backend_registration.generate_methods_for_privateuse1_backend()
    else:
        setup(device_type, backend_module=module)
    module.publish()


def make_way(device_type: str) -> None:
    """Take away what stands in for the vendor's own plugin while a model is built."""
    gives_way = getattr(getattr(torch, device_type, None), "_opcheck_gives_way", None)
    if gives_way is not None:
        gives_way()


class Spec:
    """dtype, shape and strides of a tensor, and whether it is a lazy conjugate or negative.

    Interned, so that equal specs are one object.
    """

    __slots__ = ("conj", "dtype", "lazy", "meta", "nbytes", "neg", "numel", "shape", "stride")

    _known: ClassVar[dict[tuple[Any, ...], "Spec"]] = {}

    dtype: torch.dtype
    shape: tuple[int, ...]
    stride: tuple[int, ...]
    conj: bool
    """Its values are the conjugates of what its storage holds; C++ asks for them where it must."""
    neg: bool
    """The same of their negatives."""
    lazy: bool
    """One of the two."""
    numel: int
    nbytes: int
    meta: TensorMeta

    @classmethod
    def of(
        cls,
        dtype: torch.dtype,
        shape: Sequence[int],
        stride: Sequence[int],
        conj: bool = False,
        neg: bool = False,
    ) -> "Spec":
        """Give the one spec with these fields; ``stride`` in elements."""
        key = (dtype, tuple(shape), tuple(stride), conj, neg)
        found = cls._known.get(key)
        if found is None:
            found = cls._known[key] = cls._new(*key)
        return found

    @classmethod
    def _new(
        cls,
        dtype: torch.dtype,
        shape: tuple[int, ...],
        stride: tuple[int, ...],
        conj: bool,
        neg: bool,
    ) -> "Spec":
        spec = object.__new__(cls)
        spec.dtype, spec.shape, spec.stride, spec.conj, spec.neg = dtype, shape, stride, conj, neg
        spec.lazy = conj or neg
        spec.meta = TensorMeta(str(dtype).removeprefix("torch."), shape, stride)
        spec.numel = spec.meta.numel
        spec.nbytes = spec.numel * dtype.itemsize
        return spec

    @classmethod
    def like(cls, tensor: Tensor) -> "Spec":
        """Give the spec of any strided tensor."""
        size = tensor.size()  # a lazy module's parameter raises where its shape is asked for
        return cls.of(tensor.dtype, size, tensor.stride(), tensor.is_conj(), tensor.is_neg())

    def marked(self, tensor: Tensor) -> Tensor:
        """Have a new tensor say, as this spec does, that it is a lazy conjugate or negative."""
        if self.conj:
            torch._C._set_conj(tensor, True)
        if self.neg:
            torch._C._set_neg(tensor, True)
        return tensor

    def on_meta(self) -> Tensor:
        """Make a tensor of this spec on torch's meta device: no memory, no values."""
        made = torch.empty_strided(self.shape, self.stride, dtype=self.dtype, device="meta")
        return self.marked(made)

    def zeros(self) -> Tensor:
        """Make a tensor of this spec in host memory, filled with zeros."""
        made = torch.empty_strided(self.shape, self.stride, dtype=self.dtype, device="cpu")
        return self.marked(made.zero_())


class DeviceTensor(torch.Tensor):
    """A tensor on the traced device: its spec, and its values where they are known and small."""

    spec: Spec
    alive: Alive
    _value: Tensor | None
    origin: Tensor | None = None
    """The tensor of a real device that this one stands for, if any."""
    shown: ClassVar[torch.device | None] = None
    """The device that Python is told of while it has an alias, see ``alias.py``."""
    accounted: ClassVar[bool] = False
    """Whether an account of the run's memory is kept, so that storages know something."""
    followed: ClassVar[bool] = False
    """Whether storages know what they were computed of."""

    __torch_dispatch__ = torch._C._disabled_torch_dispatch_impl  # no Python key: C++'s plain branch

    @classmethod
    def __torch_function__(
        cls,
        func: Any,
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Run what needs no device, and nothing else: outside :func:`live` its trace is over."""
        with torch._C.DisableTorchFunctionSubclass():
            try:
                return func(*args, **(kwargs or {}))
            except NotImplementedError as error:
                name = getattr(func, "__name__", func)
                raise TraceError(
                    Sentence(
                        "{func} was called on a tensor that belongs to a finished trace", func=name
                    ),
                    hint=Sentence("the model kept it as an attribute; build the model anew"),
                ) from error

    @property
    def value(self) -> Tensor | None:
        """Its values on the host, or None where they are not known (any more)."""
        if self._value is not None and LOST in self._value.untyped_storage().__dict__:
            self._value = None
        return self._value

    @value.setter
    def value(self, new: Tensor | None) -> None:
        self._value = new
        HELD.note(self, new)

    def lose(self) -> None:
        """Take its values, and those of all that shares their memory, as not known any more."""
        if self._value is not None:
            self._value.untyped_storage().__dict__[LOST] = True
            self._value = None

    @property
    def place(self) -> torch.device:
        """The device that C++ knows."""
        found: torch.device = _place(self)
        return found

    @property
    def device(self) -> torch.device:  # type: ignore[override]  # torch says it can be written
        """The device that Python is told of."""
        return DeviceTensor.shown or self.place

    @property
    def data(self) -> "DeviceTensor":
        """The same tensor outside autograd."""
        made = device_tensor(self.spec, self.value, self.place, int(self.storage_offset()))
        copy_memory_tag(made, self)
        return made

    @data.setter
    def data(self, new: Tensor) -> None:
        replace_storage(self, new if isinstance(new, DeviceTensor) else adopt(new, self.place))

    def tolist(self) -> Any:
        """Values as Python numbers, moved to the host first as every device does."""
        return self.to("cpu").tolist()

    def numpy(self, *, force: bool = False) -> Any:
        """Refuse as every device does, unless forced."""
        if force:
            return self.to("cpu").numpy()
        raise TypeError(
            f"can't convert {self.device} device type tensor to numpy. "
            "Use Tensor.cpu() to copy the tensor to host memory first."
        )

    def __format__(self, spec: str) -> str:
        """Format a number as every device does, which reads it."""
        if self.dim() or now() is None:
            return object.__format__(self, spec)
        return format(self.item(), spec)

    def __repr__(self, **_: Any) -> str:  # type: ignore[override]  # torch passes contents
        return f"tensor(..., device='{self.device}', size={self.spec.shape}, dtype={self.dtype})"

    def __deepcopy__(self, memo: Any) -> "DeviceTensor":
        value = None if self.value is None else self.value.clone()
        copied = device_tensor(self.spec, value, self.place)
        copied.requires_grad_(self.requires_grad)
        if isinstance(self, torch.nn.Parameter):
            copied._is_param = True
        return copied


@contextmanager
def live(*, gradients: bool) -> Iterator[None]:
    """Have tensors of the device be used inside the block: C++ alone decides what happens."""
    before = DeviceTensor.__dict__["__torch_function__"]
    held, HELD.values = HELD.values, {} if gradients else None
    DeviceTensor.__torch_function__ = torch._C._disabled_torch_function_impl  # type: ignore[assignment, method-assign]  # C
    try:
        yield
    finally:
        HELD.values = held
        DeviceTensor.__torch_function__ = before  # type: ignore[method-assign]  # as it was


class _Keyed(torch.Tensor):
    """What torch can make of a device's type without memory; it has a Python key."""

    @classmethod
    def __torch_dispatch__(cls, *_: Any) -> Any:
        raise AssertionError("only an alias of it is ever used")


_ALIAS: Any = torch.ops.aten.alias.default
_EXPLICIT = torch._C.DispatchKey.CompositeExplicitAutograd
_make = torch.Tensor._make_wrapper_subclass
_place = torch.Tensor.device.__get__


def device_tensor(
    spec: Spec, value: Tensor | None, device: torch.device, offset: int = 0
) -> DeviceTensor:
    """Make a tensor of ``spec`` on ``device``; ``value`` is a CPU tensor of the same spec.

    It begins in its storage where the value does; without one, at ``offset``, in elements.
    """
    if value is not None:
        offset = int(value.storage_offset())
    keyed = _make(_Keyed, spec.shape, spec.stride, offset, None, spec.dtype, torch.strided, device)
    with torch._C.DisableTorchFunction():  # a mode would call it anew, without the key
        made: Any = _ALIAS._op_dk(_EXPLICIT, keyed)  # C++ takes the Python key off
    made.__class__ = DeviceTensor
    made.spec = spec
    made.value = value
    spec.marked(made)
    made.alive = alive()
    return made  # type: ignore[no-any-return]  # torch types the factory as Tensor


KEPT = "_opcheck_memory"
"""Attribute of a storage: what an account of the run's memory knows of it."""
COMPUTED = "_opcheck_computed"
"""Attribute of a storage: what it was computed of, see ``constants.py``."""


def copy_memory_tag(made: DeviceTensor, source: DeviceTensor) -> None:
    """Have a tensor that stands for the same memory as ``source`` keep what is known of that.

    Where nothing is known, no storage is asked for: autograd sums in place what nobody holds.
    """
    if DeviceTensor.accounted or DeviceTensor.followed:
        found = source.untyped_storage().__dict__
        known = {key: found[key] for key in (KEPT, COMPUTED) if key in found}
        made.untyped_storage().__dict__.update(known)


def adopt(
    tensor: Tensor, device: torch.device, viewed: Iterable[DeviceTensor] = ()
) -> DeviceTensor:
    """Take a bare tensor (made by a C++ kernel, or on meta) as one of ours.

    It has values where it is a view of one in ``viewed``. One of ours may have become a lazy
    conjugate or negative in C++, or another view of its storage.
    """
    if isinstance(tensor, DeviceTensor):
        _follow(tensor)
        return tensor
    spec = Spec.like(tensor)
    for other in viewed:
        if other.value is not None and _shares_memory(tensor, other):
            value = other.value.as_strided(spec.shape, spec.stride, tensor.storage_offset())
            return device_tensor(spec, value, device)
    known = HELD.of(tensor) if tensor.device == device else None
    return device_tensor(spec, known, device, int(tensor.storage_offset()))


def _shares_memory(bare: Tensor, ours: DeviceTensor) -> bool:
    """Whether one is a plain view of the other: of its dtype, and no conjugate of it."""
    alike = (bare.dtype, bare.is_conj(), bare.is_neg())
    return alike == (ours.dtype, ours.is_conj(), ours.is_neg()) and address(bare) == address(ours)


def _follow(tensor: DeviceTensor) -> None:
    before, spec = tensor.spec, Spec.like(tensor)
    if spec is before:
        return
    tensor.spec = spec
    if tensor.value is not None and (spec.shape, spec.stride) != (before.shape, before.stride):
        offset = tensor.storage_offset()
        tensor.value = tensor.value.as_strided(spec.shape, spec.stride, offset)
    if tensor.value is not None and spec.conj is not before.conj:
        tensor.value = tensor.value.conj()
    if tensor.value is not None and spec.neg is not before.neg:
        tensor.value = tensor.value._neg_view()


_set_data = torch.Tensor.data.__set__  # type: ignore[attr-defined]  # a C getset descriptor


def replace_storage(tensor: DeviceTensor, other: DeviceTensor) -> None:
    """Give ``tensor`` the spec and values of ``other``, as ``set_`` and ``resize_`` do."""
    offset = int(other.storage_offset())
    if tensor.spec is not other.spec or tensor.storage_offset() != offset:
        _set_data(tensor, device_tensor(other.spec, other.value, tensor.place, offset))
    tensor.spec = other.spec
    tensor.value = other.value

"""What is known of a library that is not installed: its operators, and what its modules hold."""

from collections.abc import Callable, Mapping

from msgspec import Struct, field

Constant = bool | int | float | str | None
"""A value that a file can write for an argument."""


class Returned(Struct, frozen=True):
    """One tensor that an operator gives."""

    like: str
    """The argument whose dtype it has; with no ``shape``, whose sizes and strides too."""
    shape: tuple[str, ...] | None = None
    """An expression for each dimension; one that ends in ``...`` is a run of dimensions."""
    dtype: str = ""
    """``int64``; "": that of ``like``."""
    along: str = ""
    """The argument that names the one dimension whose size is ``size``, not that of ``like``."""
    size: str = ""
    dtype_of: str = ""
    """The argument that names its dtype; where that is left out, ``dtype`` is it."""


class OperatorSchema(Struct, frozen=True):
    """One operator and its shape rule."""

    name: str
    """``flash_attn::flash_attn_func``."""
    signature: str
    """As PyTorch writes it, without the name: ``(Tensor q, …) -> Tensor``."""
    returns: tuple[Returned, ...]
    sizes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Argument -> the names of its dimensions, the last of which may be ``lead...``."""
    only: Mapping[str, Constant] = field(default_factory=dict)
    """Arguments for which the rule holds with this value alone."""
    ignores: tuple[str, ...] = ()
    """Arguments of the Python function that choose among kernels and change no result."""
    letters: Mapping[str, str] = field(default_factory=dict)
    """Argument -> the one whose letters name its dimensions: ``BSH``. Those of another are none."""
    gradient: str = ""
    """The operator that gives its gradients; "": its own name with ``_backward``."""


class ParameterSchema(Struct, frozen=True):
    """A parameter of a layer."""

    shape: tuple[str, ...]
    """An expression for each dimension, over the layer's arguments."""
    when: str = ""
    """The argument that says whether there is one; "": always."""


class LayerSchema(Struct, frozen=True):
    """A class that models make and call: its arguments and parameters are those of an operator."""

    signature: str
    """Arguments of the constructor, as PyTorch writes them: ``(int dim, float eps=1e-05)``."""
    calls: str
    """The operator; what the layer does not know of its arguments comes with the call."""
    parameters: Mapping[str, ParameterSchema] = field(default_factory=dict)


class DeviceSchema(Struct, frozen=True):
    """The device type that a vendor's plugin brings to torch; there is none where it is absent."""

    type: str
    """``npu``: there are ``torch.npu`` and the methods ``Tensor.npu`` and ``Module.npu``."""
    modules: tuple[str, ...] = ()
    """Modules of the library's own that hold the same: ``torch_npu.npu``."""
    answers: Mapping[str, Constant] = field(default_factory=dict)
    """What it has beside what every device module has: functions that only set something."""


class LibrarySchema(Struct, frozen=True):
    """One library: what stands in for its modules."""

    name: str
    """The package that is imported."""
    path: str
    """The file that says so."""
    version: str
    operators: Mapping[str, OperatorSchema]
    functions: Mapping[str, str]
    """``flash_attn.flash_attn_func`` -> the operator that it calls."""
    layers: Mapping[str, LayerSchema] = field(default_factory=dict)
    """``apex.normalization.FusedLayerNorm`` -> what it is."""
    markers: Mapping[str, Mapping[str, Constant]] = field(default_factory=dict)
    """Classes whose instances are passed for an argument -> the arguments that they stand for."""
    refuses: str = ""
    """Why nothing stands in for the library; "": something does."""
    device: DeviceSchema | None = None
    """What it brings to torch where it is a vendor's plugin."""
    modules: tuple[str, ...] = ()
    """Modules that are imported for what they do, or that hold the rest."""
    answers: Mapping[str, Constant] = field(default_factory=dict)
    """Functions that compute nothing -> what they answer where there is no device."""
    passes: tuple[str, ...] = ()
    """Functions that give back their first argument, not any faster here."""
    users: bool = False
    """Whether the file is one of the user's."""


Libraries = Callable[[str], LibrarySchema | None]
"""Gives what is known of a package by its name; None where nothing is."""

"""What a target has for tensors of sparse layouts."""

from collections.abc import Mapping

from msgspec import Struct, field

from opcheck.model.verdict import Evidence


class Inside(Struct, frozen=True):
    """What a kernel for sparse tensors asks the dispatcher for with them."""

    asks: tuple[str, ...]
    """Overloads; none where nobody has said what it asks for."""
    evidence: tuple[Evidence, ...]
    both: tuple[str, ...] = ()
    """Those that it asks for instead where it has two sparse tensors."""


class SparseKernels(Struct, frozen=True):
    """What a target has for tensors of a sparse layout, which have a dispatch key of their own."""

    kernels: Mapping[str, Evidence]
    """Overload -> where its kernel is registered."""
    unclear: frozenset[str]
    """Overloads that a later release has one for, and of this one nobody has said."""
    listed: tuple[Evidence, ...]
    """The list that has none of the others."""
    inside: Mapping[str, Inside] = field(default_factory=dict)
    """Of overloads whose kernel is PyTorch's for any device, and asks for more than such kernels
    have."""
    shared: frozenset[str] = frozenset()
    """Overloads whose kernel is that of PyTorch: ``kernels`` says where PyTorch has it, ``listed``
    that the vendor registers it."""
    on_host: frozenset[str] = frozenset()
    """Overloads that the vendor's fallback for sparse tensors runs on the host."""

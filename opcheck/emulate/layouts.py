"""Tensors that are not strided: no storage of the device stands for them here, so say so."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from opcheck.emulate.backward import Backward
from opcheck.errors import EmulationError
from opcheck.trace.fallbacks import falling_back

_KEYS = tuple(f"{kind}PrivateUse1" for kind in ("Sparse", "SparseCsr", "Quantized", "NestedTensor"))


def not_emulated(op: str) -> EmulationError:
    """What to raise where ``op`` takes or gives a tensor of another layout."""
    return EmulationError(
        f"{op} takes or gives a sparse, quantised or nested tensor, which is not emulated",
        "what the device does with it is not known here: keep to ordinary tensors, or to the host",
    )


@contextmanager
def layouts_refused(backward: Backward) -> Iterator[None]:
    """Have the device refuse such tensors where it has no kernel for them, inside the block."""

    def kernel(func: Any, *args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        return backward.keep(not_emulated(func.name()))

    with falling_back(kernel, _KEYS):
        yield

"""Values of tensors that are kept of a run: some of each, evenly spread, and so many of all.

Private torch API used here, checked on 2.13.0: ``_disable_current_modes``,
``torch._C.DisableTorchFunction`` and ``torch._C._functorch.is_functorch_wrapped_tensor``.
"""

import math
from array import array
from base64 import b64encode
from collections.abc import Callable

import torch
from torch import Tensor
from torch.utils._python_dispatch import _disable_current_modes

from opcheck.model.comparison import Kept, Kind, Moment, Outputs

MOST = 16_384
"""Values that are kept of a tensor, and of all parameters of an optimizer together."""
MOST_OF_ALL = 2**22
"""Values that are kept of a run."""
MOST_WITHIN = 2**20
"""Values that are kept of modules within others, beside those."""
_LEAST = 32
"""What a tensor counts for, however small it is."""


class KeptOutputs:
    """Collects the tensors of a run, in their order.

    Args:
        host: gives the values of a tensor of the device; None where it has none.
        drawn: how far the device's random numbers have been drawn.
    """

    def __init__(self, host: Callable[[Tensor], Tensor | None], drawn: Callable[[], int]) -> None:
        self._host = host
        self._drawn = drawn
        self._kept: list[Kept] = []
        self._left = MOST_OF_ALL
        self._left_within = MOST_WITHIN
        self._left_out = 0

    def add(
        self, moment: Moment, path: str, tensor: Tensor, place: tuple[str, int], most: int = MOST
    ) -> None:
        """Keep what there is of a tensor, unless its values cannot be read."""
        within = moment.kind is Kind.WITHIN
        with torch.no_grad(), _disable_current_modes(), torch._C.DisableTorchFunction():
            host = self._values(tensor)
            if host is None:
                return
            if not self.has_room(within=within):
                self._left_out += not within
                return
            try:
                some = sample(host, most)
            except RuntimeError:  # a dtype that holds parts of numbers, or none
                return
        counted = max(some.numel(), _LEAST)
        self._left -= 0 if within else counted
        self._left_within -= counted if within else 0
        dtype = str(tensor.dtype).removeprefix("torch.")
        values = b64encode(array("d", some.tolist())).decode()
        shape = tuple(map(int, tensor.shape))
        self._kept.append(Kept(moment, path, *place, dtype, shape, values, self._drawn()))

    def has_room(self, *, within: bool) -> bool:
        """Whether one more tensor is kept, of a module within another or of anything else."""
        return (self._left_within if within else self._left) > 0

    def outputs(self, *, seeded: bool) -> Outputs:
        """All of them."""
        return Outputs(tuple(self._kept), self._left_out, seeded)

    def _values(self, tensor: Tensor) -> Tensor | None:
        wrapped = torch._C._functorch.is_functorch_wrapped_tensor(tensor)
        if tensor.layout is not torch.strided or wrapped or tensor.is_quantized:
            return None
        holds_others = type(tensor).__torch_dispatch__ is not Tensor.__torch_dispatch__
        if holds_others or tensor.device.type == "meta":
            return None
        return tensor if tensor.device.type == "cpu" else self._host(tensor)


def sample(host: Tensor, most: int) -> Tensor:
    """At most so many values of a tensor of the host's as float64, evenly spread over all of it.

    The step shares no factor with the number of elements, so that no row or column is skipped.
    """
    count = host.numel()
    step = max(1, math.ceil(count / most))
    while step > 1 and math.gcd(step, count) > 1:
        step += 1
    some = host.detach().reshape(-1)[::step]
    if some.is_complex():
        some = torch.view_as_real(some.resolve_conj().to(torch.complex128))
    return some.resolve_neg().reshape(-1).to(torch.float64)

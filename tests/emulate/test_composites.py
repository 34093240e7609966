"""Composites that the vendor runs whole, where no rule tells what they give."""

import torch

from opcheck.emulate.session import Emulator

LARGE = 5000
"""More floats than those whose values are followed."""


def test_sizes_that_values_decide_are_found_in_its_parts() -> None:
    """``where`` of a mask alone gives as many places as it has; its parts say how that is taken."""
    emulator = Emulator("ascend-910b", values=False)
    with emulator as device:
        (places,) = torch.where(torch.ones(LARGE).to(device) > 0)
    assert (places.dtype, tuple(places.shape)) == (torch.int64, (LARGE,))
    asked = {op: count for (op, _), count in emulator.asked.native.items()}
    assert asked["aten::where"] == 1
    assert not {"aten::nonzero", "aten::nonzero_numpy"} & set(asked)

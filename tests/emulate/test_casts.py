"""Casts to a dtype that the device does not give, in releases that do them by other overloads."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from opcheck.emulate.session import Emulator


@pytest.mark.slow
@pytest.mark.parametrize("values", [False, True], ids=["shapes", "values"])
@pytest.mark.parametrize("release", ["6.0.0", "7.2.0", "26.1.0"])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_cast_to_float64_gives_float32(release: str, values: bool) -> None:
    casts: list[Callable[[Tensor], Tensor]] = [
        lambda x: x.to(torch.float64), lambda x: x.double(),
        lambda x: x.to(x.device, torch.float64),
    ]  # fmt: skip
    with Emulator(f"ascend-910b@{release}", values=values, stop=False) as device:
        for start in (torch.ones(3), torch.ones(3, dtype=torch.int64)):
            x = start.to(device)
            made = [cast(x) for cast in casts]
            assert [y.dtype for y in made] == [torch.float32] * len(casts)
            if values:
                assert [y.tolist() for y in made] == [[1, 1, 1]] * len(casts)
        same = torch.ones(3, dtype=torch.float64, device=device)
        assert casts[0](same) is same

"""Fractional max pools without their kernels."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from opcheck.lang.sentence import Sentence
from opcheck.rewrite.base import Arguments, Rule
from opcheck.rewrite.call import Call
from opcheck.rewrite.draw import Draw

_LARGEST = 1 << 28
"""Elements of all windows side by side beyond which no one wants to hold them."""
_FLOATS = (torch.float32, torch.float64)  # PyTorch rounds each sum of half-precision gradients


def _first_best(windows: Tensor) -> Tensor:
    """Where each window, along the last dimension, is largest: first, but for NaN last."""
    size = windows.size(-1)
    order = torch.arange(size, device=windows.device)
    largest = windows.max(-1, keepdim=True).values
    rank = torch.where(windows == largest, size - order, torch.zeros_like(order))
    rank = torch.where(windows != windows, size + 1 + order, rank)
    best = rank.max(-1).values
    return torch.where(best > size, best - size - 1, size - best)


def _read(flat: Tensor, indices: Tensor) -> Tensor:
    """Read values along the last dimension; gradients add up in float32 at least."""
    if flat.dtype in (torch.float16, torch.bfloat16):
        return flat.float().gather(-1, indices).to(flat.dtype)
    return flat.gather(-1, indices)


def fractional_max_pool(
    self: Tensor, kernel_size: Sequence[int], output_size: Sequence[int], random_samples: Tensor
) -> tuple[Tensor, Tensor]:
    """Take the largest of windows that the samples place."""
    count = len(output_size)
    samples = random_samples.reshape(-1, random_samples.size(-2), count)
    planes = self.reshape(-1, self.size(-count - 1), math.prod(self.shape[-count:]))
    where = torch.zeros((), dtype=torch.int64, device=self.device)
    for number in range(count):
        size, out, kernel = self.size(number - count), output_size[number], kernel_size[number]
        sample = samples[:, :, number if count == 3 else 1 - number].unsqueeze(-1)
        step = (size - kernel) / (out - 1) if out > 1 else 0.0
        steps = torch.arange(out, device=self.device).to(sample.dtype)
        start = ((steps + sample) * step).long() - (sample * step).long()
        last = torch.arange(out, device=self.device) == out - 1
        start = torch.where(last, torch.full_like(start, size - kernel), start)
        place = start.unsqueeze(-1) + torch.arange(kernel, device=self.device)
        shape = [1] * (2 * count)
        shape[number], shape[count + number] = out, kernel
        where = where * size + place.reshape(*place.shape[:2], *shape)
    where = where.flatten(2 + count)
    windows = planes.detach().gather(2, where.flatten(2)).reshape(where.shape)
    best = _first_best(windows)
    indices = where.gather(-1, best.unsqueeze(-1)).squeeze(-1)
    shape = [*self.shape[:-count], *output_size]
    return _read(planes, indices.flatten(2)).reshape(shape), indices.reshape(shape)


class FractionalMaxPoolByWindows(Rule):
    """The windows that the samples place are laid side by side, and the largest of each looked up.

    That takes the memory of all windows. The samples are an argument, so nothing random is left.
    """

    name = "fractional-max-pool-by-windows"
    replaces = ("aten::fractional_max_pool2d", "aten::fractional_max_pool3d")
    summary = "Lay the windows side by side and look up the largest of each"
    references = (
        "https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/FractionalMaxPool2d.cpp",
    )
    replace = staticmethod(fractional_max_pool)

    def refuses(self, call: Call) -> str:
        """Decline more windows than fit side by side."""
        x, kernel, out = call.args[0], call.given("kernel_size"), call.given("output_size")
        held = math.prod(x.shape[: -len(out)]) * math.prod(kernel) * math.prod(out)
        if held <= _LARGEST:
            return ""
        return Sentence("the windows together have {count} elements", count=f"{held:,}")

    def example(self, op: str, draw: Draw) -> Arguments:
        """With and without batch."""
        dims = int(op[-2])
        lead = [draw.integer(1, 2), draw.integer(1, 2)] if draw.flag() else [draw.integer(1, 3)]
        kernel = [draw.integer(1, 3) for _ in range(dims)]
        out = [draw.integer(1, 4) for _ in range(dims)]
        sizes = [k + o + draw.integer(0, 3) for k, o in zip(kernel, out, strict=True)]
        x = draw.tensor([*lead, *sizes], _FLOATS)
        random = torch.Generator().manual_seed(draw.integer(0, 999))
        batch = [1] if len(lead) == 1 else lead[:1]
        samples = torch.rand([*batch, lead[-1], dims], generator=random, dtype=x.dtype)
        return (x, kernel, out, samples), {}

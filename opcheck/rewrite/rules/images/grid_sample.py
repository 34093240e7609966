"""``grid_sample`` in two and three dimensions without its kernels."""

import itertools
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import torch
from torch import Tensor

from opcheck.lang.sentence import Sentence
from opcheck.model.plan import Label
from opcheck.rewrite.base import Arguments, Rule
from opcheck.rewrite.call import Call, Outcome
from opcheck.rewrite.draw import Draw

LARGEST = 1 << 28
"""Elements of the corners of all samples beyond which no one wants to read them."""
_FLOATS = (torch.float32, torch.float64)


def _scaled(place: Tensor, size: int, align_corners: bool) -> Tensor:
    """From -1 ... 1 to places of elements."""
    if align_corners:
        return (place + 1) / 2 * (size - 1)
    return ((place + 1) * size - 1) / 2


def _clipped(place: Tensor, size: int) -> Tensor:
    """Into the border; no gradient from there on."""
    inner = (place > 0) & (place < size - 1)
    return torch.where(inner, place, place.detach().clamp(0, size - 1))


def _reflected(place: Tensor, size: int, align_corners: bool) -> Tensor:
    """Mirrored at the border as often as it takes."""
    low, span = (0.0, size - 1.0) if align_corners else (-0.5, float(size))
    if span <= 0:
        return torch.zeros_like(place)
    far = place - low
    far = torch.where(far < 0, -far, far)
    flips = (far.detach() / span).floor()
    extra = far - flips * span
    odd = flips - 2 * (flips / 2).floor() > 0
    return torch.where(odd, span - extra + low, extra + low)


def _padded(place: Tensor, size: int, padding_mode: int, align_corners: bool) -> Tensor:
    if padding_mode == 1:
        return _clipped(place, size)
    if padding_mode == 2:
        return _clipped(_reflected(place, size, align_corners), size)
    return place


def _read(flat: Tensor, places: list[Tensor], sizes: list[int], zeros: bool) -> Tensor:
    """Elements [N, C, P] at places [N, P] of whole numbers, which may lie outside."""
    where = torch.zeros((), dtype=torch.int64, device=flat.device)
    inside: Tensor | None = None
    for place, size in zip(places, sizes, strict=True):
        within = (place >= 0) & (place < size)
        inside = within if inside is None else inside & within
        where = where * size + place.clamp(0, size - 1).to(torch.int64)
    values = flat.gather(2, where.unsqueeze(1).expand(-1, flat.size(1), -1))
    if not zeros or inside is None:
        return values
    return torch.where(inside.unsqueeze(1), values, torch.zeros_like(values))


def _cubic(part: Tensor) -> list[Tensor]:
    """Weights of the four elements around, by how far the place is past the second."""
    a = -0.75

    def near(x: Tensor) -> Tensor:
        return ((a + 2) * x - (a + 3)) * x * x + 1

    def far(x: Tensor) -> Tensor:
        return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a

    return [far(part + 1), near(part), near(1 - part), far(2 - part)]


def grid_sampler(
    input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Tensor:
    """Read the elements around each place and weigh them."""
    sizes = list(input.shape[2:])
    outs = list(grid.shape[1:-1])
    flat = input.flatten(2)
    places = [
        _scaled(grid[..., len(sizes) - 1 - d].flatten(1), size, align_corners)
        for d, size in enumerate(sizes)
    ]
    zeros = padding_mode == 0
    if interpolation_mode != 2:
        places = [
            _padded(place, size, padding_mode, align_corners)
            for place, size in zip(places, sizes, strict=True)
        ]
    if interpolation_mode == 1:
        result = _read(flat, [place.detach().round() for place in places], sizes, zeros)
        return result.reshape(*flat.shape[:2], *outs)
    lows = [place.detach().floor() for place in places]
    parts = [place - low for place, low in zip(places, lows, strict=True)]
    if interpolation_mode == 2:
        weights, first = [_cubic(part) for part in parts], -1
    else:
        weights, first = [[1 - part, part] for part in parts], 0
    result = torch.zeros((), dtype=flat.dtype, device=flat.device)
    for corner in itertools.product(*(range(len(weight)) for weight in weights)):
        at = [low + (first + step) for low, step in zip(lows, corner, strict=True)]
        weight = weights[0][corner[0]]
        for dim in range(1, len(sizes)):
            weight = weight * weights[dim][corner[dim]]
        if interpolation_mode == 2:
            at = [
                _padded(place, size, padding_mode, align_corners).round()
                for place, size in zip(at, sizes, strict=True)
            ]
        result = result + _read(flat, at, sizes, zeros) * weight.unsqueeze(1)
    return result.reshape(*flat.shape[:2], *outs)


def grid_sample(
    input: Tensor, grid: Tensor, mode: str = "bilinear", padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Tensor:  # fmt: skip
    """``grid_sampler`` as users call it."""
    how = ("bilinear", "nearest", "bicubic").index(mode)
    padding = ("zeros", "border", "reflection").index(padding_mode)
    return grid_sampler(input, grid, how, padding, bool(align_corners))


class GridSampleByGather(Rule):
    """The elements around each place are gathered, weighed and added, one corner after the other.

    They are 4 or 16 in an image and 8 in a volume. Takes the memory of a few outputs for each
    corner. The order of additions may differ, and gradients are within the tolerance of the largest
    of them all: among equal elements, that of a place is nothing.
    """

    name = "grid-sample-by-gather"
    label = Label.TOLERANCE
    tolerance = 512.0
    replaces = ("aten::grid_sampler_2d", "aten::grid_sampler_3d", "aten::grid_sampler")
    summary = "Gather the elements around each place and weigh them"
    spellings = ("torch.grid_sampler", "torch.grid_sampler_2d", "torch.grid_sampler_3d")
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.nn.functional.grid_sample": grid_sample
    }
    references = (
        "https://github.com/pytorch/pytorch/issues/141287",
        "https://github.com/apple/coremltools/issues/1875",
    )
    replace = staticmethod(grid_sampler)

    def refuses(self, call: Call) -> str:
        """Decline half precision, where places are too coarse, and more than fits."""
        x, grid = call.args[0], call.args[1]
        if x.dtype not in _FLOATS:
            return "in half precision the places of samples would be off"
        if not x.numel() or not grid.numel():
            return "there is nothing to sample"
        if x.dim() == 5 and call.args[2] == 2:
            return "bicubic sampling is for images"
        held = 8 * x.size(1) * grid.numel()
        if held <= LARGEST:
            return ""
        return Sentence("the elements around all places are {count}", count=f"{held:,}")

    def canonical(self, call: Call, outcome: Outcome) -> Outcome:
        """Measure gradients by the largest of all."""
        results, gradients = outcome
        if gradients is None:
            return outcome
        return results, [torch.cat([gradient.flatten() for gradient in gradients])]

    def example(self, op: str, draw: Draw) -> Arguments:
        """Inside and outside, with every mode and padding."""
        dims = 3 if op.endswith("3d") else 2
        batch, dtype = draw.integer(1, 2), draw.choose(_FLOATS)
        sizes = [draw.integer(1, 5) for _ in range(dims)]
        x = draw.tensor([batch, draw.integer(1, 3), *sizes], (dtype,), edges=False)
        outs = [draw.integer(1, 3) for _ in range(dims)]
        grid = draw.tensor([batch, *outs, dims], (dtype,), edges=False) * draw.choose((1.0, 0.3))
        mode = draw.integer(0, 2 if dims == 2 else 1)
        return (x, grid, mode, draw.integer(0, 2), draw.flag()), {}

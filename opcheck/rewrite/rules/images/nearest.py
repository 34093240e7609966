"""Picking the nearest elements for another size without kernels of their own."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor

from opcheck.rewrite.base import Arguments, Rule
from opcheck.rewrite.call import Call
from opcheck.rewrite.draw import Draw

_DTYPES = (torch.float32, torch.float64, torch.uint8)
"""Gradients in half precision may be rounded at other times."""


def _picked(x: Tensor, places: Sequence[Tensor]) -> Tensor:
    """Elements of the last dimensions at each combination of places, which may have any shape.

    All at once: gradients then add up in the order of the result, as they do in PyTorch.
    """
    count = len(places)
    shapes = [place.shape for place in places]
    where = places[0].reshape(-1)
    for number in range(1, count):
        where = where.unsqueeze(-1) * x.size(number - count) + places[number].reshape(-1)
        where = where.reshape(-1)
    picked = x.flatten(-count).index_select(-1, where)
    return picked.reshape([*x.shape[:-count], *(size for shape in shapes for size in shape)])


def _ratio(size: int, out: int, scale: float | None) -> float:
    """How many elements of the input one step of the output is."""
    return 1.0 / scale if scale is not None and scale > 0 else size / out


def _nearest(
    self: Tensor, output_size: Sequence[int], scales: Sequence[float | None], offset: float
) -> Tensor:
    places = []
    for number, (out, scale) in enumerate(zip(output_size, scales, strict=True)):
        size = self.size(self.dim() - len(output_size) + number)
        steps = torch.arange(out, device=self.device).to(torch.float32)
        steps = steps + offset if offset else steps
        place = (steps * _ratio(size, out, scale)).to(torch.int64)
        places.append(place.clamp(0, size - 1))
    return _picked(self, places)


def upsample_nearest1d(
    self: Tensor, output_size: Sequence[int], scales: float | None = None
) -> Tensor:
    """Pick the element before each place."""
    return _nearest(self, output_size, [scales], 0.0)


def upsample_nearest2d(
    self: Tensor, output_size: Sequence[int],
    scales_h: float | None = None, scales_w: float | None = None,
) -> Tensor:  # fmt: skip
    """Pick the element before each place."""
    return _nearest(self, output_size, [scales_h, scales_w], 0.0)


def upsample_nearest3d(
    self: Tensor, output_size: Sequence[int], scales_d: float | None = None,
    scales_h: float | None = None, scales_w: float | None = None,
) -> Tensor:  # fmt: skip
    """Pick the element before each place."""
    return _nearest(self, output_size, [scales_d, scales_h, scales_w], 0.0)


def upsample_nearest_exact1d(
    self: Tensor, output_size: Sequence[int], scales: float | None = None
) -> Tensor:
    """Pick the element whose middle is nearest."""
    return _nearest(self, output_size, [scales], 0.5)


def upsample_nearest_exact2d(
    self: Tensor, output_size: Sequence[int],
    scales_h: float | None = None, scales_w: float | None = None,
) -> Tensor:  # fmt: skip
    """Pick the element whose middle is nearest."""
    return _nearest(self, output_size, [scales_h, scales_w], 0.5)


def upsample_nearest_exact3d(
    self: Tensor, output_size: Sequence[int], scales_d: float | None = None,
    scales_h: float | None = None, scales_w: float | None = None,
) -> Tensor:  # fmt: skip
    """Pick the element whose middle is nearest."""
    return _nearest(self, output_size, [scales_d, scales_h, scales_w], 0.5)


def _wanted(
    input: Tensor, size: Any, scale_factor: Any, recompute: bool | None
) -> tuple[list[int], list[float | None]]:
    """Sizes of the result, and the scales that places go by where they are given."""
    dims = input.dim() - 2
    if size is not None:
        sizes = [size] * dims if isinstance(size, int) else list(size)
        return sizes, [None] * dims
    by = scale_factor
    factors = list(by) if isinstance(by, Sequence) else [by] * dims
    sizes = [math.floor(float(input.size(2 + d)) * factors[d]) for d in range(dims)]
    return sizes, [None] * dims if recompute else factors


def interpolate_nearest(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """Pick the element before each place."""
    one = (size is None) != (scale_factor is None)
    if not one or antialias or align_corners is not None or mode != "nearest":
        return torch.nn.functional.interpolate(
            input, size, scale_factor, mode, align_corners, recompute_scale_factor, antialias
        )
    sizes, scales = _wanted(input, size, scale_factor, recompute_scale_factor)
    return _nearest(input, sizes, scales, 0.0)


def interpolate_nearest_exact(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """Pick the element whose middle is nearest."""
    one = (size is None) != (scale_factor is None)
    if not one or antialias or align_corners is not None or mode != "nearest-exact":
        return torch.nn.functional.interpolate(
            input, size, scale_factor, mode, align_corners, recompute_scale_factor, antialias
        )
    sizes, scales = _wanted(input, size, scale_factor, recompute_scale_factor)
    return _nearest(input, sizes, scales, 0.5)


class UpsampleNearest1dByIndex(Rule):
    """The element before each place is picked by its index, in all dimensions at once.

    The index is the floor of the place in float32, as in PyTorch's kernel. Gradients in half
    precision may be rounded at other times.
    """

    name = "upsample-nearest1d-by-index"
    replaces: ClassVar[tuple[str, ...]] = ("aten::upsample_nearest1d",)
    summary = "Pick the nearest elements by index"
    references: ClassVar[tuple[str, ...]] = (
        "https://github.com/pytorch/pytorch/blob/main/torch/_decomp/decompositions.py",
    )
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.nn.functional.interpolate": interpolate_nearest
    }
    replace: ClassVar[Callable[..., Any]] = staticmethod(upsample_nearest1d)
    _dims: ClassVar[int] = 1

    def refuses(self, call: Call) -> str:
        """Decline empty outputs."""
        return "" if math.prod(call.args[1]) else "the output is empty"

    def example(self, op: str, draw: Draw) -> Arguments:
        """Smaller, larger and the same, with given scales and without."""
        sizes = [draw.integer(1, 6) for _ in range(self._dims)]
        lead, dtypes = draw.shape(2, 2, smallest=1, largest=3), _DTYPES
        scales = [draw.choose((0.5, 1.5, 2.0)) for _ in range(self._dims)]
        if draw.flag():
            out = [max(math.floor(s * f), 1) for s, f in zip(sizes, scales, strict=True)]
            return (draw.tensor([*lead, *sizes], dtypes), out, *scales), {}
        out = [draw.integer(1, 9) for _ in range(self._dims)]
        return (draw.tensor([*lead, *sizes], dtypes), out), {}


class UpsampleNearest2dByIndex(UpsampleNearest1dByIndex):
    """The element before each place is picked by its index, in both dimensions at once."""

    name = "upsample-nearest2d-by-index"
    replaces: ClassVar[tuple[str, ...]] = ("aten::upsample_nearest2d",)
    replace: ClassVar[Callable[..., Any]] = staticmethod(upsample_nearest2d)
    _dims: ClassVar[int] = 2


class UpsampleNearest3dByIndex(UpsampleNearest1dByIndex):
    """The element before each place is picked by its index, in all dimensions at once."""

    name = "upsample-nearest3d-by-index"
    replaces: ClassVar[tuple[str, ...]] = ("aten::upsample_nearest3d",)
    replace: ClassVar[Callable[..., Any]] = staticmethod(upsample_nearest3d)
    _dims: ClassVar[int] = 3


class UpsampleNearestExact1dByIndex(UpsampleNearest1dByIndex):
    """The element whose middle is nearest is picked by its index."""

    name = "upsample-nearest-exact1d-by-index"
    replaces = ("aten::_upsample_nearest_exact1d",)
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.nn.functional.interpolate": interpolate_nearest_exact
    }
    replace = staticmethod(upsample_nearest_exact1d)


class UpsampleNearestExact2dByIndex(UpsampleNearest2dByIndex):
    """The element whose middle is nearest is picked by its index, in both dimensions at once."""

    name = "upsample-nearest-exact2d-by-index"
    replaces = ("aten::_upsample_nearest_exact2d",)
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.nn.functional.interpolate": interpolate_nearest_exact
    }
    replace = staticmethod(upsample_nearest_exact2d)


class UpsampleNearestExact3dByIndex(UpsampleNearest3dByIndex):
    """The element whose middle is nearest is picked by its index, in all dimensions at once."""

    name = "upsample-nearest-exact3d-by-index"
    replaces = ("aten::_upsample_nearest_exact3d",)
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.nn.functional.interpolate": interpolate_nearest_exact
    }
    replace = staticmethod(upsample_nearest_exact3d)

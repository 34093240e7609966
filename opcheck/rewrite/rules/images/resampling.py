"""Interpolation to another size without its kernels: the nearest, or neighbours weighed."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor

from opcheck.lang.sentence import Sentence
from opcheck.model.plan import Label
from opcheck.rewrite.base import SOURCES, Arguments, Rule, dims_of
from opcheck.rewrite.call import Call
from opcheck.rewrite.draw import FLOATS, Draw

LARGEST = 1 << 28
"""Elements side by side beyond which no one wants to hold them."""
_Functions = Mapping[str, Callable[..., Any]]
_DECOMPOSITIONS = f"{SOURCES}/torch/_decomp/decompositions.py"


def _ratio(size: int, out: int, align_corners: bool, scale: float | None) -> float:
    """How many elements of the input one step of the output is."""
    if align_corners:
        return (size - 1) / (out - 1) if out > 1 else 0.0
    return 1.0 / scale if scale is not None and scale > 0 else size / out


def _picked(x: Tensor, places: Sequence[Tensor]) -> Tensor:
    """Elements of the last dimensions at each combination of places, which may have any shape.

    All at once: gradients then add up in the order of the result, as they do in PyTorch.
    """
    count, where = len(places), places[0].reshape(-1)
    for number in range(1, count):
        where = where.unsqueeze(-1) * x.size(number - count) + places[number].reshape(-1)
        where = where.reshape(-1)
    sizes = [*x.shape[:-count], *(size for place in places for size in place.shape)]
    return x.flatten(-count).index_select(-1, where).reshape(sizes)


def _nearest(
    self: Tensor, output_size: Sequence[int], scales: Sequence[float | None], offset: float
) -> Tensor:
    places = []
    for number, (out, scale) in enumerate(zip(output_size, scales, strict=True)):
        size = self.size(number - len(output_size))
        steps = torch.arange(out, device=self.device).to(torch.float32)
        steps = steps + offset if offset else steps
        place = (steps * _ratio(size, out, False, scale)).to(torch.int64)
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


def _weighed(x: Tensor, dim: int, place: Tensor, weight: Tensor) -> Tensor:
    """Add up elements of one dimension at [out, taps] places with weights; 0 takes none."""
    row = place.clamp(0, x.size(dim) - 1).reshape(-1)
    picked: Tensor = x.index_select(dim, row).unflatten(dim, place.shape)
    shape = [1] * picked.dim()
    shape[dim], shape[dim + 1] = place.shape
    return (picked * weight.to(x.dtype).reshape(shape)).sum(dim + 1)


def _cubic(part: Tensor) -> Tensor:
    """Weights of the four elements around, by how far the place is past the second."""
    a = -0.75
    x = torch.cat([part + 1, part, 1 - part, 2 - part], dim=-1)
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
    return torch.where(x <= 1, near, far)


def _resized(
    x: Tensor, dim: int, out: int, align_corners: bool, scale: float | None, cubic: bool
) -> Tensor:
    size = x.size(dim)
    ratio = _ratio(size, out, align_corners, scale)
    wide = x.dtype if x.dtype is torch.float64 else torch.float32
    steps = torch.arange(out, device=x.device).to(wide).unsqueeze(-1)
    place = steps * ratio if align_corners else (steps + 0.5) * ratio - 0.5
    place = place if cubic else place.clamp(min=0.0)
    low = place.floor()
    part = place - low
    taps = torch.arange(-1 if cubic else 0, 3 if cubic else 2, device=x.device)
    weight = _cubic(part) if cubic else torch.cat([1 - part, part], dim=-1)
    return _weighed(x, dim, low.to(torch.int64) + taps, weight)


def _resample(
    self: Tensor, output_size: Sequence[int], align_corners: bool,
    scales: Sequence[float | None], cubic: bool = False,
) -> Tensor:  # fmt: skip
    x = self.float() if self.dtype in (torch.float16, torch.bfloat16) else self
    for number in reversed(range(len(output_size))):
        dim, out = self.dim() - len(output_size) + number, output_size[number]
        if x.size(dim) != out or scales[number] is not None:
            x = _resized(x, dim, out, align_corners, scales[number], cubic)
    return x.to(self.dtype)


def upsample_linear1d(
    self: Tensor, output_size: Sequence[int], align_corners: bool, scales: float | None = None
) -> Tensor:
    """Weigh the two elements around each place."""
    return _resample(self, output_size, align_corners, [scales])


def upsample_bilinear2d(
    self: Tensor, output_size: Sequence[int], align_corners: bool,
    scales_h: float | None = None, scales_w: float | None = None,
) -> Tensor:  # fmt: skip
    """Weigh the two elements around each place, in one dimension after the other."""
    return _resample(self, output_size, align_corners, [scales_h, scales_w])


def upsample_trilinear3d(
    self: Tensor, output_size: Sequence[int], align_corners: bool, scales_d: float | None = None,
    scales_h: float | None = None, scales_w: float | None = None,
) -> Tensor:  # fmt: skip
    """Weigh the two elements around each place, in one dimension after the other."""
    return _resample(self, output_size, align_corners, [scales_d, scales_h, scales_w])


def upsample_bicubic2d(
    self: Tensor, output_size: Sequence[int], align_corners: bool,
    scales_h: float | None = None, scales_w: float | None = None,
) -> Tensor:  # fmt: skip
    """Weigh the four elements around each place, in one dimension after the other."""
    return _resample(self, output_size, align_corners, [scales_h, scales_w], cubic=True)


def _smoothed(
    x: Tensor, dim: int, out: int, align_corners: bool, scale: float | None, cubic: bool
) -> Tensor:
    """Weigh all elements that one element of the output covers."""
    size, wide = x.size(dim), x.dtype if x.dtype is torch.float64 else torch.float32
    ratio = _ratio(size, out, align_corners, scale)
    stretch = max(ratio, 1.0)
    support = (2.0 if cubic else 1.0) * stretch
    taps = min(math.ceil(support) * 2 + 1, size)
    center = (torch.arange(out, device=x.device).to(wide).unsqueeze(-1) + 0.5) * ratio
    first = (center - support + 0.5).clamp(min=0.0).to(torch.int64)
    last = (center + support + 0.5).clamp(max=float(size)).to(torch.int64)
    place = first + torch.arange(taps, device=x.device)
    far = ((place.to(wide) - center + 0.5) / stretch).abs()
    if cubic:
        a = -0.5
        near = ((a + 2) * far - (a + 3)) * far * far + 1
        rest = (((far - 5) * far + 8) * far - 4) * a
        weight = torch.where(far < 1, near, torch.where(far < 2, rest, torch.zeros_like(far)))
    else:
        weight = (1 - far).clamp(min=0.0)
    weight = torch.where(place < last, weight, torch.zeros_like(weight))
    return _weighed(x, dim, place, weight / weight.sum(-1, keepdim=True))


def _smooth(
    self: Tensor, output_size: Sequence[int], align_corners: bool,
    scales: Sequence[float | None], cubic: bool,
) -> Tensor:  # fmt: skip
    x = self.float() if self.dtype in (torch.float16, torch.bfloat16) else self
    for number in range(-1, -1 - len(output_size), -1):
        dim, out = self.dim() + number, output_size[number]
        x = _smoothed(x, dim, out, align_corners, scales[number], cubic)
    return x.to(self.dtype)


def upsample_bilinear2d_aa(
    self: Tensor, output_size: Sequence[int], align_corners: bool,
    scales_h: float | None = None, scales_w: float | None = None,
) -> Tensor:  # fmt: skip
    """Weigh the elements that each one of the output covers, in one dimension after the other."""
    return _smooth(self, output_size, align_corners, [scales_h, scales_w], cubic=False)


def upsample_bicubic2d_aa(
    self: Tensor, output_size: Sequence[int], align_corners: bool,
    scales_h: float | None = None, scales_w: float | None = None,
) -> Tensor:  # fmt: skip
    """Weigh the elements that each one of the output covers, in one dimension after the other."""
    return _smooth(self, output_size, align_corners, [scales_h, scales_w], cubic=True)


def _wanted(
    input: Tensor, size: Any, scale_factor: Any, recompute: bool | None
) -> tuple[list[int], list[float | None]]:
    """Sizes of the result, and the scales that places go by where they are given."""
    dims = input.dim() - 2
    if size is not None:
        return [size] * dims if isinstance(size, int) else list(size), [None] * dims
    factors = list(scale_factor) if isinstance(scale_factor, Sequence) else [scale_factor] * dims
    sizes = [math.floor(float(input.size(2 + d)) * factors[d]) for d in range(dims)]
    return sizes, [None] * dims if recompute else factors


_NEAREST = {"nearest": 0.0, "nearest-exact": 0.5}
_TAPS = {"linear": 3, "bilinear": 4, "trilinear": 5, "bicubic": 4}


def interpolate_nearest(
    input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest",
    align_corners: bool | None = None, recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:  # fmt: skip
    """Pick the element before each place, or the one whose middle is nearest."""
    one = (size is None) != (scale_factor is None)
    if not one or antialias or align_corners is not None or mode not in _NEAREST:
        return torch.nn.functional.interpolate(
            input, size, scale_factor, mode, align_corners, recompute_scale_factor, antialias
        )
    sizes, scales = _wanted(input, size, scale_factor, recompute_scale_factor)
    return _nearest(input, sizes, scales, _NEAREST[mode])


def interpolate_by_taps(
    input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest",
    align_corners: bool | None = None, recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:  # fmt: skip
    """Weigh the elements around each place, in one dimension after the other."""
    if (size is None) == (scale_factor is None) or antialias or _TAPS.get(mode) != input.dim():
        return torch.nn.functional.interpolate(
            input, size, scale_factor, mode, align_corners, recompute_scale_factor, antialias
        )
    sizes, scales = _wanted(input, size, scale_factor, recompute_scale_factor)
    return _resample(input, sizes, bool(align_corners), scales, cubic=mode == "bicubic")


def interpolate_smooth(
    input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest",
    align_corners: bool | None = None, recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:  # fmt: skip
    """Weigh the elements that each one of the result covers, in one dimension after the other."""
    one = (size is None) != (scale_factor is None)
    if not one or not antialias or mode not in ("bilinear", "bicubic") or input.dim() != 4:
        return torch.nn.functional.interpolate(
            input, size, scale_factor, mode, align_corners, recompute_scale_factor, antialias
        )
    sizes, scales = _wanted(input, size, scale_factor, recompute_scale_factor)
    return _smooth(input, sizes, bool(align_corners), scales, mode == "bicubic")


class UpsampleNearestByIndex(Rule):
    """The element before each place, or whose middle is nearest, is picked by its index.

    In all dimensions at once. The index is the floor of the place in float32, as in PyTorch's
    kernel. Gradients in half precision may be rounded at other times.
    """

    name = "upsample-nearest-by-index"
    functions: ClassVar[_Functions] = {
        "aten::upsample_nearest1d": upsample_nearest1d,
        "aten::upsample_nearest2d": upsample_nearest2d,
        "aten::upsample_nearest3d": upsample_nearest3d,
        "aten::_upsample_nearest_exact1d": upsample_nearest_exact1d,
        "aten::_upsample_nearest_exact2d": upsample_nearest_exact2d,
        "aten::_upsample_nearest_exact3d": upsample_nearest_exact3d,
    }
    replaces = tuple(functions)
    summary = "Pick the nearest elements by index"
    references = (_DECOMPOSITIONS,)
    spelled: ClassVar[_Functions] = {"torch.nn.functional.interpolate": interpolate_nearest}

    def refuses(self, call: Call) -> str:
        """Decline empty outputs."""
        return "" if math.prod(call.args[1]) else "the output is empty"

    def example(self, op: str, draw: Draw) -> Arguments:
        """Smaller, larger and the same, with given scales and without."""
        dims = range(dims_of(op))
        sizes = [draw.integer(1, 6) for _ in dims]
        lead, dtypes = draw.shape(2, 2, smallest=1, largest=3), (*FLOATS[:2], torch.uint8)
        scales = [draw.choose((0.5, 1.5, 2.0)) for _ in dims]
        if draw.flag():
            out = [max(math.floor(s * f), 1) for s, f in zip(sizes, scales, strict=True)]
            return (draw.tensor([*lead, *sizes], dtypes), out, *scales), {}
        out = [draw.integer(1, 9) for _ in dims]
        return (draw.tensor([*lead, *sizes], dtypes), out), {}


class UpsampleByTaps(Rule):
    """Per dimension, the two or four elements around each place are picked, weighed and added.

    The weights are those of PyTorch's kernel; dimensions go one after the other, so the order of
    multiplications differs: two times two elements instead of four, three times two instead of
    eight, two times four instead of sixteen. Half precision is computed in float32.
    """

    name = "upsample-by-taps"
    label = Label.TOLERANCE
    tolerance = 512.0
    functions: ClassVar[_Functions] = {
        "aten::upsample_linear1d": upsample_linear1d,
        "aten::upsample_bilinear2d": upsample_bilinear2d,
        "aten::upsample_trilinear3d": upsample_trilinear3d,
        "aten::upsample_bicubic2d": upsample_bicubic2d,
    }
    replaces: ClassVar[tuple[str, ...]] = tuple(functions)
    summary = "Weigh the elements around each place, one dimension after the other"
    references: ClassVar[tuple[str, ...]] = (_DECOMPOSITIONS,)
    spelled: ClassVar[_Functions] = {"torch.nn.functional.interpolate": interpolate_by_taps}
    _dtypes: ClassVar[Sequence[torch.dtype]] = FLOATS

    def refuses(self, call: Call) -> str:
        """Decline integers, whose kernel rounds otherwise, and more than fits."""
        x = call.args[0]
        if not x.is_floating_point():
            return "integers are interpolated with weights of fixed precision"
        held = 4 * x.numel() * max(1, math.prod(call.args[1]) // max(math.prod(x.shape[2:]), 1))
        if held <= LARGEST:
            return ""
        return Sentence("elements and neighbours together are {count}", count=f"{held:,}")

    def example(self, op: str, draw: Draw) -> Arguments:
        """Smaller, larger and the same, with and without aligned corners and given scales."""
        dims = range(dims_of(op))
        sizes = [draw.integer(1, 6) for _ in dims]
        x = draw.tensor([draw.integer(1, 2), draw.integer(1, 3), *sizes], self._dtypes, edges=False)
        scales = [draw.choose((0.5, 1.5, 2.0)) for _ in dims]
        given: list[Any] = [None] * len(dims)
        out = [draw.integer(1, 9) for _ in dims]
        if draw.flag():
            given = scales
            out = [max(math.floor(s * f), 1) for s, f in zip(sizes, scales, strict=True)]
        return (x, out, draw.flag(), *given), {}


class UpsampleSmoothByTaps(UpsampleByTaps):
    """Per dimension, all elements that one of the output covers are weighed by their distance.

    The weights are computed once for all rows and columns; when an image shrinks by n they are
    2 n + 1, or 4 n + 1 of a cubic one. Values must be finite: an infinite one reaches neighbours
    whose weight is 0.
    """

    name = "upsample-aa-by-taps"
    functions: ClassVar[_Functions] = {
        "aten::_upsample_bilinear2d_aa": upsample_bilinear2d_aa,
        "aten::_upsample_bicubic2d_aa": upsample_bicubic2d_aa,
    }
    replaces: ClassVar[tuple[str, ...]] = tuple(functions)
    references: ClassVar[tuple[str, ...]] = (
        "https://github.com/pytorch/vision/issues/6806",
        "https://github.com/apple/coremltools/pull/2818",
    )
    spelled: ClassVar[_Functions] = {"torch.nn.functional.interpolate": interpolate_smooth}
    _dtypes = FLOATS[:2]

    def refuses(self, call: Call) -> str:
        """Decline what PyTorch's kernel for the host gets wrong."""
        if call.args[1][-1] == 1:
            return "PyTorch's own kernel for the host mixes up rows where one column is left"
        return super().refuses(call)

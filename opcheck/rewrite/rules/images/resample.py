"""Interpolation to another size without its kernels."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor

from opcheck.lang.sentence import Sentence
from opcheck.model.plan import Label
from opcheck.rewrite.base import Arguments, Rule
from opcheck.rewrite.call import Call
from opcheck.rewrite.draw import FLOATS, Draw

LARGEST = 1 << 28
"""Elements side by side beyond which no one wants to hold them."""


def _ratio(size: int, out: int, align_corners: bool, scale: float | None) -> float:
    """How many elements of the input one step of the output is."""
    if align_corners:
        return (size - 1) / (out - 1) if out > 1 else 0.0
    return 1.0 / scale if scale is not None and scale > 0 else size / out


def _weighed(x: Tensor, dim: int, place: Tensor, weight: Tensor) -> Tensor:
    """Add up elements of one dimension at [out, taps] places with weights; 0 takes none."""
    size = x.size(dim)
    picked = x.index_select(dim, place.clamp(0, size - 1).reshape(-1)).unflatten(dim, place.shape)
    shape = [1] * picked.dim()
    shape[dim], shape[dim + 1] = place.shape
    weighed: Tensor = picked * weight.to(x.dtype).reshape(shape)
    return weighed.sum(dim + 1)


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
    if not cubic:
        place = place.clamp(min=0.0)
    low = place.floor()
    part = place - low
    taps = torch.arange(-1 if cubic else 0, 3 if cubic else 2, device=x.device)
    weight = _cubic(part) if cubic else torch.cat([1 - part, part], dim=-1)
    return _weighed(x, dim, low.to(torch.int64) + taps, weight)


def _resample(
    self: Tensor,
    output_size: Sequence[int],
    align_corners: bool,
    scales: Sequence[float | None],
    cubic: bool = False,
) -> Tensor:
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
    size = x.size(dim)
    ratio = _ratio(size, out, align_corners, scale)
    stretch = max(ratio, 1.0)
    support = (2.0 if cubic else 1.0) * stretch
    taps = min(math.ceil(support) * 2 + 1, size)
    wide = x.dtype if x.dtype is torch.float64 else torch.float32
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
    self: Tensor,
    output_size: Sequence[int],
    align_corners: bool,
    scales: Sequence[float | None],
    cubic: bool,
) -> Tensor:
    x = self.float() if self.dtype in (torch.float16, torch.bfloat16) else self
    for number in reversed(range(len(output_size))):
        dim, out = self.dim() - len(output_size) + number, output_size[number]
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
        sizes = [size] * dims if isinstance(size, int) else list(size)
        return sizes, [None] * dims
    by = scale_factor
    factors = list(by) if isinstance(by, Sequence) else [by] * dims
    sizes = [math.floor(float(input.size(2 + d)) * factors[d]) for d in range(dims)]
    return sizes, [None] * dims if recompute else factors


def interpolate_linear(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """Weigh the two elements around each place, in one dimension after the other."""
    one = (size is None) != (scale_factor is None)
    if (
        not one
        or antialias
        or {"linear": 3, "bilinear": 4, "trilinear": 5}.get(mode) != input.dim()
    ):
        return torch.nn.functional.interpolate(
            input, size, scale_factor, mode, align_corners, recompute_scale_factor, antialias
        )
    sizes, scales = _wanted(input, size, scale_factor, recompute_scale_factor)
    return _resample(input, sizes, bool(align_corners), scales)


def interpolate_cubic(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """Weigh the four elements around each place, in one dimension after the other."""
    one = (size is None) != (scale_factor is None)
    if not one or antialias or mode != "bicubic" or input.dim() != 4:
        return torch.nn.functional.interpolate(
            input, size, scale_factor, mode, align_corners, recompute_scale_factor, antialias
        )
    sizes, scales = _wanted(input, size, scale_factor, recompute_scale_factor)
    return _resample(input, sizes, bool(align_corners), scales, cubic=True)


def interpolate_smooth(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """Weigh the elements that each one of the result covers, in one dimension after the other."""
    one = (size is None) != (scale_factor is None)
    if not one or not antialias or mode not in ("bilinear", "bicubic") or input.dim() != 4:
        return torch.nn.functional.interpolate(
            input, size, scale_factor, mode, align_corners, recompute_scale_factor, antialias
        )
    sizes, scales = _wanted(input, size, scale_factor, recompute_scale_factor)
    return _smooth(input, sizes, bool(align_corners), scales, mode == "bicubic")


class UpsampleLinear1dByTaps(Rule):
    """Per dimension, the two elements around each place are picked by index, weighed and added.

    The weights are those of PyTorch's kernel; dimensions go one after the other, so the order of
    multiplications differs. Half precision is computed in float32.
    """

    name = "upsample-linear1d-by-taps"
    label: ClassVar[Label] = Label.TOLERANCE
    tolerance = 512.0
    replaces: ClassVar[tuple[str, ...]] = ("aten::upsample_linear1d",)
    summary = "Weigh the elements around each place, one dimension after the other"
    references: ClassVar[tuple[str, ...]] = (
        "https://github.com/pytorch/pytorch/blob/main/torch/_decomp/decompositions.py",
    )
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.nn.functional.interpolate": interpolate_linear
    }
    replace: ClassVar[Callable[..., Any]] = staticmethod(upsample_linear1d)
    _dims: ClassVar[int] = 1
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
        sizes = [draw.integer(1, 6) for _ in range(self._dims)]
        x = draw.tensor([draw.integer(1, 2), draw.integer(1, 3), *sizes], self._dtypes, edges=False)
        scales = [draw.choose((0.5, 1.5, 2.0)) for _ in range(self._dims)]
        given: list[Any] = [None] * self._dims
        out = [draw.integer(1, 9) for _ in range(self._dims)]
        if draw.flag():
            given = scales
            out = [max(math.floor(s * f), 1) for s, f in zip(sizes, scales, strict=True)]
        return (x, out, draw.flag(), *given), {}


class UpsampleBilinear2dByTaps(UpsampleLinear1dByTaps):
    """Per dimension, the two elements around each place are picked by index, weighed and added.

    Columns first, then rows: two times two elements instead of four.
    """

    name = "upsample-bilinear2d-by-taps"
    replaces = ("aten::upsample_bilinear2d",)
    replace = staticmethod(upsample_bilinear2d)
    _dims = 2


class UpsampleTrilinear3dByTaps(UpsampleLinear1dByTaps):
    """Per dimension, the two elements around each place are picked by index, weighed and added.

    Three times two elements instead of eight.
    """

    name = "upsample-trilinear3d-by-taps"
    replaces = ("aten::upsample_trilinear3d",)
    replace = staticmethod(upsample_trilinear3d)
    _dims = 3


class UpsampleBicubic2dByTaps(UpsampleLinear1dByTaps):
    """Per dimension, the four elements around each place are picked by index, weighed and added.

    Two times four elements instead of sixteen; places beyond the border repeat it.
    """

    name = "upsample-bicubic2d-by-taps"
    replaces = ("aten::upsample_bicubic2d",)
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.nn.functional.interpolate": interpolate_cubic
    }
    replace = staticmethod(upsample_bicubic2d)
    _dims = 2


class UpsampleBilinear2dAaByTaps(UpsampleLinear1dByTaps):
    """Per dimension, all elements that one of the output covers are weighed by their distance.

    The weights are computed once for all rows and columns; when an image shrinks by n they are
    2 n + 1. Values must be finite: an infinite one reaches neighbours whose weight is 0.
    """

    name = "upsample-bilinear2d-aa-by-taps"
    replaces: ClassVar[tuple[str, ...]] = ("aten::_upsample_bilinear2d_aa",)
    references: ClassVar[tuple[str, ...]] = (
        "https://github.com/pytorch/vision/issues/6806",
        "https://github.com/apple/coremltools/pull/2818",
    )
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torch.nn.functional.interpolate": interpolate_smooth
    }
    replace: ClassVar[Callable[..., Any]] = staticmethod(upsample_bilinear2d_aa)
    _dims: ClassVar[int] = 2
    _dtypes = FLOATS[:2]

    def refuses(self, call: Call) -> str:
        """Decline what PyTorch's kernel for the host gets wrong."""
        if call.args[1][-1] == 1:
            return "PyTorch's own kernel for the host mixes up rows where one column is left"
        return super().refuses(call)


class UpsampleBicubic2dAaByTaps(UpsampleBilinear2dAaByTaps):
    """Per dimension, all elements that one of the output covers are weighed by their distance.

    The weights are computed once for all rows and columns; when an image shrinks by n they are
    4 n + 1. Values must be finite: an infinite one reaches neighbours whose weight is 0.
    """

    name = "upsample-bicubic2d-aa-by-taps"
    replaces = ("aten::_upsample_bicubic2d_aa",)
    replace = staticmethod(upsample_bicubic2d_aa)

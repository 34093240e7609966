"""torchvision without its binary - operator schemas, and slow kernels with its results."""

import importlib.machinery
import importlib.util
import inspect
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

_ROI = "float spatial_scale, SymInt pooled_height, SymInt pooled_width"
_SHAPE = "SymInt batch_size, SymInt channels, SymInt height, SymInt width"
_DEFORM = (
    "Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, SymInt stride_h, "
    "SymInt stride_w, SymInt pad_h, SymInt pad_w, SymInt dilation_h, SymInt dilation_w, "
    "SymInt groups, SymInt offset_groups, bool use_mask"
)
SCHEMAS = (
    "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "box_iou_rotated(Tensor boxes1, Tensor boxes2) -> Tensor",
    f"roi_align(Tensor input, Tensor rois, {_ROI}, int sampling_ratio, bool aligned) -> Tensor",
    f"_roi_align_backward(Tensor grad, Tensor rois, {_ROI}, {_SHAPE}, int sampling_ratio, "
    "bool aligned) -> Tensor",
    "qroi_align(Tensor input, Tensor rois, float input_scale, int input_zero_point, "
    f"float rois_scale, int rois_zero_point, {_ROI}, int sampling_ratio, bool aligned) -> Tensor",
    f"roi_pool(Tensor input, Tensor rois, {_ROI}) -> (Tensor, Tensor)",
    f"_roi_pool_backward(Tensor grad, Tensor rois, Tensor argmax, {_ROI}, {_SHAPE}) -> Tensor",
    f"ps_roi_align(Tensor input, Tensor rois, {_ROI}, int sampling_ratio) -> (Tensor, Tensor)",
    f"_ps_roi_align_backward(Tensor grad, Tensor rois, Tensor channel_mapping, {_ROI}, "
    f"int sampling_ratio, {_SHAPE}) -> Tensor",
    f"ps_roi_pool(Tensor input, Tensor rois, {_ROI}) -> (Tensor, Tensor)",
    f"_ps_roi_pool_backward(Tensor grad, Tensor rois, Tensor channel_mapping, {_ROI}, {_SHAPE})"
    " -> Tensor",
    f"deform_conv2d({_DEFORM}) -> Tensor",
    f"_deform_conv2d_backward(Tensor grad, {_DEFORM}) -> (Tensor, Tensor, Tensor, Tensor, Tensor)",
    "_cuda_version() -> int",
)
"""As torchvision's own library defines them."""

_OPEN: ContextVar[bool] = ContextVar("_OPEN", default=False)
"""Whether the number of boxes that are kept depends on values, as torchvision has it."""
_LIBRARIES: list[torch.library.Library] = []  # registrations live as long as their Library


def prepare() -> None:
    """Make ``import torchvision`` work where its binary does not load beside this torch.

    To be called before torchvision is imported. Without the binary, torchvision still registers
    its own shape rules over these schemas; nothing computes, so only shapes can be asked.
    """
    binary = _binary()
    if binary is None or _LIBRARIES:
        return
    try:
        torch.ops.load_library(str(binary))
    except OSError:
        _define()
        _skip_loading(binary)


def settle() -> None:
    """Give ``torchvision::nms`` a shape outside export too: every box kept, the upper bound.

    To be called after the model was imported: torchvision's own rule, registered then, only
    answers where sizes are symbolic.
    """
    for name in ("nms", "qnms"):
        if hasattr(torch.ops.torchvision, name):
            _replace_fake(f"torchvision::{name}")


@contextmanager
def open_sizes() -> Iterator[None]:
    """Meanwhile leave to torchvision's own rule how many boxes are kept, as an export does."""
    before = _OPEN.set(True)
    try:
        yield
    finally:
        _OPEN.reset(before)


def _replace_fake(name: str) -> None:
    if "allow_override" in inspect.signature(torch.library.register_fake).parameters:
        torch.library.register_fake(name, _keep_all, allow_override=True)
        return
    # torch 2.6 refuses a second rule, and forgets the first only so; private, checked there alone
    torch._library.simple_registry.singleton.find(name).fake_impl.kernel = None
    torch.library.register_fake(name, _keep_all)


def compute() -> None:
    """Where the binary is missing, bring CPU kernels for what its detection models call.

    To be called after ``prepare``.
    """
    if len(_LIBRARIES) == 1:  # schemas alone
        _LIBRARIES.append(register())


def _binary() -> Path | None:
    spec = importlib.util.find_spec("torchvision")
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent
    names = (f"_C{suffix}" for suffix in importlib.machinery.EXTENSION_SUFFIXES)
    return next((folder / name for name in names if (folder / name).exists()), None)


def _define() -> None:
    library = torch.library.Library("torchvision", "FRAGMENT")
    for schema in SCHEMAS:
        library.define(schema)
    # torchvision compares it with torch's CUDA version; -1 says "built without"
    library.impl("_cuda_version", lambda: -1, "CompositeExplicitAutograd")
    library.impl("box_iou_rotated", _pairs, "Meta")  # the one without a rule in torchvision
    _LIBRARIES.append(library)


def _skip_loading(binary: Path) -> None:
    """Have torchvision believe that its library was loaded; it asks nothing else."""
    load: Callable[[Any], None] = torch.ops.load_library

    def load_library(path: Any) -> None:
        if Path(path) != binary:
            load(path)

    torch.ops.load_library = load_library  # type: ignore[method-assign]  # by design, see above


def _keep_all(dets: torch.Tensor, scores: torch.Tensor, iou_threshold: float) -> torch.Tensor:
    if _OPEN.get():
        from torchvision._meta_registrations import meta_nms  # private: 0.21 to 0.28 have it

        kept: Tensor = meta_nms(dets, scores, iou_threshold)
        return kept
    return dets.new_empty(dets.shape[0], dtype=torch.int64)


def _pairs(boxes1: torch.Tensor, boxes2: torch.Tensor) -> torch.Tensor:
    return boxes1.new_empty(boxes1.shape[0], boxes2.shape[0])


def register() -> torch.library.Library:
    """Register them; they live as long as what is returned."""
    library = torch.library.Library("torchvision", "FRAGMENT")
    library.impl("nms", nms, "CPU")
    library.impl("roi_align", roi_align, "CPU")
    return library


def nms(dets: Tensor, scores: Tensor, iou_threshold: float) -> Tensor:
    """Keep each box, best first, that overlaps no better one that was kept."""
    corners = dets.float()
    areas = (corners[:, 2:] - corners[:, :2]).prod(1)
    left = scores.argsort(descending=True, stable=True)
    kept = []
    while left.numel():
        best, left = left[0], left[1:]
        kept.append(best)
        low = torch.maximum(corners[best, :2], corners[left, :2])
        high = torch.minimum(corners[best, 2:], corners[left, 2:])
        shared = (high - low).clamp(min=0).prod(1)
        left = left[~(shared / (areas[best] + areas[left] - shared) > iou_threshold)]
    return torch.stack(kept) if kept else left


def roi_align(
    input: Tensor,  # as the schema has it
    rois: Tensor,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
    sampling_ratio: int,
    aligned: bool,
) -> Tensor:
    """Average bilinear samples of each region: a matrix for its rows, one for its columns."""
    height, width = input.shape[2:]
    shift = 0.5 if aligned else 0.0
    pooled = input.new_empty(len(rois), input.shape[1], pooled_height, pooled_width)
    for place, (image, *corners) in enumerate(rois.tolist()):
        left, top, right, bottom = (corner * spatial_scale - shift for corner in corners)
        if not aligned:  # never smaller than a pixel
            right, bottom = max(right, left + 1), max(bottom, top + 1)
        rows = _samples(top, bottom, pooled_height, sampling_ratio, height).to(input)
        columns = _samples(left, right, pooled_width, sampling_ratio, width).to(input)
        y, x = _support(rows), _support(columns)
        pooled[place] = rows[:, y] @ input[int(image), :, y, x] @ columns[:, x].T
    return pooled


def _samples(start: float, end: float, bins: int, ratio: int, size: int) -> Tensor:
    """How much each of ``size`` pixels counts in each of the bins between two positions."""
    weights = torch.zeros(bins, size)
    count = ratio if ratio > 0 else math.ceil((end - start) / bins)
    if count <= 0:
        return weights
    inside = (torch.arange(count) + 0.5) / count
    at = start + (torch.arange(bins)[:, None] + inside) * ((end - start) / bins)
    share = ((at >= -1) & (at <= size)) / count
    at = at.clamp(0, size - 1)
    low = at.floor()
    high = (low + 1).clamp(max=size - 1)
    weights.scatter_add_(1, low.long(), (1 - (at - low)) * share)
    return weights.scatter_add_(1, high.long(), (at - low) * share)


def _support(weights: Tensor) -> slice:
    """The pixels that count at all."""
    used = weights.any(0).nonzero().flatten().tolist() or [0]
    return slice(used[0], used[-1] + 1)

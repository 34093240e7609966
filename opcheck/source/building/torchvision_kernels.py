"""CPU kernels for operators of torchvision whose binary does not load: slow, with its results."""

import math

import torch
from torch import Tensor


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

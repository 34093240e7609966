"""What a torchvision detector is trained on beside its images: boxes and what lies in them."""

from typing import Any

import torch
from torch import Tensor


def targets_of(model: Any, image: Tensor) -> dict[str, Tensor]:
    """Make what is to be found in one image: two boxes, with a mask or points if it finds those."""
    rows, columns = image.shape[-2:]
    corners = torch.tensor([[0.1, 0.2, 0.5, 0.7], [0.4, 0.3, 0.9, 0.8]])
    boxes = corners * torch.tensor([columns, rows, columns, rows])
    found = {"boxes": boxes, "labels": torch.ones(len(boxes), dtype=torch.int64)}
    heads = getattr(model, "roi_heads", None)
    if getattr(heads, "mask_predictor", None) is not None:
        found["masks"] = torch.stack([_mask(box, rows, columns) for box in boxes])
    points = getattr(getattr(heads, "keypoint_predictor", None), "kps_score_lowres", None)
    if points is not None:
        found["keypoints"] = torch.stack([_points(box, points.out_channels) for box in boxes])
    return found


def _mask(box: Tensor, rows: int, columns: int) -> Tensor:
    left, top, right, bottom = (int(edge) for edge in box)
    mask = torch.zeros(rows, columns, dtype=torch.uint8)
    mask[top:bottom, left:right] = 1
    return mask


def _points(box: Tensor, count: int) -> Tensor:
    """Points on the way from corner to corner, all of them visible."""
    ways = torch.linspace(0, 1, count).unsqueeze(1)
    return torch.cat((torch.lerp(box[:2], box[2:], ways), torch.ones(count, 1)), 1)

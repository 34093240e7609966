"""Non-maximum suppression from comparisons of all boxes with all."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import torch
from torch import Tensor

from opcheck.model.plan import Label, Tier
from opcheck.rewrite.base import Arguments, Rule
from opcheck.rewrite.call import Call
from opcheck.rewrite.draw import Draw

_BOXES = 4096


def _ahead(scores: Tensor, places: Tensor) -> Tensor:
    """Which box comes before which: the better one, NaN first, and the first of equal ones."""
    one, other = scores[:, None], scores[None, :]
    unknown = scores != scores
    better = (one > other) | (unknown[:, None] & ~unknown[None, :])
    alike = (one == other) | (unknown[:, None] & unknown[None, :])
    return better | (alike & (places[:, None] < places[None, :]))


def nms(dets: Tensor, scores: Tensor, iou_threshold: float) -> Tensor:
    """Suppress by all better boxes that are themselves kept, until nothing changes."""
    low = torch.maximum(dets[:, None, :2], dets[None, :, :2])
    high = torch.minimum(dets[:, None, 2:], dets[None, :, 2:])
    shared = (high - low).clamp(min=0)
    both = shared[..., 0] * shared[..., 1]
    sides = dets[:, 2:] - dets[:, :2]
    area = sides[:, 0] * sides[:, 1]
    over = both / (area[:, None] + area[None, :] - both) > iou_threshold
    places = torch.arange(dets.size(0), device=dets.device)
    ahead = _ahead(scores, places)
    suppresses = (over & ahead).to(torch.float32)
    keep = torch.ones_like(area, dtype=torch.float32)
    for _ in range(32):
        hits = (suppresses * keep[:, None]).sum(0)
        keep = (hits == 0).to(torch.float32)
    ranks = ahead.to(torch.float32).sum(0).to(torch.int64)
    order = torch.zeros_like(places).scatter(0, ranks, places)
    return order[keep.index_select(0, order) > 0]


def kept_boxes(boxes: Tensor, scores: Tensor, iou_threshold: float) -> Tensor:
    """Suppress by all better boxes that are themselves kept, until nothing changes."""
    return nms(boxes, scores, iou_threshold)


def kept_boxes_of_each(boxes: Tensor, scores: Tensor, idxs: Tensor, iou_threshold: float) -> Tensor:
    """Suppress among boxes of one class; those of other classes are moved out of their way."""
    if not boxes.numel():
        return torch.empty(0, dtype=torch.int64, device=boxes.device)
    moved = boxes + (idxs.to(boxes) * (boxes.max() + 1)).unsqueeze(-1)
    return nms(moved, scores, iou_threshold)


class NmsByRounds(Rule):
    """A box goes if a better one that stays covers too much of it; which stay is found in rounds.

    All boxes are compared with all at once. In each round, every box that no kept box suppresses
    is kept; after as many rounds as the longest chain of boxes that suppress one another in turn,
    that is what one box after the other would give. 32 rounds are made. The order of the scores
    comes of comparing all with all as well, since not every target sorts equal ones in turn. How
    many boxes are left depends on values, as it does in the original, so this needs a target that
    can index by a mask.
    """

    name = "nms-by-rounds"
    tier = Tier.STRUCTURAL
    label = Label.APPROXIMATE
    replaces = ("torchvision::nms",)
    dynamic = True
    summary = "Compare all boxes with all, and settle in 32 rounds which of them stay"
    gives_up = "Chains of more than 32 boxes that suppress one another in turn"
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torchvision.ops.nms": kept_boxes,
        "torchvision.ops.batched_nms": kept_boxes_of_each,
    }
    references = (
        "https://github.com/pytorch/vision/blob/main/torchvision/csrc/ops/cpu/nms_kernel.cpp",
    )
    replace = staticmethod(nms)

    def refuses(self, call: Call) -> str:
        """More boxes than their pairs have room for."""
        count = call.given("dets").size(0)
        if count > _BOXES:
            return f"{count:,} boxes are more than {_BOXES:,}, of which all pairs are compared"
        return ""

    def example(self, op: str, draw: Draw) -> Arguments:
        """Boxes that overlap, some of them the same."""
        count = draw.integer(0, 9)
        low = draw.tensor((count, 2), (torch.float32,), edges=False).contiguous()
        sides = draw.tensor((count, 2), (torch.float32,), edges=False).abs().contiguous()
        scores = draw.tensor((count,), (torch.float32,), edges=False).contiguous()
        return (torch.cat((low, low + sides), 1), scores, draw.choose((0.5, 0.1, 0.9))), {}

"""torchvision's operators on regions and boxes without kernels of their own."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor

from opcheck.lang.sentence import Sentence
from opcheck.model.plan import Label, Tier
from opcheck.rewrite.base import Arguments, Rule
from opcheck.rewrite.call import Call
from opcheck.rewrite.draw import Draw

LARGEST = 1 << 28
"""Elements of all samples beyond which no one wants to read them."""
_FLOATS = (torch.float32, torch.float64)


def _samples(
    start: Tensor, width: Tensor, bins: int, each: int, size: int
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Places of samples in one dimension: the elements on both sides, and their weights."""
    steps = torch.arange(bins * each, device=start.device).to(start.dtype) + 0.5
    place = start.unsqueeze(-1) + steps * (width / (bins * each)).unsqueeze(-1)
    inside = torch.logical_and(place >= -1, place <= size).to(start.dtype)
    place = place.clamp(0, size - 1)
    low = place.floor()
    part = place - low
    high = (low + 1).clamp(0, size - 1)
    return low.to(torch.int64), high.to(torch.int64), (1 - part) * inside, part * inside


def roi_align(
    input: Tensor,
    rois: Tensor,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
    sampling_ratio: int,
    aligned: bool,
) -> Tensor:
    """Read the four elements around each sample, weigh them, and average the samples of a bin."""
    count, channels, height, width = input.shape
    regions = rois.detach()
    first = regions[:, 0].to(torch.int64) * (height * width)
    edges = regions[:, 1:] * spatial_scale - (0.5 if aligned else 0.0)
    sizes = edges[:, 2:] - edges[:, :2]
    if not aligned:
        sizes = torch.where(sizes < 1, torch.ones_like(sizes), sizes)
    each = sampling_ratio
    rows = _samples(edges[:, 1], sizes[:, 1], pooled_height, each, height)
    columns = _samples(edges[:, 0], sizes[:, 0], pooled_width, each, width)
    flat = input.permute(0, 2, 3, 1).reshape(count * height * width, channels)
    shape = [regions.size(0), pooled_height * each, pooled_width * each]
    total = torch.zeros((), dtype=input.dtype, device=input.device)
    for y, down in ((rows[0], rows[2]), (rows[1], rows[3])):
        for x, across in ((columns[0], columns[2]), (columns[1], columns[3])):
            where = (first.unsqueeze(-1) + y * width).unsqueeze(-1) + x.unsqueeze(1)
            values = flat.index_select(0, where.reshape(-1)).reshape(*shape, channels)
            total = total + values * (down.unsqueeze(-1) * across.unsqueeze(1)).unsqueeze(-1)
    bins = total.reshape(shape[0], pooled_height, each, pooled_width, each, channels)
    return bins.mean((2, 4)).permute(0, 3, 1, 2).contiguous()


def _corner(flat: Tensor, y: Tensor, x: Tensor, height: int, width: int) -> Tensor:
    """Elements [N, G, C, P] at whole places [N, G, P]; 0 outside."""
    within = torch.logical_and(x >= 0, x < width)
    inside = torch.logical_and(torch.logical_and(y >= 0, y < height), within)
    where = y.clamp(0, height - 1) * width + x.clamp(0, width - 1)
    where = where.to(torch.int64).unsqueeze(2).expand(-1, -1, flat.size(2), -1)
    return flat.gather(3, where) * inside.to(flat.dtype).unsqueeze(2)


def deform_conv2d(
    input: Tensor, weight: Tensor, offset: Tensor, mask: Tensor, bias: Tensor,
    stride_h: int, stride_w: int, pad_h: int, pad_w: int, dilation_h: int, dilation_w: int,
    groups: int, offset_groups: int, use_mask: bool,
) -> Tensor:  # fmt: skip
    """Read the four elements around each place that an offset moves to, and multiply by weights."""
    count, channels, height, width = input.shape
    outs, _, rows, columns = weight.shape
    down = (height + 2 * pad_h - dilation_h * (rows - 1) - 1) // stride_h + 1
    across = (width + 2 * pad_w - dilation_w * (columns - 1) - 1) // stride_w + 1
    places, results = rows * columns, down * across
    moved = offset.reshape(count, offset_groups, places, 2, results)

    def steps(number: int, step: int, start: int = 0) -> Tensor:
        return torch.arange(number, device=input.device).to(input.dtype) * step - start

    y = steps(rows, dilation_h).reshape(rows, 1, 1, 1) + steps(down, stride_h, pad_h).unsqueeze(-1)
    x = steps(columns, dilation_w).reshape(columns, 1, 1) + steps(across, stride_w, pad_w)
    y = y.expand(rows, columns, down, across).reshape(places, results)
    x = x.expand(rows, columns, down, across).reshape(places, results)
    y = (moved[:, :, :, 0] + y).flatten(2)
    x = (moved[:, :, :, 1] + x).flatten(2)
    top, left = y.detach().floor(), x.detach().floor()
    flat = input.reshape(count, offset_groups, channels // offset_groups, height * width)
    read = torch.zeros((), dtype=input.dtype, device=input.device)
    for i, weigh_y in ((0, 1 - (y - top)), (1, y - top)):
        for j, weigh_x in ((0, 1 - (x - left)), (1, x - left)):
            values = _corner(flat, top + i, left + j, height, width)
            read = read + values * (weigh_y * weigh_x).unsqueeze(2)
    if use_mask:
        read = read * mask.reshape(count, offset_groups, 1, places * results)
    read = read.reshape(count, groups, channels // groups * places, results)
    made = weight.reshape(groups, outs // groups, -1) @ read
    return made.reshape(count, outs, down, across) + bias.reshape(1, outs, 1, 1)


def _two(value: Sequence[int] | int) -> tuple[int, int]:
    """The same number for both dimensions, or one for each."""
    return (value, value) if isinstance(value, int) else (value[0], value[1])


def align_regions(
    input: Tensor,
    boxes: Tensor | list[Tensor],
    output_size: Any,
    spatial_scale: float = 1.0,
    sampling_ratio: int = -1,
    aligned: bool = False,
) -> Tensor:
    """Average the samples of each bin; each box may name its image, or stand in a list of it."""
    if not isinstance(boxes, Tensor):
        images = [torch.full_like(box[:, :1], number) for number, box in enumerate(boxes)]
        boxes = torch.cat([torch.cat(images), torch.cat(boxes)], 1)
    height, width = _two(output_size)
    if sampling_ratio > 0:
        return roi_align(input, boxes, spatial_scale, height, width, sampling_ratio, aligned)
    own: Tensor = torch.ops.torchvision.roi_align(
        input, boxes, spatial_scale, height, width, sampling_ratio, aligned
    )
    return own


def deform_convolution(
    input: Tensor,
    offset: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: tuple[int, int] = (1, 1),
    padding: tuple[int, int] = (0, 0),
    dilation: tuple[int, int] = (1, 1),
    mask: Tensor | None = None,
) -> Tensor:
    """Multiply the elements around each moved place by weights."""
    groups = input.size(1) // weight.size(1)
    offset_groups = offset.size(1) // (2 * weight.size(2) * weight.size(3))
    none = input.new_zeros(input.size(0), 0)
    return deform_conv2d(
        input, weight, offset, none if mask is None else mask,
        input.new_zeros(weight.size(0)) if bias is None else bias,
        *_two(stride), *_two(padding), *_two(dilation), groups, offset_groups, mask is not None,
    )  # fmt: skip


class RoiAlignByIndex(Rule):
    """The four elements around each sample are read by index, weighed, and averaged by bin.

    The number of samples must be given: torchvision's default lets every region choose its own,
    and then the sizes depend on values. Takes the memory of all samples four times.
    """

    name = "roi-align-by-index"
    label = Label.TOLERANCE
    tolerance = 256.0
    replaces = ("torchvision::roi_align",)
    summary = "Read the four elements around each sample by index and weigh them"
    references = (
        "https://github.com/pytorch/vision/blob/main/torchvision/ops/roi_align.py",
        "https://github.com/pytorch/xla/issues/2487",
    )
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torchvision.ops.roi_align": align_regions
    }
    replace = staticmethod(roi_align)

    def refuses(self, call: Call) -> str:
        """Decline samples that regions choose, half precision, and more than fits."""
        if call.given("sampling_ratio") <= 0:
            return "without a sampling_ratio, the number of samples depends on the regions"
        x, rois = call.args[0], call.args[1]
        if x.dtype not in _FLOATS:
            return "in half precision the places of samples would be off"
        bins = call.given("pooled_height") * call.given("pooled_width")
        held = 4 * rois.size(0) * x.size(1) * bins * call.given("sampling_ratio") ** 2
        if held <= LARGEST:
            return ""
        return Sentence("the elements around all samples are {count}", count=f"{held:,}")

    def example(self, op: str, draw: Draw) -> Arguments:
        """Regions inside and across the border, aligned or not."""
        dtype, count = torch.float32, draw.integer(1, 2)
        sizes = [draw.integer(2, 6), draw.integer(2, 6)]
        x = draw.tensor([count, draw.integer(1, 3), *sizes], (dtype,), edges=False)
        edges = draw.tensor([draw.integer(0, 3), 4], (dtype,), edges=False) * 3
        edges = torch.cat([edges[:, :2], edges[:, :2] + edges[:, 2:].abs()], 1)
        images = draw.indices([edges.size(0), 1], count).to(dtype)
        pooled = (draw.integer(1, 3), draw.integer(1, 3))
        rois, scale = torch.cat([images, edges], 1), draw.choose((1.0, 0.5))
        return (x, rois, scale, *pooled, draw.integer(1, 3), draw.flag()), {}


class DeformConv2dByGather(Rule):
    """The four elements around each moved place are gathered and weighed; then one matrix product.

    Takes the memory of the unfolded input, about four times. This is what there is without a
    plugin; an ordinary convolution and some fine-tuning is much faster.
    """

    name = "deform-conv2d-by-gather"
    label = Label.TOLERANCE
    tolerance = 1024.0
    replaces = ("torchvision::deform_conv2d",)
    summary = "Gather the four elements around each moved place, and multiply by the weights"
    references = (
        "https://github.com/open-mmlab/mmdeploy/issues/439",
        "https://github.com/ZhengPeng7/BiRefNet/issues/281",
    )
    spelled: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "torchvision.ops.deform_conv2d": deform_convolution
    }
    replace = staticmethod(deform_conv2d)

    def refuses(self, call: Call) -> str:
        """Decline half precision and more than fits."""
        x, weight, offset = call.args[0], call.args[1], call.args[2]
        if x.dtype not in _FLOATS:
            return "in half precision the moved places would be off"
        held = 4 * offset.numel() * x.size(1) // max(2 * call.given("offset_groups"), 1)
        if not weight.numel() or not offset.numel():
            return "there is nothing to convolve"
        if held <= LARGEST:
            return ""
        return Sentence("the elements around all places are {count}", count=f"{held:,}")

    def example(self, op: str, draw: Draw) -> Arguments:
        """With groups, strides, padding, dilation, with a mask and without."""
        dtype, groups, moving = draw.choose(_FLOATS), draw.integer(1, 2), draw.integer(1, 2)
        count, kernel = draw.integer(1, 2), [draw.integer(1, 3), draw.integer(1, 2)]
        stride, pad = [draw.integer(1, 2) for _ in "hw"], [draw.integer(0, 1) for _ in "hw"]
        apart = [draw.integer(1, 2) for _ in "hw"]
        spans = [d * (k - 1) for d, k in zip(apart, kernel, strict=True)]
        sizes = [span + draw.integer(1, 4) for span in spans]
        pairs = zip(sizes, pad, spans, stride, strict=True)
        out = [(s + 2 * p - span - 1) // step + 1 for s, p, span, step in pairs]

        def values(*shape: int) -> Tensor:
            return draw.tensor(shape, (dtype,), edges=False)

        places = kernel[0] * kernel[1]
        masked = draw.flag()
        mask = values(count, moving * places, *out) if masked else values(count, 0)
        tensors = (
            values(count, 4, *sizes), values(2 * groups, 4 // groups, *kernel),
            values(count, 2 * moving * places, *out), mask, values(2 * groups),
        )  # fmt: skip
        return (*tensors, *stride, *pad, *apart, groups, moving, masked), {}


_BOXES = 65536


def _ahead(scores: Tensor, others: Tensor, first: Tensor | float) -> Tensor:
    """How many boxes come before each: better ones, NaN first, and the first of equal ones."""
    one, other = scores[:, None], others[None, :]
    better = (one > other).to(torch.float32) + (one == other).to(torch.float32) * first
    unknown = (scores != scores).to(torch.float32)
    theirs = (others != others).to(torch.float32)
    before = unknown.sum() * (1 - theirs) + (unknown[:, None] * first).sum(0) * theirs
    return better.sum(0) + before


def _over(boxes: Tensor, others: Tensor, iou_threshold: float) -> Tensor:
    """Which box covers too much of which."""
    low = torch.maximum(boxes[:, None, :2], others[None, :, :2])
    high = torch.minimum(boxes[:, None, 2:], others[None, :, 2:])
    shared = (high - low).clamp(min=0)
    both = shared[..., 0] * shared[..., 1]
    sides, widths = boxes[:, 2:] - boxes[:, :2], others[:, 2:] - others[:, :2]
    area, areas = sides[:, 0] * sides[:, 1], widths[:, 0] * widths[:, 1]
    return (both / (area[:, None] + areas[None, :] - both) > iou_threshold).to(torch.float32)


def _best_first(scores: Tensor, block: int, earlier: Tensor) -> Tensor:
    """Where each box is, in the order of the scores."""
    places = torch.arange(scores.size(0), device=scores.device)
    parts = scores.split(block)
    ranks = []
    for number, others in enumerate(parts):
        rank = torch.zeros_like(others, dtype=torch.float32)
        same = earlier[: others.size(0), : others.size(0)]
        for at, better in enumerate(parts):
            first = same if at == number else float(at < number)
            rank = rank + _ahead(better, others, first)
        ranks.append(rank)
    return torch.zeros_like(places).scatter(0, torch.cat(ranks).to(torch.int64), places)


def nms(dets: Tensor, scores: Tensor, iou_threshold: float, block: int = 4096) -> Tensor:
    """Suppress by all better boxes that are themselves kept, until nothing changes."""
    place = torch.arange(min(block, dets.size(0)), device=dets.device)
    earlier = (place[:, None] < place[None, :]).to(torch.float32)
    order = _best_first(scores, block, earlier)
    kept: list[tuple[Tensor, Tensor]] = []
    for boxes in dets.index_select(0, order).split(block):
        free = torch.ones_like(boxes[:, 0], dtype=torch.float32)
        for before, stay in kept:
            hits = (_over(before, boxes, iou_threshold) * stay[:, None]).sum(0)
            free = free * (hits == 0).to(torch.float32)
        ahead = earlier[: boxes.size(0), : boxes.size(0)]
        suppresses, keep = _over(boxes, boxes, iou_threshold) * ahead, free
        for _ in range(32):
            keep = free * ((suppresses * keep[:, None]).sum(0) == 0).to(torch.float32)
        kept.append((boxes, keep))
    return order[torch.cat([keep for _, keep in kept]) > 0]


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

    Boxes are compared with all others, 4,096 with 4,096 at once, the best first. In each round,
    every box that no kept box suppresses is kept; after as many rounds as the longest chain of
    boxes that suppress one another in turn, that is what one box after the other would give. 32
    rounds are made. The order of the scores comes of comparing all with all as well, since not
    every target sorts equal ones in turn. How many boxes are left depends on values, as it does in
    the original, so this needs a target that can index by a mask.
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
            return Sentence(
                "{count} boxes are more than {count_most}, of which all pairs are compared",
                count=f"{count:,}",
                count_most=f"{_BOXES:,}",
            )
        return ""

    def example(self, op: str, draw: Draw) -> Arguments:
        """Boxes that overlap, some of them the same."""
        count = draw.integer(0, 9)
        low = draw.tensor((count, 2), (torch.float32,), edges=False).contiguous()
        sides = draw.tensor((count, 2), (torch.float32,), edges=False).abs().contiguous()
        scores = draw.tensor((count,), (torch.float32,), edges=False).contiguous()
        return (torch.cat((low, low + sides), 1), scores, draw.choose((0.5, 0.1, 0.9))), {}

"""The rules for torchvision's operators, whose kernels are not at hand: by loops, and as called."""

import inspect
import itertools
import math
from collections.abc import Mapping
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from opcheck.model.plan import Label
from opcheck.rewrite.base import rules
from opcheck.rewrite.call import Call
from opcheck.rewrite.draw import RandomDraw
from opcheck.rewrite.rules.images.regions import (
    DeformConv2dByGather,
    NmsByRounds,
    deform_conv2d,
    nms,
)
from opcheck.source.building import torchvision_operators


def _bilinear(plane: Tensor, y: float, x: float) -> float:
    """One value between the elements of a plane; 0 outside."""
    top, left = math.floor(y), math.floor(x)
    value = 0.0
    for i, j in itertools.product((0, 1), (0, 1)):
        weight = (1 - abs(y - (top + i))) * (1 - abs(x - (left + j)))
        if 0 <= top + i < plane.size(0) and 0 <= left + j < plane.size(1):
            value += weight * float(plane[top + i, left + j])
    return value


def _looped(
    x: Tensor, weight: Tensor, offset: Tensor, mask: Tensor, bias: Tensor, *rest: int
) -> Tensor:
    sh, sw, ph, pw, dh, dw, groups, moving, masked = rest
    outs, inner, kh, kw = weight.shape
    rows, columns = offset.shape[2:]
    made = torch.zeros(x.size(0), outs, rows, columns, dtype=x.dtype)
    for n, o, r, c in itertools.product(*map(range, made.shape)):
        total = float(bias[o])
        for k, i, j in itertools.product(range(inner), range(kh), range(kw)):
            channel = o // (outs // groups) * inner + k
            place = channel // (x.size(1) // moving) * kh * kw + i * kw + j
            y = r * sh - ph + i * dh + float(offset[n, 2 * place, r, c])
            z = c * sw - pw + j * dw + float(offset[n, 2 * place + 1, r, c])
            value = _bilinear(x[n, channel], y, z)
            value *= float(mask[n, place, r, c]) if masked else 1.0
            total += value * float(weight[o, k, i, j])
        made[n, o, r, c] = total
    return made


@pytest.mark.parametrize("seed", range(12))
def test_deform_conv2d_by_gather_computes_what_loops_do(seed: int) -> None:
    args, _ = DeformConv2dByGather().example("torchvision::deform_conv2d", RandomDraw(seed))
    found = deform_conv2d(*args)
    wanted = _looped(*args)
    assert found.shape == wanted.shape
    assert torch.allclose(found, wanted, rtol=1e-4, atol=1e-4)


def test_deform_conv2d_without_offsets_is_a_convolution() -> None:
    torch.default_generator.manual_seed(0)
    x, weight, bias = torch.randn(2, 4, 6, 5), torch.randn(6, 2, 3, 3), torch.randn(6)
    offset = torch.zeros(2, 18, 6, 5)
    found = deform_conv2d(x, weight, offset, torch.empty(2, 0), bias, 1, 1, 1, 1, 1, 1, 2, 1, False)
    wanted = torch.nn.functional.conv2d(x, weight, bias, padding=1, groups=2)
    assert torch.allclose(found, wanted, rtol=1e-5, atol=1e-5)
    assert DeformConv2dByGather.label is Label.TOLERANCE


# --- as users call them --------------------------------------------------------------------------


class _ByRules(TorchDispatchMode):
    """Computes torchvision's operators by the rules, which need none of its kernels."""

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """Compute one call."""
        own = {op: rule.function(op) for rule in rules() for op in rule.replaces}
        name = func.name()
        function = own[name] if name.startswith("torchvision::") else func
        return function(*args, **(kwargs or {}))


def _random(*shape: int) -> torch.Tensor:
    return torch.rand(shape, generator=torch.Generator().manual_seed(sum(shape)))


BOXES = torch.cat([_random(6, 2), _random(6, 2) + 1], 1) * 3
CALLS: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("nms", (BOXES, _random(6), 0.3), {}),
    ("batched_nms", (BOXES, _random(6), torch.tensor([0, 1, 0, 1, 1, 0]), 0.3), {}),
    ("batched_nms", (BOXES[:0], _random(0), torch.zeros(0).long(), 0.3), {}),
    ("roi_align", (_random(2, 3, 8, 8), [BOXES[:2], BOXES[2:]], 2), {"sampling_ratio": 2}),
    (
        "roi_align",
        (_random(1, 3, 8, 8), torch.cat([torch.zeros(6, 1), BOXES], 1), (2, 3), 0.5),
        {"sampling_ratio": 1, "aligned": True},
    ),
    ("deform_conv2d", (_random(2, 4, 6, 6), _random(2, 18, 4, 4), _random(4, 4, 3, 3)), {}),
    (
        "deform_conv2d",
        (_random(1, 4, 6, 5), _random(1, 36, 3, 3), _random(6, 2, 3, 3), _random(6), (2, 2)),
        {"padding": (1, 1), "dilation": (1, 1), "mask": _random(1, 18, 3, 3)},
    ),
]


@pytest.mark.parametrize(("name", "args", "named"), CALLS, ids=[call[0] for call in CALLS])
def test_what_stands_for_a_call_takes_it_as_torchvision_does(
    name: str, args: tuple[Any, ...], named: dict[str, Any]
) -> None:
    torchvision_operators.prepare()
    from torchvision import ops

    public = getattr(ops, name)
    spelling = f"torchvision.ops.{name}"
    (ours,) = (rule.spelled[spelling] for rule in rules() if spelling in rule.spelled)
    assert [*inspect.signature(ours).parameters] == [*inspect.signature(public).parameters]
    with _ByRules():  # type: ignore[no-untyped-call]  # torch leaves it untyped
        wanted = public(*args, **named)
    torch.testing.assert_close(ours(*args, **named), wanted)


def _one_after_the_other(boxes: Tensor, scores: Tensor, threshold: float) -> list[int]:
    """The boxes that stay, the best first."""
    kept: list[int] = []
    for at in scores.sort(descending=True, stable=True).indices.tolist():
        low = torch.maximum(boxes[kept, :2], boxes[at, :2])
        high = torch.minimum(boxes[kept, 2:], boxes[at, 2:])
        shared = (high - low).clamp(min=0).prod(1)
        areas = (boxes[:, 2:] - boxes[:, :2]).prod(1)
        if not bool((shared / (areas[kept] + areas[at] - shared) > threshold).any()):
            kept.append(at)
    return kept


@pytest.mark.parametrize("block", [1, 7, 30, 4096])
def test_boxes_are_suppressed_across_blocks(block: int) -> None:
    low, scores = _random(30, 2) * 4, _random(30)
    scores[::4] = 0.5
    boxes = torch.cat([low, low + _random(30, 2) + 1], 1)
    wanted = _one_after_the_other(boxes, scores, 0.3)
    assert 1 < len(wanted) < 30
    assert nms(boxes, scores, 0.3, block).tolist() == wanted


def test_more_boxes_than_there_is_time_for_are_declined() -> None:
    torchvision_operators.prepare()
    op = torch.ops.torchvision.nms.default

    def refused(count: int) -> str:
        boxes = torch.empty(count, 4, device="meta")
        return NmsByRounds().refuses(Call(op, (boxes, boxes[:, 0], 0.5), {}))

    assert not refused(65536)
    wanted = "65,537 boxes are more than 65,536, of which all pairs are compared"
    assert refused(65537) == wanted

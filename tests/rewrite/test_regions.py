"""The rule for deformable convolution, whose own kernel is not at hand, against plain loops."""

import itertools
import math

import pytest
import torch
from torch import Tensor

from opcheck.model.plan import Label
from opcheck.rewrite.draw import RandomDraw
from opcheck.rewrite.rules.regions import DeformConv2dByGather, deform_conv2d


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
    torch.manual_seed(0)
    x, weight, bias = torch.randn(2, 4, 6, 5), torch.randn(6, 2, 3, 3), torch.randn(6)
    offset = torch.zeros(2, 18, 6, 5)
    found = deform_conv2d(x, weight, offset, torch.empty(2, 0), bias, 1, 1, 1, 1, 1, 1, 2, 1, False)
    wanted = torch.nn.functional.conv2d(x, weight, bias, padding=1, groups=2)
    assert torch.allclose(found, wanted, rtol=1e-5, atol=1e-5)
    assert DeformConv2dByGather.label is Label.TOLERANCE

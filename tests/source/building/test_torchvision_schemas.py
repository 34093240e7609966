"""torchvision's Python models import and give shapes, whether or not its binary loads."""

import subprocess

import pytest
import torch

from opcheck.source.building.torchvision_operators import SCHEMAS
from tests.preloaded import python

CODE = """
from opcheck.source.building import torchvision_operators as schemas
schemas.prepare()
schemas.prepare()
import torch, torchvision
schemas.settle()
schemas.settle()
from torchvision import ops
def rand(*size): return torch.rand(*size, device="meta")
boxes, scores, image, rois = rand(10, 4), rand(10), rand(1, 8, 32, 32), rand(5, 5)
print(list(ops.nms(boxes, scores, 0.5).shape))
print(list(ops.batched_nms(boxes, scores, rand(10).long(), 0.5).shape))
print(list(ops.roi_align(image, rois, 7).shape), list(ops.roi_pool(image, rois, 7).shape))
print(list(ops.ps_roi_align(image, rois, 2).shape), list(ops.ps_roi_pool(image, rois, 2).shape))
print(list(ops.DeformConv2d(8, 16, 3).to("meta")(image, rand(1, 18, 30, 30)).shape))
print(list(torch.ops.torchvision.box_iou_rotated(rand(3, 5), rand(4, 5)).shape))
image.requires_grad_()
ops.roi_align(image, rois, 7).sum().backward()
print(list(image.grad.shape))
"""
PRINTED = """[10]
[10]
[5, 8, 7, 7] [5, 8, 7, 7]
[5, 2, 2, 2] [5, 2, 2, 2]
[1, 16, 30, 30]
[3, 4]
[1, 8, 32, 32]
"""


@pytest.mark.slow
def test_every_operator_gives_its_shape() -> None:
    pytest.importorskip("PIL", reason="torchvision imports it")
    command = [*python("torch"), "-c", CODE]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == (PRINTED, 0), done.stderr


@pytest.mark.parametrize("schema", SCHEMAS)
def test_every_schema_is_torchs_own_spelling(schema: str) -> None:
    assert str(torch._C.parse_schema(f"torchvision::{schema}")) == f"torchvision::{schema}"

"""The stand-ins compute what torchvision's own code does."""

import pytest
import torch

from opcheck.source.building import torchvision_operators
from opcheck.source.building.torchvision_operators import nms, roi_align


@pytest.mark.slow
@pytest.mark.parametrize("sampling_ratio", [2, -1])
@pytest.mark.parametrize("aligned", [True, False])
def test_regions_are_averaged_as_torchvision_does(sampling_ratio: int, aligned: bool) -> None:
    torchvision_operators.prepare()
    reference = pytest.importorskip("torchvision.ops.roi_align")._roi_align.__wrapped__
    torch.manual_seed(0)
    image = torch.randn(2, 3, 20, 30)
    corners = torch.rand(8, 2) * torch.tensor([28.0, 18.0])
    ends = (corners + 0.3 + torch.rand(8, 2) * 12).minimum(torch.tensor([29.0, 19.0]))
    rois = torch.cat([torch.arange(8.0)[:, None] % 2, corners, ends], 1)
    asked = (image, rois, 1.0, 7, 5, sampling_ratio, aligned)
    torch.testing.assert_close(roi_align(*asked), reference(*asked))


def test_a_region_outside_the_image_is_empty() -> None:
    rois = torch.tensor([[0.0, 100.0, 100.0, 104.0, 104.0]])
    made = roi_align(torch.ones(1, 2, 8, 8), rois, 1.0, 2, 2, 2, False)
    assert made.eq(0).all()


def test_boxes_that_overlap_a_better_one_go() -> None:
    boxes = torch.tensor([[0, 0, 10, 10], [1, 1, 11, 11], [20, 20, 30, 30], [0, 0, 10, 10.0]])
    scores = torch.tensor([0.5, 0.9, 0.1, 0.5])
    assert nms(boxes, scores, 0.5).tolist() == [1, 2]
    assert nms(boxes, scores, 0.7).tolist() == [1, 0, 2]
    assert nms(boxes, scores, 1.0).tolist() == [1, 0, 3, 2]
    assert nms(boxes[:0], scores[:0], 0.5).tolist() == []

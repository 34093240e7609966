"""A model of a library that is trained comes with what its own loss is computed from."""

from collections.abc import Mapping
from typing import Any

import pytest
import torch
from msgspec.structs import replace

from opcheck.source.base import LoadOptions
from opcheck.source.inputs import InputSpec
from opcheck.source.load import load
from tests.lang.told import in_chinese

TRAINED = LoadOptions(train=True, own_loss=True)
VALUES = replace(TRAINED, weights=True)
BOXES = {"boxes": (2, 4), "labels": (2,)}


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("retinanet_resnet50_fpn", {}),
        ("maskrcnn_resnet50_fpn", {"masks": (2, 480, 640)}),
        ("keypointrcnn_resnet50_fpn", {"keypoints": (2, 17, 3)}),
    ],
)
def test_a_detector_is_trained_on_boxes_and_what_lies_in_them(
    name: str, more: dict[str, tuple[int, ...]]
) -> None:
    loaded = load(f"torchvision:{name}", TRAINED)
    assert loaded.notes == ("trained on its own loss, of two boxes in each of two images",)
    assert in_chinese(loaded.notes) == ["以其自身的损失训练：两幅图像，各有两个框"]
    found = [{key: tuple(of.shape) for key, of in one.items()} for one in loaded.kwargs["targets"]]
    assert found == [BOXES | more] * 2
    assert [len(images) for images in loaded.args] == [2]


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("yolov8n", {"bboxes": (4, 4)}),
        ("yolov8n-obb", {"bboxes": (4, 5)}),
        ("yolov8n-seg", {"bboxes": (4, 4), "masks": (2, 160, 160)}),
        ("yolov8n-pose", {"bboxes": (4, 4), "keypoints": (4, 17, 3)}),
    ],
)
def test_a_yolo_is_trained_on_a_batch_of_its_task(
    name: str, more: dict[str, tuple[int, ...]]
) -> None:
    loaded = load(f"ultralytics:{name}.yaml", TRAINED)
    (batch,) = loaded.args
    assert loaded.notes == (f"trained on its own loss, of {' and '.join(batch)}",)
    images = {"img": (2, 3, 640, 640), "batch_idx": (4,), "cls": (4, 1)}
    assert {key: tuple(of.shape) for key, of in batch.items()} == images | more


@pytest.mark.slow
@pytest.mark.parametrize(
    "source", ["torchvision:ssdlite320_mobilenet_v3_large", "ultralytics:yolov8n.yaml"]
)
def test_what_is_to_be_found_gives_a_loss_in_each_part(source: str) -> None:
    loaded = load(source, VALUES)
    loaded.module.train()  # type: ignore[attr-defined]  # a module
    found: Any = loaded.module(*loaded.args, **loaded.kwargs)
    losses = torch.stack(list(found.values())) if isinstance(found, Mapping) else found[0]
    assert losses.requires_grad
    assert (losses > 0).all()


def test_images_that_the_user_gives_are_what_a_yolo_is_called_with() -> None:
    given = (InputSpec.parse("1x3x64x64"),)
    loaded = load("ultralytics:yolov8n.yaml", LoadOptions(given, train=True, own_loss=True))
    assert not loaded.notes
    assert [tuple(value.shape) for value in loaded.args] == [(1, 3, 64, 64)]


@pytest.mark.slow
@pytest.mark.parametrize(
    "source", ["torchvision:inception_v3", "timm:resnet18", "ultralytics:yolov8n.yaml"]
)
def test_a_model_is_trained_on_two_images_and_run_on_one(source: str) -> None:
    (trained,) = load(source, LoadOptions(train=True)).args
    (run,) = load(source, LoadOptions()).args
    assert (trained.shape[0], run.shape[0]) == (2, 1)
    assert trained.shape[1:] == run.shape[1:]

"""What models are trained on beside plain inputs - boxes, batches, and the user's own loss."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from opcheck.errors import SourceError
from opcheck.lang.sentence import Sentence
from opcheck.source.building.failures import import_library
from opcheck.source.user_code import look_up, run_file


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


_CENTRES = ((0.3, 0.4, 0.3, 0.4), (0.6, 0.5, 0.4, 0.3))
"""Two boxes in each image, as parts of it: centre, width and height."""
_MASK_SIDE = 4
"""How many pixels of an image one of a mask stands for."""
_TURN = 0.3
"""Radians that a box is turned by where boxes may be."""


def batch_of(model: Any, images: Tensor) -> dict[str, Any] | None:
    """Make the batch from which ``model`` computes its own loss; None if it is of another task.

    The loss reads its gains where the trainer leaves them, so that they are put there.
    """
    task = getattr(model, "task", "")
    count, boxes = len(images), len(_CENTRES)
    if task == "classify":
        return {"img": images, "cls": torch.zeros(count, dtype=torch.int64)}
    if task not in ("detect", "segment", "pose", "obb"):
        return None
    model.args = import_library("ultralytics.cfg").get_cfg()
    batch = {
        "img": images,
        "batch_idx": torch.arange(count).repeat_interleave(boxes).float(),
        "cls": torch.zeros(count * boxes, 1),
        "bboxes": torch.tensor(_CENTRES).repeat(count, 1),
    }
    if task == "obb":
        turned = torch.full((count * boxes, 1), _TURN)
        batch["bboxes"] = torch.cat((batch["bboxes"], turned), 1)
    if task == "segment":
        rows, columns = (side // _MASK_SIDE for side in images.shape[-2:])
        batch["masks"] = torch.ones(count, rows, columns)
    if task == "pose":
        points, numbers = model.model[-1].kpt_shape
        batch["keypoints"] = torch.full((count * boxes, points, numbers), 0.5)
    return batch


def loss_named(text: str) -> Callable[[Any], Any] | None:
    """The function that ``FILE.py:NAME`` stands for; None for "".

    Raises:
        SourceError: there is no such file or name, it fails when it is run, or is no function.
    """
    if not text:
        return None
    path, _, name = text.rpartition(":")
    found = look_up(run_file(Path(path)), Path(path), name)
    if not callable(found):
        raise SourceError(
            Sentence(
                "{text} is {type}, want a function of the model's output",
                text=text,
                type=type(found).__name__,
            ),
            Sentence("write def loss(output): ... that returns a tensor without dimensions"),
        )
    return found  # type: ignore[no-any-return]  # callable, and more is not known

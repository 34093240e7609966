"""What an ultralytics model is trained on: images with what is to be found in them."""

from typing import Any

import torch
from torch import Tensor

from opcheck.source.building.library import import_library

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

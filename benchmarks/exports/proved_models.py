"""Models whose export is proved: small configs, and detectors before and after a rewrite."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torchvision import models
from torchvision.models.detection import FCOS, RetinaNet
from torchvision.ops import batched_nms, clip_boxes_to_image

Ready = tuple[nn.Module, tuple[Any, ...]]
_DETECTING: dict[str, Any] = {
    "weights": None, "weights_backbone": None, "num_classes": 5, "score_thresh": 0.0,
    "topk_candidates": 20, "min_size": 64, "max_size": 96,
}  # fmt: skip
_SMALL: dict[str, Any] = {
    "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 128,
}  # fmt: skip


def bert() -> Ready:
    """An encoder of text."""
    from transformers import BertConfig, BertModel

    config = BertConfig(**_SMALL, vocab_size=500)
    return BertModel(config).eval(), (torch.randint(0, 500, (2, 16)),)


def llama() -> Ready:
    """A decoder of text, without a cache: torch.export knows no class of transformers' caches."""
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(**_SMALL, num_key_value_heads=2, vocab_size=500, use_cache=False)
    return LlamaForCausalLM(config).eval(), (torch.randint(0, 500, (1, 16)),)


def wav2vec2() -> Ready:
    """An encoder of speech."""
    from transformers import Wav2Vec2Config, Wav2Vec2Model

    config = Wav2Vec2Config(
        **_SMALL, conv_dim=(32,) * 7, num_conv_pos_embeddings=16, num_conv_pos_embedding_groups=4
    )
    return Wav2Vec2Model(config).eval(), (torch.randn(1, 4000),)


def retinanet() -> Ready:
    """A detector as torchvision has it."""
    return _detector("retinanet_resnet50_fpn")


def fcos() -> Ready:
    """Another."""
    return _detector("fcos_resnet50_fpn")


def retinanet_of_fixed_size() -> Ready:
    """The first, with as many candidates whatever their scores."""
    return _as(_FixedRetinaNet, *retinanet())


def fcos_of_fixed_size() -> Ready:
    """The second, with as many candidates whatever their scores."""
    return _as(_FixedFCOS, *fcos())


def _detector(name: str) -> Ready:
    return models.get_model(name, **_DETECTING).eval(), ([torch.rand(3, 64, 80)],)


def _as(kind: type[nn.Module], model: nn.Module, inputs: tuple[Any, ...]) -> Ready:
    model.__class__ = kind
    return model, inputs


class _FixedRetinaNet(RetinaNet):  # type: ignore[misc]  # torchvision is untyped
    def postprocess_detections(self, heads: Any, anchors: Any, shapes: Any) -> list[Any]:
        scores = [[each.sigmoid().flatten() for each in image] for image in _images(heads, "cls")]
        return _detections(self, self.box_coder.decode_single, scores, heads, anchors, shapes)


class _FixedFCOS(FCOS):  # type: ignore[misc]  # torchvision is untyped
    def postprocess_detections(self, heads: Any, anchors: Any, shapes: Any) -> list[Any]:
        both = zip(_images(heads, "cls"), _images(heads, "bbox_ctr"), strict=True)
        scores = [
            [
                torch.sqrt(of_class.sigmoid() * centred.sigmoid()).flatten()
                for of_class, centred in zip(*image, strict=True)
            ]
            for image in both
        ]
        return _detections(self, self.box_coder.decode, scores, heads, anchors, shapes)


FIXED: dict[str, type[nn.Module]] = {"retinanet": _FixedRetinaNet, "fcos": _FixedFCOS}
"""The classes that take the place of torchvision's."""


def _images(heads: Any, name: str) -> list[list[Tensor]]:
    """What a head gives, by image and then by level."""
    (levels,) = (value for key, value in heads.items() if key.startswith(name))
    return [list(image) for image in zip(*levels, strict=True)]


def _detections(
    model: Any, decode: Callable[..., Tensor], scores: Any, heads: Any, anchors: Any, shapes: Any
) -> list[Any]:
    """Torchvision's steps, without the mask of scores above the threshold, whose size is open."""
    found = []
    classes = heads["cls_logits"][0].shape[-1]
    regressions = _images(heads, "bbox_reg")
    for given, regression, places, shape in zip(scores, regressions, anchors, shapes, strict=True):
        parts = []
        for of_level, moved, at in zip(given, regression, places, strict=True):
            best, chosen = of_level.topk(min(model.topk_candidates, of_level.shape[0]))
            boxes = decode(moved[chosen // classes], at[chosen // classes])
            parts.append((clip_boxes_to_image(boxes, shape), best, chosen % classes))
        boxes, kept_scores, labels = (torch.cat(each) for each in zip(*parts, strict=True))
        keep = batched_nms(boxes, kept_scores, labels, model.nms_thresh)
        keep = keep[: model.detections_per_img]
        found.append({"boxes": boxes[keep], "scores": kept_scores[keep], "labels": labels[keep]})
    return found

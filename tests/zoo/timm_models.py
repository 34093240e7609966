"""Image classifiers of timm."""

from collections.abc import Callable, Mapping
from typing import Any

import torch

from tests.zoo.base import Ready


def _model(name: str, side: int = 64, **settings: Any) -> Callable[[], Ready]:
    def make() -> Ready:
        import timm

        return (
            timm.create_model(name, num_classes=10, **settings),
            (torch.randn(2, 3, side, side),),
            {},
        )

    return make


MODELS: Mapping[str, Callable[[], Ready]] = {
    "resnet": _model("resnet18"),
    "resnext": _model("resnext26ts"),
    "efficientnet": _model("efficientnet_b0"),
    "mobilenetv3": _model("mobilenetv3_small_100"),
    "convnext": _model("convnext_atto", depths=(1, 1, 1, 1)),
    "regnet": _model("regnety_002"),
    "densenet": _model("densenet121", block_config=(2, 2, 2, 2)),
    "ghostnet": _model("ghostnet_050"),
    "repvgg": _model("repvgg_a0"),
    "botnet": _model("botnet26t_256", 256),
    "vit": _model("vit_tiny_patch16_224", img_size=64, depth=3),
    "deit-distilled": _model("deit_tiny_distilled_patch16_224", img_size=64, depth=2),
    "swin": _model("swin_tiny_patch4_window7_224", 56, img_size=56, embed_dim=24,
                   depths=(2, 2), num_heads=(2, 4)),
    "maxvit": _model("test_maxvit", 160),
    "coatnet": _model("test_coatnet", 160),
    "resmlp": _model("resmlp_12_224", img_size=64),
    "xcit": _model("xcit_nano_12_p16_224", depth=2),
    "poolformer": _model("poolformer_s12"),
    "eva02": _model("eva02_tiny_patch14_224", 56, img_size=56, depth=2),
}  # fmt: skip

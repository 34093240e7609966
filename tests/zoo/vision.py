"""Detection, segmentation, flow and video: torchvision, ultralytics and transformers."""

from collections.abc import Callable, Mapping
from typing import Any

import torch

from tests.zoo.base import IMAGES, Ready, transformer


def _torchvision(name: str, *shape: int, **settings: Any) -> Callable[[], Ready]:
    def make() -> Ready:
        from torchvision import models

        return models.get_model(name, weights=None, **settings), (torch.rand(shape),), {}

    return make


def _detector(name: str, **settings: Any) -> Callable[[], Ready]:
    """A model that takes a list of images; every box passes, so that later steps have work."""

    def make() -> Ready:
        from torchvision import models

        model = models.get_model(
            name, weights=None, weights_backbone=None, num_classes=5, **settings
        )
        return model, ([torch.rand(3, 64, 80), torch.rand(3, 72, 64)],), {}

    return make


def _mask_rcnn() -> Ready:
    from torchvision.models import mobilenet_v3_small
    from torchvision.models.detection import MaskRCNN
    from torchvision.models.detection.backbone_utils import _mobilenet_extractor

    backbone = _mobilenet_extractor(
        mobilenet_v3_small(weights=None), fpn=True, trainable_layers=6, returned_layers=[4, 5]
    )
    model = MaskRCNN(backbone, 4, rpn_anchor_generator=_anchors(3), **_REGIONS)
    return model, ([torch.rand(3, 64, 80)],), {}


def _anchors(levels: int) -> Any:
    from torchvision.models.detection.anchor_utils import AnchorGenerator

    return AnchorGenerator(((16, 32),) * levels, ((0.5, 1.0, 2.0),) * levels)


_REGIONS: dict[str, Any] = {
    "min_size": 64, "max_size": 96, "box_score_thresh": 0.0, "box_detections_per_img": 8,
    "rpn_pre_nms_top_n_test": 50, "rpn_post_nms_top_n_test": 20,
}  # fmt: skip


def _yolo(name: str, side: int = 64) -> Callable[[], Ready]:
    def make() -> Ready:
        import ultralytics

        model = ultralytics.YOLO(name).model
        return model, (torch.rand(1, 3, side, side),), {}

    return make


def _pixels(model: str, config: str, side: int = 32, **settings: Any) -> Callable[[], Ready]:
    def make() -> Ready:
        made = transformer(model, config, **settings)
        return made, (), {"pixel_values": torch.randn(1, 3, side, side)}

    return make


def _resnet() -> Any:
    import transformers

    return transformers.ResNetConfig(
        embedding_size=8, hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 1, 1],
        out_features=["stage2", "stage3", "stage4"],
    )  # fmt: skip


_DETR: dict[str, Any] = {
    "d_model": 32, "encoder_layers": 1, "decoder_layers": 2, "encoder_attention_heads": 4,
    "decoder_attention_heads": 4, "encoder_ffn_dim": 48, "decoder_ffn_dim": 48, "num_queries": 10,
    "num_labels": 4,
}  # fmt: skip


def _detr(model: str, config: str, **settings: Any) -> Callable[[], Ready]:
    def make() -> Ready:
        own = {"use_timm_backbone": False, "use_pretrained_backbone": False, "backbone": None}
        return _pixels(model, config, 64, **own, backbone_config=_resnet(), **_DETR, **settings)()

    return make


def _sam() -> Ready:
    vision = {**IMAGES, "image_size": 64, "output_channels": 16, "window_size": 2,
              "global_attn_indexes": [1], "mlp_dim": 48, "num_pos_feats": 8}  # fmt: skip
    model = transformer(
        "SamModel", "SamConfig", vision_config=vision,
        prompt_encoder_config={"hidden_size": 16, "image_size": 64, "patch_size": 8,
                               "mask_input_channels": 4},
        mask_decoder_config={"hidden_size": 16, "mlp_dim": 32, "num_attention_heads": 2,
                             "iou_head_hidden_dim": 16},
    )  # fmt: skip
    points = torch.tensor([[[[20.0, 30.0], [40.0, 10.0]]]])
    return model, (), {"pixel_values": torch.randn(1, 3, 64, 64), "input_points": points}


MODELS: Mapping[str, Callable[[], Ready]] = {
    "shufflenet": _torchvision("shufflenet_v2_x0_5", 2, 3, 64, 64),
    "squeezenet": _torchvision("squeezenet1_1", 2, 3, 64, 64),
    "deeplab": _torchvision("deeplabv3_mobilenet_v3_large", 2, 3, 64, 64, weights_backbone=None),
    "lraspp": _torchvision("lraspp_mobilenet_v3_large", 2, 3, 64, 64, weights_backbone=None),
    "video-resnet": _torchvision("mc3_18", 1, 3, 4, 32, 32),
    "faster-rcnn": _detector("fasterrcnn_mobilenet_v3_large_320_fpn", **_REGIONS),
    "ssdlite": _detector("ssdlite320_mobilenet_v3_large", score_thresh=0.0, topk_candidates=20,
                         detections_per_img=8),
    "mask-rcnn": _mask_rcnn,
    "yolov8n": _yolo("yolov8n.yaml"),
    "yolo11n": _yolo("yolo11n.yaml"),
    "yolov8n-segment": _yolo("yolov8n-seg.yaml"),
    "vit": _pixels("ViTForImageClassification", "ViTConfig", **IMAGES),
    "segformer": _pixels("SegformerForSemanticSegmentation", "SegformerConfig", 64,
                         depths=[1, 1, 1, 1], hidden_sizes=[8, 16, 24, 32],
                         num_attention_heads=[1, 2, 2, 4], decoder_hidden_size=16),
    "dpt": _pixels("DPTForDepthEstimation", "DPTConfig", **IMAGES, backbone_out_indices=[0, 1],
                   neck_hidden_sizes=[8, 16], reassemble_factors=[2, 1], fusion_hidden_size=16,
                   neck_ignore_stages=[], is_hybrid=False),
    "detr": _detr("DetrForObjectDetection", "DetrConfig"),
    "deformable-detr": _detr("DeformableDetrForObjectDetection", "DeformableDetrConfig",
                             num_feature_levels=3),
    "sam": _sam,
}  # fmt: skip

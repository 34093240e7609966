"""Writes ``docs/support-rates.md``: ``python -m benchmarks.rates`` (``make rates``), in minutes."""

import json
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks.measure import ROOT
from benchmarks.rates_basis import Basis, asked, digest
from benchmarks.rates_page import Device, Scan, page
from opcheck.commands.scan import answer as scan_answer
from opcheck.db.store import Database
from opcheck.db.versions import version_key
from opcheck.model.request import ModelSpec, ScanRequest
from opcheck.model.target import Target, TargetSpec

PAGE = ROOT / "docs" / "support-rates.md"
PUBLISHED: Mapping[str, float] = {
    "nvidia-a100": 1.0,
    "amd-rx7900xt": 0.96,
    "ascend-910b": 0.94,
    "cambricon-mlu370": 0.91,
    "hygon-z100": 0.93,
}
"""Target -> the share of operators that it is said to support."""
_CUDA = "nvidia-a100"
"""Whose list of kernels is the one that PyTorch has under CUDA."""
ERA = "2.0"
"""The torch that the published rates speak of, or the first after it that the database has."""
HELD: Mapping[str, str] = {
    "ResNet-50": "torchvision:resnet50",
    "YOLOv8n": "ultralytics:yolov8n.yaml",
}
"""Models that there are published rates for."""
LIBRARIES: Mapping[str, str] = {
    "ViT-B/16": "timm:vit_base_patch16_224",
    "ConvNeXt-T": "timm:convnext_tiny",
    "EfficientNet-B0": "timm:efficientnet_b0",
    "MobileNetV3-L": "timm:mobilenetv3_large_100",
    "Swin V2-T": "timm:swinv2_tiny_window8_256",
    "VGG-16": "torchvision:vgg16",
    "DenseNet-121": "torchvision:densenet121",
    "DeepLabV3": "torchvision:deeplabv3_resnet50",
    "Mask R-CNN": "torchvision:maskrcnn_resnet50_fpn",
    "R3D-18": "torchvision:r3d_18",
    "YOLOv5n": "ultralytics:yolov5n.yaml",
    "YOLOv8n-seg": "ultralytics:yolov8n-seg.yaml",
    "YOLO11n": "ultralytics:yolo11n.yaml",
}
CONFIGS: Mapping[str, Mapping[str, Any]] = {
    "BERT": {"model_type": "bert", "architectures": ["BertForSequenceClassification"]},
    "GPT-2": {"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"]},
    "Llama": {"model_type": "llama", "architectures": ["LlamaForCausalLM"]},
    "Mixtral": {"model_type": "mixtral", "architectures": ["MixtralForCausalLM"]},
    "T5": {"model_type": "t5", "architectures": ["T5ForConditionalGeneration"]},
    "Whisper": {"model_type": "whisper", "architectures": ["WhisperForConditionalGeneration"]},
    "CLIP": {"model_type": "clip", "architectures": ["CLIPModel"]},
}
"""Models of transformers in the sizes that their configs have by default."""


def devices(database: Database) -> tuple[Device, ...]:
    """The targets with published rates, each at its release nearest to then and at its newest."""
    return tuple(
        Device(name, database.chip_name(database.resolve(TargetSpec(name))), rate, *taken,
               {target: _kernels(database, target) for target in taken})
        for name, rate in PUBLISHED.items()
        for served in [database.releases(name)]
        for taken in [(_then(served), served[-1])]
    )  # fmt: skip


def _then(served: tuple[Target, ...]) -> Target:
    """The oldest release for the oldest torch that is not older than the era."""
    since = [t for t in served if version_key(t.torch) >= version_key(ERA)]
    return min(since, key=lambda t: (version_key(t.torch), version_key(t.sdk)))


def _kernels(database: Database, target: Target) -> tuple[int, int]:
    """Of PyTorch's own overloads: how many CUDA has in the target's torch, and the target too."""
    under_cuda = next(t for t in database.releases(_CUDA) if t.torch == target.torch)
    there, here = (
        {op for op in database.matrix(each).entries if op.startswith("aten::")}
        for each in (under_cuda, target)
    )
    return len(there), len(there & here)


def _more(folder: Path) -> Iterator[tuple[str, str]]:
    yield from LIBRARIES.items()
    for name, config in CONFIGS.items():
        place = folder / str(config["model_type"])
        place.mkdir()
        (place / "config.json").write_text(json.dumps(config), encoding="utf-8")
        yield name, f"hf:{place}"


def scanned(name: str, source: str, targets: tuple[Target, ...]) -> Scan:
    """Hold one model against targets."""
    specs = tuple(TargetSpec.parse(str(target)) for target in targets)
    print(f"scanning {name}", file=sys.stderr)
    return Scan(name, scan_answer.scan(ScanRequest(ModelSpec(source), specs)))


def main() -> None:
    """Scan every model and write the page."""
    database = Database.open()
    known = devices(database)
    both = tuple(target for device in known for target in device.releases)
    newest = tuple(device.newest for device in known)
    held = [scanned(name, source, both) for name, source in HELD.items()]
    with tempfile.TemporaryDirectory() as folder:
        more = [scanned(name, source, newest) for name, source in _more(Path(folder))]
    operators = asked(scan.report for scan in (*held, *more))
    basis = Basis(operators, {each: digest(database.matrix(each), operators) for each in both})
    PAGE.write_text(page(known, held, more, basis), encoding="utf-8")


if __name__ == "__main__":
    main()

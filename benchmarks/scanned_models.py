"""Writes ``docs/scanned-models.md``: ``python -m benchmarks.scanned_models`` (``make models``).

Models of four libraries at the sizes that they are published in, each scanned against every target
in a process of its own, one at a time. It takes the better part of an hour; with ``--kept FOLDER``
what was scanned is kept there, and not scanned anew.
"""

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from benchmarks.measure import ROOT, ran
from benchmarks.scanned_configs import CONFIGS
from benchmarks.scanned_models_page import Scanned, page

PAGE = ROOT / "docs" / "scanned-models.md"
_TIMM = (
    "beit_base_patch16_224", "cait_xxs24_224", "convmixer_768_32", "cspdarknet53", "davit_tiny",
    "edgenext_small", "efficientformer_l1", "fastvit_t8", "focalnet_tiny_srf", "hrnet_w18",
    "levit_256", "mambaout_tiny", "mobilevit_s", "mvitv2_tiny", "pvt_v2_b1", "volo_d1_224",
)  # fmt: skip
_TORCHVISION = (
    "alexnet", "convnext_small", "efficientnet_v2_s", "fasterrcnn_resnet50_fpn", "fcn_resnet50",
    "fcos_resnet50_fpn", "inception_v3", "keypointrcnn_resnet50_fpn",
    "maskrcnn_resnet50_fpn_v2", "maxvit_t", "mvit_v2_s", "r2plus1d_18", "raft_small",
    "retinanet_resnet50_fpn_v2", "ssd300_vgg16", "swin3d_t", "swin_v2_t", "vit_b_16",
)  # fmt: skip
_ULTRALYTICS = (
    "rtdetr-l", "yolo11n-seg", "yolo11s", "yolo12n", "yolo26n", "yolov10n",
    "yolov8n-cls", "yolov8n-obb", "yolov8n-pose", "yolov8s", "yolov8s-seg", "yolov9t",
)  # fmt: skip
MODELS: Mapping[str, tuple[str, ...]] = {
    "timm": _TIMM,
    "torchvision": _TORCHVISION,
    "transformers": tuple(CONFIGS),
    "ultralytics": _ULTRALYTICS,
}
"""Library -> the models that are scanned in inference."""
TRAINED: Mapping[str, tuple[str, ...]] = {
    "timm": (
        "beit_base_patch16_224", "convmixer_768_32", "cspdarknet53", "efficientformer_l1",
        "mambaout_tiny", "mobilevit_s", "pvt_v2_b1",
    ),
    "torchvision": (
        "alexnet", "fasterrcnn_resnet50_fpn", "fcn_resnet50", "r2plus1d_18", "vit_b_16",
    ),
    "transformers": ("llama-3.2-1b", "bert-base", "dinov2-base", "gpt2", "t5-small"),
    "ultralytics": ("yolo11s", "yolov8n-cls", "yolov8n-pose", "yolov8s"),
}  # fmt: skip
"""Library -> those that are scanned in a training step as well."""
DECODED = ("llama-3.1-8b", "qwen3-8b", "gpt2")
"""Those of transformers whose next token, with the cache of those before, is scanned as well."""


@dataclass(frozen=True, slots=True)
class Run:
    """One scan that is to be made."""

    library: str
    model: str
    how: str
    """``inference``, ``decode`` or ``train``."""

    @property
    def name(self) -> str:
        """What it is called where it is kept."""
        return f"{self.how}.{self.library}.{self.model}.json"

    def command(self, configs: Path) -> tuple[str, ...]:
        """What opcheck is called with."""
        return ("scan", self._source(configs), "-t", "all", "--format", "json", *self._options)

    @property
    def _options(self) -> tuple[str, ...]:
        return () if self.how == "inference" else (f"--{self.how}",)

    def _source(self, configs: Path) -> str:
        match self.library:
            case "transformers":
                folder = configs / self.model
                folder.mkdir(exist_ok=True)
                (folder / "config.json").write_text(json.dumps(CONFIGS[self.model]), "utf-8")
                return str(folder)
            case "ultralytics":
                return f"ultralytics:{self.model}.yaml"
            case _:
                return f"{self.library}:{self.model}"


def runs() -> Iterator[Run]:
    """Every scan, in the order of the page."""
    for how, chosen in (
        ("inference", MODELS),
        ("decode", {"transformers": DECODED}),
        ("train", TRAINED),
    ):
        for library, models in chosen.items():
            yield from (Run(library, model, how) for model in models)


def scanned(run: Run) -> Scanned:
    """Scan in a process of its own."""
    with tempfile.TemporaryDirectory() as configs:
        done = ran("-m", "opcheck", *run.command(Path(configs)))
    shown = replace(done, errors=done.errors.replace(f"{configs}/", ""))
    return Scanned.of(run.library, run.model, run.how, shown)


def _kept(run: Run, folder: Path | None) -> Scanned:
    if folder is None:
        return scanned(run)
    file = folder / run.name
    if not file.is_file():
        file.write_text(json.dumps(asdict(scanned(run)), indent=1), "utf-8")
    return Scanned(**json.loads(file.read_text("utf-8")))


def main() -> None:
    """Scan everything, and write the page."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--kept", type=Path, help="a folder of scans that are not made anew")
    asked.add_argument("--only", default="", help="those whose name has it; no page is written")
    options = asked.parse_args()
    if options.kept is not None:
        options.kept.mkdir(parents=True, exist_ok=True)
    os.nice(5)
    found = []
    for run in runs():
        if options.only in run.name:
            found.append(_kept(run, options.kept))
            print(found[-1].line(), file=sys.stderr, flush=True)
    if not options.only:
        PAGE.write_text(page(found), "utf-8")


if __name__ == "__main__":
    main()

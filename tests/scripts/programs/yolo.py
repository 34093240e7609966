"""A detector of Ultralytics', trained on images in a folder by its own trainer."""

import argparse
import os
from pathlib import Path

import numpy as np
from PIL import Image

os.environ["YOLO_CONFIG_DIR"] = str(Path("settings").resolve())

from ultralytics import YOLO  # reads its settings

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=1)
parser.add_argument("--imgsz", type=int, default=64)
args = parser.parse_args()

root = Path("data").resolve()
for split in ("train", "val"):
    for kind in ("images", "labels"):
        (root / kind / split).mkdir(parents=True, exist_ok=True)
    for i in range(2):
        pixels = np.random.default_rng(i).integers(0, 255, (64, 64, 3)).astype(np.uint8)
        Image.fromarray(pixels).save(root / "images" / split / f"{i}.jpg")
        (root / "labels" / split / f"{i}.txt").write_text("0 0.5 0.5 0.4 0.4\n")
(root / "data.yaml").write_text(
    f"path: {root}\ntrain: images/train\nval: images/val\nnames: {{0: thing}}\n"
)
YOLO("yolov8n.yaml").train(
    data=root / "data.yaml", epochs=args.epochs, imgsz=args.imgsz, batch=2, workers=0, device=0,
    amp=False, project=root.parent / "runs", plots=False,
)  # fmt: skip

"""One script for every accelerator: it says where it runs, and gives the same numbers everywhere.

python infer.py                       the accelerator that is here, else the host
OPCHECK_DEVICE=cpu python infer.py    the host
python infer.py ascend-910b           an emulated Ascend 910B, on any machine
"""

import sys
from contextlib import nullcontext

import torch
from torch import nn

import opcheck
from opcheck.runtime import Inferencer


class Classifier(nn.Module):
    """A small convolutional network."""

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 8, 3, stride=2), nn.BatchNorm2d(8), nn.Hardswish(), nn.Dropout(0.5)
        )
        self.head = nn.Linear(8, 4)

    def forward(self, image: torch.Tensor) -> dict[str, torch.Tensor]:
        """Scores of four classes."""
        pooled = self.features(image).mean((2, 3))
        return {"scores": torch.softmax(self.head(pooled), -1)}


def main(target: str) -> None:
    """Run on the device that is here, or on an emulated one."""
    torch.manual_seed(0)
    model = Classifier()
    images = [torch.randn(1, 3, size, size) for size in (16, 24, 16, 16)]
    emulated = opcheck.emulate(target) if target else nullcontext()
    with emulated, Inferencer(model, precision="float32") as infer:
        print("on", infer.device.target or infer.device.vendor)
        infer.warm_up(images[0])
        for result in infer.batch(images, max_batch=8):
            print(" ".join(f"{score:.4f}" for score in result["scores"][0].tolist()))


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "")

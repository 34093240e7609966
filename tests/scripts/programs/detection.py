"""Boxes in images, in the style of torchvision's references: losses in training, then boxes."""

import argparse
import math
import sys

import torch
from torchvision.models.detection import fasterrcnn_mobilenet_v3_large_320_fpn

parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=0.02)
parser.add_argument("--num-classes", type=int, default=5)
args = parser.parse_args()

device = torch.device("cuda")
model = fasterrcnn_mobilenet_v3_large_320_fpn(
    weights=None, weights_backbone=None, num_classes=args.num_classes, min_size=96, max_size=96
).to(device)
trained = [p for p in model.parameters() if p.requires_grad]
optimizer = torch.optim.SGD(trained, lr=args.lr, momentum=0.9, weight_decay=1e-4)
warmup = torch.optim.lr_scheduler.LinearLR(optimizer, start_factor=0.001, total_iters=4)
images = [torch.rand(3, 96, 96).to(device) for _ in range(2)]
boxes = torch.tensor([[5.0, 5.0, 40.0, 45.0], [30.0, 20.0, 80.0, 90.0]])
targets = [{"boxes": boxes, "labels": torch.tensor([1, 2])} for _ in images]
targets = [{name: value.to(device) for name, value in one.items()} for one in targets]
model.train()
losses = model(images, targets)
total = sum(losses.values())
if not math.isfinite(total.item()):
    print("loss is", total.item(), "stopping training")
    sys.exit(1)
optimizer.zero_grad()
total.backward()
optimizer.step()
warmup.step()
model.eval()
with torch.inference_mode():
    found = [{name: value.to("cpu") for name, value in one.items()} for one in model(images)]
print({name: loss.item() for name, loss in losses.items()}, found[0]["boxes"].shape)

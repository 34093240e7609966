"""Images in classes, in the style of torchvision's references: SGD, label smoothing, an average."""

import argparse

import torch
import torchvision
from torch import nn
from torch.utils.data import DataLoader
from torchvision.transforms import v2

parser = argparse.ArgumentParser()
parser.add_argument("--model", default="resnet18")
parser.add_argument("--device", default="cuda")
parser.add_argument("--batch-size", type=int, default=4)
parser.add_argument("--amp", action="store_true")
parser.add_argument("--channels-last", action="store_true")
args = parser.parse_args()

device = torch.device(args.device)
torch.backends.cudnn.benchmark = True
data = torchvision.datasets.FakeData(8, (3, 64, 64), 10, v2.Compose([v2.PILToTensor()]))
augment = v2.Compose([v2.RandomHorizontalFlip(), v2.ToDtype(torch.float32, scale=True)])
mix = v2.RandomChoice([v2.MixUp(num_classes=10, alpha=0.2), v2.CutMix(num_classes=10, alpha=1.0)])
loader = DataLoader(data, args.batch_size, shuffle=True, num_workers=1, pin_memory=True)
model = torchvision.models.get_model(args.model, weights=None, num_classes=10).to(device)
if args.channels_last:
    model = model.to(memory_format=torch.channels_last)
criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
optimizer = torch.optim.SGD(
    model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4, nesterov=True
)
scaler = torch.amp.GradScaler("cuda") if args.amp else None
average = torch.optim.swa_utils.AveragedModel(
    model, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.99), use_buffers=True
)
for images, target in loader:
    images, target = mix(augment(images), target)
    images, target = images.to(device), target.to(device)
    with torch.amp.autocast("cuda", enabled=scaler is not None):
        loss = criterion(model(images), target)
    optimizer.zero_grad()
    if scaler is not None:
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
    else:
        loss.backward()
        optimizer.step()
    average.update_parameters(model)
    print("loss", loss.item())
torch.save({"model": model.state_dict(), "average": average.state_dict()}, "checkpoint.pth")

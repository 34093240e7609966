"""Two views of an image that shall be alike: a projection, and a loss over all pairs."""

import argparse

import torch
import torchvision
from torch import nn
from torch.nn import functional as F
from torchvision.transforms import v2

parser = argparse.ArgumentParser()
parser.add_argument("--temperature", type=float, default=0.07)
parser.add_argument("--out-dim", type=int, default=32)
args = parser.parse_args()

views = v2.Compose([v2.RandomResizedCrop(32), v2.RandomHorizontalFlip(), v2.RandomGrayscale(0.2)])
model = torchvision.models.resnet18(num_classes=args.out_dim)
model.fc = nn.Sequential(nn.Linear(512, 512), nn.ReLU(), model.fc)
model = model.to("cuda")
optimizer = torch.optim.Adam(model.parameters(), 3e-4, weight_decay=1e-4)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=2)
scaler = torch.cuda.amp.GradScaler()
for _ in range(2):
    images = torch.rand(4, 3, 40, 40)
    both = torch.cat([torch.stack([views(image) for image in images]) for _ in (0, 1)]).cuda()
    with torch.cuda.amp.autocast():
        features = F.normalize(model(both), dim=1)
        labels = torch.cat([torch.arange(4)] * 2).cuda()
        same = (labels.unsqueeze(0) == labels.unsqueeze(1)).float()
        likeness = features @ features.T
        itself = torch.eye(8, dtype=torch.bool).cuda()
        same, likeness = same[~itself].view(8, -1), likeness[~itself].view(8, -1)
        positives, negatives = likeness[same.bool()].view(8, -1), likeness[~same.bool()].view(8, -1)
        logits = torch.cat([positives, negatives], dim=1) / args.temperature
        loss = F.cross_entropy(logits, torch.zeros(8, dtype=torch.long).cuda())
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    schedule.step()

"""A vision transformer of timm's, with timm's optimizer, schedule, loss, mixing and average."""

import argparse

import timm
import torch
from timm.data import Mixup
from timm.loss import SoftTargetCrossEntropy
from timm.optim import create_optimizer_v2
from timm.scheduler import create_scheduler_v2
from timm.utils import ModelEmaV3, NativeScaler, dispatch_clip_grad

parser = argparse.ArgumentParser()
parser.add_argument("--model", default="vit_tiny_patch16_224")
parser.add_argument("--opt", default="adamw")
parser.add_argument("--amp", action="store_true")
args = parser.parse_args()

model = timm.create_model(args.model, num_classes=4, img_size=64, depth=2, drop_path_rate=0.1)
model.cuda()
average = ModelEmaV3(model, decay=0.99)
optimizer = create_optimizer_v2(model, opt=args.opt, lr=1e-3, weight_decay=0.05)
schedule, _ = create_scheduler_v2(optimizer, sched="cosine", num_epochs=2, warmup_epochs=1)
mix, criterion = Mixup(0.2, 1.0, num_classes=4), SoftTargetCrossEntropy().cuda()
scaler = NativeScaler(device="cuda") if args.amp else None
for epoch in range(2):
    x, y = mix(torch.rand(4, 3, 64, 64).cuda(), torch.randint(4, (4,)).cuda())
    with torch.autocast("cuda", torch.float16, enabled=args.amp):
        loss = criterion(model(x), y)
    if scaler is not None:
        scaler(loss, optimizer, clip_grad=1.0, parameters=model.parameters())
    else:
        loss.backward()
        dispatch_clip_grad(model.parameters(), 1.0)
        optimizer.step()
    optimizer.zero_grad()
    average.update(model, step=epoch)
    torch.cuda.synchronize()
    schedule.step(epoch + 1)
    print(epoch, loss.item(), optimizer.param_groups[0]["lr"])

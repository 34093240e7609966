"""Mixed precision without autocast: half weights, a float32 copy that is updated, a loss scale."""

import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--loss-scale", type=float, default=1024.0)
args = parser.parse_args()

device = torch.device("cuda")
model = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.GroupNorm(2, 8), nn.ReLU(), nn.Flatten(),
                      nn.Linear(8 * 16 * 16, 10)).half().to(device)  # fmt: skip
masters = [p.detach().clone().float().requires_grad_() for p in model.parameters()]
optimizer = torch.optim.SGD(masters, lr=0.01, momentum=0.9)
for step in range(2):
    x = torch.rand(4, 3, 16, 16, device=device).half()
    y = torch.randint(10, (4,), device=device)
    loss = nn.functional.cross_entropy(model(x).float(), y)
    (loss * args.loss_scale).backward()
    grads = [p.grad for p in model.parameters()]
    if all(torch.isfinite(grad).all() for grad in grads):
        for master, grad in zip(masters, grads, strict=True):
            master.grad = grad.float() / args.loss_scale
        optimizer.step()
        with torch.no_grad():
            for p, master in zip(model.parameters(), masters, strict=True):
                p.copy_(master)
    model.zero_grad()
    print(step, loss.item())

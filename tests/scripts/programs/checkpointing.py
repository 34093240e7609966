"""A deep network that computes its activations again in the backward, with dropout."""

import argparse

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint, checkpoint_sequential

parser = argparse.ArgumentParser()
parser.add_argument("--depth", type=int, default=4)
parser.add_argument("--reentrant", action="store_true")
args = parser.parse_args()


def layer():
    return nn.Sequential(nn.Linear(32, 32), nn.SiLU(), nn.Dropout(0.1))


first, rest = nn.Linear(8, 32).to("cuda"), nn.Sequential(*[layer() for _ in range(args.depth)])
rest.to("cuda")
optimizer = torch.optim.RMSprop([*first.parameters(), *rest.parameters()], momentum=0.9)
for _ in range(2):
    x = first(torch.randn(8, 8, device="cuda"))
    for part in rest[:2]:
        x = checkpoint(part, x, use_reentrant=args.reentrant)
    x = checkpoint_sequential(rest[2:], 2, x, use_reentrant=args.reentrant)
    loss = x.square().mean()
    if not torch.isfinite(loss):
        raise RuntimeError("the loss is not finite")
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(torch.cuda.max_memory_allocated() // 1024, "KiB")

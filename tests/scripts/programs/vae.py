"""Digits through a narrow place and back: a loss of two parts, an epoch of tests, samples."""

import argparse

import torch
from torch import nn, optim
from torch.nn import functional as F

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=1)
parser.add_argument("--no-accel", action="store_true")
args = parser.parse_args()

use = not args.no_accel and torch.accelerator.is_available()
device = torch.accelerator.current_accelerator() if use else torch.device("cpu")
encode = nn.Sequential(nn.Linear(784, 64), nn.ReLU(), nn.Linear(64, 40)).to(device)
decode = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 784), nn.Sigmoid()).to(device)
optimizer = optim.Adam([*encode.parameters(), *decode.parameters()], lr=1e-3)


def losses(x):
    mean, log_variance = encode(x).chunk(2, dim=1)
    code = mean + torch.randn_like(mean) * torch.exp(0.5 * log_variance)
    apart = F.binary_cross_entropy(decode(code), x, reduction="sum")
    return apart - 0.5 * torch.sum(1 + log_variance - mean.pow(2) - log_variance.exp())


for epoch in range(args.epochs):
    total = 0.0
    for _ in range(2):
        optimizer.zero_grad()
        loss = losses(torch.rand(16, 784).to(device))
        loss.backward()
        optimizer.step()
        total += loss.item()
    with torch.no_grad():
        print(epoch, total, losses(torch.rand(16, 784, device=device)).item())
        sample = decode(torch.randn(4, 20).to(device)).cpu()
torch.save(sample.view(4, 1, 28, 28), "sample.pt")

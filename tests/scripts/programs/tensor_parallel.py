"""One of several processes that each hold columns or rows of a layer's weights."""

import argparse
import os

import torch
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    RowwiseParallel,
    parallelize_module,
)

parser = argparse.ArgumentParser()
parser.add_argument("--iterations", type=int, default=2)
args = parser.parse_args()

assert torch.accelerator.device_count() >= 2, "this example needs two devices"
device_type = torch.accelerator.current_accelerator().type
mesh = init_device_mesh(device_type, (int(os.environ["WORLD_SIZE"]),))
model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 8)).to(device_type)
model = parallelize_module(model, mesh, {"0": ColwiseParallel(), "2": RowwiseParallel()})
optimizer = torch.optim.AdamW(model.parameters(), lr=0.25, foreach=True)
for step in range(args.iterations):
    torch.manual_seed(step)
    output = model(torch.rand(20, 16, device=device_type))
    output.sum().backward()
    optimizer.step()
    optimizer.zero_grad()
print("done", mesh.get_rank())

"""One of several processes that each hold a part of a transformer: fully_shard, in bfloat16."""

import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FSDPModule, MixedPrecisionPolicy, fully_shard

parser = argparse.ArgumentParser()
parser.add_argument("--layers", type=int, default=2)
parser.add_argument("--mixed-precision", action="store_true")
args = parser.parse_args()

device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
torch.cuda.set_device(device)
dist.init_process_group("nccl", device_id=device)
mesh = init_device_mesh("cuda", (dist.get_world_size(),))
policy = {}
if args.mixed_precision:
    policy["mp_policy"] = MixedPrecisionPolicy(torch.bfloat16, torch.float32)
layers = (nn.TransformerEncoderLayer(64, 4, 128, batch_first=True) for _ in range(args.layers))
model = nn.Sequential(nn.Embedding(100, 64), *layers, nn.Linear(64, 100))
for layer in model:
    fully_shard(layer, mesh=mesh, **policy)
fully_shard(model, mesh=mesh, **policy)
assert isinstance(model, FSDPModule)
for weight in model.parameters():
    nn.init.normal_(weight, std=0.02)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for _ in range(2):
    ids = torch.randint(0, 100, (4, 16), device=device)
    loss = nn.functional.cross_entropy(model(ids).flatten(0, 1).float(), ids.flatten())
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()
if dist.get_rank() == 0:
    print("loss", loss.item())
dist.destroy_process_group()

"""A small GPT on tokens from a file: mixed precision, accumulated gradients, checkpoints."""

import argparse
import math
import os

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

parser = argparse.ArgumentParser()
parser.add_argument("--max-iters", type=int, default=3)
parser.add_argument("--layers", type=int, default=2)
parser.add_argument("--dtype", default="float16")
args = parser.parse_args()

BLOCK, VOCABULARY, WIDTH, HEADS = 64, 256, 64, 4
torch.manual_seed(1337)
torch.backends.cuda.matmul.allow_tf32 = True
os.makedirs("out", exist_ok=True)
np.random.default_rng(0).integers(0, VOCABULARY, 5000).astype(np.uint16).tofile("out/train.bin")
data = np.memmap("out/train.bin", dtype=np.uint16, mode="r")


def batch():
    starts = torch.randint(len(data) - BLOCK - 1, (8,))
    parts = [torch.from_numpy(data[i : i + BLOCK + 1].astype(np.int64)) for i in starts]
    x, y = torch.stack([p[:-1] for p in parts]), torch.stack([p[1:] for p in parts])
    return [t.pin_memory().to("cuda", non_blocking=True) for t in (x, y)]


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.mlp = nn.Sequential(
            nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH), nn.Dropout(0.1)
        )

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = (
            part.view(b, t, HEADS, c // HEADS).transpose(1, 2)
            for part in self.qkv(self.norm1(x)).split(c, dim=2)
        )
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).contiguous().view(b, t, c))
        return x + self.mlp(self.norm2(x))


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens, self.places = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(BLOCK, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(args.layers))
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, VOCABULARY, bias=False)
        self.tokens.weight = self.head.weight

    def forward(self, ids, targets):
        x = self.tokens(ids) + self.places(torch.arange(ids.shape[1], device=ids.device))
        for block in self.blocks:
            x = block(x)
        logits = self.head(self.norm(x))
        return F.cross_entropy(logits.view(-1, VOCABULARY), targets.view(-1), ignore_index=-1)


model = GPT().to("cuda")
decayed = [p for p in model.parameters() if p.dim() >= 2]
others = [p for p in model.parameters() if p.dim() < 2]
optimizer = torch.optim.AdamW(
    [{"params": decayed, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}], lr=6e-4
)
scaler = torch.amp.GradScaler("cuda", enabled=args.dtype == "float16")
model = torch.compile(model)
x, y = batch()
for step in range(args.max_iters):
    for group in optimizer.param_groups:
        group["lr"] = 6e-4 * 0.5 * (1 + math.cos(math.pi * step / args.max_iters))
    for _ in range(2):
        with torch.amp.autocast("cuda", getattr(torch, args.dtype)):
            loss = model(x, y) / 2
        x, y = batch()
        scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad(set_to_none=True)
    print(f"iter {step}: loss {loss.item() * 2:.4f}")
torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, "out/ckpt.pt")

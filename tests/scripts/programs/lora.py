"""Adapters of low rank in the attention of a conditional UNet; only they are trained and saved."""

import argparse

import torch
from diffusers import DDPMScheduler, UNet2DConditionModel
from torch import nn
from torch.nn import functional as F

parser = argparse.ArgumentParser()
parser.add_argument("--rank", type=int, default=4)
parser.add_argument("--mixed_precision", choices=("no", "fp16"), default="fp16")
args = parser.parse_args()


class Adapted(nn.Module):
    def __init__(self, whole, rank):
        super().__init__()
        self.whole = whole
        self.down = nn.Linear(whole.in_features, rank, bias=False)
        self.up = nn.Linear(rank, whole.out_features, bias=False)
        nn.init.zeros_(self.up.weight)

    def forward(self, x, *_):
        return self.whole(x) + self.up(self.down(x.to(self.down.weight.dtype))).to(x.dtype)


unet = UNet2DConditionModel(
    sample_size=16, block_out_channels=(32, 64), layers_per_block=1, cross_attention_dim=32,
    down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
    up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"), norm_num_groups=8, attention_head_dim=8,
)  # fmt: skip
half = torch.float16 if args.mixed_precision == "fp16" else torch.float32
unet.requires_grad_(False)
unet.to("cuda", half)
for name, module in list(unet.named_modules()):
    if name.endswith(("to_q", "to_k", "to_v")):
        parent = unet.get_submodule(name.rpartition(".")[0])
        setattr(parent, name.rpartition(".")[2], Adapted(module, args.rank).to("cuda"))
trained = [p for p in unet.parameters() if p.requires_grad]
optimizer = torch.optim.AdamW(trained, lr=1e-4)
scaler = torch.amp.GradScaler("cuda", enabled=half is torch.float16)
noising = DDPMScheduler()
for _ in range(2):
    latents = torch.randn(2, 4, 16, 16, device="cuda", dtype=half)
    words = torch.randn(2, 7, 32, device="cuda", dtype=half)
    noise, times = torch.randn_like(latents), torch.randint(0, 1000, (2,), device="cuda")
    with torch.autocast("cuda", half, enabled=half is torch.float16):
        told = unet(noising.add_noise(latents, noise, times), times, words).sample
    loss = F.mse_loss(told.float(), noise.float())
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(trained, 1.0)
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad()
torch.save({n: p.cpu() for n, p in unet.named_parameters() if p.requires_grad}, "lora.pt")

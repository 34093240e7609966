"""Images out of noise, with diffusers: a UNet that is told the noise, and its average."""

import argparse

import torch
from diffusers import DDPMPipeline, DDPMScheduler, UNet2DModel
from diffusers.optimization import get_scheduler
from diffusers.training_utils import EMAModel
from torch.nn import functional as F

parser = argparse.ArgumentParser()
parser.add_argument("--resolution", type=int, default=16)
parser.add_argument("--train_batch_size", type=int, default=2)
parser.add_argument("--use_ema", action="store_true")
parser.add_argument("--output_dir", default="ddpm")
args = parser.parse_args()

model = UNet2DModel(
    sample_size=args.resolution, block_out_channels=(32, 64), layers_per_block=1,
    down_block_types=("DownBlock2D", "AttnDownBlock2D"),
    up_block_types=("AttnUpBlock2D", "UpBlock2D"), norm_num_groups=8, attention_head_dim=16,
)  # fmt: skip
average = EMAModel(model.parameters(), decay=0.99, model_cls=UNet2DModel, model_config=model.config)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, betas=(0.95, 0.999))
schedule = get_scheduler("cosine", optimizer, num_warmup_steps=1, num_training_steps=2)
noising = DDPMScheduler(num_train_timesteps=100)
model.to("cuda")
average.to("cuda")
for step in range(2):
    clean = torch.rand(args.train_batch_size, 3, args.resolution, args.resolution).to("cuda")
    noise = torch.randn_like(clean)
    times = torch.randint(0, 100, (len(clean),), device="cuda").long()
    told = model(noising.add_noise(clean, noise, times), times).sample
    loss = F.mse_loss(told.float(), noise.float())
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    schedule.step()
    optimizer.zero_grad()
    if args.use_ema:
        average.step(model.parameters())
    print("step", step, loss.detach().item())
pipeline = DDPMPipeline(unet=model, scheduler=noising)
drawn = torch.Generator(device=pipeline.device).manual_seed(0)
images = pipeline(generator=drawn, batch_size=1, num_inference_steps=2, output_type="np").images
pipeline.save_pretrained(args.output_dir)

"""The UNet of latent diffusion, written out: what diffusers' UNet2DConditionModel computes."""

import math
from collections.abc import Callable, Mapping

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  # as everybody writes it

from tests.zoo.base import Ready


class ResnetBlock(nn.Module):
    """Two convolutions after normalisation, the time added between, around a shortcut."""

    def __init__(self, inner: int, outer: int, time: int) -> None:
        super().__init__()
        self.norm1 = nn.GroupNorm(8, inner, eps=1e-5)
        self.conv1 = nn.Conv2d(inner, outer, 3, padding=1)
        self.time_emb_proj = nn.Linear(time, outer)
        self.norm2 = nn.GroupNorm(8, outer, eps=1e-5)
        self.dropout = nn.Dropout(0.0)
        self.conv2 = nn.Conv2d(outer, outer, 3, padding=1)
        self.conv_shortcut = nn.Conv2d(inner, outer, 1) if inner != outer else nn.Identity()

    def forward(self, x: Tensor, time: Tensor) -> Tensor:
        hidden = self.conv1(F.silu(self.norm1(x)))
        hidden = hidden + self.time_emb_proj(F.silu(time))[:, :, None, None]
        hidden = self.conv2(self.dropout(F.silu(self.norm2(hidden))))
        shortcut: Tensor = self.conv_shortcut(x)
        out: Tensor = shortcut + hidden
        return out


class Attention(nn.Module):
    """Heads over a context, or over the sequence itself."""

    def __init__(self, width: int, context: int, heads: int = 4) -> None:
        super().__init__()
        self.heads = heads
        self.to_q = nn.Linear(width, width, bias=False)
        self.to_k = nn.Linear(context, width, bias=False)
        self.to_v = nn.Linear(context, width, bias=False)
        self.to_out = nn.Sequential(nn.Linear(width, width), nn.Dropout(0.0))

    def forward(self, x: Tensor, context: Tensor | None = None) -> Tensor:
        other = x if context is None else context
        query, key, value = (
            made.view(made.shape[0], -1, self.heads, made.shape[-1] // self.heads).transpose(1, 2)
            for made in (self.to_q(x), self.to_k(other), self.to_v(other))
        )
        mixed = F.scaled_dot_product_attention(query, key, value)
        out: Tensor = self.to_out(mixed.transpose(1, 2).reshape(x.shape))
        return out


class GatedGelu(nn.Module):
    def __init__(self, width: int, inner: int) -> None:
        super().__init__()
        self.proj = nn.Linear(width, 2 * inner)

    def forward(self, x: Tensor) -> Tensor:
        hidden, gate = self.proj(x).chunk(2, dim=-1)
        gated: Tensor = hidden * F.gelu(gate)
        return gated


class TransformerBlock(nn.Module):
    """Attention over the picture, then over the text, then a feed-forward."""

    def __init__(self, width: int, context: int) -> None:
        super().__init__()
        self.norm = nn.GroupNorm(8, width, eps=1e-6)
        self.proj_in = nn.Conv2d(width, width, 1)
        self.norm1 = nn.LayerNorm(width)
        self.attn1 = Attention(width, width)
        self.norm2 = nn.LayerNorm(width)
        self.attn2 = Attention(width, context)
        self.norm3 = nn.LayerNorm(width)
        self.ff = nn.Sequential(GatedGelu(width, 4 * width), nn.Linear(4 * width, width))
        self.proj_out = nn.Conv2d(width, width, 1)

    def forward(self, x: Tensor, text: Tensor) -> Tensor:
        batch, width, rows, columns = x.shape
        hidden = self.proj_in(self.norm(x))
        hidden = hidden.permute(0, 2, 3, 1).reshape(batch, rows * columns, width)
        hidden = hidden + self.attn1(self.norm1(hidden))
        hidden = hidden + self.attn2(self.norm2(hidden), text)
        hidden = hidden + self.ff(self.norm3(hidden))
        hidden = hidden.reshape(batch, rows, columns, width).permute(0, 3, 1, 2).contiguous()
        out: Tensor = self.proj_out(hidden) + x
        return out


class Stage(nn.Module):
    """One resolution: blocks, each with its transformer where the text is looked at."""

    def __init__(self, widths: list[tuple[int, int]], time: int, context: int) -> None:
        super().__init__()
        self.resnets = nn.ModuleList([ResnetBlock(*pair, time) for pair in widths])
        looks = [TransformerBlock(outer, context) for _, outer in widths] if context else []
        self.attentions = nn.ModuleList(looks)

    def step(self, place: int, x: Tensor, time: Tensor, text: Tensor) -> Tensor:
        made: Tensor = self.resnets[place](x, time)
        return self.attentions[place](made, text) if self.attentions else made


class UNet(nn.Module):
    """Predicts the noise in latents at a time step, given a text."""

    def __init__(self, width: int = 16, context: int = 24, blocks: int = 2) -> None:
        super().__init__()
        wide, time = 2 * width, 4 * width
        self.width = width
        self.time_embedding = nn.Sequential(
            nn.Linear(width, time), nn.SiLU(), nn.Linear(time, time)
        )
        self.conv_in = nn.Conv2d(4, width, 3, padding=1)
        fine = [(width, width)] * blocks
        coarse = [(width, wide)] + [(wide, wide)] * (blocks - 1)
        self.down_blocks = nn.ModuleList([Stage(fine, time, context), Stage(coarse, time, 0)])
        self.downsampler = nn.Conv2d(width, width, 3, stride=2, padding=1)
        self.mid_block = Stage([(wide, wide)] * 2, time, context)
        up_coarse = [(wide + wide, wide)] * blocks + [(wide + width, wide)]
        up_fine = [(wide + width, width)] + [(width + width, width)] * blocks
        self.up_blocks = nn.ModuleList([Stage(up_coarse, time, 0), Stage(up_fine, time, context)])
        self.upsampler = nn.Conv2d(wide, wide, 3, padding=1)
        self.conv_norm_out = nn.GroupNorm(8, width, eps=1e-5)
        self.conv_out = nn.Conv2d(width, 4, 3, padding=1)

    def forward(self, sample: Tensor, timestep: Tensor, encoder_hidden_states: Tensor) -> Tensor:
        text = encoder_hidden_states
        time = self.time_embedding(_sinusoids(timestep, self.width).to(sample.dtype))
        x = self.conv_in(sample)
        kept = [x]
        for stage, last in zip(self.down_blocks, (False, True), strict=True):
            for place in range(len(stage.resnets)):  # type: ignore[arg-type]  # a ModuleList
                x = stage.step(place, x, time, text)  # type: ignore[operator]  # of Stage
                kept.append(x)
            if not last:
                x = self.downsampler(x)
                kept.append(x)
        for place in range(2):
            x = self.mid_block.step(place, x, time, text)
        for stage, last in zip(self.up_blocks, (False, True), strict=True):
            for place in range(len(stage.resnets)):  # type: ignore[arg-type]  # a ModuleList
                joined = torch.cat([x, kept.pop()], dim=1)
                x = stage.step(place, joined, time, text)  # type: ignore[operator]  # of Stage
            if not last:
                x = self.upsampler(F.interpolate(x, scale_factor=2.0, mode="nearest"))
        out: Tensor = self.conv_out(F.silu(self.conv_norm_out(x)))
        return out


def _sinusoids(timestep: Tensor, width: int) -> Tensor:
    """Cosines, then sines, of a time step at falling frequencies."""
    half = width // 2
    places = torch.arange(half, dtype=torch.float32, device=timestep.device)
    angles = timestep[:, None].float() * torch.exp(-math.log(10000) * places / half)[None]
    return torch.cat([angles.cos(), angles.sin()], dim=-1)


def _unet() -> Ready:
    return UNet(), (torch.randn(2, 4, 16, 16), torch.tensor([10, 500]), torch.randn(2, 7, 24)), {}


MODELS: Mapping[str, Callable[[], Ready]] = {"unet": _unet}

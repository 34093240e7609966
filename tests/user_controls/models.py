"""Small models of the families that users name, made from configurations, without weights."""

from typing import Any

import torch
from torch import Tensor, nn

IDS = torch.arange(16).view(2, 8)
MASK = torch.ones(2, 8, dtype=torch.int64)
IMAGE = torch.ones(2, 3, 64, 64)
SIZES = {
    "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
    "vocab_size": 96, "pad_token_id": 0,
}  # fmt: skip
GROUPED = {**SIZES, "num_key_value_heads": 2, "head_dim": 8}


class First(nn.Module):
    """A model of which the first output is looked at, without a cache."""

    def __init__(self, model: nn.Module, **named: Any) -> None:
        super().__init__()
        self.model, self.named = model, named

    def forward(self, *inputs: Tensor) -> Any:
        return self.model(*inputs, **self.named)[0]


def language(name: str, **config: Any) -> nn.Module:
    """A model of transformers, by the name of its class."""
    import transformers

    model = getattr(transformers, name)
    made: nn.Module = model(model.config_class(**config))
    return First(made, use_cache=False)


def encoder(name: str, **config: Any) -> nn.Module:
    """An encoder of transformers, which has no cache."""
    import transformers

    model = getattr(transformers, name)
    return First(model(model.config_class(**{**SIZES, **config})))


def gpt2() -> nn.Module:
    return language(
        "GPT2LMHeadModel", n_embd=32, n_layer=2, n_head=4, vocab_size=96, n_positions=32
    )


def llama(dtype: torch.dtype = torch.float32) -> nn.Module:
    return language("LlamaForCausalLM", **GROUPED).to(dtype)


def qwen2(dtype: torch.dtype = torch.float32) -> nn.Module:
    return language("Qwen2ForCausalLM", **GROUPED).to(dtype)


def qwen3(dtype: torch.dtype = torch.float32) -> nn.Module:
    return language("Qwen3ForCausalLM", **GROUPED).to(dtype)


def whisper(dtype: torch.dtype = torch.float32) -> nn.Module:
    import transformers

    config = transformers.WhisperConfig(
        vocab_size=96, num_mel_bins=8, d_model=32, encoder_layers=1, decoder_layers=1,
        encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=64,
        decoder_ffn_dim=64, max_source_positions=16, pad_token_id=0, bos_token_id=1,
        eos_token_id=2, decoder_start_token_id=1,
    )  # fmt: skip
    return Spoken(transformers.WhisperForConditionalGeneration(config)).to(dtype)


class Spoken(nn.Module):
    """Whisper, of a spectrum and of tokens."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, spectrum: Tensor, ids: Tensor) -> Any:
        return self.model(spectrum, decoder_input_ids=ids, use_cache=False)[0]


def unet(dtype: torch.dtype = torch.float32) -> nn.Module:
    """The network of Stable Diffusion: of a latent image, a step and a text."""
    import diffusers

    model = diffusers.UNet2DConditionModel(
        sample_size=8, block_out_channels=(32, 64), layers_per_block=1, cross_attention_dim=16,
        down_block_types=("CrossAttnDownBlock2D", "DownBlock2D"),
        up_block_types=("UpBlock2D", "CrossAttnUpBlock2D"), norm_num_groups=8,
        attention_head_dim=4,
    )  # fmt: skip
    return First(model, return_dict=False).to(dtype)


def dit() -> nn.Module:
    """A diffusion transformer: of a latent image, a step and a class."""
    import diffusers

    model = diffusers.DiTTransformer2DModel(
        num_attention_heads=2, attention_head_dim=8, in_channels=4, out_channels=8, num_layers=1,
        sample_size=8, patch_size=2, num_embeds_ada_norm=1000, norm_num_groups=4,
    )  # fmt: skip
    return Classes(model)


class Classes(nn.Module):
    """A diffusion transformer, of inputs that have no names."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, image: Tensor, step: Tensor, label: Tensor) -> Any:
        return self.model(image, timestep=step, class_labels=label, return_dict=False)[0]


def vision(name: str, dtype: torch.dtype = torch.float32) -> nn.Module:
    """A model of torchvision."""
    import torchvision

    made: nn.Module = getattr(torchvision.models, name)(weights=None, num_classes=10)
    return made.to(dtype)


class LowRank(nn.Module):
    """A layer that stays as it is, and a small one beside it that learns."""

    def __init__(self, layer: nn.Linear, rank: int = 2) -> None:
        super().__init__()
        self.layer = layer.requires_grad_(False)
        self.down = nn.Linear(layer.in_features, rank, bias=False)
        self.up = nn.Linear(rank, layer.out_features, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        found: Tensor = self.layer(x) + self.up(self.down(x))
        return found


class SmallUNet(nn.Module):
    """Convolutions, a half and a double size, and a path across."""

    def __init__(self) -> None:
        super().__init__()
        self.down = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU())
        self.pool = nn.MaxPool2d(2)
        self.deep = nn.Sequential(nn.Conv2d(8, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU())
        self.up = nn.Upsample(scale_factor=2, mode="bilinear", align_corners=False)
        self.head = nn.Conv2d(24, 2, 1)

    def forward(self, x: Tensor) -> Tensor:
        across = self.down(x)
        found: Tensor = self.head(torch.cat([across, self.up(self.deep(self.pool(across)))], 1))
        return found


class Mnist(nn.Module):
    """The network that examples train on digits."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2d(1, 10, 5), nn.Conv2d(10, 20, 5)
        self.norms = nn.ModuleList([nn.BatchNorm2d(10), nn.BatchNorm2d(20)])
        self.hidden, self.last = nn.Linear(320, 50), nn.Linear(50, 10)

    def forward(self, x: Tensor) -> Tensor:
        for layer, norm in zip((self.first, self.second), self.norms, strict=True):
            x = norm(torch.relu(nn.functional.max_pool2d(layer(x), 2)))
        return nn.functional.log_softmax(self.last(torch.relu(self.hidden(x.flatten(1)))), 1)

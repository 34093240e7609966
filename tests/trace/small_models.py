"""Small models of many kinds, with inputs; the same values for the same name."""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  # as everybody writes it

from opcheck.source.building import torchvision_operators

LOADED = ("torch", "tests.trace.loaded")
"""What processes have loaded that run these: most of their time would be that."""
Ready = tuple[nn.Module, tuple[Any, ...], dict[str, Any]]
"""(model, positional inputs, named inputs)."""


class ConvNet(nn.Module):
    """Convolutions, batch norm, pooling; in channels-last memory from its middle on."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU())
        self.down = nn.Conv2d(8, 8, 3, stride=2, groups=8)
        self.up = nn.ConvTranspose2d(8, 4, 2, stride=2)
        self.pool = nn.AdaptiveAvgPool2d((3, 5))
        self.head = nn.Linear(60, 5)

    def forward(self, x: Tensor) -> Tensor:
        x = self.stem(x).to(memory_format=torch.channels_last)
        x = F.max_pool2d(F.silu(self.down(x)), 2)
        x = self.pool(F.interpolate(self.up(x), scale_factor=2.0, mode="bilinear"))
        return F.log_softmax(self.head(x.flatten(1)), -1)


class Recurrent(nn.Module):
    """Every recurrent layer, one after the other, over packed rows at last."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(6, 5, num_layers=2, bidirectional=True, batch_first=True)
        self.gru = nn.GRU(10, 5)
        self.rnn = nn.RNN(5, 4)

    def forward(self, x: Tensor) -> Tensor:
        return torch.tanh(self.rnn(self.gru(self.lstm(x)[0])[0])[0])


class Attention(nn.Module):
    """Attention by torch's own module, by its function with masks, and by hand."""

    def __init__(self) -> None:
        super().__init__()
        self.own = nn.MultiheadAttention(16, 4, batch_first=True)
        self.qkv = nn.Linear(16, 48)
        self.norm = nn.LayerNorm(16)

    def forward(self, x: Tensor) -> Tensor:
        x = self.norm(x + self.own(x, x, x, need_weights=False)[0])
        q, k, v = (t.unflatten(-1, (4, 4)).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
        causal = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        masked = F.scaled_dot_product_attention(q, k, v, attn_mask=torch.zeros(7, 7).to(q))
        by_hand = torch.einsum("bhij,bhjd->bhid", (q @ k.mT).softmax(-1), v)
        return (causal + masked + by_hand).transpose(1, 2).flatten(2)


class CrossAttention(nn.Module):
    """Attention to another tensor than the one that asks: it takes its weight apart."""

    def __init__(self) -> None:
        super().__init__()
        self.own = nn.MultiheadAttention(16, 4, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        memory = x.tanh()
        mask = self.own.in_proj_weight.narrow(0, 0, 7)[:, :7] > 0
        out: Tensor = self.own(x, memory, memory, attn_mask=mask)[0]
        return out


class Values(nn.Module):
    """Indexing, masks and Python control flow on values; mutation and complex numbers."""

    def forward(self, x: Tensor) -> Tensor:
        x = x.clone()
        x[:, 0] = 0
        x[x < -1] = -1
        if (x > 0).any() and x.shape[0] == int(x.new_ones(2).sum()):
            x += torch.arange(x.shape[1], device=x.device)
        x = x.index_select(1, torch.argsort(x[0])).cumsum(-1)
        turned = torch.view_as_complex(x.view(2, -1, 2)) * torch.polar(x[:1, :1], x[1:, :1])
        kept = torch.view_as_real(turned).flatten(1)
        return torch.cat([kept, F.pad(torch.where(kept > 0, kept, kept.neg()), (1, 1))], 1)


def _torch(model: Callable[[], nn.Module], *shape: int) -> Callable[[], Ready]:
    return lambda: (model(), (torch.randn(*shape),), {})


def _transformers(name: str, **config: Any) -> Callable[[], Ready]:
    def make() -> Ready:
        import transformers

        made = getattr(transformers, f"{name}Config")(**config)
        model = getattr(transformers, HEADS[name])(made)
        ids = torch.randint(3, 90, (1, 9))
        if "image_size" in config:
            size = config["image_size"]
            return model, (), {"pixel_values": torch.randn(1, 3, size, size)}
        named = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
        return model, (), named | ({"decoder_input_ids": ids[:, :4]} if name == "T5" else {})

    return make


HEADS = {
    "Bert": "BertForMaskedLM",
    "Llama": "LlamaForCausalLM",
    "T5": "T5ForConditionalGeneration",
    "ViT": "ViTForImageClassification",
    "Swin": "SwinForImageClassification",
}
_TEXT = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 100,
         "intermediate_size": 48}  # fmt: skip


def _timm(name: str, size: int) -> Callable[[], Ready]:
    def make() -> Ready:
        import timm

        return timm.create_model(name), (torch.randn(1, 3, size, size),), {}

    return make


MODELS: Mapping[str, Callable[[], Ready]] = {
    "conv": _torch(ConvNet, 2, 3, 20, 20),
    "recurrent": _torch(Recurrent, 2, 3, 6),
    "attention": _torch(Attention, 2, 7, 16),
    "cross-attention": _torch(CrossAttention, 2, 7, 16),
    "values": _torch(Values, 2, 6),
    "encoder-layer": _torch(lambda: nn.TransformerEncoderLayer(16, 4, 24), 7, 2, 16),
    "bert": _transformers("Bert", **_TEXT),
    "llama": _transformers("Llama", **_TEXT, num_key_value_heads=2),
    "t5": _transformers("T5", d_model=32, d_kv=8, d_ff=48, num_layers=2, num_heads=4,
                        vocab_size=100, decoder_start_token_id=0),
    "vit": _transformers("ViT", hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
                         intermediate_size=48, image_size=32),
    "swin": _transformers("Swin", embed_dim=8, depths=[2, 1], num_heads=[1, 2], image_size=32,
                          patch_size=2, window_size=4),
    "convnext": _timm("convnext_atto", 64),
    "efficientnet": _timm("efficientnet_b0", 64),
}  # fmt: skip


def ready(name: str) -> Ready:
    """A model in evaluation mode with its inputs."""
    torchvision_operators.prepare()  # timm imports torchvision, and so does transformers
    torch.default_generator.manual_seed(0)
    model, args, kwargs = MODELS[name]()
    return model.eval(), args, kwargs

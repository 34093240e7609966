"""What every part of the zoo gives, and how transformers models are made for it."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from opcheck.source.building import torchvision_operators

Ready = tuple[nn.Module, tuple[Any, ...], dict[str, Any]]
"""(model in evaluation mode, positional inputs, named inputs)."""

WORDS = 99
"""Size of every vocabulary."""
TEXT: dict[str, Any] = {
    "vocab_size": WORDS, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4,
    "intermediate_size": 48, "max_position_embeddings": 64,
    "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2,
}  # fmt: skip
"""Sizes by the names that most configs use."""
IMAGES: dict[str, Any] = {
    "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48,
    "image_size": 32, "patch_size": 8,
}  # fmt: skip


def seeded(make: Callable[[], Ready]) -> Callable[[], Ready]:
    """The same maker, its weights and inputs the same on every call."""

    def made() -> Ready:
        torchvision_operators.prepare()  # timm imports torchvision, and so does transformers
        torchvision_operators.compute()
        with torch.random.fork_rng():
            torch.default_generator.manual_seed(0)
            model, args, kwargs = make()
        torchvision_operators.settle()
        return model.eval(), args, kwargs

    return made


def without_cache(make: Callable[[], Ready]) -> Callable[[], Ready]:
    """The same maker of a transformers model, which gives no cache: ``torch.export`` knows none."""

    def made() -> Ready:
        model, args, kwargs = make()
        for module in model.modules():  # the parts of some models have copies of the config
            config: Any = getattr(module, "config", None)
            if config is not None:
                config.use_cache = False
        return model, args, kwargs

    return made


def ids(*shape: int) -> Tensor:
    """Token ids, none of them a special one."""
    return torch.randint(10, WORDS, shape)


def masked(rows: int = 2, length: int = 9) -> dict[str, Tensor]:
    """A batch of texts whose last is shorter than the others."""
    mask = torch.ones(rows, length, dtype=torch.int64)
    mask[-1, -3:] = 0
    return {"input_ids": ids(rows, length), "attention_mask": mask}


def transformer(model: str, config: str, **settings: Any) -> nn.Module:
    """A model of transformers by the names of its class and of its config's, with its weights."""
    import transformers

    made: nn.Module = getattr(transformers, model)(getattr(transformers, config)(**settings))
    return made

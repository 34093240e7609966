"""The readers that need torch, which work in the process of the model alone."""

import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path

from opcheck.source.base import LoadOptions
from opcheck.source.load import load
from tests.fuzz import mutate
from tests.fuzz.readers import Reader, program_files

_BERT = {
    "model_type": "bert", "architectures": ["BertModel"], "hidden_size": 8, "vocab_size": 32,
    "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16,
    "max_position_embeddings": 16, "torch_dtype": "float32", "hidden_act": "gelu",
}  # fmt: skip


def _scripts() -> Iterator[bytes]:
    import torch
    from torch import nn

    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU()).eval()
    for made in (torch.jit.script(model), torch.jit.trace(model, torch.ones(1, 3))):
        content = io.BytesIO()
        torch.jit.save(made, content)
        yield content.getvalue()


def _configs() -> Iterator[bytes]:
    yield json.dumps(_BERT).encode()


def _loaded(prefix: str = "") -> Callable[[Path], object]:
    def read(path: Path) -> object:
        return load(f"{prefix}{path}", LoadOptions((), trust=False))

    return read


LOADERS = (
    Reader("TorchScript, by torch", "m.pt", _scripts,
           mutate.spoiled_archive(mutate.spoiled_bytes), _loaded()),
    Reader("exported program, by torch", "m.pt2", program_files,
           mutate.spoiled_archive(mutate.spoiled_json), _loaded()),
    Reader("config, by transformers", "config.json", _configs, mutate.spoiled_json,
           _loaded("hf:")),
)  # fmt: skip
"""An end of the process, out of memory say, is no finding here: it is told as an error."""

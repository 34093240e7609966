"""The readers that need torch, which work in the process of the model alone."""

import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path

from opcheck.errors import TraceError
from opcheck.lang.sentence import Sentence
from opcheck.source.base import LoadOptions
from opcheck.source.inputs import InputSpec
from opcheck.source.load import load
from tests.fuzz import mutate
from tests.fuzz.foreign import spoiled_config, spoiled_export, spoiled_script, spoiled_settings
from tests.fuzz.mutate import either
from tests.fuzz.readers import Reader, program_files
from tests.hostile.corpus.configs import UNET

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


def _run(*inputs: str) -> Callable[[Path], object]:
    """Load with weights, as what computes values does, and call the model on its inputs."""

    def read(path: Path) -> object:
        given = tuple(map(InputSpec.parse, inputs))
        loaded = load(str(path), LoadOptions(given, trust=False, weights=True))
        try:
            return loaded.module(*loaded.args, **loaded.kwargs)
        except Exception as error:  # whatever a hostile model raises when it is run
            raise TraceError(
                Sentence("it does not run: {name}", name=type(error).__name__)
            ) from error

    return read


def _parent(path: Path) -> object:
    return load(str(path.parent), LoadOptions((), trust=False))


def _unets() -> Iterator[bytes]:
    yield json.dumps(UNET).encode()


def _networks() -> Iterator[bytes]:
    yield b"""\
nc: 4
activation: nn.ReLU()
scales:
  n: [0.33, 0.25, 64]
backbone:
  - [-1, 1, Conv, [16, 3, 2]]
  - [-1, 3, C2f, [16, True]]
head:
  - [-1, 1, Classify, [nc]]
"""


LOADERS = (
    Reader("TorchScript, by torch", "m.pt", _scripts,
           either(mutate.spoiled_archive(mutate.spoiled_bytes), spoiled_script, spoiled_script),
           _run("1x3")),
    Reader("exported program, by torch", "m.pt2", program_files,
           either(mutate.spoiled_archive(mutate.spoiled_json), spoiled_export, spoiled_export),
           _run()),
    Reader("config, by transformers", "config.json", _configs,
           either(mutate.spoiled_json, spoiled_config), _loaded("hf:")),
    Reader("config, by diffusers", "unet/config.json", _unets,
           either(mutate.spoiled_json, spoiled_config), _parent),
    Reader("YAML, by ultralytics", "net.yaml", _networks, spoiled_settings,
           _loaded("ultralytics:")),
)  # fmt: skip
"""An end of the process, out of memory say, is no finding here: it is told as an error."""

"""The models that are measured: ``python -m benchmarks.models FOLDER`` writes their files."""

import json
import sys
from pathlib import Path
from typing import Any

import torch

from opcheck.source.building import torchvision_operators

torchvision_operators.prepare()  # before anything here, transformers included, imports torchvision

TOKENS = 128
LLAMA_405B: dict[str, Any] = {
    "model_type": "llama",
    "architectures": ["LlamaForCausalLM"],
    "num_hidden_layers": 126,
    "hidden_size": 16384,
    "intermediate_size": 53248,
    "num_attention_heads": 128,
    "num_key_value_heads": 8,
    "vocab_size": 128256,
    "max_position_embeddings": 131072,
    "dtype": "bfloat16",
}


def llama_config(folder: Path) -> Path:
    """The folder of a config.json for Llama-3.1-405B."""
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(LLAMA_405B), encoding="utf-8")
    return folder


PACKED: dict[str, dict[str, Any]] = {
    "nf4": {"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_quant_type": "nf4"},
    "int8": {"quant_method": "bitsandbytes", "load_in_8bit": True},
    "fp8": {"quant_method": "fp8", "weight_block_size": [128, 128]},
    "gptq": {"quant_method": "gptq", "bits": 4, "group_size": 128},
    "awq": {"quant_method": "awq", "bits": 4, "group_size": 128},
}
"""Ways in which the weights of the same model are packed, as its config says them."""


def packed_configs(folder: Path) -> dict[str, Path]:
    """A folder with the config of Llama-3.1-405B for each way to pack its weights."""
    made = {}
    for name, section in PACKED.items():
        made[name] = folder / f"llama-{name}"
        made[name].mkdir()
        config = {**LLAMA_405B, "quantization_config": section}
        (made[name] / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return made


def llama_on_meta(layers: int = LLAMA_405B["num_hidden_layers"]) -> tuple[torch.nn.Module, Any]:
    """The model without memory for its weights, and its input."""
    import transformers

    fields = {k: v for k, v in LLAMA_405B.items() if k not in ("model_type", "architectures")}
    config = transformers.LlamaConfig(**{**fields, "num_hidden_layers": layers})
    with torch.device("meta"):
        model = transformers.LlamaForCausalLM(config).eval().to(torch.bfloat16)
    return model, torch.zeros(1, TOKENS, dtype=torch.int64, device="meta")


class Logits(torch.nn.Module):
    """A language model without its cache for an output, which torch.export does not take."""

    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, ids: torch.Tensor) -> Any:
        """The scores of the next token."""
        return self.model(ids).logits


def resnet50_on_meta() -> tuple[torch.nn.Module, torch.Tensor]:
    """ResNet-50 without memory for its weights, and its input."""
    with torch.device("meta"):
        return _resnet50(), torch.empty(1, 3, 224, 224)


def export_resnet50(path: Path) -> Path:
    """ResNet-50 as torch.export saves it."""
    return _save(path, _resnet50(), torch.randn(1, 3, 224, 224))


def _resnet50() -> torch.nn.Module:
    import torchvision

    model: torch.nn.Module = torchvision.models.resnet50(weights=None).eval()
    return model


def export_gpt2(path: Path) -> Path:
    """GPT-2, the small one, as torch.export saves it."""
    import transformers

    config = transformers.GPT2Config(use_cache=False)
    return _save(path, transformers.GPT2LMHeadModel(config).eval(), torch.zeros(1, 32).long())


def _save(path: Path, model: torch.nn.Module, example: torch.Tensor) -> Path:
    with torch.no_grad():
        torch.export.save(torch.export.export(model, (example,)), path)
    return path


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    llama_config(folder / "llama")
    packed_configs(folder)
    export_resnet50(folder / "resnet50.pt2")
    export_gpt2(folder / "gpt2.pt2")

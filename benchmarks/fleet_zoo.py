"""A zoo for a fleet to be measured on: models of timm, and of transformers by their configs."""

import hashlib
import json
from pathlib import Path

from benchmarks.scanned_configs import CONFIGS, Config
from opcheck.sandbox.parent.run import names_of

DEFAULTS = (
    ("AlbertForMaskedLM", "albert"),
    ("ASTForAudioClassification", "audio-spectrogram-transformer"),
    ("BartForConditionalGeneration", "bart"),
    ("BeitForImageClassification", "beit"),
    ("BlipForConditionalGeneration", "blip"),
    ("BloomForCausalLM", "bloom"),
    ("ConvNextV2ForImageClassification", "convnextv2"),
    ("DebertaV2ForMaskedLM", "deberta-v2"),
    ("DepthAnythingForDepthEstimation", "depth_anything"),
    ("DistilBertForMaskedLM", "distilbert"),
    ("DPTForDepthEstimation", "dpt"),
    ("ElectraForMaskedLM", "electra"),
    ("FalconForCausalLM", "falcon"),
    ("Gemma2ForCausalLM", "gemma2"),
    ("GPTNeoXForCausalLM", "gpt_neox"),
    ("GraniteForCausalLM", "granite"),
    ("HubertForCTC", "hubert"),
    ("LayoutLMForMaskedLM", "layoutlm"),
    ("LEDForConditionalGeneration", "led"),
    ("Mamba2ForCausalLM", "mamba2"),
    ("MobileBertForMaskedLM", "mobilebert"),
    ("MPNetForMaskedLM", "mpnet"),
    ("OlmoForCausalLM", "olmo"),
    ("OPTForCausalLM", "opt"),
    ("PegasusForConditionalGeneration", "pegasus"),
    ("Qwen2MoeForCausalLM", "qwen2_moe"),
    ("RwkvForCausalLM", "rwkv"),
    ("SegformerForSemanticSegmentation", "segformer"),
    ("SiglipModel", "siglip"),
    ("StableLmForCausalLM", "stablelm"),
    ("Starcoder2ForCausalLM", "starcoder2"),
    ("Swinv2ForImageClassification", "swinv2"),
    ("VideoMAEForVideoClassification", "videomae"),
    ("ViltForQuestionAnswering", "vilt"),
    ("YolosForObjectDetection", "yolos"),
)
"""Architecture and ``model_type`` of models that are taken with every default of their config."""


SPREAD = 300
"""Models of timm, spread over all that it has, of which fewer are drawn by a hash."""


def drawn(names: list[str], count: int) -> list[str]:
    """So many of the names: spread over all, and of ``SPREAD`` the first by a hash where fewer."""
    wide = max(count, SPREAD)
    spread = [names[at * len(names) // wide] for at in range(wide)]
    return sorted(spread, key=lambda name: hashlib.sha256(f"timm:{name}".encode()).hexdigest())[
        :count
    ]


def written(folder: Path, count: int) -> tuple[Path, int]:
    """Write a manifest of so many models of timm, and the sixty, which come first.

    Returns:
        The manifest, and how many models it names.
    """
    configs: dict[str, Config] = {
        **CONFIGS,
        **{
            f"{model_type}-default": {"architectures": [architecture], "model_type": model_type}
            for architecture, model_type in DEFAULTS
        },
    }
    for name, config in configs.items():
        (folder / "configs" / name).mkdir(parents=True, exist_ok=True)
        (folder / "configs" / name / "config.json").write_text(json.dumps(config), "utf-8")
    models = [f"timm:{name}" for name in drawn(list(names_of("timm")), count)]
    manifest = folder / "zoo.yaml"
    lines = "".join(f"- {model}\n" for model in ("hf:configs/*", *models))
    manifest.write_text(lines, "utf-8")
    return manifest, len(models) + len(configs)

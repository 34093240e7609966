"""Small configurations of real architectures, each with weights and inputs, nothing downloaded.

``ZOO[name]()`` builds one in about a second, the same values every time.
"""

from collections.abc import Callable, Mapping

from tests.zoo import diffusion, language, multimodal, speech, timm_models, vision
from tests.zoo.base import Ready, seeded, without_cache

ZOO: Mapping[str, Callable[[], Ready]] = {
    f"{room}-{name}": seeded(make)
    for room, makers in (
        ("timm", timm_models.MODELS),
        ("vision", vision.MODELS),
        ("language", language.MODELS),
        ("speech", speech.MODELS),
        ("multimodal", multimodal.MODELS),
        ("diffusion", diffusion.MODELS),
    )
    for name, make in makers.items()
}
"""Models in evaluation mode with positional and named inputs, by stable names."""

UNCACHED: Mapping[str, Callable[[], Ready]] = {
    f"{name}-uncached": without_cache(ZOO[name])
    for name in (
        *(
            f"language-{name}"
            for name in (
                "bart", "bloom", "falcon", "gemma", "gemma2", "gpt2", "llama", "mamba", "mamba2",
                "mistral", "mixtral", "opt", "phi", "qwen2", "qwen2-moe", "qwen3", "t5",
            )
        ),
        "speech-whisper",
    )
}  # fmt: skip
"""Those that give a cache beside their output, with ``"use_cache": false`` in their configs."""

TRAINABLE: tuple[str, ...] = (
    "diffusion-unet",
    "language-bart",
    "language-bert",
    "language-deberta",
    "language-gpt2",
    "language-llama",
    "language-mamba",
    "language-mixtral",
    "language-t5",
    "multimodal-clip",
    "speech-wav2vec2",
    "speech-whisper",
    "timm-convnext",
    "timm-efficientnet",
    "timm-maxvit",
    "timm-mobilenetv3",
    "timm-resnet",
    "timm-swin",
    "timm-vit",
    "vision-deeplab",
    "vision-segformer",
    "vision-yolov8n",
)
"""Those that take a training step as they are: forward in training mode, then backward."""

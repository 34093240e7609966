"""The models whose blocks are counted, each forward and some trained.

The project's own zoo, torchvision, Ultralytics, timm, and one architecture for each model type of
transformers, two layers deep. They come shuffled and in turn, so that a part of a run is
like the whole.
"""

import json
import random
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.scanned_configs import CONFIGS
from benchmarks.scanned_models import MODELS as SCANNED
from benchmarks.zoo_models import source
from opcheck.db.store import Database
from opcheck.model.request import ModelSpec, TrainingSpec
from opcheck.sandbox.parent.run import names_of

LAYERS = 2
"""So deep is a model of transformers, whose layers repeat."""
TIMM = 300
"""Spread over all that it has; the other libraries' models are taken whole."""
TRAINED = {"zoo": 1, "torchvision": 6, "ultralytics": 6, "timm": 8, "transformers": 3}
"""Library -> every so many of its models are trained as well."""
SECONDS = 240.0
"""That loading and running one may take."""
_AUTO = (
    "CAUSAL_LM", "SEQ_TO_SEQ_CAUSAL_LM", "MASKED_LM", "IMAGE_CLASSIFICATION", "CTC",
    "SPEECH_SEQ_2_SEQ", "AUDIO_CLASSIFICATION", "OBJECT_DETECTION", "SEMANTIC_SEGMENTATION",
    "DEPTH_ESTIMATION", "IMAGE_TEXT_TO_TEXT",
)  # fmt: skip
"""Of the classes that transformers has for a model type, the first of these is taken."""


class Entry(NamedTuple):
    """One model in one mode."""

    name: str
    """Of no other entry; without the folder that the model is in."""
    spec: ModelSpec


def targets() -> tuple[str, ...]:
    """Every target at its newest and at its oldest release."""
    database = Database.open()
    found: dict[str, None] = {}
    for name in database.names():
        releases = database.releases(name)
        found |= dict.fromkeys(str(target) for target in (releases[-1], releases[0]))
    return tuple(found)


def entries(folder: Path) -> tuple[Entry, ...]:
    """All of them, the libraries evenly mixed; ``folder`` is for configs."""
    placed = [
        ((at + 1) / (len(each) + 1), number, entry)
        for number, each in enumerate(_by_library(folder))
        for at, entry in enumerate(each)
    ]
    return tuple(entry for _, _, entry in sorted(placed, key=lambda one: one[:2]))


def _by_library(folder: Path) -> Iterator[Sequence[Entry]]:
    """The entries of each library, forward and trained."""
    from tests.zoo import ZOO

    timm = names_of("timm")
    libraries = {
        "zoo": [source(name) for name in ZOO],
        "torchvision": [f"torchvision:{name}" for name in names_of("torchvision")],
        "ultralytics": [f"ultralytics:{name}.yaml" for name in SCANNED["ultralytics"]],
        "timm": [f"timm:{timm[at * len(timm) // TIMM]}" for at in range(TIMM)],
        "transformers": [f"hf:{path}" for path in _configs(folder)],
    }
    for library, models in libraries.items():
        random.Random(0).shuffle(models)
        yield [Entry(_name(model), ModelSpec(model, timeout=SECONDS)) for model in models]
        trained = partial(ModelSpec, step=TrainingSpec(), timeout=SECONDS)
        each = TRAINED[library]
        yield [Entry(f"{_name(model)} trained", trained(model)) for model in models[::each]]


def _name(model: str) -> str:
    kind, _, rest = model.rpartition(":")
    if kind == "hf":
        return f"hf:{Path(rest).name}"
    return f"zoo:{rest}" if "/" in kind else model


def _configs(folder: Path) -> Iterator[Path]:
    """The folder of each config: those as published, and one of each model type."""
    made = {**CONFIGS, **dict(_of_types())}
    for name, config in sorted(made.items()):
        place = folder / "configs" / name
        place.mkdir(parents=True, exist_ok=True)
        (place / "config.json").write_text(json.dumps(config), "utf-8")
        yield place


def _of_types() -> Iterator[tuple[str, dict[str, Any]]]:
    """Model type of transformers -> a config of one of its models."""
    from transformers.models.auto import modeling_auto

    classes: dict[str, str] = {}
    for task in _AUTO:
        names = getattr(modeling_auto, f"MODEL_FOR_{task}_MAPPING_NAMES")
        for model_type, named in names.items():
            classes.setdefault(model_type, named if isinstance(named, str) else named[0])
    for model_type, name in classes.items():
        yield f"{model_type}-default", {
            "architectures": [name], "model_type": model_type, "num_hidden_layers": LAYERS,
        }  # fmt: skip

"""The models whose blocks are counted, each in several modes.

The project's own zoo, torchvision, Ultralytics, timm, and one architecture for each model type of
transformers, two layers deep and narrow: operators stay what they are. They come shuffled and in
turn, so that a part of a run is like the whole. What there is is written down once, since
libraries take a minute to tell.
"""

import json
import random
from collections.abc import Iterator
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
TIMM = 2
"""So many of each of its modules, the smallest by name; other libraries' models are taken whole."""
_SMALL = ("nano", "pico", "atto", "tiny", "xxs", "small", "_s0", "_b0", "_xs", "18", "_s_", "_t_")
FORWARD = ("", "autocast", "bfloat16", "float16")
"""Modes of a forward; "" is float32."""
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
    mode: str = ""
    """A member of ``FORWARD``; "" where the spec says all, as of a training step."""


def mode_of(name: str) -> str:
    """The mode that the name of an entry ends with."""
    return name.partition(" ")[2] or "float32"


def targets() -> tuple[str, ...]:
    """Every target at its newest and at its oldest release."""
    database = Database.open()
    found: dict[str, None] = {}
    for name in database.names():
        releases = database.releases(name)
        found |= dict.fromkeys(str(target) for target in (releases[-1], releases[0]))
    return tuple(found)


def entries(folder: Path) -> tuple[Entry, ...]:
    """All of them, the libraries evenly mixed; ``folder`` keeps the list, and configs."""
    kept = folder / "entries.json"
    if not kept.exists():
        placed = [
            ((at + 1) / (len(each) + 1), number, model, at % TRAINED[library] == 0)
            for number, (library, each) in enumerate(_libraries(folder).items())
            for at, model in enumerate(each)
        ]
        folder.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps([(model, also) for _, _, model, also in sorted(placed)]))
    found = json.loads(kept.read_text("utf-8"))
    return tuple(entry for model, also in found for entry in _of_model(model, trained=also))


def _of_model(model: str, *, trained: bool) -> Iterator[Entry]:
    name = _name(model)
    for mode in FORWARD:
        yield Entry(f"{name} {mode}".strip(), ModelSpec(model, timeout=SECONDS), mode)
    if trained:
        yield Entry(f"{name} trained", ModelSpec(model, step=TrainingSpec(), timeout=SECONDS))


def _libraries(folder: Path) -> dict[str, list[str]]:
    """The models of each library, shuffled."""
    from tests.zoo import ZOO

    libraries = {
        "zoo": [source(name) for name in ZOO],
        "torchvision": [f"torchvision:{name}" for name in names_of("torchvision")],
        "ultralytics": [f"ultralytics:{name}.yaml" for name in SCANNED["ultralytics"]],
        "timm": [f"timm:{name}" for name in _of_timm()],
        "transformers": [f"hf:{path}" for path in _configs(folder)],
    }
    for models in libraries.values():
        random.Random(0).shuffle(models)
    return libraries


def _of_timm() -> Iterator[str]:
    import timm

    for module in timm.list_modules():
        names = timm.list_models(module=module)
        names.sort(key=lambda name: (not any(part in f"{name}_" for part in _SMALL), len(name)))
        yield from names[:TIMM]


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

"""``ultralytics:yolov8n.yaml``: an ultralytics model from its YAML, without its weights."""

import difflib
import os
from pathlib import Path
from typing import Any

from opcheck.errors import SourceError
from opcheck.source import digest, ultralytics_yaml
from opcheck.source.base import Loaded, LoadOptions, Source

_PREFIX = "ultralytics:"
_SAFE_MODE = "ULTRALYTICS_SAFE_LOAD"
"""An environment variable of ultralytics."""
_SIDE = 640
_CLASSIFIED_SIDE = 224


class UltralyticsModel(Source):
    """Builds what ``ultralytics.YOLO(NAME.yaml).model`` gives."""

    name = "ultralytics"
    help = "ultralytics:NAME.yaml (a model of the package, or a file of yours)"
    libraries = ("ultralytics", "torchvision")

    @classmethod
    def claims(cls, text: str) -> bool:
        """Whether it starts with ``ultralytics:``."""
        return text.startswith(_PREFIX)

    def check(self, text: str, options: LoadOptions) -> None:
        """Refuse what is no YAML: weights would be downloaded and unpickled."""
        name = text.removeprefix(_PREFIX)
        if not name.endswith((".yaml", ".yml")) or "://" in name:
            stem = Path(name).stem or "yolov8n"
            raise SourceError(
                f"{text}: want a local YAML that describes a model",
                f"write ultralytics:{stem}.yaml; weights are not needed",
            )
        path = ultralytics_yaml.find(name)
        if path is not None:
            ultralytics_yaml.read(path, trust=options.trust)

    @classmethod
    def path(cls, text: str) -> Path | None:
        """The YAML, where it is a file of the user's."""
        path = ultralytics_yaml.find(text.removeprefix(_PREFIX))
        return None if path is None or ultralytics_yaml.is_packaged(path) else path

    def load(self, text: str, options: LoadOptions) -> Loaded:
        """Build the model of the task that the YAML's head tells; images as in training."""
        from opcheck.source.building.build import build
        from opcheck.source.building.ready import ready

        self.check(text, options)
        name = text.removeprefix(_PREFIX)
        ultralytics = _library(trust=options.trust)
        model, notes = build(
            text,
            lambda: _build(name, ultralytics, trust=options.trust),
            weights=options.weights,
        )
        inputs = _inputs(model, options)
        if isinstance(inputs[0][0], dict):
            notes = (*notes, f"trained on its own loss, of {' and '.join(inputs[0][0])}")
        return ready(
            model,
            inputs,
            options,
            kind=self.name,
            digest=digest.of_text(f"{sorted(model.yaml.items())} {ultralytics.__version__}"),
            notes=(*notes, *options.random_weights),
        )


def _library(*, trust: bool) -> Any:
    """The library, in its own safe mode: it then evaluates no activation and no other layer."""
    from opcheck.source.building.library import import_library

    given = _SAFE_MODE in os.environ
    if not (trust or given):
        os.environ[_SAFE_MODE] = "1"  # read once, as it is imported
    try:
        return import_library("ultralytics")
    finally:
        if not given:
            os.environ.pop(_SAFE_MODE, None)


def _build(name: str, ultralytics: Any, *, trust: bool) -> Any:
    """What the class that ultralytics takes for such a name would hold as its model."""
    path = ultralytics_yaml.find(name)
    if path is None:
        raise _unknown(name, ultralytics.__version__)
    from ultralytics.nn.tasks import guess_model_scale, guess_model_task
    from ultralytics.utils import DEFAULT_CFG_DICT

    content = ultralytics_yaml.read(path, trust=trust)
    content = {**content, "scale": guess_model_scale(name), "yaml_file": name}
    kind = _kind(Path(name).stem, ultralytics)
    tasks = kind.task_map.fget(None)
    fixed = "detect" if len(tasks) == 1 else None
    task = fixed or guess_model_task(content)
    model = tasks[task]["model"](content, verbose=False)
    model.args = {**DEFAULT_CFG_DICT, "model": name, "task": task}
    model.task = task
    return model


def _kind(stem: str, ultralytics: Any) -> Any:
    """The class by the name of the file, as the library goes by it."""
    if "rtdetr" in stem:
        return ultralytics.RTDETR
    if "-world" in stem:
        return ultralytics.YOLOWorld
    return ultralytics.YOLOE if "yoloe" in stem else ultralytics.YOLO


def _unknown(name: str, version: str) -> SourceError:
    folder = ultralytics_yaml.packaged()
    names = sorted(path.name for path in folder.rglob("*.yaml")) if folder else []
    near = difflib.get_close_matches(name, names, 3)
    return SourceError(
        f"ultralytics {version} has no {name!r}, nor is it a file here",
        f"did you mean {', '.join(near)}?" if near else f"its models lie in {folder}",
    )


def _inputs(model: Any, options: LoadOptions) -> Any:
    """Images, and what is to be found in them where the model's own loss is trained on."""
    from opcheck.source.building.example import example, float_dtype
    from opcheck.source.building.ultralytics_batch import batch_of

    side = _CLASSIFIED_SIDE if getattr(model, "task", "") == "classify" else _SIDE
    channels = model.yaml.get("channels") or model.yaml.get("ch") or 3
    images = example("", (options.batch, channels, side, side), float_dtype(model))
    given = options.inputs or options.calls.input_sets
    batch = batch_of(model, images) if options.own_loss and not given else None
    return (images if batch is None else batch,), {}

"""``ultralytics:yolov8n.yaml``: an ultralytics model from its YAML, without its weights."""

import difflib
from pathlib import Path
from typing import Any

from opcheck.errors import SourceError
from opcheck.source import digest
from opcheck.source.base import Loaded, LoadOptions, Source

_PREFIX = "ultralytics:"
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

    @classmethod
    def path(cls, text: str) -> Path | None:
        """The YAML, where it is a file of the user's."""
        path = Path(text.removeprefix(_PREFIX))
        return path if path.is_file() else None

    def load(self, text: str, options: LoadOptions) -> Loaded:
        """Build the model of the task that the YAML's head tells; images as in training."""
        from opcheck.source.building.build import build
        from opcheck.source.building.library import import_library
        from opcheck.source.building.ready import ready

        self.check(text, options)
        name = text.removeprefix(_PREFIX)
        ultralytics = import_library("ultralytics")
        model, notes = build(text, lambda: _build(name, ultralytics), weights=options.weights)
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


def _build(name: str, ultralytics: Any) -> Any:
    kind = ultralytics.RTDETR if "rtdetr" in Path(name).stem else ultralytics.YOLO
    try:
        return kind(name).model
    except FileNotFoundError as error:
        folder = Path(ultralytics.__file__).parent / "cfg" / "models"
        near = difflib.get_close_matches(name, sorted(p.name for p in folder.rglob("*.yaml")), 3)
        raise SourceError(
            f"ultralytics {ultralytics.__version__} has no {name!r}, nor is it a file here",
            f"did you mean {', '.join(near)}?" if near else f"its models lie in {folder}",
        ) from error


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

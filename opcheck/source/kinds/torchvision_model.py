"""``torchvision:NAME``: a torchvision model by name, without its weights."""

import difflib
import inspect
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from opcheck.errors import SourceError
from opcheck.lang.sentence import Sentence, verbatim
from opcheck.source import base
from opcheck.source.base import Loaded, LoadOptions, Source

_PREFIX = "torchvision:"
_SIDE = 224
_FRAMES = 16
_SCENE = (480, 640)
_FLOW = (520, 960)
_WARNING_BUILDERS = ("googlenet", "inception_v3")
"""They warn that they draw every weight with scipy unless told not to."""


class TorchvisionModel(Source):
    """Builds what ``torchvision.models.get_model(NAME)`` gives."""

    name = "torchvision"
    help = "torchvision:NAME (as torchvision.models.list_models() has it)"
    libraries = ("torchvision",)
    lists = True

    @classmethod
    def claims(cls, text: str) -> bool:
        """Whether it starts with ``torchvision:``."""
        return text.startswith(_PREFIX)

    @classmethod
    def path(cls, text: str) -> Path | None:
        """None: torchvision knows it by name."""
        return None

    @classmethod
    def names(cls) -> Sequence[str]:
        """Every model that can be built, quantised ones beside."""
        from opcheck.source.building import torchvision_operators
        from opcheck.source.building.failures import import_library

        torchvision_operators.prepare()
        names: list[str] = import_library("torchvision.models").list_models()
        return names

    def load(self, text: str, options: LoadOptions) -> Loaded:
        """Build the model; its task and its weights' description tell the input."""
        from opcheck.source.building.build import build
        from opcheck.source.building.failures import import_library
        from opcheck.source.building.ready import ready

        models = import_library("torchvision.models")
        version = import_library("torchvision").__version__
        name = text.removeprefix(_PREFIX)
        known = models.list_models()
        if name.lower() not in known:
            near = difflib.get_close_matches(name, known, 3)
            listed = Sentence("torchvision.models.list_models() lists them")
            hint = Sentence("did you mean {text}?", text=", ".join(near)) if near else listed
            raise SourceError(
                Sentence(
                    "torchvision {version} has no model {name}", version=version, name=repr(name)
                ),
                hint,
            )
        builder = models.get_model_builder(name)
        model, notes = build(
            verbatim(text), lambda: builder(**_without_weights(builder)), weights=options.weights
        )
        inputs = _inputs(name, builder, model, models, options)
        if "targets" in inputs[1]:
            notes = (*notes, "trained on its own loss, of two boxes in each of two images")
        return ready(
            model,
            inputs,
            options,
            kind=self.name,
            digest=base.digest_of_text(f"{text} {version}"),
            notes=(*notes, *options.random_weights),
        )


def _without_weights(builder: Any) -> dict[str, Any]:
    """Arguments that keep a builder from downloading; some would fetch a backbone's weights."""
    arguments: dict[str, Any] = {"weights": None}
    if "weights_backbone" in inspect.signature(builder).parameters:
        arguments["weights_backbone"] = None
    if builder.__name__ in _WARNING_BUILDERS:
        arguments["init_weights"] = False
    return arguments


def _inputs(name: str, builder: Any, model: Any, models: Any, options: LoadOptions) -> Any:
    """One image, clip or pair of frames, as the model's task asks; two of each to train on."""
    from opcheck.source.building.example import example
    from opcheck.source.building.training_data import targets_of

    def image(*shape: int) -> Any:
        import torch

        return example("", shape, torch.float32)

    rows, columns = _crop(name, model, models)
    batch = options.batch
    match _task(builder):
        case "detection":
            scenes = [image(3, *_SCENE) for _ in range(batch)]
            found = [targets_of(model, scene) for scene in scenes]
            return (scenes,), {"targets": found} if options.train else {}
        case "optical_flow":
            return (image(batch, 3, *_FLOW), image(batch, 3, *_FLOW)), {}
        case "video":
            return (image(batch, 3, _FRAMES, rows, columns),), {}
        case _:
            return (image(batch, 3, rows, columns),), {}


def _task(builder: Any) -> str:
    """What the model is for, as the package that it lies in says."""
    return str(builder.__module__.removeprefix("torchvision.models.").partition(".")[0])


def _crop(name: str, model: Any, models: Any) -> tuple[int, int]:
    """The image size: the model's own, else that of its published weights' preprocessing."""
    own = getattr(model, "image_size", None)
    if isinstance(own, int):
        return own, own
    published = list(models.get_model_weights(name))
    # a functools.partial with the sizes, or a bare class
    keywords = getattr(published[0].transforms, "keywords", {}) if published else {}
    size = keywords.get("crop_size") or keywords.get("resize_size") or _SIDE
    rows, columns = size if isinstance(size, tuple | list) else (size, size)
    return rows, columns

"""``ultralytics:yolov8n.yaml``: an ultralytics model from its checked YAML, without weights."""

import difflib
import os
import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from opcheck.db.files import document
from opcheck.errors import DatabaseError, SourceError
from opcheck.lang.sentence import Sentence, verbatim
from opcheck.source import base
from opcheck.source.base import Loaded, LoadOptions, Source
from opcheck.source.ultralytics_grammar import KEYS, PARTS, TORCHVISION_LAYER, Anything, Model

_HINT = Sentence(
    "write it as the models of ultralytics are written; --trust lets "
    "ultralytics evaluate the file, if you know who wrote it"
)
_SIX = re.compile(r"yolov[58][nsmlx]6")
"""An older way to write ``-p6``."""
_SIZED = re.compile(r"(\d+)([nslmx])(.+)?$")
"""A size within a name: ``yolov8n.yaml`` is in ``yolov8.yaml``."""


def packaged() -> Path | None:
    """The folder of the models that the installed package brings; None where there is none."""
    spec = find_spec("ultralytics")
    return Path(spec.origin).parent / "cfg" / "models" if spec and spec.origin else None


def find(name: str) -> Path | None:
    """The file that the library would read for ``name``: the user's own, then the package's."""
    for wanted in _spellings(name):
        path = Path(wanted)
        if path.is_file():
            return path
        for own in sorted(folder.rglob("*.y*ml")) if (folder := packaged()) else ():
            if own.parts[-len(path.parts) :] == path.parts:
                return own
    return None


def is_packaged(path: Path) -> bool:
    """Whether a file is the package's own, which is code as much as the library is."""
    folder = packaged()
    return folder is not None and folder.resolve() in path.resolve().parents


def read(path: Path, *, trust: bool = False) -> dict[str, Any]:
    """The keys of a YAML that ultralytics reads, nothing in them left to evaluate but literals.

    Of the package's own files a layer may have a name that this release does not know; with
    ``trust``, anything may stand in a file.

    Raises:
        SourceError: it cannot be read, or has what ultralytics could be made to run.
    """
    shape = Anything() if trust else Model(known_layers=not is_packaged(path))
    try:
        data = document.read(path, shape, hint=_HINT).data
    except DatabaseError as error:
        raise SourceError(error.message, error.hint) from error
    if trust:
        return data
    rows = {part: [_without_weights(row) for row in data[part]] for part in PARTS}
    # the library reads the text as no value, as people write it
    return {key: None if data[key] == "None" else data[key] for key in KEYS if key in data} | rows


def _without_weights(row: list[Any]) -> list[Any]:
    """The row of a layer; a model of torchvision in it is made without pretrained weights."""
    if row[2] != TORCHVISION_LAYER:
        return row
    width, name, *others = row[3]
    return [*row[:3], [width, name, None, *others[1:]]]


def _spellings(name: str) -> Iterator[str]:
    """A name as it stands, and without the size in it, as ultralytics looks for both."""
    path = Path(name)
    if _SIX.fullmatch(path.stem):
        path = path.with_name(f"{path.stem[:-1]}-p6{path.suffix}")
    for wanted in (str(path), _SIZED.sub(r"\1\3", str(path))):
        legacy = "yolov3" in wanted or "yolov5" in wanted
        yield wanted.replace("u.yaml", ".yaml") if legacy else wanted


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
                Sentence("{text}: want a local YAML that describes a model", text=text),
                Sentence("write ultralytics:{stem}.yaml; weights are not needed", stem=stem),
            )
        path = find(name)
        if path is not None:
            read(path, trust=options.trust)

    @classmethod
    def path(cls, text: str) -> Path | None:
        """The YAML, where it is a file of the user's."""
        path = find(text.removeprefix(_PREFIX))
        return None if path is None or is_packaged(path) else path

    def load(self, text: str, options: LoadOptions) -> Loaded:
        """Build the model of the task that the YAML's head tells; images as in training."""
        from opcheck.source.building.build import build
        from opcheck.source.building.ready import ready

        self.check(text, options)
        name = text.removeprefix(_PREFIX)
        ultralytics = _library(trust=options.trust)
        model, notes = build(
            verbatim(text),
            lambda: _build(name, ultralytics, trust=options.trust),
            weights=options.weights,
        )
        inputs = _inputs(model, options)
        if isinstance(inputs[0][0], dict):
            notes = (
                *notes,
                Sentence(
                    "trained on its own loss, of {list_parts}",
                    list_parts=" and ".join(inputs[0][0]),
                ),
            )
        return ready(
            model,
            inputs,
            options,
            kind=self.name,
            digest=base.digest_of_text(f"{sorted(model.yaml.items())} {ultralytics.__version__}"),
            notes=(*notes, *options.random_weights),
        )


def _library(*, trust: bool) -> Any:
    """The library, in its own safe mode: it then evaluates no activation and no other layer."""
    from opcheck.source.building.failures import import_library

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
    path = find(name)
    if path is None:
        raise _unknown(name, ultralytics.__version__)
    from ultralytics.nn.tasks import guess_model_scale, guess_model_task
    from ultralytics.utils import DEFAULT_CFG_DICT

    content = read(path, trust=trust)
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
    folder = packaged()
    names = sorted(path.name for path in folder.rglob("*.yaml")) if folder else []
    near = difflib.get_close_matches(name, names, 3)
    return SourceError(
        Sentence(
            "ultralytics {version} has no {text}, nor is it a file here",
            version=version,
            text=repr(name),
        ),
        Sentence("did you mean {text}?", text=", ".join(near))
        if near
        else Sentence("its models lie in {text}", text=folder),
    )


def _inputs(model: Any, options: LoadOptions) -> Any:
    """Images, and what is to be found in them where the model's own loss is trained on."""
    from opcheck.source.building.example import example, float_dtype
    from opcheck.source.building.training_data import batch_of

    side = _CLASSIFIED_SIDE if getattr(model, "task", "") == "classify" else _SIDE
    channels = model.yaml.get("channels") or model.yaml.get("ch") or 3
    images = example("", (options.batch, channels, side, side), float_dtype(model))
    given = options.inputs or options.calls.input_sets
    batch = batch_of(model, images) if options.own_loss and not given else None
    return (images if batch is None else batch,), {}

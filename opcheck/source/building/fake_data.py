"""Data sets of torchvision that are not here: random images of their shapes stand for them.

The attributes that a data set keeps are filled in, so that its own methods, and those of classes
derived from it, find what they look for. Checked on torchvision 0.28.
"""

from collections.abc import Callable, Mapping
from functools import wraps
from inspect import signature
from types import ModuleType
from typing import Any

from opcheck.lang.sentence import Sentence
from opcheck.source.building.after_import import after_import, replace_once

_CLASSES = 10
_FOLDER_IMAGES = 1_000
_PHOTOGRAPH = (375, 500)
"""Height and width of images whose data set has them in many sizes."""
_OTHERS = (
    *("Caltech101", "Caltech256", "DTD", "FGVCAircraft", "Flowers102", "Food101", "GTSRB"),
    *("Imagenette", "OxfordIIITPet", "PCAM", "StanfordCars", "SUN397"),
)
"""Data sets that open one file for each image, and give it with the number of its class."""
Fill = Callable[[Any, bool], None]
_wanted: dict[str, bool] = {}
"""Data sets that were not here, by the names of their classes; whether others stand for them."""


def prepare(*, fake: bool) -> None:
    """Have data sets that are not here be noted; for a process of a model's own.

    Args:
        fake: whether random images stand for them.
    """

    def change(module: ModuleType) -> None:
        for base, fill in _fills().items():
            for owner in vars(module).values():
                if isinstance(owner, type) and issubclass(owner, getattr(module, base)):
                    _change(owner, module.VisionDataset, fill, fake=fake)

    after_import("torchvision.datasets", change)


def notes() -> tuple[str, ...]:
    """What is to be said of data sets that were not here."""
    stands = "the data set {name} is not here: random images stand for it"
    absent = "the data set {name} is not here; with --data fake random images stand for it"
    return tuple(Sentence(stands if fake else absent, name=name) for name, fake in _wanted.items())


def _change(owner: type, base: Any, fill: Fill, *, fake: bool) -> None:
    def made(original: Any) -> Any:
        takes = signature(original)

        @wraps(original)
        def initialise(self: Any, *args: Any, **kwargs: Any) -> None:
            try:
                original(self, *args, **kwargs)
            except (OSError, RuntimeError):
                _wanted[type(self).__name__] = fake
                if not fake:
                    raise
                given = _given(takes.bind(self, *args, **kwargs).arguments)
                names = ("root", "transforms", "transform", "target_transform")
                base.__init__(self, **{name: given[name] for name in names if name in given})
                fill(self, bool(given.get("train", given.get("split", "train") == "train")))

        return initialise

    replace_once(owner, "__init__", made)


def _given(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments by their names, those that a function hands on with the others."""
    return {**arguments, **arguments.get("kwargs", {})}


def _fills() -> dict[str, Fill]:
    """How each kind of data set is filled, by the class that it derives from."""
    return {
        "MNIST": _fill_mnist,
        "CIFAR10": _fill_cifar,
        "SVHN": _fill_labelled(32),
        "STL10": _fill_labelled(96),
        "DatasetFolder": _fill_folder,
        **dict.fromkeys(_OTHERS, _fill_other),
    }


def _bytes(*shape: int) -> Any:
    """Random bytes of this shape, the same ones each time."""
    import numpy as np

    return np.random.default_rng(0).integers(0, 256, shape, np.uint8)


def _labels(count: int, classes: int = _CLASSES) -> list[int]:
    return [index % classes for index in range(count)]


def _fill_mnist(dataset: Any, train: bool) -> None:
    import torch

    count = 60_000 if train else 10_000
    dataset.train = train
    dataset.data = torch.from_numpy(_bytes(count, 28, 28))
    dataset.targets = torch.tensor(_labels(count))


def _fill_cifar(dataset: Any, train: bool) -> None:
    count = 50_000 if train else 10_000
    dataset.train = train
    dataset.data = _bytes(count, 32, 32, 3)
    _name_classes(dataset, 100 if "100" in type(dataset).__name__ else _CLASSES)
    dataset.targets = _labels(count, len(dataset.classes))


def _fill_labelled(size: int) -> Fill:
    def fill(dataset: Any, _: bool) -> None:
        import numpy as np

        count = 5_000
        dataset.data = _bytes(count, 3, size, size)
        dataset.labels = np.array(_labels(count))

    return fill


def _fill_folder(dataset: Any, _: bool) -> None:
    _name_classes(dataset, _CLASSES)
    dataset.loader = _photograph
    dataset.targets = _labels(_FOLDER_IMAGES)
    names = (f"{index}.jpg" for index in range(_FOLDER_IMAGES))
    dataset.samples = dataset.imgs = list(zip(names, dataset.targets, strict=True))


def _fill_other(dataset: Any, _: bool) -> None:
    _name_classes(dataset, _CLASSES)
    kind = type(dataset)
    methods = {"__getitem__": _item, "__len__": lambda _: _FOLDER_IMAGES}
    dataset.__class__ = type(kind.__name__, (kind,), methods)


def _item(dataset: Any, index: int) -> tuple[Any, Any]:
    if not 0 <= index < _FOLDER_IMAGES:
        raise IndexError(index)
    image, label = _photograph(""), index % _CLASSES
    return (image, label) if dataset.transforms is None else dataset.transforms(image, label)


def _photograph(_: str) -> Any:
    from PIL import Image

    return Image.fromarray(_bytes(*_PHOTOGRAPH, 3))


def _name_classes(dataset: Any, count: int) -> None:
    dataset.classes = [str(index) for index in range(count)]
    dataset.class_to_idx = {name: index for index, name in enumerate(dataset.classes)}

"""What a text that is no model source was probably meant as, for the error to say it."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

from opcheck.lang.sentence import Sentence

_ADDRESS = re.compile(r"\w+://.+")
_HUB = re.compile(r"[\w-][\w.-]*/[\w-][\w.-]*")
"""``organisation/name``, as models are called on a hub; libraries have no hyphen in a name."""
_WORD = re.compile(r"[\w.-]+")
_YOLO = re.compile(r"(?P<name>yolo(?:v?\d+)[\w-]*)(?:\.pt|\.yaml)?")
"""A model of Ultralytics, whose weights are fetched by that name."""
_LIBRARIES = ("torchvision", "timm", "ultralytics", "hf")
"""Kinds of source that a name follows."""
_FILES = (
    *(".py", ".ipynb", ".pt", ".pth", ".pt2", ".ckpt", ".bin", ".safetensors", ".onnx", ".gguf"),
    *(".json", ".yaml", ".yml", ".toml", ".csv", ".txt"),
)


def meant(text: str) -> Sentence | None:
    """What to write instead; None where nothing suggests itself."""
    if found := next(_in_files(text), None):
        return Sentence("did you mean {text}?", text=found)
    if os.path.exists(text):
        return None
    if _ADDRESS.fullmatch(text):
        return Sentence("nothing is downloaded: fetch the model's files, and name one of them")
    library, _, name = text.rpartition(".")
    if library in ("torchvision.models", "timm.models", "timm"):
        return Sentence("did you mean {text}?", text=f"{library.partition('.')[0]}:{name}")
    if yolo := _YOLO.fullmatch(text):
        return Sentence("did you mean {text}?", text=f"ultralytics:{yolo['name']}.yaml")
    if text.endswith(_FILES):
        return None
    if _HUB.fullmatch(text) or ("-" in text and _WORD.fullmatch(text)):
        return Sentence(
            "nothing is downloaded: fetch the model's config.json, as by hf download {text} "
            "config.json, and give hf:path/to/config.json",
            text=text,
        )
    if text.rstrip(":") in _LIBRARIES:
        return Sentence("a model of it is named behind a colon: {text}:NAME", text=text.rstrip(":"))
    if _WORD.fullmatch(text):
        return Sentence(
            "a model of a library is named with it, as in torchvision:{text} or timm:{text}, and "
            "one of transformers by the path of its config.json; opcheck scan --help has all forms",
            text=text,
        )
    return Sentence("check the path") if "/" in text else None


def _in_files(text: str) -> Iterator[str]:
    """``FILE.py:NAME`` for what names a Python file that is there in another way.

    No file has some names, which ``os.path`` takes for that.
    """
    path, _, name = text.partition(":")
    name = name.lstrip(":")
    if path.endswith(".py"):  # FILE.py::NAME, as pytest writes it
        if "::" in text and os.path.isfile(path):
            yield f"{path}:{name}"
        return
    if os.path.isfile(f"{path}.py"):
        yield f"{path}.py:{name or 'NAME'}"
    *parents, last = path.split(".")
    file = Path(*parents, f"{last}.py") if last else Path()
    if parents and os.path.isfile(file):  # package.module:NAME
        yield f"{file.as_posix()}:{name or 'NAME'}"
    file = Path(*parents[:-1], f"{parents[-1]}.py") if all(parents) and parents else Path()
    if not name and os.path.isfile(file):  # package.module.NAME
        yield f"{file.as_posix()}:{last}"

"""Import a model library, or say how to get it."""

import importlib
from typing import Any

from opcheck.errors import SourceError
from opcheck.source.building.blame import brief


def import_library(name: str) -> Any:
    """Give the module ``name``; SourceError naming the extra that brings it where it is missing."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name.partition(".")[0]:
            raise SourceError(f"{name} cannot be imported: it needs {error.name!r}") from error
        raise SourceError(
            f"{name.partition('.')[0]} is not installed",
            "pip install 'opcheck[models]' brings transformers, diffusers, timm, torchvision and "
            "ultralytics",
        ) from error
    except Exception as error:  # a library beside an incompatible torch raises anything
        raise SourceError(
            f"{name} cannot be imported beside this torch: {brief(error)}",
            "install versions of the two that belong together",
        ) from error

"""Patches of models - Python files whose ``patch`` is given a model once it is loaded."""

import importlib.util
import sys
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from pathlib import Path
from typing import Any

from opcheck.errors import SourceError
from opcheck.lang.sentence import Sentence
from opcheck.model.jobs import LayerClass
from opcheck.source.user_code import is_users


def patched(model: Callable[..., Any], files: Sequence[str]) -> Callable[..., Any]:
    """The model after each file's ``patch``.

    Raises:
        SourceError: a file fails, or the model is no module that has layers.
    """
    for number, path in enumerate(files):
        try:
            spec = importlib.util.spec_from_file_location(f"opcheck_patch_{number}", Path(path))
            assert spec is not None
            assert spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            model = module.patch(model)
        except Exception as error:  # code that was written for other versions
            raise SourceError(
                Sentence("{text}: the patch fails: {text_why}", text=path, text_why=_brief(error)),
                Sentence("write it anew with opcheck fix --patch"),
            ) from error
    return model


def _brief(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


def classes_at(
    model: Callable[..., Any], paths: Sequence[str]
) -> dict[str, tuple[LayerClass, ...]]:
    """The classes of a model's layers by their path, layer numbers as ``*``."""
    wanted = dict.fromkeys(paths)
    found: dict[str, dict[LayerClass, None]] = {}
    for path, layer in getattr(model, "named_modules", dict[str, Any]().items)():
        place = ".".join("*" if part.isdigit() else part for part in path.split("."))
        if place in wanted:
            found.setdefault(place, {})[_class_of(type(layer))] = None
    return {place: tuple(found[place]) for place in sorted(found)}


def _class_of(kind: type) -> LayerClass:
    package = kind.__module__.partition(".")[0]
    distribution = next(iter(packages_distributions().get(package, [])), "")
    try:
        number = version(distribution) if distribution else ""
    except PackageNotFoundError:
        number = ""
    return LayerClass(
        kind.__module__, kind.__qualname__, distribution, number, users=_is_users(kind)
    )


def _is_users(kind: type) -> bool:
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    return file is None or is_users(file)

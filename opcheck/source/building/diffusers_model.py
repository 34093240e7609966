"""One model of a diffusers pipeline, built from its config."""

import difflib
from functools import partial
from pathlib import Path
from typing import Any

from torch import nn

from opcheck.errors import SourceError
from opcheck.source.base import Loaded, LoadOptions
from opcheck.source.building.build import build
from opcheck.source.building.diffusers_inputs import inputs_of
from opcheck.source.building.hf_model import model_of
from opcheck.source.building.library import import_library
from opcheck.source.building.ready import ready
from opcheck.source.config_values import checked
from opcheck.source.model_folder import CLASS, read_config
from opcheck.source.quantised import quantised_weights

_WEIGHTS = "diffusion_pytorch_model*.safetensors"


class _Uncalled(nn.Module):
    """Stands for a part that could not be called, so that its gap is in the report."""

    def __init__(self, reason: str) -> None:
        super().__init__()
        self._reason = reason

    def forward(self) -> None:
        raise RuntimeError(f"not called: {self._reason}")


def uncalled_part(error: SourceError, kind: str, digest: str) -> Loaded:
    """What stands for a part that could not be built or called."""
    return Loaded(_Uncalled(error.message), (), {}, kind, digest)


def loaded_part(path: Path, options: LoadOptions, kind: str, digest: str) -> Loaded:
    """The model of a config, ready to be called.

    Raises:
        SourceError: no class fits the config, it cannot be built, or its inputs cannot be told.
    """
    config = read_config(path)
    unseen = quantised_weights(path, config)
    if "model_type" in config:  # of transformers
        model, notes = model_of(path, options)
        return ready(model, None, options, kind=kind, digest=digest, notes=notes, unseen=unseen)
    diffusers = import_library("diffusers")
    diffusers.utils.logging.set_verbosity_error()
    chosen = _class(diffusers, path, config.get(CLASS))
    content = dict(config) if options.trust else checked(path, config)
    built = partial(chosen.from_config, content)
    stored = partial(chosen.from_pretrained, str(path.parent), local_files_only=True)
    beside = options.weights and any(path.parent.glob(_WEIGHTS))
    model, notes = build(
        f"the model of {path}",
        built,
        weights=options.weights,
        stored=stored if beside else None,
    )
    inputs, said = inputs_of(model, frozenset(s.name for s in options.inputs))
    random = () if beside else options.random_weights
    notes = (*notes, *random, *said)
    return ready(model, inputs, options, kind=kind, digest=digest, notes=notes, unseen=unseen)


def _class(diffusers: Any, path: Path, name: Any) -> Any:
    found = getattr(diffusers, name, None) if isinstance(name, str) else None
    if isinstance(found, type) and issubclass(found, nn.Module):
        return found
    near = difflib.get_close_matches(str(name), [n for n in dir(diffusers) if n[0].isupper()], 3)
    raise SourceError(
        f"{path}: diffusers {diffusers.__version__} has no model {name!r}",
        f"did you mean {', '.join(near)}?" if near else "a newer diffusers may know it",
    )

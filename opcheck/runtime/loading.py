"""What an Inferencer is given, as a module: a live one, a factory, or whatever a scan takes."""

import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from msgspec import Struct
from torch import Tensor, nn

from opcheck.errors import SourceError, UsageError
from opcheck.rewrite.saved_program import saved_program
from opcheck.source.base import RANDOM_WEIGHTS, LoadOptions
from opcheck.source.load import load

if TYPE_CHECKING:
    from torch.export import ExportedProgram

_WANTED = "give a torch.nn.Module, a function that makes one, or a model as opcheck scan takes it"


class Given(Struct, frozen=True):
    """A model, and whose it is."""

    module: nn.Module | None
    program: "ExportedProgram | None" = None
    """Read from a file, instead of a module: it becomes one on its device."""
    ours: bool = False
    """Whether it was made here, so that nobody else has a use for it."""

    @property
    def weights(self) -> tuple[Tensor, ...]:
        """Its parameters."""
        if self.module is not None:
            return tuple(self.module.parameters())
        return tuple(self.program.parameters()) if self.program is not None else ()


def program_on(program: "ExportedProgram", device: torch.device) -> nn.Module:
    """An exported program as a module whose weights are on a device."""
    from torch.export.passes import move_to_device_pass

    made: Any = move_to_device_pass(program, device).module()
    assert isinstance(made, nn.Module), "an exported program gives one"
    return made


def given(model: Any, *, trust: bool) -> Given:
    """Read what was given.

    Raises:
        UsageError: it is no model, and nothing that makes one.
        SourceError: a file that cannot be read.
    """
    if isinstance(model, nn.Module):
        return Given(model)
    if isinstance(model, (str, Path)):
        if Path(model).suffix == ".pt2":
            return Given(None, _program(Path(model), trust), ours=True)
        return Given(_module(str(model), trust), ours=True)
    if not callable(model):
        raise UsageError(f"not a model: {type(model).__name__}", _WANTED)
    made = model()
    if not isinstance(made, nn.Module):
        raise UsageError(f"{model!r} gives no model but a {type(made).__name__}", _WANTED)
    return Given(made, ours=True)


def _program(path: Path, trust: bool) -> "ExportedProgram":
    if not os.path.isfile(path):
        raise SourceError(f"there is no file {path}", _WANTED)
    return saved_program(path, trust=trust)


def _module(text: str, trust: bool) -> nn.Module:
    """The module of any other source, with its weights."""
    loaded = load(text, LoadOptions(trust=trust, weights=True, uncalled=True))
    if not isinstance(loaded.module, nn.Module):
        raise UsageError(
            f"{text} is no torch.nn.Module but a {loaded.kind} that is called", _WANTED
        )
    if RANDOM_WEIGHTS in loaded.notes:
        warnings.warn(f"{text}: {RANDOM_WEIGHTS}", RuntimeWarning, stacklevel=4)
    return loaded.module

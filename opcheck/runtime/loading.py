"""What an Inferencer is given, as a module: a live one, a factory, or a file of torch.export."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from opcheck.errors import SourceError, UsageError
from opcheck.rewrite.saved_program import saved_program

if TYPE_CHECKING:
    from torch.export import ExportedProgram

_WANTED = "give a torch.nn.Module, a function that makes one, or the path of a .pt2 file"


@dataclass(frozen=True, slots=True)
class Given:
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
        return Given(None, _program(Path(model), trust), ours=True)
    if not callable(model):
        raise UsageError(f"not a model: {type(model).__name__}", _WANTED)
    made = model()
    if not isinstance(made, nn.Module):
        raise UsageError(f"{model!r} gives no model but a {type(made).__name__}", _WANTED)
    return Given(made, ours=True)


def _program(path: Path, trust: bool) -> "ExportedProgram":
    if path.suffix != ".pt2":
        raise UsageError(
            f"{path} is no .pt2 file",
            "save the model with torch.export.save, or give a function that builds it",
        )
    if not path.is_file():
        raise SourceError(f"there is no file {path}", _WANTED)
    return saved_program(path, trust=trust)

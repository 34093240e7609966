"""What an Inferencer is given, as a module: a live one, a factory, or a file of torch.export."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from opcheck.errors import UsageError
from opcheck.rewrite.saved_program import saved_program
from opcheck.runtime.precision import narrow_dtype

if TYPE_CHECKING:
    from torch.export import ExportedProgram

_WANTED = "give a torch.nn.Module, a function that makes one, or the path of a .pt2 file"


@dataclass(frozen=True, slots=True)
class Given:
    """A model, and whose it is."""

    module: nn.Module | None
    program: "ExportedProgram | None" = None
    """Instead of a module: it becomes one on its device."""
    ours: bool = False
    """Whether it was made here, so that nobody else has a use for it."""

    def on(self, device: torch.device) -> nn.Module:
        """The model in evaluation mode, its weights on a device."""
        if self.module is not None:
            return self.module.eval().to(device)
        assert self.program is not None, "one of the two is there"
        from torch.export.passes import move_to_device_pass

        made: Callable[..., Any] = move_to_device_pass(self.program, device).module()
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
    if isinstance(model, torch.export.ExportedProgram):
        return Given(None, model)
    if isinstance(model, (str, Path)):
        return Given(None, _program(Path(model), trust), ours=True)
    if not callable(model):
        raise UsageError(f"not a model: {type(model).__name__}", _WANTED)
    made = model()
    if not isinstance(made, nn.Module):
        raise UsageError(f"{model!r} gives no model but a {type(made).__name__}", _WANTED)
    return Given(made, ours=True)


def restorer(model: Given) -> Callable[[], None]:
    """What gives the caller's module back as it is now: its device, its dtype, its modes."""
    module = model.module
    if module is None or model.ours:
        return lambda: None
    modes = [(part, part.training) for part in module.modules()]
    first = next(iter([*module.parameters(), *module.buffers()]), None)
    device = None if first is None else first.device
    narrow = narrow_dtype(module)

    def restored() -> None:
        module.to(device=device, dtype=narrow)
        for part, training in modes:
            part.training = training

    return restored


def _program(path: Path, trust: bool) -> "ExportedProgram":
    if path.suffix != ".pt2":
        raise UsageError(
            f"{path} is no .pt2 file",
            "save the model with torch.export.save, or give a function that builds it",
        )
    return saved_program(path, trust=trust)

"""The module that an Inferencer is given, and its tensors put on the device for a while."""

import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from msgspec import Struct
from torch import Tensor, nn

from opcheck.errors import SourceError, UsageError
from opcheck.lang.sentence import Sentence
from opcheck.runtime.precision import HALVES
from opcheck.source.base import RANDOM_WEIGHTS, LoadOptions
from opcheck.source.building.pt2.program import saved_program
from opcheck.source.load import load

if TYPE_CHECKING:
    from torch.export import ExportedProgram


class Placing:
    """Puts a module on a device and in evaluation mode, and takes it back.

    ``Module.to`` would not do: a PrivateUse1 device gets new parameters, so what was tied is not
    any more, and an optimizer that holds the old ones is left with them.
    """

    def __init__(self, module: nn.Module) -> None:
        self._module = module
        self._modes = [(part, part.training) for part in module.modules()]
        self._own = list(_tensors(module))

    def put(self, device: torch.device, *, widened: bool = False) -> nn.Module:
        """Give the module, on ``device``; ``widened``: what is in 16 bits is in float32 there."""
        moved: dict[int, Tensor] = {}
        for part, name, tensor in self._own:
            if id(tensor) not in moved:
                dtype = torch.float32 if widened and tensor.dtype in HALVES else tensor.dtype
                moved[id(tensor)] = _like(tensor, tensor.to(device, dtype))
            setattr(part, name, moved[id(tensor)])
        _flatten(self._module)
        try:
            return self._module.eval()
        except NotImplementedError:  # of torch.export: its modes were settled by the export
            return self._module

    def forget(self) -> None:
        """Let the tensors that were there before go: nobody wants them back."""
        self._own, self._modes = [], []

    def back(self) -> None:
        """Put the module's own tensors back, and its modes."""
        for part, name, tensor in self._own:
            setattr(part, name, tensor)
        for part, training in self._modes:
            part.training = training
        if self._own:
            _flatten(self._module)
        self.forget()


def _tensors(module: nn.Module) -> Iterator[tuple[nn.Module, str, Tensor]]:
    """Every parameter and buffer with its owner; what is shared, as often as it is."""
    for part in module.modules():
        for table in (part._parameters, part._buffers):
            for name, tensor in table.items():
                if tensor is not None:
                    yield part, name, tensor


def _like(own: Tensor, moved: Tensor) -> Tensor:
    """A parameter for a parameter."""
    if isinstance(own, nn.Parameter) and not isinstance(moved, nn.Parameter):
        return nn.Parameter(moved.detach(), own.requires_grad)
    return moved


def _flatten(module: nn.Module) -> None:
    """Lay the weights of recurrent layers out as their kernels want them."""
    for part in module.modules():
        if isinstance(part, nn.RNNBase):
            part.flatten_parameters()


_WANTED = Sentence(
    "give a torch.nn.Module, a function that makes one, or a model as opcheck scan takes it"
)


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
        raise UsageError(Sentence("not a model: {text}", text=type(model).__name__), _WANTED)
    made = model()
    if not isinstance(made, nn.Module):
        raise UsageError(
            Sentence(
                "{text} gives no model but a {type}", text=repr(model), type=type(made).__name__
            ),
            _WANTED,
        )
    return Given(made, ours=True)


def _program(path: Path, trust: bool) -> "ExportedProgram":
    if not os.path.isfile(path):
        raise SourceError(Sentence("there is no file {text}", text=path), _WANTED)
    return saved_program(path, trust=trust)


def _module(text: str, trust: bool) -> nn.Module:
    """The module of any other source, with its weights."""
    loaded = load(text, LoadOptions(trust=trust, weights=True, uncalled=True))
    if not isinstance(loaded.module, nn.Module):
        raise UsageError(
            Sentence(
                "{text} is no torch.nn.Module but a {text_kind} that is called",
                text=text,
                text_kind=loaded.kind,
            ),
            _WANTED,
        )
    if RANDOM_WEIGHTS in loaded.notes:
        warnings.warn(f"{text}: {RANDOM_WEIGHTS}", RuntimeWarning, stacklevel=4)
    return loaded.module

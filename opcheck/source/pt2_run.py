"""The source kind ``model.pt2``: an exported program made runnable, for when a trace is needed."""

from pathlib import Path
from typing import Any

from opcheck.model.trace import TensorMeta
from opcheck.source.base import Loaded, LoadOptions, Source
from opcheck.source.pt2_file import ProgramFile, damaged, read_program
from opcheck.source.pt2_graph import places_of, size_ranges
from opcheck.source.pt2_symbols import Sizes
from opcheck.source.pt2_values import GraphValues, Surprises


class ExportedProgram(Source):
    """Runs the graph of a file that torch.export.save wrote; nothing is unpickled."""

    name = "pt2"
    help = "model.pt2 (torch.export)"

    @classmethod
    def claims(cls, text: str) -> bool:
        """Whether the name ends in ``.pt2``."""
        return Path(text).suffix == ".pt2"

    def check(self, text: str, options: LoadOptions) -> None:
        """Find what is wrong with the file before a process is started for it."""
        read_program(Path(text))

    def load(self, text: str, options: LoadOptions) -> Loaded:
        """Make the graph a module without weights, and inputs as it was exported with."""
        program = read_program(Path(text))
        try:
            return _load(program, options)
        except (KeyError, TypeError, AttributeError, ValueError, SyntaxError) as error:
            raise damaged(program.path, program.member, f"cannot be run ({error})") from error


def _load(program: ProgramFile, options: LoadOptions) -> Loaded:
    from opcheck.source.building.pt2_model import ExportedModel
    from opcheck.source.building.ready import ready
    from opcheck.source.building.signature import Signature

    module = program.document["graph_module"]
    sizes = Sizes(size_ranges(program.document))
    values = GraphValues(module["graph"], sizes, Surprises())
    model = ExportedModel(module, values, places_of(module["graph"]))
    names = tuple(model.user_inputs)
    args = tuple(
        _input(name, values.read(argument)) for name, argument in model.user_inputs.items()
    )
    notes = (*program.notes, *sizes.notes())
    if model.operators.declared:
        absent = ", ".join(model.operators.declared)
        notes = (*notes, f"declared from the file, since no library here has them: {absent}")
    return ready(
        model,
        (args, {}),
        options,
        kind=ExportedProgram.name,
        digest=program.digest,
        notes=notes,
        signature=Signature(names, names),
    )


def _input(name: str, value: Any) -> Any:
    """One input of the call; a tensor gets the strides that it was exported with."""
    from opcheck.source.building.example import example

    if not isinstance(value, TensorMeta):
        return value
    import torch

    made = example(name, value.shape, getattr(torch, value.dtype))
    if made.stride() == value.stride:
        return made
    laid_out = torch.empty_strided(value.shape, value.stride, dtype=made.dtype, device=made.device)
    return laid_out.copy_(made)

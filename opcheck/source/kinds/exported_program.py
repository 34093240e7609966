"""``model.pt2``: an exported program made runnable, for when a trace is needed."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from opcheck.errors import SourceError, UsageError, out_of_memory
from opcheck.lang.sentence import Sentence
from opcheck.model.request import CallSpec
from opcheck.model.trace import TensorMeta
from opcheck.source.base import Loaded, LoadOptions, Source
from opcheck.source.pt2.check import DAMAGED, check_program
from opcheck.source.pt2.file import ProgramFile, damaged, read_program
from opcheck.source.pt2.graph import places_of
from opcheck.source.pt2.symbols import Sizes, size_ranges
from opcheck.source.pt2.values import GraphValues, Surprises, all_graphs

if TYPE_CHECKING:
    from opcheck.source.building.example import Inputs
    from opcheck.source.building.pt2.model import ExportedModel


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
        if options.train:
            raise UsageError(
                Sentence(
                    "{text}: an exported program has no training mode, it is a forward alone",
                    text=text,
                ),
                Sentence("scan the Python that it was exported from: path/to/file.py:NAME --train"),
            )
        if options.calls.decode:
            raise UsageError(
                Sentence(
                    "{text_file}: an exported program has one call, so no step of decoding follows",
                    text_file=text,
                ),
                Sentence("scan the program that was exported of that step"),
            )
        read_program(Path(text))

    def load(self, text: str, options: LoadOptions) -> Loaded:
        """Make the graph a module, and inputs as it was exported with."""
        from opcheck.source.building.build import shed_values
        from opcheck.source.building.example import Signature, override

        program = read_program(Path(text))
        model, args, notes = read_model(program)
        names = tuple(model.user_inputs)
        signature = Signature(names, names)
        if options.calls.input_sets:
            return self._on_sets(model, names, program, notes, options)
        if options.weights:
            from opcheck.source.building.example import valued
            from opcheck.source.building.pt2.model import restore, sample_inputs

            notes = (*notes, *restore(model, program))
            args = _with_values(args, sample_inputs(program))
            args, kwargs = valued(override((args, {}), options.inputs, signature), signature)
        else:
            args, kwargs = shed_values(override((args, {}), options.inputs, signature))
        return Loaded(model.eval(), args, kwargs, self.name, program.digest, notes)

    def _on_sets(
        self,
        model: "ExportedModel",
        names: tuple[str, ...],
        program: ProgramFile,
        notes: tuple[str, ...],
        options: LoadOptions,
    ) -> Loaded:
        """Call the program on the user's sets of inputs, each flattened as at the export."""
        from torch.utils._pytree import tree_leaves  # private; checked with torch 2.13

        from opcheck.source.building.ready import ready
        from opcheck.source.building.several import sets_named

        if options.weights:
            from opcheck.source.building.pt2.model import restore

            notes = (*notes, *restore(model, program))
        text = options.calls.input_sets
        given = sets_named(text, values=options.weights)
        sets: list[Inputs] = [(tuple(tree_leaves(one)), {}) for one in given]
        wrong = next((args for args, _ in sets if len(args) != len(names)), None)
        if wrong is not None:
            raise SourceError(
                Sentence(
                    "{text} gives {count} inputs, and {text_file} takes {count_taken}",
                    text=text,
                    count=len(wrong),
                    text_file=program.path,
                    count_taken=len(names),
                ),
                Sentence("it takes {list}", list=", ".join(names)),
            )
        once = replace(options, calls=CallSpec())
        return ready(model, sets, once, kind=self.name, digest=program.digest, notes=notes)


def read_model(program: ProgramFile) -> tuple["ExportedModel", tuple[Any, ...], tuple[str, ...]]:
    """The model, its inputs and notes; only here can the file's JSON turn out to be damaged."""
    from opcheck.source.building.pt2.model import ExportedModel

    check_program(program)
    try:
        module = program.document["graph_module"]
        ranges = size_ranges(program.document)
        for graph in all_graphs(module["graph"]):
            sizes = Sizes(ranges)
            GraphValues(graph, sizes, Surprises()).read_all()
            sizes.check()
        sizes = Sizes(ranges)
        values = GraphValues(module["graph"], sizes, Surprises())
        model = ExportedModel(module, values, places_of(module["graph"]))
        args = tuple(_input(name, values.read(item)) for name, item in model.user_inputs.items())
    except DAMAGED as error:
        raise damaged(
            program.path, program.member, Sentence("cannot be run ({text})", text=error)
        ) from error
    except RecursionError as error:
        raise damaged(
            program.path, program.member, Sentence("nested too deeply to be a model")
        ) from error
    except RuntimeError as error:  # torch refuses the sizes, or there is not so much memory
        if out_of_memory(error):
            raise MemoryError from error
        raise damaged(
            program.path, program.member, Sentence("cannot be run ({text})", text=error)
        ) from error
    notes = (*program.notes, *sizes.notes())
    if model.operators.declared:
        absent = ", ".join(model.operators.declared)
        notes = (
            *notes,
            Sentence("declared from the file, since no library here has them: {list}", list=absent),
        )
    return model, args, notes


def _with_values(made: tuple[Any, ...], stored: tuple[Any, ...]) -> tuple[Any, ...]:
    """The stored tensors in the places of those that were made alike."""
    from torch import Tensor

    def alike(one: Any, other: Any) -> bool:
        both = isinstance(one, Tensor) and isinstance(other, Tensor)
        return both and (one.dtype, one.shape) == (other.dtype, other.shape)

    if len(made) != len(stored):
        return made
    pairs = zip(made, stored, strict=True)
    return tuple(kept.detach() if alike(one, kept) else one for one, kept in pairs)


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

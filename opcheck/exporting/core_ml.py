"""A model that ``torch.export`` captured, converted by coremltools into an ML program.

Core ML itself is part of macOS: nothing here runs what was converted.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import torch

from opcheck.exporting.exporter import Asked, Exporter, Session
from opcheck.model.exporting import ExportRun, Stage

_NO_CALLS = frozenset({"const"})


class CoreMl(Exporter):
    """Converts for iOS 18 and macOS 15; only these systems run what is written."""

    extra = "coreml"
    file = "model.mlpackage"  # it is a folder
    libraries = ("coremltools",)

    def captured(self, asked: Asked) -> torch.export.ExportedProgram:
        """The graph in the ATEN dialect, the only one whose programs the library takes."""
        graph: torch.export.ExportedProgram = super().captured(asked).run_decompositions({})
        return graph

    def written(
        self, graph: torch.export.ExportedProgram, asked: Asked
    ) -> tuple[ExportRun, Session | None]:
        """Convert the graph into an ML program, and write its folder."""
        import coremltools

        converted = coremltools.convert(
            graph,
            convert_to="mlprogram",
            minimum_deployment_target=coremltools.target.iOS18,
            skip_model_load=True,
        )
        converted.save(asked.path)
        calls = Counter(_calls(converted._mil_program))  # private: 8.0 to 9.0 have it
        operators = sorted((name, n) for name, n in calls.items() if name not in _NO_CALLS)
        return ExportRun(Stage.CONVERTED, operators=tuple(operators)), None


def _calls(program: Any) -> Iterator[str]:
    """Operators of an ML program, those of the blocks of loops and branches too."""
    blocks = list(program.functions.values())
    while blocks:
        for operation in blocks.pop().operations:
            yield operation.op_type
            blocks += operation.blocks

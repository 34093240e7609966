"""A ``.pt2`` file as torch's ``ExportedProgram``, without running anything that it names."""

from pathlib import Path
from typing import TYPE_CHECKING

from opcheck.source.base import LoadOptions
from opcheck.source.building.pt2.program import exported_program

if TYPE_CHECKING:
    from torch.export import ExportedProgram


def saved_program(path: Path, *, trust: bool = False) -> "ExportedProgram":
    """Read a program with its weights.

    Args:
        path: a file that ``torch.export.save`` wrote.
        trust: have torch read it, which unpickles what is in it.

    Raises:
        SourceError: the file is not there, is damaged, or is none of a program.
    """
    return exported_program(path, LoadOptions(trust=trust, weights=True))

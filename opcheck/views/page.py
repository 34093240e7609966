"""What a format for people may use of the place where it is read."""

from collections.abc import Callable

from msgspec import Struct


class Page(Struct, frozen=True):
    """Width, colour and detail; as given here, eighty columns without colour."""

    width: int = 80
    """Columns."""
    color: bool = False
    """Whether ANSI colour codes may be written."""
    ascii: bool = False
    """Whether marks and bars must be drawn in ASCII."""
    verbose: bool = False
    """Whether to list what is otherwise summarised."""
    quiet: bool = False
    """Whether to give the verdict alone, a line for each target."""
    explain: bool = False
    """Whether to show everything that each finding in trouble rests on."""
    waived: bool = False
    """Whether to list what a gate's policy waives."""
    top: int | None = None
    """How many findings to show, those that cost most; None: as many as there is room for."""

    locate: Callable[[str, int], str] | None = None
    """Gives the address of a line of code, "" where it has none; None: no hyperlink may be
    written."""

    @property
    def full(self) -> bool:
        """Whether nothing that is known of a finding is left out."""
        return self.verbose or self.explain


PLAIN = Page()
"""Eighty columns without colour."""

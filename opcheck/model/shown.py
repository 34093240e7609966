"""Answers that a notebook shows as a page where they are the value of a cell."""

import importlib
from typing import Any, ClassVar

from msgspec import Struct


class Shown(Struct, frozen=True):
    """An answer of a command: IPython shows its text, Jupyter the same as HTML."""

    command: ClassVar[str] = ""
    """The command that answers it; "" for a report, which several do."""

    def _repr_html_(self) -> str:
        return str(_pages().as_html(self, self.command))

    def _repr_pretty_(self, printer: Any, _: bool) -> None:
        printer.text(_pages().as_text(self, self.command))


def _pages() -> Any:
    """The views, which know how answers look, and which are loaded when one is shown."""
    return importlib.import_module("opcheck.views.shown")

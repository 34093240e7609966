"""The user's model, loaded and run in a process of its own: :func:`run` and :func:`emulate`."""

from opcheck.isolate.recovered import CutShortError
from opcheck.isolate.run import check, emulate, on_host, rewrite, run

__all__ = ["CutShortError", "check", "emulate", "on_host", "rewrite", "run"]

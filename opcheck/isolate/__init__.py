"""The user's model, loaded and run in a process of its own: :func:`run` and :func:`emulate`."""

from opcheck.isolate.recovered import CutShortError
from opcheck.isolate.run import check, emulate, on_host, rewrite, run
from opcheck.isolate.template import loaded_once

__all__ = ["CutShortError", "check", "emulate", "loaded_once", "on_host", "rewrite", "run"]

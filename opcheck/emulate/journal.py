"""What an emulated run has done so far, kept in a file that outlives the process that runs it."""

import contextlib
import json
from pathlib import Path

from opcheck.emulate.record import Record
from opcheck.model.codec import to_json
from opcheck.model.emulation import Emulation, Event


class Journal:
    """A file of lines: the answer as it is before anything happens, then every event.

    It is unbuffered, as the tracer's is: what ends the process takes no more than one event.
    """

    def __init__(self, path: Path, begun: Emulation) -> None:
        self._file = open(path, "wb", buffering=0)  # noqa: SIM115  # for the process's life
        self._begun = begun

    def follow(self, record: Record) -> None:
        """Follow ``record`` from now on; what another run did is forgotten."""
        with contextlib.suppress(OSError):
            self._file.seek(0)
            self._file.truncate()
        self._write(self._begun)
        record.told = self._write

    def _write(self, value: Emulation | Event) -> None:
        with contextlib.suppress(OSError):  # no room, or the user's code closed it
            self._file.write(json.dumps(to_json(value)).encode() + b"\n")

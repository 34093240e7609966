"""Files that give a device further kernels, run while the emulated device is open."""

import runpy
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from opcheck.errors import EmulationError
from opcheck.files import MOST_SOURCE_BYTES, require_regular

LIBRARIES = "LIBRARIES"
"""What such a file calls the list of the ``torch.library.Library`` that hold its kernels."""


@contextmanager
def shimmed(files: Sequence[str | Path]) -> Iterator[None]:
    """Have the kernels of these files registered inside the block.

    Raises:
        EmulationError: a file cannot be run, or registers nothing that could be taken away again.
    """
    libraries: list[Any] = []
    try:
        for file in files:
            libraries += _run(Path(file))
        yield
    finally:
        for library in libraries:
            library._destroy()  # private, checked on 2.13.0


def _run(file: Path) -> list[Any]:
    hint = "a shim is what opcheck fix --shim writes"
    try:
        require_regular(file, MOST_SOURCE_BYTES)  # Python would wait for a pipe
    except OSError as error:
        raise EmulationError(f"cannot read {file}: {error.strerror}", hint) from error
    try:
        with warnings.catch_warnings():
            # torch tells that a kernel takes the place of another: of the one that refuses
            warnings.filterwarnings("ignore", message="Warning only once for all operators")
            found = runpy.run_path(str(file))
    except Exception as error:
        what = f"{type(error).__name__}: {error}"
        raise EmulationError(f"{file} cannot be run: {what}", hint) from error
    libraries = found.get(LIBRARIES)
    if not isinstance(libraries, list):
        raise EmulationError(f"{file} has no list {LIBRARIES}, which holds what it registers", hint)
    return libraries

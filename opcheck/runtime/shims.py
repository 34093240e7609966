"""Kernels that a device lacks, registered while a model runs on it: from a file, or planned."""

import runpy
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from opcheck.db.store import Database
from opcheck.db.versions import major_minor
from opcheck.errors import InferenceError
from opcheck.files import MOST_SOURCE_BYTES, require_regular
from opcheck.lang.sentence import Sentence
from opcheck.model.matrix import SupportMatrix
from opcheck.model.plan import Label
from opcheck.model.target import TargetSpec
from opcheck.model.trace import Trace
from opcheck.runtime.device import DetectedDevice

_LIBRARIES = "LIBRARIES"
"""What such a file calls the list of what holds its kernels."""


class Registered:
    """The kernels of one shim; dropping them takes them away again."""

    def __init__(self, libraries: list[Any]) -> None:
        self._libraries = libraries

    def drop(self) -> None:
        """Take the kernels away; what they stood before is there again."""
        while self._libraries:
            self._libraries.pop()._destroy()  # private, checked on 2.13.0


def matrix_of(
    device: DetectedDevice, database: Database, torch_version: str
) -> SupportMatrix | None:
    """What the device's chip has, in the newest release for this torch; None: it is not known."""
    if not device.target:
        return None
    running = major_minor(torch_version)
    newest = database.resolve(TargetSpec(device.target))
    serving = [t for t in database.releases(device.target) if t.torch == running]
    return database.matrix(serving[-1] if serving else newest)


def from_file(path: Path) -> Registered:
    """Register the kernels of a file that ``opcheck fix --shim`` wrote.

    Raises:
        InferenceError: it cannot be run, or is no such file.
    """
    hint = Sentence("a shim is what opcheck fix --shim writes")
    try:
        require_regular(path, MOST_SOURCE_BYTES)  # Python would wait for a pipe
    except OSError as error:
        raise InferenceError(
            Sentence("cannot read {text_file}: {text}", text_file=path, text=error.strerror), hint
        ) from error
    try:
        found = _quietly(lambda: runpy.run_path(str(path)))
    except Exception as error:
        what = f"{type(error).__name__}: {error}"
        raise InferenceError(
            Sentence("{text} cannot be run: {text_why}", text=path, text_why=what), hint
        ) from error
    libraries = found.get(_LIBRARIES)
    if not isinstance(libraries, list):
        raise InferenceError(
            Sentence(
                "{text} has no list {name}, which holds its kernels", text=path, name=_LIBRARIES
            ),
            hint,
        )
    return Registered(libraries)


def planned(trace: Trace, matrix: SupportMatrix, database: Database, allow: Label) -> Registered:
    """Register what a device lacks of what a trace calls; what stays is told in a warning."""
    from opcheck.rewrite.live_shim import shim_of  # every rule: nothing for a program without one

    try:
        found = shim_of(trace, matrix, database.remedies(matrix.target), allow)
        names = _quietly(lambda: _run(found.shim.text))
    except Exception as error:  # of a rule, or of the device: the model may run as it is
        _tell(f"no shim was planned: {type(error).__name__}: {error}")
        return Registered([])
    if found.left:
        rows = "; ".join(f"{op}: {why}" for op, why in sorted(found.left.items()))
        _tell(f"{matrix.target.name} does not run all that the model calls: {rows}")
    if trace.gaps:
        where = f" in {trace.gaps[0].where}" if trace.gaps[0].where else ""
        _tell(f"part of the model was not seen{where}: {trace.gaps[0].reason}")
    return Registered(names.get(_LIBRARIES, []))


def _tell(text: str) -> None:
    warnings.warn(text, RuntimeWarning, stacklevel=2)


def _run(text: str) -> dict[str, Any]:
    """Run a shim that was just written; it is empty where there is nothing to register."""
    names: dict[str, Any] = {"__name__": "opcheck_shim"}
    exec(compile(text, "<shim written by opcheck>", "exec"), names)
    return names


def _quietly(function: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    with warnings.catch_warnings():
        # torch tells that a kernel takes the place of another: of the one that refuses
        warnings.filterwarnings("ignore", message="Warning only once for all operators")
        return function()

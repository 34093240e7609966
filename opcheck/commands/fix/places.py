"""Where a fix may be written."""

import os
from pathlib import Path

from opcheck.commands.fix.values import FixRequest
from opcheck.errors import UsageError
from opcheck.pipeline.writing import there


def require_writable(request: FixRequest) -> None:
    """Refuse a path that cannot be written to, before any work is done.

    Raises:
        UsageError: it is there already, it is the model, its folder is not there, or neither may be
            written to.
    """
    if not request.path:
        return
    path = Path(request.path)
    if (path.exists() or path.is_symlink()) and not request.write:
        raise there(path)
    if path.is_dir():
        raise UsageError(f"cannot write {path}: it is a folder", "give the path of a file")
    final = path.resolve()
    if not final.parent.is_dir():
        raise UsageError(f"cannot write {path}: there is no folder {final.parent}", "make it first")
    if not all(os.access(place, os.W_OK) for place in (final, final.parent) if place.exists()):
        raise UsageError(f"cannot write {path}: permission denied", "give another place")
    if _is_model(path, request.scan.model.source):
        raise UsageError(f"cannot write {path}: it is the model itself", "give another name")


def _is_model(path: Path, source: str) -> bool:
    """Whether a file is the one that the model is loaded from."""
    file = Path(source.rpartition(".py")[0] + ".py" if ".py" in source else source)
    return path.exists() and file.exists() and path.samefile(file)

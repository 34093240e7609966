"""Python files of the user's that are imported with another text than they have on disk."""

import importlib.machinery
import linecache
from collections.abc import Mapping
from pathlib import Path
from types import CodeType

from opcheck.files import MOST_SOURCE_BYTES, read_bytes

_Loader = importlib.machinery.SourceFileLoader


def read_instead(patched: Mapping[str, str]) -> None:
    """Import other files in the place of some, from now on and as long as this process lives.

    Only their text is another: they keep their path, so that imports between them, and files that
    lie beside them, are found as ever.

    Args:
        patched: path of a file -> path of the file whose text counts.
    """
    if not patched:
        return
    texts = {str(Path(path).resolve()): Path(other) for path, other in patched.items()}
    real = _Loader.get_code

    def get_code(loader: _Loader, fullname: str) -> CodeType | None:
        path = str(Path(loader.get_filename(fullname)).resolve())
        if path not in texts:
            return real(loader, fullname)
        # what Python has compiled of the file on disk is not asked
        text = read_bytes(texts[path], MOST_SOURCE_BYTES)
        return loader.source_to_code(text, loader.get_filename(fullname))

    _Loader.get_code = get_code  # type: ignore[assignment, method-assign]  # for all imports
    for path, other in texts.items():
        lines = linecache.getlines(str(other))
        # without a time of change it is never read again
        linecache.cache[path] = (len(lines), None, lines, path)

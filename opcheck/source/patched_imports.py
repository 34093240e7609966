"""Imports of the user's files in which the text of some is another one."""

import importlib.abc
import importlib.machinery
import importlib.util
import linecache
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import CodeType, ModuleType

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
    sys.meta_path.append(_Unwritten(frozenset(path for path in texts if not Path(path).exists())))
    for path, other in texts.items():
        lines = linecache.getlines(str(other))
        # without a time of change it is never read again
        linecache.cache[path] = (len(lines), None, lines, path)


class _Unwritten(importlib.abc.MetaPathFinder):
    """Finds modules of files that are not there yet, beside files that are."""

    def __init__(self, paths: frozenset[str]) -> None:
        self._paths = paths

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Give the module of such a file, in a folder that Python looks into."""
        for folder in sys.path if path is None else path:
            file = str((Path(folder) / f"{fullname.rpartition('.')[2]}.py").resolve())
            if file in self._paths:
                loader = _Loader(fullname, file)
                return importlib.util.spec_from_file_location(fullname, file, loader=loader)
        return None

"""The user's own files that a model was made from."""

import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from opcheck.source import digest
from opcheck.source.user_code import is_users, shown


def own_files() -> Mapping[str, str]:
    """Files whose code was imported by now, as reports show them -> digest; no library's."""
    files = {getattr(module, "__file__", None) for module in [*sys.modules.values()]}
    own = sorted(file for file in files if isinstance(file, str) and is_users(file))
    return {shown(file): found for file in own if (found := _digest(file))}


@cache
def _digest(file: str) -> str:
    """Empty for what is no file, or one no longer."""
    try:
        return digest.of_file(Path(file))
    except OSError:
        return ""

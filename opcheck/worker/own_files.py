"""The user's own files that a model was made from."""

import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from opcheck.source import base
from opcheck.source.user_code import is_users, library_prefixes, shown


def own_files() -> Mapping[str, str]:
    """Files whose code was imported by now, as reports show them -> digest; no library's."""
    libraries = library_prefixes()
    files = {getattr(module, "__file__", None) for module in [*sys.modules.values()]}
    others = [f for f in files if isinstance(f, str) and not f.startswith(libraries)]
    own = sorted(file for file in others if is_users(file))
    return {shown(file): found for file in own if (found := _digest(file))}


@cache
def _digest(file: str) -> str:
    """Empty for what is no file, or one no longer."""
    try:
        return base.digest_of_file(Path(file))
    except OSError:
        return ""

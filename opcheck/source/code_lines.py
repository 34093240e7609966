"""The lines of a Python file that a trace names; an exported program may name any file."""

import linecache
import os
import sys
from collections.abc import Sequence

from opcheck.files import MOST_SOURCE_BYTES, require_regular


def lines_of(file: str) -> Sequence[str]:
    """The lines of a Python file, looked for along ``sys.path`` as well, where libraries are.

    There are none of what is no Python file: a report must not carry a line of anything else.
    """
    if not file.endswith(".py"):
        return ()
    places = (os.path.join(folder, file) for folder in ("", *sys.path))
    found = next(filter(os.path.exists, places), "")
    try:
        require_regular(found, MOST_SOURCE_BYTES)
    except OSError:
        return ()
    return linecache.getlines(file)  # which takes the same one

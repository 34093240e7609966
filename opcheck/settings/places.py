"""Where a project keeps its policy."""

import os
from pathlib import Path

from opcheck.errors import UsageError
from opcheck.settings.reading import table_of

FILE = "opcheck.yaml"
PYPROJECT = "pyproject.toml"
_END = ".git"
"""A folder with this is the whole project: what lies above it is another's."""


def find_policy(folder: Path) -> Path | None:
    """The policy of the nearest folder that has one, from ``folder`` up to its repository's.

    Raises:
        UsageError: a folder has two, or a ``pyproject.toml`` on the way cannot be read.
    """
    for place in (folder, *folder.parents):
        found = policies_in(place)
        if len(found) > 1:
            raise UsageError(
                f"{place} has two policies: {FILE}, and [tool.opcheck] in {PYPROJECT}",
                "keep one, or name it with --policy",
            )
        if found or os.path.exists(place / _END):
            return found[0] if found else None
    return None


def policies_in(folder: Path) -> list[Path]:
    """The policies of a folder."""
    own, project = folder / FILE, folder / PYPROJECT
    found = [own] if os.path.isfile(own) else []
    if os.path.isfile(project) and table_of(project) is not None:
        found.append(project)
    return found

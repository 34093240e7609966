"""The step of a wheel's build that compiles the database, for hatchling."""

import sys
import time
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class IndexHook(BuildHookInterface[Any]):
    """Puts ``opcheck/_index`` into a wheel, or for an editable installation into the checkout.

    There what was compiled of a file is no longer found once that changes.
    """

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile it with the code that goes into the same wheel: its digest is in each name."""
        sys.path.insert(0, self.root)
        from opcheck.db.prebuilt import prebuild

        if version == "editable":
            folder = Path(self.root) / "opcheck" / "_index"
            if not _is_new(folder):  # pip asks for an editable installation twice
                rmtree(folder, ignore_errors=True)
            prebuild(Path(self.root) / "compat_db", folder)
            return
        temporary = mkdtemp()
        prebuild(Path(self.root) / "compat_db", Path(temporary))
        build_data["force_include"][temporary] = "opcheck/_index"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what has gone into the wheel."""
        for folder, place in build_data["force_include"].items():
            if place == "opcheck/_index":
                rmtree(folder)


def _is_new(folder: Path) -> bool:
    """Whether a folder was changed within a minute."""
    return folder.is_dir() and time.time() - folder.stat().st_mtime < 60

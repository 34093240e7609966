"""The step of a wheel's build that compiles the database, for hatchling."""

import sys
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class IndexHook(BuildHookInterface[Any]):
    """Puts ``opcheck/_index`` into a wheel; an editable installation has the user's index alone."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile it with the code that goes into the same wheel: its digest is in each name."""
        if version == "editable":
            return
        sys.path.insert(0, self.root)
        from opcheck.db.prebuilt import prebuild

        folder = mkdtemp()
        prebuild(Path(self.root) / "compat_db", Path(folder))
        build_data["force_include"][folder] = "opcheck/_index"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what has gone into the wheel."""
        for folder, place in build_data["force_include"].items():
            if place == "opcheck/_index":
                rmtree(folder)

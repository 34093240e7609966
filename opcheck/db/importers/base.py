"""What every importer offers."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path


class Importer(ABC):
    """Turns a folder of vendor files into files of ``compat_db``; same input, same bytes."""

    name: str
    """Folder name of the vendor, in the sources and in ``compat_db``."""

    @abstractmethod
    def releases(self, sources: Path) -> tuple[str, ...]:
        """Releases that ``sources`` holds files of, oldest first."""

    @abstractmethod
    def run(self, sources: Path, release: str) -> str:
        """Give the text of ``compat_db/<name>/<release>.yaml``."""

    @abstractmethod
    def common(self, sources: Path) -> Mapping[str, str]:
        """Give the files of ``compat_db/<name>/`` that belong to no release, name to text."""

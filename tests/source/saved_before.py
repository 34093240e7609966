"""Exported programs that torch releases of the past wrote, packed one release a file.

``write_pt2.py`` wrote them, run by that release: ``data/pt2/torch-2.6.0.zip`` holds those of 2.6.0.
"""

import zipfile
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "data" / "pt2"


@dataclass(frozen=True, slots=True)
class Saved:
    """One ``.pt2`` file of one release."""

    packed: Path
    member: str

    @property
    def torch(self) -> str:
        """The release that wrote it: ``2.6.0``."""
        return self.packed.stem.removeprefix("torch-")

    @property
    def release(self) -> tuple[int, ...]:
        """The same as numbers: ``(2, 6, 0)``."""
        return tuple(map(int, self.torch.split(".")))

    @property
    def case(self) -> str:
        """What ``write_pt2`` calls the program: ``attention``."""
        return self.member.partition("-")[0]

    def unpack(self, folder: Path) -> Path:
        """Put the file itself into ``folder``."""
        with zipfile.ZipFile(self.packed) as archive:
            return Path(archive.extract(self.member, folder))

    def __str__(self) -> str:
        return f"{self.torch}/{self.member}"


def _members(packed: Path) -> list[str]:
    with zipfile.ZipFile(packed) as archive:
        return archive.namelist()


SAVED = tuple(
    Saved(packed, member) for packed in sorted(FOLDER.glob("*.zip")) for member in _members(packed)
)

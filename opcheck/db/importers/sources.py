"""Where an imported file came from: the ``SOURCES.yaml`` beside it."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from msgspec import Struct

from opcheck.errors import DatabaseError


class SourceFile(Struct, frozen=True):
    """One file of a vendor, at one commit."""

    repo: str
    ref: str
    commit: str
    path: str
    date: str
    """ISO date of the commit; empty where the collection does not say."""

    def as_data(self) -> dict[str, str]:
        """The mapping written under ``sources:``."""
        data = {"repo": self.repo, "ref": self.ref, "commit": self.commit, "path": self.path}
        return {**data, "date": self.date} if self.date else data


def load_yaml(path: Path) -> Any:
    """Parse one YAML file with the C loader."""
    import yaml

    try:
        return yaml.load(path.read_bytes(), yaml.CSafeLoader)
    except (OSError, yaml.YAMLError) as error:
        raise DatabaseError(f"cannot read {path}: {error}", "give the folder of sources") from error


@cache
def source_files(folder: Path) -> Mapping[str, SourceFile]:
    """Every file at one commit that ``SOURCES.yaml`` of a folder describes, by its local name."""
    described = load_yaml(folder / "SOURCES.yaml")
    listed = described.get("files", described.get("sources", ()))
    return {item["file"]: _source_file(item) for item in listed if "commit" in item}


def _source_file(item: Mapping[str, str]) -> SourceFile:
    date = item.get("commit_date", item.get("date", ""))
    return SourceFile(item["repo"], str(item["ref"]), item["commit"], item["path"], str(date))

"""Write files of ``compat_db/models``: ``python -m opcheck.db.importers.models NAME GIT-DIR``."""

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path

from opcheck.db.importers import models
from opcheck.db.importers.models.base import ListReader
from opcheck.db.importers.shared.repository import Repository
from opcheck.errors import OpcheckError
from opcheck.registry import discover


def readers() -> Mapping[str, type[ListReader]]:
    """Every reader, by the name of its list."""
    found = discover(models, ListReader)  # type: ignore[type-abstract]  # only subclasses come
    return {reader.name: reader for reader in found}


def main(arguments: list[str] | None = None) -> int:
    """Run one reader; the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m opcheck.db.importers.models", description=__doc__
    )
    parser.add_argument("list", choices=sorted(readers()))
    parser.add_argument("repository", type=Path, help="a clone, with or without a work tree")
    parser.add_argument("--revision", default="main", help="a tag or branch")
    parser.add_argument("--into", type=Path, default=Path("compat_db"), help="the database")
    options = parser.parse_args(arguments)
    reader = readers()[options.list]()
    try:
        text = reader.run(Repository(options.repository, options.revision))
    except OpcheckError as error:
        sys.stderr.write(f"error: {error.message}\n{error.hint}\n")
        return int(error.exit_code)
    (options.into / "models" / f"{reader.name}.yaml").write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

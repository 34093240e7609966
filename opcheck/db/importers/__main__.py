"""Write files of ``compat_db``: ``python -m opcheck.db.importers NAME SOURCES``."""

import argparse
import sys
from pathlib import Path

from opcheck.db import importers
from opcheck.db.importers.base import Importer
from opcheck.errors import OpcheckError
from opcheck.registry import discover


def main(arguments: list[str] | None = None) -> int:
    """Run one importer; the exit status."""
    known = {
        importer.name: importer
        for importer in discover(importers, Importer)  # type: ignore[type-abstract]  # a base
    }
    parser = argparse.ArgumentParser(prog="python -m opcheck.db.importers", description=__doc__)
    parser.add_argument("importer", choices=sorted(known))
    parser.add_argument("sources", type=Path, help="folder with one folder of files a vendor")
    parser.add_argument("--release", action="append", help="only this release (repeatable)")
    parser.add_argument("--into", type=Path, default=Path("compat_db"), help="the database")
    options = parser.parse_args(arguments)
    try:
        _write(known[options.importer](), options.sources, options.release, options.into)
    except OpcheckError as error:
        sys.stderr.write(f"error: {error.message}\n{error.hint}\n")
        return int(error.exit_code)
    return 0


def _write(importer: Importer, sources: Path, chosen: list[str] | None, into: Path) -> None:
    files = dict(importer.common(sources))
    for release in chosen or importer.releases(sources):
        files[f"{release}.yaml"] = importer.run(sources, release)
    folder = into / importer.name
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    sys.exit(main())

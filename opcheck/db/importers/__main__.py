"""Write files of ``compat_db``: ``python -m opcheck.db.importers NAME SOURCES``."""

import argparse
import sys
from pathlib import Path

from opcheck.db.importing import import_files, known
from opcheck.errors import OpcheckError


def main(arguments: list[str] | None = None) -> int:
    """Run one importer; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m opcheck.db.importers", description=__doc__)
    parser.add_argument("importer", choices=sorted(known()))
    parser.add_argument("sources", type=Path, help="folder with one folder of files a vendor")
    parser.add_argument("--release", action="append", help="only this release (repeatable)")
    parser.add_argument("--into", type=Path, default=Path("compat_db"), help="the database")
    options = parser.parse_args(arguments)
    try:
        import_files(options.importer, options.sources, options.release or (), options.into)
    except OpcheckError as error:
        sys.stderr.write(f"error: {error.message}\n{error.hint}\n")
        return int(error.exit_code)
    return 0


if __name__ == "__main__":
    sys.exit(main())

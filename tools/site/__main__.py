"""``python -m tools.site FOLDER``: write the site; ``make site`` does, with the documentation."""

import argparse
import os
import sys
import time
from pathlib import Path

from tools.site.build import build

OURS = frozenset({"en", "zh", "json", "assets", "docs", "index.html"})
"""What a folder may hold that the site is written to: an earlier one, and the documentation."""


def main() -> None:
    """Write the site and say how large it is."""
    parser = argparse.ArgumentParser(prog="python -m tools.site", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--only", action="append", default=[], metavar="aten::gelu",
                        help="no other operators, for a quick look; repeatable")  # fmt: skip
    parser.add_argument("--newest", action="store_true", help="look at no older release")
    parser.add_argument("--store", type=Path, help="of opcheck fleet, for the pages of models")
    options = parser.parse_args()
    others = {path.name for path in options.folder.glob("*")} - OURS
    if others:
        parser.error(f"{options.folder} holds something else: {', '.join(sorted(others))}")
    began = time.monotonic()
    count = build(
        options.folder,
        options.jobs,
        options.only,
        release_histories=not options.newest,
        store=options.store,
    )
    size = sum(path.stat().st_size for path in options.folder.rglob("*") if path.is_file())
    took = time.monotonic() - began
    sys.stdout.write(f"{count:,} pages, {size / 1e6:.0f} MB, {took:.0f} s\n")


if __name__ == "__main__":
    main()

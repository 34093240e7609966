"""Writes ``docs/coverage.md``: ``python -m benchmarks.coverage`` (``make coverage``)."""

from benchmarks.coverage.page import page, vendors
from benchmarks.measure import ROOT

PAGE = ROOT / "docs" / "coverage.md"


if __name__ == "__main__":
    PAGE.write_text(page(vendors(ROOT / "compat_db")), encoding="utf-8")

"""Where the tests of this room find the vendors' files and a database."""

import os
from pathlib import Path

import pytest

from opcheck.db.store import Database

_CHECKOUT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture(scope="session")
def sources() -> Path:
    """The vendors' own files; they are not part of the repository."""
    folder = Path(
        os.environ.get("OPCHECK_VENDOR_SOURCES", _CHECKOUT.parent / "shared" / "vendor-sources")
    )
    if not folder.is_dir():
        pytest.skip(f"no vendor sources at {folder} (set OPCHECK_VENDOR_SOURCES)")
    return folder


@pytest.fixture(scope="session")
def database() -> Database:
    return Database.open(cached=False)

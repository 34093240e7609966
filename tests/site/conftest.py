"""A site of a few operators, with all pages of every other kind."""

from pathlib import Path

import pytest

from tests.site.small import OPERATORS
from tools.site.build import build


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    build(folder, 1, OPERATORS, release_histories=False)
    return folder

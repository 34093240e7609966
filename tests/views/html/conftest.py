"""One browser for the tests of a file."""

from collections.abc import Iterator

import pytest

from tests.views.html.chromium import Browser, browser


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """A browser that the tests of a file open one page after another in."""
    with browser(tmp_path_factory.mktemp("profile")) as found:
        yield found

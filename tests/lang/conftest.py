"""What the tests of languages have read is let go after them."""

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="package", autouse=True)
def sources_are_let_go() -> Iterator[None]:
    """Forget the nodes of all sources: each later scan of the process looks through such caches."""
    yield
    from tests.lang import messages, test_errors

    for cached in (messages.nodes_of, messages.literals, test_errors.nodes, test_errors.calls):
        cached.cache_clear()

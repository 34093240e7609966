"""Half of the models are of a library, which takes a worker longer to load than to trace them."""

import pytest


@pytest.fixture(scope="module", autouse=True)
def workers_have_libraries(libraries_are_loaded: None) -> None:
    """Have workers be copies of a process that has the libraries."""

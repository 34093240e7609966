"""Loading a file changes what Python can import; every test gives it back."""

import sys
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def same_imports() -> Iterator[None]:
    """Restore the search path, and forget modules that were loaded from elsewhere."""
    path, modules = list(sys.path), set(sys.modules)
    yield
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        if name.startswith(("net", "opcheck_user_", "package")):
            del sys.modules[name]

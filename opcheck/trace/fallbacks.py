"""What answers where a dispatch key has no kernel for an overload: the last of those who said so.

PyTorch takes one fallback a key in a process, and raises where a second one comes.

Private torch API used here, checked on 2.13.0: ``Library.fallback`` and ``Library._destroy``.
"""

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import Any

from torch.library import Library

Kernel = Callable[..., Any]
"""Called with the overload and its arguments."""

_asked: dict[str, list[Kernel]] = {}  # the dispatcher's tables are the process's own
_libraries: dict[str, Library] = {}


@contextmanager
def falling_back(kernel: Kernel, keys: Collection[str]) -> Iterator[None]:
    """Have ``kernel`` be the fallback of these dispatch keys inside the block."""
    for key in keys:
        _asked.setdefault(key, []).append(kernel)
        if key not in _libraries:
            _libraries[key] = Library("_", "IMPL")
            _libraries[key].fallback(_last(key), key)
    try:
        yield
    finally:
        for key in keys:
            _asked[key].remove(kernel)
            if not _asked[key]:
                _libraries.pop(key)._destroy()


def _last(key: str) -> Kernel:
    def kernel(func: Any, *args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        return _asked[key][-1](func, *args, **kwargs)

    return kernel

"""What stands in for ``torch.utils.cpp_extension``'s loaders: sources are read, none is built.

Each function of such an extension gives tensors like its first one, or a 0, as what it computes is
not known; a call of it is noted with what its sources are written in.
"""

import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from opcheck.files import MOST_SOURCE_BYTES, require_regular
from opcheck.kernel_code.launching import called
from opcheck.model.launches import KernelCode, Language
from opcheck.source.building.after_import import after_import

_MODULE = "torch.utils.cpp_extension"
_FUNCTION = re.compile(
    r"\b(void|bool|int|int64_t|float|double|(?:torch::|at::)?Tensor|std::(?:vector|tuple)\s*<[^;{}()]{0,200}>)\s+(\w{1,99})\s*\("
)
"""A function of C++ by what it returns, and its name."""
_BOUND = re.compile(r'\.def\(\s*"(\w{1,99})"\s*,\s*&?\s*(?:\w+::)*(\w{1,99})')
"""The name in Python of a function of C++."""
_CUDA = (".cu", ".cuh")
_NUMBERS: Mapping[str, bool | int | float] = {
    "bool": False, "int": 0, "int64_t": 0, "float": 0.0, "double": 0.0,
}  # fmt: skip
"""What a function returns that gives a number: in most, 0 says that all went well."""


class Extension:
    """An extension that was not built: whatever is asked of it is a function."""

    def __init__(self, language: Language, file: str, line: int, text: str) -> None:
        self._code = KernelCode("", file, line, language)
        self._returns = dict(_returns(text))

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("_"):
            raise AttributeError(name)

        def function(*args: Any, **kwargs: Any) -> Any:
            __tracebackhide__ = True
            return self._call(name, args, kwargs)

        return function

    def __deepcopy__(self, _: Any) -> "Extension":
        return self

    def _call(self, name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        __tracebackhide__ = True
        given = {**{f"argument {place}": value for place, value in enumerate(args)}, **kwargs}
        code = self._code
        called(KernelCode(name, code.file, code.line, code.language), given)
        first = next((value for value in given.values() if isinstance(value, torch.Tensor)), None)
        returns = self._returns.get(name, "Tensor")
        if returns == "void":
            return None
        if returns in _NUMBERS:
            return _NUMBERS[returns]
        if first is None or "vector" in returns:
            raise NotImplementedError(f"what {name} returns is not known: it was not built")
        made = [torch.empty_like(first) for _ in range(max(returns.count("Tensor"), 1))]
        return tuple(made) if "tuple" in returns else made[0]


def _returns(text: str) -> Iterable[tuple[str, str]]:
    """What each function returns, by its name in C++ and in Python."""
    found = {name: " ".join(returned.split()) for returned, name in _FUNCTION.findall(text)}
    yield from found.items()
    yield from ((name, found[bound]) for name, bound in _BOUND.findall(text) if bound in found)


def load_inline(
    name: str, cpp_sources: Any, cuda_sources: Any = None, *_: Any, **given: Any
) -> Any:
    """What stands for the function of that name: sources in strings."""
    texts = [*_listed(cpp_sources), *_listed(cuda_sources)]
    cuda = bool(_listed(cuda_sources)) or bool(given.get("with_cuda"))
    return _made(cuda, "\n".join(texts))


def load(name: str, sources: Any, *_: Any, **given: Any) -> Any:
    """What stands for the function of that name: sources in files."""
    files = _listed(sources)
    cuda = any(file.endswith(_CUDA) for file in files) or bool(given.get("with_cuda"))
    return _made(cuda, "\n".join(map(_read, files)))


def _made(cuda: bool, text: str) -> Extension:
    frame = sys._getframe(2)
    language = Language.CUDA if cuda else Language.CPP
    return Extension(language, frame.f_code.co_filename, frame.f_lineno, text)


def _listed(value: Any) -> list[str]:
    if value is None:
        return []
    return [str(value)] if isinstance(value, str | Path) else [str(each) for each in value]


def _read(file: str) -> str:
    """The text of a source; "" where it cannot be read."""
    try:
        require_regular(Path(file), MOST_SOURCE_BYTES)
        return Path(file).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _put_in_place(module: ModuleType) -> None:
    module.__dict__.update(load=load, load_inline=load_inline)


def prepare() -> None:
    """Have extensions be read, for good; for a process of a model's own."""
    after_import(_MODULE, _put_in_place)

"""Whether a call as it is written fits a function that is to be called in its place."""

import ast
from collections.abc import Iterable, Sequence

from msgspec import Struct

FIRST = "input"
"""What PyTorch's Python functions call the argument that schemas call ``self``."""
_NUMPY = {"axis": "dim", "keepdims": "keepdim"}
"""NumPy's names, which they take as well."""


class Parameters(Struct, frozen=True):
    """What a function takes."""

    function: str
    positional: tuple[str, ...]
    named: tuple[str, ...]
    """Those that can only be named."""
    required: frozenset[str]
    rest: bool = False
    """Whether it takes any number of further arguments without a name."""

    @classmethod
    def of(cls, code: str, function: str) -> "Parameters":
        """Those of ``function``, which ``code`` defines at its top level."""
        found = next(
            statement
            for statement in ast.parse(code).body
            if isinstance(statement, ast.FunctionDef) and statement.name == function
        )
        arguments = found.args
        positional = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
        named = [argument.arg for argument in arguments.kwonlyargs]
        with_default = positional[len(positional) - len(arguments.defaults) :]
        pairs = zip(named, arguments.kw_defaults, strict=True)
        with_default += [name for name, default in pairs if default is not None]
        required = frozenset((*positional, *named)) - frozenset(with_default)
        rest = arguments.vararg is not None
        return cls(function, tuple(positional), tuple(named), required, rest)

    def renamed(self, keyword: str) -> str:
        """What the function calls a named argument of PyTorch's."""
        first = self.positional[0] if self.positional else ""
        known = (*self.positional, *self.named)
        if keyword not in known and _NUMPY.get(keyword) in known:
            return _NUMPY[keyword]
        return first if keyword == FIRST and first == "self" else keyword

    def misfit(self, positional: int, keywords: Sequence[str]) -> str:
        """Say why so many arguments, and those names, are not what the function takes; or ""."""
        names = [self.renamed(keyword) for keyword in keywords]
        if positional > len(self.positional) and not self.rest:
            return f"it passes {positional} arguments where {self.function}() takes {self._most}"
        unknown = [name for name in names if name not in (*self.positional, *self.named)]
        if unknown:
            return f"it passes {_listed(unknown)}, which {self.function}() does not take"
        given = self.positional[:positional]
        twice = [name for name in names if name in given]
        if twice:
            return f"it passes {_listed(twice)} twice"
        missing = [n for n in (*self.positional, *self.named) if n in self.required - {*given}]
        missing = [name for name in missing if name not in names]
        if missing:
            return f"it passes no {_listed(missing)}, which {self.function}() needs"
        return ""

    @property
    def _most(self) -> str:
        return f"at most {len(self.positional)}" if self.positional else "none"


def _listed(names: Iterable[str]) -> str:
    return " and ".join(f"{name}=" for name in names)

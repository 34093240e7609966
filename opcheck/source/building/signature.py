"""What a model's forward takes."""

import difflib
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct
from torch import nn

_MANY = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


class Signature(Struct, frozen=True):
    """Names of a forward's parameters, in order."""

    names: tuple[str, ...]
    required: tuple[str, ...]
    open: bool = False
    """Whether it takes any name, through ``**kwargs``."""

    @classmethod
    def of(cls, module: Callable[..., Any]) -> "Signature":
        """Read it from the code; of a callable without one, any name is taken."""
        forward = module.forward if isinstance(module, nn.Module) else module
        try:
            parameters = inspect.signature(forward).parameters.values()
        except (ValueError, TypeError):
            return cls((), (), open=True)
        plain = [p for p in parameters if p.kind not in _MANY]
        required = tuple(p.name for p in plain if p.default is p.empty)
        return cls(
            tuple(p.name for p in plain),
            required,
            any(p.kind is p.VAR_KEYWORD for p in parameters),
        )

    def takes(self, name: str) -> bool:
        """Whether ``name`` may be given by name; one letter off a parameter is a slip."""
        near = difflib.get_close_matches(name, self.names, 1, cutoff=0.8)
        return name in self.names or (self.open and not near)

    def takes_exactly(self, name: str) -> bool:
        """Whether ``name`` is one of the parameters."""
        return name in self.names

    def name_at(self, place: int) -> str:
        """The parameter at a position, or ""."""
        return self.names[place] if place < len(self.names) else ""

    def by_name(self, args: tuple[Any, ...]) -> Mapping[str, Any]:
        """Name positional arguments; those beyond the names are left out."""
        return dict(zip(self.names, args, strict=False))

    def after(self, args: tuple[Any, ...]) -> tuple[str, ...]:
        """Names that positional arguments leave over."""
        return self.names[len(args) :]

    def __str__(self) -> str:
        names = [name if name in self.required else f"{name}=…" for name in self.names]
        return f"({', '.join([*names, *(['**kwargs'] if self.open else [])])})"

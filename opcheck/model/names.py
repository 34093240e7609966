"""Operator names in PyTorch's schema spelling, the key used everywhere."""

from msgspec import Struct


class OpName(Struct, frozen=True, order=True):
    """An operator overload, in the schema spelling: ``aten::add.Tensor``, ``aten::relu``."""

    namespace: str
    base: str
    overload: str = ""

    @classmethod
    def parse(cls, text: str) -> "OpName":
        """Read the schema spelling; ``str()`` gives back exactly ``text``."""
        namespace, sep, rest = text.partition("::")
        base, _, overload = rest.partition(".")
        name = cls(namespace, base, overload)
        if not (sep and namespace and base) or str(name) != text:
            raise ValueError(f"not an operator name: {text!r} (want namespace::base[.overload])")
        return name

    @property
    def operator(self) -> str:
        """Namespace and base name without the overload: ``aten::add``."""
        return f"{self.namespace}::{self.base}"

    def __str__(self) -> str:
        dot = f".{self.overload}" if self.overload else ""
        return f"{self.namespace}::{self.base}{dot}"

"""Sizes that an exported graph leaves open, brought down to the numbers it was exported with."""

import contextlib
import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from opcheck.lang.sentence import Sentence
from opcheck.source.pt2.expression_reader import read
from opcheck.source.pt2.expressions import Expression, Symbol, short, symbols_of, value

_SYMBOL = re.compile(r"[A-Za-z_]{1,40}\d{0,6}", re.ASCII)
"""torch counts up to the number of a symbol."""
ASSUMED_SIZE = 2
"""Taken for a size that depends on data: the smallest that PyTorch does not treat apart."""


class Sizes:
    """Resolves the schema's ``SymInt`` and keeps account of what was taken for granted."""

    def __init__(self, ranges: Mapping[str, tuple[int | None, int | None]]) -> None:
        self._ranges = ranges
        self._known: dict[str, int] = {}
        self._hints: dict[str, int] = {}
        self._expressions: dict[str, Expression] = {}
        self.exported: dict[str, int] = {}
        """Dynamic dimensions by symbol, at the size they were exported with."""
        self.assumed: dict[str, int] = {}
        """Data-dependent sizes by symbol, at the size assumed here."""

    def resolve(self, sym_int: Mapping[str, Any]) -> int:
        """The number that stands for a ``SymInt``."""
        number = sym_int.get("as_int")
        if number is not None:
            return whole(number)
        expression = sym_int["as_expr"]
        text, hint = expression["expr_str"], _hint(expression.get("hint"))
        if hint is None:
            return self._evaluate(text)
        self._note(text, hint)
        return hint

    def depends_on_data(self, sym_int: Mapping[str, Any]) -> bool:
        """Whether nobody could know the number before the model ran."""
        expression = sym_int.get("as_expr")
        return expression is not None and _hint(expression.get("hint")) is None

    def notes(self) -> Iterator[str]:
        """What was taken for granted, a sentence each."""
        if self.exported:
            yield Sentence(
                "dynamic sizes are those of the export: {text}", text=_assignments(self.exported)
            )
        if self.assumed:
            yield Sentence(
                "sizes that depend on data are assumed: {text}", text=_assignments(self.assumed)
            )

    def check(self) -> None:
        """Require that each size is what its expression comes to, as far as symbols are known.

        Raises:
            ValueError: one is another number or none at all, or of a symbol without a range.
        """
        for text, hint in self._hints.items():
            for name in symbols_of(self.expression(text)):
                if name not in self._ranges:
                    raise ValueError(
                        Sentence("a size is of {name}, which has no range", name=repr(name))
                    )
            found = self._value(text, self.exported.get)
            if found is not None and found != hint:
                raise ValueError(
                    Sentence(
                        "{text} is {text_b}, where the file says {text_file}",
                        text=short(text),
                        text_b=found,
                        text_file=hint,
                    )
                )
            least, most = self._value(text, self._least), self._value(text, self._most)
            if hint >= 0 and least is not None and most is not None and max(least, most) < 0:
                raise ValueError(
                    Sentence(
                        "{text} is less than nothing, where the file says {text_b}",
                        text=short(text),
                        text_b=hint,
                    )
                )

    def _value(self, text: str, size_of: Callable[[str], int | None]) -> int | None:
        """What an expression comes to; None where the size of a symbol is not known."""

        def known(name: str) -> int:
            size = size_of(name)
            if size is None:
                raise _OpenError
            return size

        with contextlib.suppress(_OpenError):
            return value(self.expression(text), known)
        return None

    def _least(self, symbol: str) -> int | None:
        return self._ranges[symbol][0]

    def _most(self, symbol: str) -> int | None:
        return self._ranges[symbol][1]

    def _note(self, text: str, hint: int) -> None:
        if text not in self._known:
            match self.expression(text):
                case Symbol(name):
                    self.exported[name] = hint
            self._known[text] = self._hints[text] = hint

    def _evaluate(self, text: str) -> int:
        known = self._known.get(text)
        if known is None:
            known = self._known[text] = max(0, value(self.expression(text), self._size_of))
        return known

    def expression(self, text: str) -> Expression:
        """The expression that a text is; each is read once."""
        known = self._expressions.get(text)
        if known is None:
            if not isinstance(text, str):
                raise TypeError(f"a size is {str(text)[:40]}, expected an expression")
            known = self._expressions[text] = read(text)
        return known

    def _size_of(self, symbol: str) -> int:
        if symbol in self.exported:
            return self.exported[symbol]
        least, most = self._ranges.get(symbol, (None, None))
        size = max(ASSUMED_SIZE, least or 0)
        self.assumed[symbol] = size if most is None else min(size, most)
        return self.assumed[symbol]


class _OpenError(Exception):
    """A symbol whose size is not known."""


def _assignments(sizes: Mapping[str, int]) -> str:
    return ", ".join(f"{name}={size}" for name, size in sorted(sizes.items()))


def size_ranges(document: Mapping[str, Any]) -> dict[str, tuple[int | None, int | None]]:
    """Least and greatest value of every symbol in a program's sizes; None where it is open."""
    constraints = document["range_constraints"]
    for name in constraints:
        if not _SYMBOL.fullmatch(name):
            raise ValueError(Sentence("{text} is no symbol of a size", text=repr(name[:40])))
    ranges = {
        name: (_limit(found["min_val"]), _limit(found["max_val"]))
        for name, found in constraints.items()
    }
    for name, (least, most) in ranges.items():
        if least is not None and most is not None and least > most:
            raise ValueError(
                Sentence(
                    "no size is from {text_low} to {text_high}, the limits of {name}",
                    text_low=least,
                    text_high=most,
                    name=name,
                )
            )
    return ranges


def _limit(number: Any) -> int | None:
    """A limit of a range; torch 2.3 wrote an infinite one as JSON's constant."""
    if number is None or (type(number) is float and math.isinf(number)):
        return None
    return whole(number)


def whole(number: Any) -> int:
    """The number of a size; how large one may be is decided where a tensor is read."""
    if type(number) is not int:
        raise TypeError(f"a size is {str(number)[:40]}, expected a whole number")
    return number


def _hint(hint: Any) -> int | None:
    """The number in a ``SymExprHint``; older schemas wrote it bare."""
    if isinstance(hint, Mapping):
        hint = hint.get("as_int")
    return None if hint is None else whole(hint)

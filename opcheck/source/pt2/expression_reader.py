"""Expressions for sizes in an exported graph, read by a small grammar with limits."""

import math
import re
from collections.abc import Iterator, Mapping

from opcheck.lang.sentence import Sentence, sentence_of
from opcheck.source.pt2.expressions import (
    GREATEST,
    LEVELS,
    NAMED,
    Call,
    Expression,
    Number,
    RefusedError,
    Symbol,
    measured,
    short,
)

LONGEST = 20_000
"""Characters of one expression; the longest of the models in the tests has 400."""
DEEPEST = 80
"""Levels of brackets and signs."""
MOST_SIGNS = 120
"""Signs between numbers; a long sum is as deep a tree as it has of them."""
_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+(?:\.\d*)?(?:[eE][+-]?\d{1,3})?)|(?P<name>[A-Za-z_]\w*)"
    r"|'(?P<text>[\w.+-]*)'|(?P<sign>//|\*\*|<=|>=|==|!=|[-+*/%()<>,=&|~]))",
    re.ASCII,
)
_SYMBOL = re.compile(r"[A-Za-z]\w*", re.ASCII)
_BARE = re.compile(r"[a-z]+\d+", re.ASCII)
"""Names of symbols that sympy has no function of its own for."""
_TRUTH: Mapping[str, bool] = {"True": True, "False": False, "true": True, "false": False}
_SIGN_LEVEL = 6
"""A sign binds more than a product and less than a power."""


def read(text: str) -> Expression:
    """Read one expression.

    Raises:
        ValueError: it is none, or none that a size could have; the message names it.
    """
    if len(text) > LONGEST:
        raise ValueError(
            Sentence(
                "a size is an expression of {count} characters, at most {text}",
                count=len(text),
                text=LONGEST,
            )
        )
    try:
        reader = _Reader(text)
        found = reader.expression(0, 0)
        reader.end()
        measured(found)
    except RefusedError as error:
        raise ValueError(
            Sentence(
                "a size is written as {text}: {text_b}", text=short(text), text_b=sentence_of(error)
            )
        ) from None
    return found


class _Reader:
    """Takes an expression apart by precedence."""

    def __init__(self, text: str) -> None:
        self._tokens = _tokens(text)
        self._next = next(self._tokens)
        self._signs = 0

    def expression(self, level: int, depth: int) -> Expression:
        """Read what binds more than ``level``."""
        if depth > DEEPEST:
            raise RefusedError(Sentence("more than {text} levels deep", text=DEEPEST))
        left = self._operand(depth)
        while True:
            kind, sign = self._next
            own = LEVELS.get(sign, 0) if kind == "sign" else 0
            if own <= level:
                return left
            self._step()
            self._signs += 1
            if self._signs > MOST_SIGNS:
                raise RefusedError(Sentence("more than {text} signs", text=MOST_SIGNS))
            # a power is read from the right, everything else from the left
            right = self.expression(own - 1 if sign == "**" else own, depth + 1)
            left = Call(sign, (left, right))

    def end(self) -> None:
        """Require that nothing follows."""
        if self._next[0] != "end":
            raise RefusedError(Sentence("{text} was not expected", text=repr(self._next[1])))

    def _operand(self, depth: int) -> Expression:
        kind, text = self._step()
        match kind, text:
            case "number", _:
                return _number(text)
            case "name", _ if self._next == ("sign", "("):
                return self._call(text, depth)
            case "name", _ if text in _TRUTH:
                return _TRUTH[text]
            case "name", _ if _BARE.fullmatch(text):
                return Symbol(text, bare=True)
            case "sign", "-":
                return Call("neg", (self.expression(_SIGN_LEVEL, depth + 1),))
            case "sign", "~":
                return Call("~", (self.expression(_SIGN_LEVEL, depth + 1),))
            case "sign", "(":
                inner = self.expression(0, depth + 1)
                self._require(")")
                return inner
            case _:
                raise RefusedError(
                    Sentence("{text} was not expected", text=repr(text))
                    if text
                    else Sentence("it ends too early")
                )

    def _call(self, function: str, depth: int) -> Expression:
        self._require("(")
        if function == "Symbol":
            return self._symbol()
        if function == "Float":
            return self._float()
        if function not in NAMED:
            raise RefusedError(Sentence("{text} is no function of sizes", text=function))
        arguments = []
        while self._next != ("sign", ")"):
            arguments.append(self.expression(0, depth + 1))
            if self._next == ("sign", ","):
                self._step()
            elif self._next != ("sign", ")"):
                raise RefusedError(Sentence("{text} was not expected", text=repr(self._next[1])))
        self._require(")")
        if not arguments:
            raise RefusedError(Sentence("{text} of nothing", text=function))
        return Call(function, tuple(arguments))

    def _symbol(self) -> Symbol:
        kind, name = self._step()
        if kind != "text" or not _SYMBOL.fullmatch(name):
            raise RefusedError(Sentence("{text} is no symbol", text=repr(name)))
        return Symbol(name, tuple(key for key, given in self._keywords() if given == "True"))

    def _float(self) -> Expression:
        kind, text = self._step()
        if kind not in ("text", "number"):
            raise RefusedError(Sentence("{text} is no number", text=repr(text)))
        for _ in self._keywords():
            pass
        return Call("Float", (_float(text),))

    def _keywords(self) -> Iterator[tuple[str, str]]:
        while self._next == ("sign", ","):
            self._step()
            kind, key = self._step()
            self._require("=")
            _, given = self._step()
            if kind != "name" or key not in _KEYWORDS:
                raise RefusedError(Sentence("{text} is nothing to assume", text=repr(key)))
            yield key, given
        self._require(")")

    def _require(self, sign: str) -> None:
        if self._next != ("sign", sign):
            raise RefusedError(Sentence("{text} was expected", text=repr(sign)))
        self._step()

    def _step(self) -> tuple[str, str]:
        found = self._next
        if found[0] != "end":
            self._next = next(self._tokens)
        return found


_KEYWORDS = frozenset({"integer", "positive", "nonnegative", "nonzero", "real", "precision"})


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    position, end = 0, len(text.rstrip())
    while position < end:
        found = _TOKEN.match(text, position)
        if found is None or found.lastgroup is None:
            raise RefusedError(
                Sentence("{text} was not expected", text=repr(text[position : position + 10]))
            )
        yield found.lastgroup, found[found.lastgroup]
        position = found.end()
    yield "end", ""


def _number(text: str) -> Number:
    if text.isdecimal():
        if len(text) > len(str(GREATEST)):
            raise RefusedError(Sentence("a number of {count} digits", count=len(text)))
        return int(text)
    return _float(text)


def _float(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        raise RefusedError(Sentence("{text} is no number", text=repr(text))) from None
    if not math.isfinite(number):
        raise RefusedError(Sentence("{text} is no number", text=repr(text)))
    return number

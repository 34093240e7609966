"""Functions said by simpler ones, for languages that lack them.

A definition is written as the expressions of :mod:`opcheck.rewrite.custom.expressions` are, over
``x`` and ``y``, and is right to single precision. It leans on arithmetic, comparisons, ``where``,
``abs``, ``exp``, ``log``, ``sqrt``, ``floor``, ``sin`` and ``cos``, or on another definition.
"""

import ast
from collections.abc import Collection, Iterable, Iterator
from copy import deepcopy
from functools import cache
from math import factorial

from opcheck.rewrite.custom.expressions import Statement, lines_of


class UntranslatableError(Exception):
    """A language has no word for a part of an expression, nor words to say it by."""


def _polynomial(x: str, terms: Iterable[float]) -> str:
    first, *rest = terms
    return f"{x} * ({_polynomial(x, rest)}) + {first}" if rest else str(first)


_ODD = [1 / (2 * k + 1) for k in range(9)]
_FACTORIALS = [1 / factorial(k + 1) for k in range(10)]
_ERF = [1.1283791670955126, -0.37612638903183754, 0.11283791670955126, -0.026866170645131252,
        0.005223977625442188, -0.0008548327023450852, 0.00012055332981789664,
        -1.492565035840625e-05]  # fmt: skip
"""Two over the root of pi times (-1) ** k / (k! * (2 * k + 1))."""
_ERFC = [-1.2655122299307373, 1.0000220305628826, 0.3741634169217566, 0.09577673934612868,
         -0.17940584316595654, 0.2523836108585339, -1.0737701379441016, 1.400824378867148,
         -0.7467840733281701, 0.13509720947663859, 0.007204972173901097]  # fmt: skip
"""Fitted at Chebyshev's places to log(erfcx(z) / t) where t = 1 / (1 + z / 2)."""
_ATAN = [0.9999999975460199, -0.3333328229551044, 0.19998230640343564, -0.14261573679971537,
         0.10940198963603816, -0.08372063943773807, 0.05746355777800285, -0.030717508835877316,
         0.0106807194098738, -0.0017437011357540155]  # fmt: skip
"""Fitted at Chebyshev's places to atan(w) / w, in w * w."""
DEFINITIONS = {
    "exp2": "exp(x * 0.6931471805599453)",
    "log2": "log(x) * 1.4426950408889634",
    "log10": "log(x) * 0.4342944819032518",
    "ceil": "-floor(-x)",
    "trunc": "where(x < 0, -floor(-x), floor(x))",
    "rint": """
        low = floor(x)
        off = x - low
        even = where(floor(low * 0.5) * 2 == low, low, low + 1)
        where(off < 0.5, low, where(off > 0.5, low + 1, even))
    """,
    "signbit": "where(x == 0, 1 / x, x) < 0",
    "copysign": "where(signbit(y), -abs(x), abs(x))",
    "fmax": "where(x != x, y, where((y != y) | (x > y), x, y))",
    "fmin": "where(x != x, y, where((y != y) | (x < y), x, y))",
    "hypot": """
        a = abs(x)
        b = abs(y)
        most = where(a > b, a, b)
        ratio = where(a > b, b, a) / most
        finite = where(most == 0, a + b, most * sqrt(1 + ratio * ratio))
        where((a == inf) | (b == inf), inf, finite)
    """,
    "expm1": f"where(abs(x) < 0.5, x * ({_polynomial('x', _FACTORIALS)}), exp(x) - 1)",
    "log1p": f"""
        s = x / (x + 2)
        q = s * s
        where(abs(x) < 0.5, s * 2 * ({_polynomial("q", _ODD)}), log(x + 1))
    """,
    "tanh": """
        e = expm1(2 * where(x > 15, 15, where(x < -15, -15, x)))
        e / (e + 2)
    """,
    "sinh": """
        a = abs(x)
        e = expm1(where(a > 15, 15, a))
        s = where(a > 15, exp(a - 0.6931471805599453), 0.5 * (e + e / (e + 1)))
        where(x < 0, -s, where(x == 0, x, s))
    """,
    "cosh": """
        a = abs(x)
        exp(a - 0.6931471805599453) + exp(-a - 0.6931471805599453)
    """,
    "asinh": """
        a = abs(x)
        q = where(a > 10000, 0, a * a)
        s = where(a > 10000, log(a) + 0.6931471805599453, log1p(a + q / (1 + sqrt(q + 1))))
        where(x < 0, -s, where(x == 0, x, s))
    """,
    "acosh": """
        d = where(x > 10000, 0, x - 1)
        near = log1p(d + sqrt(d * 2 + d * d))
        where(x < 1, nan, where(x > 10000, log(x) + 0.6931471805599453, near))
    """,
    "atanh": """
        a = abs(x)
        s = 0.5 * log1p(2 * a / (1 - a))
        where(x < 0, -s, s)
    """,
    "tan": "sin(x) / cos(x)",
    "atan": f"""
        a = abs(x)
        w = where(a > 1, 1 / a, a)
        q = w * w
        near = w * ({_polynomial("q", _ATAN)})
        s = where(a > 1, 1.5707963267948966 - near, near)
        where(x < 0, -s, s)
    """,
    "asin": "atan(x / sqrt((1 - x) * (x + 1)))",
    "acos": "2 * atan(sqrt((1 - x) / (x + 1)))",
    "erfc": f"""
        a = abs(x)
        t = 1 / (a * 0.5 + 1)
        far = t * exp(({_polynomial("t", _ERFC)}) - a * a)
        where(x < 0, 2 - far, far)
    """,
    "erf": f"""
        a = abs(x)
        q = x * x
        far = 1 - erfc(a)
        where(a < 0.75, x * ({_polynomial("q", _ERF)}), where(x < 0, -far, far))
    """,
}
"""Function -> what it is, in simpler ones."""


def spelled(given: Iterable[Statement], words: Collection[str]) -> tuple[Statement, ...]:
    """An expression in nothing but these functions and ``where``.

    Raises:
        UntranslatableError: a function of it is neither among them nor said by them.
    """
    return tuple(_spelled(given, _Speller(frozenset(words))))


def _spelled(given: Iterable[Statement], speller: "_Speller") -> Iterator[Statement]:
    for name, value in given:
        found = speller.visit(deepcopy(value))
        yield from speller.taken()
        yield name, found


class _Speller(ast.NodeTransformer):
    """Takes definitions for functions, whose lines have to come before."""

    def __init__(self, words: frozenset[str]) -> None:
        self._words = words
        self._before: list[Statement] = []
        self._count = 0

    def taken(self) -> list[Statement]:
        """The lines that have to come before what was visited last."""
        before, self._before = self._before, []
        return before

    def visit_Call(self, node: ast.Call) -> ast.expr:
        arguments = [self.visit(argument) for argument in node.args]
        assert isinstance(node.func, ast.Name)  # an expression calls by name alone
        name = node.func.id
        if name == "where" or name in self._words:
            return ast.Call(func=node.func, args=arguments, keywords=[])
        if name not in DEFINITIONS:
            raise UntranslatableError(name)
        self._count += 1
        return self._defined(name, f"{name}_{self._count}_", arguments)

    def _defined(self, name: str, prefix: str, arguments: list[ast.expr]) -> ast.expr:
        given = dict(zip("xy", arguments, strict=False))
        self._before += [(prefix + key, value) for key, value in given.items()]
        own = {*given, *(line for line, _ in _definition(name) if line)}
        for line, value in _definition(name):
            found: ast.expr = self.visit(_Renamer(own, prefix).visit(deepcopy(value)))
            if line:
                self._before.append((prefix + line, found))
        return found


class _Renamer(ast.NodeTransformer):
    def __init__(self, names: Collection[str], prefix: str) -> None:
        self._names, self._prefix = names, prefix

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(self._prefix + node.id, ast.Load()) if node.id in self._names else node


@cache
def _definition(name: str) -> tuple[Statement, ...]:
    return lines_of(DEFINITIONS[name])

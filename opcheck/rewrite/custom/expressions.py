"""What pointwise overloads compute, as expressions that can be said in any toolchain's language.

An expression is Python: assignments, then the value, over the overload's own arguments, numbers,
``inf``, ``nan`` and ``pi``, arithmetic, comparisons joined by ``&`` and ``|``, ``where`` and the
functions of :data:`FUNCTIONS`. Each is compared with the overload on the CPU.
"""

import ast
from collections.abc import Iterable, Iterator
from functools import cache

_NAMES = """
    abs acos acosh asin asinh atan atan2 atanh ceil copysign cos cosh erf erfc exp exp2 expm1 floor
    fmax fmin fmod hypot lgamma log log10 log1p log2 pow rint signbit sin sinh sqrt tan tanh trunc
    where
"""
FUNCTIONS = frozenset(_NAMES.split())
"""As in C's ``math.h``; ``where(condition, a, b)`` chooses."""
CONSTANTS = frozenset({"inf", "nan", "pi"})
Statement = tuple[str, ast.expr]
"""A name and what it stands for; the value of the whole is under ""."""


def _fraction(x: str, terms: int) -> str:
    """The continued fraction of ``exp(x * x) * erfc(x)``, which converges fast from 8 on."""
    text = x
    for k in range(terms, 0, -1):
        text = f"{x} + {k / 2} / ({text})"
    return f"0.5641895835477563 / ({text})"


_ERFCX = f"where(z < 8, exp(z * z) * erfc(z), {_fraction('z', 16)})"
_FACTORIALS = "1 - q / 6 * (1 - q / 20 * (1 - q / 42 * (1 - q / 72 * (1 - q / 110))))"
_SAME = """
    acos acosh asin asinh atan atanh ceil cos cosh erf erfc exp exp2 expm1 floor lgamma log log10
    log1p log2 sin sinh sqrt tan tanh trunc
"""
TABLE = {
    **{f"aten::{name}": f"{name}(self)" for name in _SAME.split()},
    "aten::abs": "abs(self)",
    "aten::neg": "-self",
    "aten::sgn": "where(self > 0, 1, where(self < 0, -1, 0))",
    "aten::sign": "where(self > 0, 1, where(self < 0, -1, 0))",
    "aten::signbit": "signbit(self)",
    "aten::frac": "self - trunc(self)",
    "aten::round": "rint(self)",
    "aten::reciprocal": "1 / self",
    "aten::rsqrt": "1 / sqrt(self)",
    "aten::sigmoid": "1 / (1 + exp(-self))",
    "aten::silu": "self / (1 + exp(-self))",
    "aten::mish": "self * tanh(where(self > 20, self, log1p(exp(self))))",
    "aten::sinc": "where(self == 0, 1, sin(pi * self) / (pi * self))",
    "aten::angle": "where(self != self, self, where(self < 0, pi, 0))",
    "aten::isneginf": "self == -inf",
    "aten::isposinf": "self == inf",
    "aten::logical_not": "self == 0",
    "aten::logical_and": "(self != 0) & (other != 0)",
    "aten::logical_or": "(self != 0) | (other != 0)",
    "aten::logical_xor": "where(self != 0, 1, 0) != where(other != 0, 1, 0)",
    "aten::atan2": "atan2(self, other)",
    "aten::copysign.Tensor": "copysign(self, other)",
    "aten::hypot": "hypot(self, other)",
    "aten::fmax": "fmax(self, other)",
    "aten::fmin": "fmin(self, other)",
    "aten::fmod.Tensor": "fmod(self, other)",
    "aten::heaviside": "where(self == 0, values, where(self > 0, 1, 0))",
    "aten::logaddexp": """
        m = where(self > other, self, other)
        d = -abs(self - other)
        sum = where(self == other, self + 0.6931471805599453, m + log1p(exp(d)))
        where((self != self) | (other != other), nan, sum)
    """,
    "aten::logaddexp2": """
        m = where(self > other, self, other)
        d = -abs(self - other)
        sum = where(self == other, self + 1, m + log1p(exp2(d)) * 1.4426950408889634)
        where((self != self) | (other != other), nan, sum)
    """,
    "aten::xlogy.Tensor": "where(other != other, other, where(self == 0, 0, self * log(other)))",
    "aten::special_xlog1py": (
        "where(other != other, other, where(self == 0, 0, self * log1p(other)))"
    ),
    "aten::special_entr": (
        "where(self != self, self, where(self > 0, -self * log(self), where(self == 0, 0, -inf)))"
    ),
    "aten::special_erfcx": f"z = self\n{_ERFCX}",
    "aten::special_log_ndtr": f"""
        z = -self * 0.7071067811865476
        where(self < -1, log({_ERFCX} / 2) - self * self / 2, log1p(-erfc(-z) / 2))
    """,
    "aten::special_spherical_bessel_j0": f"""
        q = x * x
        near = {_FACTORIALS}
        where(abs(x) == inf, 0, where(abs(x) < 0.5, near, sin(x) / x))
    """,
    "aten::addcmul": "self + value * tensor1 * tensor2",
    "aten::addcdiv": "self + value * tensor1 / tensor2",
    "aten::lerp.Tensor": """
        d = end - self
        where(abs(weight) < 0.5, self + weight * d, end - d * (1 - weight))
    """,
    "aten::lerp.Scalar": """
        d = end - self
        where(abs(weight) < 0.5, self + weight * d, end - d * (1 - weight))
    """,
    "aten::elu": (
        "where(self > 0, self * scale, expm1(self * input_scale) * alpha * scale)"
    ),
    "aten::leaky_relu": "where(self > 0, self, self * negative_slope)",
    "aten::softplus": "where(self * beta > threshold, self, log1p(exp(self * beta)) / beta)",
    "aten::hardshrink": "where((self >= -lambd) & (self <= lambd), 0, self)",
    "aten::softshrink": (
        "where(self > lambd, self - lambd, where(self < -lambd, self + lambd, self * 0))"
    ),
    "aten::threshold": "where(self <= threshold, value, self)",
}  # fmt: skip
"""Functional overload -> what it computes, of numbers with a fraction."""


@cache
def statements(op: str) -> tuple[Statement, ...]:
    """The expression of an overload by lines, the value last."""
    return lines_of(TABLE.get(op, ""))


def lines_of(text: str) -> tuple[Statement, ...]:
    """An expression that is written down, by lines."""
    return tuple(_read(line.strip()) for line in text.strip().splitlines())


def _read(line: str) -> Statement:
    """One line of an expression."""
    match ast.parse(line).body:
        case [ast.Assign(targets=[ast.Name(id=name)], value=value)]:
            return name, value
        case [ast.Expr(value=value)]:
            return "", value
        case _:
            raise ValueError(f"neither an assignment nor a value: {line!r}")


def stated(lines: Iterable[Statement]) -> tuple[str, ...]:
    """An expression as lines of text, to be read beside the kernel."""
    return tuple(
        f"{name} = {ast.unparse(value)}" if name else ast.unparse(value) for name, value in lines
    )


def functions(op: str) -> frozenset[str]:
    """The functions that the expression of an overload calls."""
    return called(statements(op))


def called(lines: Iterable[Statement]) -> frozenset[str]:
    """The functions that an expression calls."""
    return frozenset(_called(lines))


def _called(lines: Iterable[Statement]) -> Iterator[str]:
    for _, value in lines:
        for node in ast.walk(value):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                yield node.func.id

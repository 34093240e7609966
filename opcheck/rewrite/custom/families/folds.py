"""Reductions, scans and normalizations: numbers of a row that are put together two by two.

A fold keeps a *state* while it goes along a row. ``each`` makes the state of a single number,
``combine`` puts two states together (``a_`` before ``b_``), and ``finish`` makes the results of a
state. All three are expressions as in :mod:`opcheck.rewrite.custom.expressions`.
"""

from collections.abc import Mapping
from functools import cache

from msgspec import Struct
from msgspec.structs import replace

from opcheck.rewrite.custom.expressions import lines_of
from opcheck.rewrite.custom.signature import Signature
from opcheck.rewrite.custom.translate import names_of


class Fold(Struct, frozen=True):
    """How a row is put together, and what comes of it."""

    kind: str
    """``reduction``: a result for each row; ``scan``: one after each number, of those up to it;
    ``normalization``: one for each number, of the whole row's state and of the number."""
    start: Mapping[str, str]
    """Part of the state -> what it is of no numbers: a number, ``lowest`` or ``highest``."""
    each: str
    """Assigns each part, of the overload's tensors and of ``i``, the place in the row."""
    combine: str
    """Assigns each part, of ``a_part`` and ``b_part``."""
    finish: str
    """Assigns ``result0``, ``result1``, ..., of the parts, ``length`` and the values."""
    inputs: tuple[str, ...] = ("self",)
    """The tensors, all of one shape."""
    wholes: tuple[str, ...] = ()
    """Parts that are integers, such as places in the row, whatever is computed in."""
    whole_results: tuple[int, ...] = ()
    """Results that are integers."""
    none_of_empty: bool = False
    """Whether an empty list of dimensions means none of them rather than all."""
    defaults: Mapping[str, float] = {}
    """Value that may be left out -> what it is then."""

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts of the state."""
        return tuple(self.start)

    @property
    def text(self) -> str:
        """All of it, to be searched."""
        return "\n".join(text.strip() for text in (self.each, self.combine, self.finish))

    def values(self, signature: Signature) -> tuple[str, ...]:
        """The overload's numbers that the results depend on."""
        read = names_of(statements(self.text))
        return tuple(a.name for a in signature.values if a.name in read and a.name != "dim")

    def values_of_each(self, signature: Signature) -> tuple[str, ...]:
        """The overload's numbers that the state of a single number depends on."""
        read = names_of(statements(self.each))
        return tuple(name for name in self.values(signature) if name in read)

    def stated(self) -> tuple[str, ...]:
        """The fold as text, to be read beside the kernel."""
        start = ", ".join(f"{name} = {value}" for name, value in self.start.items())
        found = [f"of no numbers: {start}"]
        for title, text in (("of one number", self.each), ("of two states a, b", self.combine)):
            found += [f"{title}:", *(f"  {line.strip()}" for line in text.strip().splitlines())]
        return (*found, "results:", *(f"  {x.strip()}" for x in self.finish.strip().splitlines()))


statements = cache(lines_of)


def _of_sums(kind: str, finish: str, **more: tuple[int, ...]) -> Fold:
    return Fold(kind, {"sum": "0"}, "sum = self", "sum = a_sum + b_sum", finish, **more)  # type: ignore[arg-type]  # only whole_results comes


def _extreme(sign: str) -> str:
    """The larger (>) or smaller (<) of two numbers, or the one that is no number."""
    return f"v = where((a_v {sign} b_v) | (a_v != a_v), a_v, b_v)"


def _of_extremes(sign: str) -> Fold:
    start = {"v": "lowest" if sign == ">" else "highest"}
    return Fold("reduction", start, "v = self", _extreme(sign), "result0 = v")


def _placed(kind: str, sign: str, finish: str) -> Fold:
    """The largest (>) or smallest (<) number with its place: in reductions the first of equals."""
    if kind == "scan":
        take = f"take = (b_v {sign}= a_v) | (b_v != b_v)"
    else:
        take = f"""
        better = (b_v {sign} a_v) | ((b_v != b_v) & (a_v == a_v))
        equal = (b_v == a_v) | ((b_v != b_v) & (a_v != a_v))
        take = (better != 0) | ((equal != 0) & (b_at < a_at))"""
    results = finish.count("result")
    return Fold(
        kind,
        {"v": "lowest" if sign == ">" else "highest", "at": str(NOWHERE)},
        "v = self\nat = i",
        f"{take}\nv = where(take != 0, b_v, a_v)\nat = where(take != 0, b_at, a_at)",
        finish,
        wholes=("at",),
        whole_results=(results - 1,),
    )


NOWHERE = 2**53
"""A place behind all others, which single precision holds as well."""
_LOGS = {
    "start": {"high": "lowest", "sum": "0"},
    "each": "high = self\nsum = 1",
    "combine": """
        high = where(a_high > b_high, a_high, b_high)
        a_part = where(a_high == high, a_sum, a_sum * exp(a_high - high))
        b_part = where(b_high == high, b_sum, b_sum * exp(b_high - high))
        sum = a_part + b_part
    """,
}
"""The largest number, and the sum of the exponentials of what the others are below it."""
_MOMENTS = {
    "start": {"n": "0", "mean": "0", "squares": "0"},
    "each": "n = 1\nmean = self\nsquares = 0",
    "combine": """
        n = a_n + b_n
        away = b_mean - a_mean
        share = where(n == 0, 0, b_n / n)
        mean = a_mean + away * share
        squares = a_squares + b_squares + away * (a_n * share) * away
    """,
}
"""How many numbers, their mean, and the sum of squares of what they are away from it."""
_FREE = "free = where(n > {0}, n - {0}, 0)\nfinite = squares + (mean - mean)\n"
"""``finite`` is no number where a number of the row is infinite, as the CPU has it."""
_VARIANCE = {
    "var": "result0 = finite / free",
    "std": "result0 = sqrt(finite / free)",
}
_MEAN = "\nresult1 = where(n == 0, nan, mean)"


def _of_moments(finish: str, correction: str) -> Fold:
    text = _FREE.format(correction) + finish
    return Fold("reduction", **_MOMENTS, finish=text, defaults={"correction": 1.0})  # type: ignore[arg-type]  # one mapping of all


def _of_logs(kind: str, finish: str) -> Fold:
    return Fold(kind, **_LOGS, finish=finish)  # type: ignore[arg-type]  # one mapping of all


def _of_truth(combine: str, start: str) -> Fold:
    return Fold(
        "reduction", {"n": start}, "n = self != 0", combine, "result0 = n",
        wholes=("n",), whole_results=(0,),
    )  # fmt: skip


_NORM = Fold(
    "reduction",
    {"sum": "0", "high": "lowest", "low": "highest"},
    """
        size = abs(self)
        power = where(size == 0, where(ord < 0, inf, 0), exp(ord * log(size)))
        count = where(size == 0, 0, 1)
        simple = where(ord == 2, size * size, where(ord == 1, size, count))
        sum = where((ord == 2) | (ord == 1) | (ord == 0), simple, power)
        high = size
        low = size
    """,
    """
        sum = a_sum + b_sum
        high = where((a_high > b_high) | (a_high != a_high), a_high, b_high)
        low = where((a_low < b_low) | (a_low != a_low), a_low, b_low)
    """,
    """
        simple = where(ord == 2, sqrt(sum), sum)
        root = where((ord == 2) | (ord == 1) | (ord == 0), simple, exp(log(sum) / ord))
        result0 = where(ord == inf, high, where(ord == -inf, low, root))
    """,
)
"""A norm of any order: the two most frequent without logarithms."""
_SUM = _of_sums("reduction", "result0 = sum")
_MEANS = _of_sums("reduction", "result0 = sum / length")
_PROD = Fold(
    "reduction", {"all": "1"}, "all = self", "all = a_all * b_all", "result0 = all",
)  # fmt: skip
_ANY = _of_truth("n = where(a_n > b_n, a_n, b_n)", "0")
_ALL = _of_truth("n = where(a_n < b_n, a_n, b_n)", "1")
_GRADIENT = {"start": {"sum": "0"}, "combine": "sum = a_sum + b_sum",
             "inputs": ("grad_output", "output")}  # fmt: skip
TABLE: Mapping[str, Fold] = {
    **dict.fromkeys(("aten::sum", "aten::sum.dim_IntList"), _SUM),
    **dict.fromkeys(("aten::mean", "aten::mean.dim"), _MEANS),
    **dict.fromkeys(("aten::prod", "aten::prod.dim_int"), _PROD),
    "aten::nansum": Fold(
        "reduction", {"sum": "0"}, "sum = where(self != self, 0, self)", "sum = a_sum + b_sum",
        "result0 = sum",
    ),
    **dict.fromkeys(("aten::amax", "aten::max"), _of_extremes(">")),
    **dict.fromkeys(("aten::amin", "aten::min"), _of_extremes("<")),
    "aten::aminmax": Fold(
        "reduction", {"low": "highest", "high": "lowest"}, "low = self\nhigh = self",
        "low = where((a_low < b_low) | (a_low != a_low), a_low, b_low)\n"
        "high = where((a_high > b_high) | (a_high != a_high), a_high, b_high)",
        "result0 = low\nresult1 = high",
    ),
    "aten::max.dim": _placed("reduction", ">", "result0 = v\nresult1 = at"),
    "aten::min.dim": _placed("reduction", "<", "result0 = v\nresult1 = at"),
    "aten::argmax": _placed("reduction", ">", "result0 = at"),
    "aten::argmin": _placed("reduction", "<", "result0 = at"),
    **dict.fromkeys(("aten::any", "aten::any.dim"), _ANY),
    **dict.fromkeys(("aten::all", "aten::all.dim"), _ALL),
    "aten::any.dims": replace(_ANY, none_of_empty=True),
    "aten::all.dims": replace(_ALL, none_of_empty=True),
    "aten::count_nonzero.dim_IntList": _of_truth("n = a_n + b_n", "0"),
    "aten::linalg_vector_norm": _NORM,
    "aten::logsumexp": _of_logs("reduction", "result0 = high + log(sum)"),
    **{
        f"aten::{name}.correction": _of_moments(text, "correction")
        for name, text in _VARIANCE.items()
    },
    **{
        f"aten::{name}_mean.correction": _of_moments(text + _MEAN, "correction")
        for name, text in _VARIANCE.items()
    },
    **{
        op: _of_moments(text, "unbiased")
        for name, text in _VARIANCE.items()
        for op in (f"aten::{name}", f"aten::{name}.dim")
    },
    "aten::cumsum": _of_sums("scan", "result0 = sum"),
    "aten::cumprod": Fold(
        "scan", {"all": "1"}, "all = self", "all = a_all * b_all", "result0 = all"
    ),
    "aten::logcumsumexp": _of_logs("scan", "result0 = high + log(sum)"),
    "aten::cummax": _placed("scan", ">", "result0 = v\nresult1 = at"),
    "aten::cummin": _placed("scan", "<", "result0 = v\nresult1 = at"),
    "aten::_softmax": _of_logs(
        "normalization", "result0 = exp(self - high) / where(high == inf, nan, sum)"
    ),
    "aten::_log_softmax": _of_logs(
        "normalization", "result0 = self - high - log(where(high == inf, nan, sum))"
    ),
    "aten::_softmax_backward_data": Fold(
        "normalization", each="sum = grad_output * output",
        finish="result0 = (grad_output - sum) * output", **_GRADIENT,  # type: ignore[arg-type]  # one mapping of all
    ),
    "aten::_log_softmax_backward_data": Fold(
        "normalization", each="sum = grad_output",
        finish="result0 = grad_output - exp(output) * sum", **_GRADIENT,  # type: ignore[arg-type]  # one mapping of all
    ),
}  # fmt: skip
"""Functional overload -> the fold that it is."""

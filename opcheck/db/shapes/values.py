"""What values of all kinds of files have in common."""

from collections.abc import Mapping

from opcheck.db.predicates import PredicateShape
from opcheck.db.shape import Flag, ListOf, Record, Shape, Text
from opcheck.model.trace import DTYPE_BYTES
from opcheck.model.verdict import Method

DTYPES = {
    "bf16": "bfloat16",
    "fp16": "float16",
    "fp32": "float32",
    "fp64": "float64",
    **dict(zip(DTYPE_BYTES, DTYPE_BYTES, strict=True)),
}
"""Short names of dtypes in the files -> torch's names."""

TEXTS = ListOf(Text())
_VERSION = r"\d+\.\d+"
VERSIONS = ListOf(Text(pattern=_VERSION, form="a version such as 2.7"), least=1)
SPANS = Text(
    pattern=rf"{_VERSION}(\.\.{_VERSION})?(, {_VERSION}(\.\.{_VERSION})?)*",
    form="spans of versions such as 2.1..2.4, 2.7",
)
COMPLETE = Flag()
"""Of the last line: a file that was cut short lacks it."""
SOURCE = Record(
    {"repo": Text(), "ref": Text(), "commit": Text(), "path": Text()},
    {"date": Text(), "note": Text()},
)
TEST = PredicateShape()
METHOD = Text(frozenset(Method))
WHY = Text(pattern=r"(?s).*\S.*", form="a sentence that says why")
OPERATOR = Text(pattern=r"[^:\s]+::[^:\s.]+(\.[^:\s]+)?", form="an overload as aten::add.Tensor")
OPERATORS = ListOf(Text(pattern=r"\*|[^:\s]+::[^:\s.]+(\.[^:\s]+)?", form=OPERATOR.form), least=1)
_BOUND = r"[^\s,]*?[^\s,.]"
_SPAN = rf"({_BOUND}|{_BOUND}\.\.|\.\.{_BOUND}|{_BOUND}\.\.{_BOUND})"
OPEN_SPANS = Text(
    pattern=rf"{_SPAN}(, {_SPAN})*", form="spans of versions such as ..2.4, 2.7, 2.9..2.11, 2.13.."
)
DATE = Text(pattern=r"\d{4}-\d\d-\d\d", form="a date such as 2026-08-22")
CODE = Text(pattern=r"[a-z0-9]+(-[a-z0-9]+)*", form="words with hyphens such as no-kernel")
CITATIONS = ListOf(Text(), least=1)
WHERE: Mapping[str, Shape] = {"chips": TEXTS, "torch": OPEN_SPANS}

"""Hand-made matrices, nodes and traces for the tests of the resolver."""

import math
from collections.abc import Mapping, Sequence

from opcheck.model.matrix import Condition, Entry, Fallback, SupportMatrix
from opcheck.model.predicates import Dtype, OneOf, Predicate
from opcheck.model.target import Target
from opcheck.model.trace import Composite, Gap, Node, OpName, TensorMeta, Trace, Use, Value
from opcheck.model.verdict import Confidence, Evidence, Method, Verdict

LISTED = Evidence(Method.REGISTERED, "vendor/list", "ops.yaml", 7, "abc", "2026-01-01")
TABLE = Evidence(Method.DOCUMENTED, "vendor/docs", "api.md", 3)
TO_HOST = Fallback(True, "{op} runs on the host", (LISTED,))
NONE = Fallback(False, "{op} is missing", (LISTED,))
TARGET = Target("vendor", "chip", "1.0", "2.9", "npu")


def tensor(dtype: str = "float32", *shape: int, host: bool = False) -> TensorMeta:
    """A contiguous tensor; 2x3 unless a shape is given."""
    sizes = shape or (2, 3)
    strides = tuple(math.prod(sizes[place + 1 :]) for place in range(len(sizes)))
    return TensorMeta(dtype, sizes, strides, host)


def node(
    op: str,
    *children: int,
    composite: Composite | None = None,
    cpu: bool = True,
    opaque: bool = False,
    outputs: tuple[Value, ...] = (),
    given: Mapping[str, Value] | None = None,
) -> Node:
    """A call on one 2x3 float tensor, unless arguments are given."""
    taken: Mapping[str, Value] = given or {"self": tensor()}
    below = None if opaque else tuple((child, 1) for child in children)
    return Node(
        OpName.parse(op), tuple(taken.items()), outputs or (tensor(),), composite, cpu, below
    )


def condition(
    verdict: Verdict,
    *tests: Predicate,
    code: str = "condition",
    text: str = "{argument} is {actual} on {chip}",
    confidence: Confidence = Confidence.MEDIUM,
) -> Condition:
    return Condition(code, verdict, text, confidence, tests, (TABLE,))


def dtype(*denied: str, argument: str = "self") -> Predicate:
    return Dtype(argument, OneOf(frozenset(denied)))


def matrix(
    *registered: str,
    conditions: Mapping[str, Sequence[Condition]] | None = None,
    fallback: Fallback = TO_HOST,
    history: Mapping[str, tuple[str, str]] | None = None,
    extensions: Mapping[str, bool] | None = None,
    advisories: tuple[Condition, ...] = (),
) -> SupportMatrix:
    """A target that registers the given overloads."""
    return SupportMatrix(
        target=TARGET,
        entries={op: Entry(op, (LISTED,), ("path",)) for op in registered},
        conditions={op: tuple(found) for op, found in (conditions or {}).items()},
        fallback=fallback,
        history=history or {},
        extensions=extensions or {},
        advisories=advisories,
        database_digest="0123456789abcdef",
        database_date="2026-01-01",
    )


def trace(*nodes: Node, uses: Sequence[Use] | None = None, gaps: tuple[Gap, ...] = ()) -> Trace:
    """A trace that calls the last node once, unless uses are given."""
    found = tuple(uses) if uses is not None else (Use(len(nodes) - 1, "net", "net.py", 5, 1),)
    sequence = tuple(index for index, use in enumerate(found) for _ in range(use.count))
    return Trace("2.9.0", "npu", "inference", nodes, found, sequence, gaps)

"""Which of a model's calls the target's torch does not have yet."""

from opcheck.model.matrix import SupportMatrix
from opcheck.model.trace import Trace
from opcheck.resolve.kernels import number


def too_new(trace: Trace, matrix: SupportMatrix) -> tuple[str, ...]:
    """Overloads that the model itself calls and only a later torch than the target's has.

    Not those of which it is known what that torch calls instead, nor what a composite runs as: C++
    decides that, which does not ask for names. Nothing where the target's torch is the newer one.
    """
    torch = number(matrix.target.torch)
    if torch >= number(trace.torch_version):
        return ()
    called = {str(trace.nodes[use.node].op) for use in trace.uses}
    known = {op: matrix.history[op][0] for op in called if op in matrix.history}
    newer = {op for op, first in known.items() if torch < number(first)}
    return tuple(sorted(newer.difference(matrix.earlier, matrix.entries)))


def newest_without(op: str, matrix: SupportMatrix) -> str:
    """The newest torch that lacks one of those, never older than the target's own."""
    major, minor = number(matrix.history[op][0])
    return f"{major}.{minor - 1}" if minor else matrix.target.torch

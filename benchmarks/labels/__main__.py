"""Tries every rule over whole ranges: ``python -m benchmarks.labels`` (``make labels``).

Prints each promise that does not hold, and how many were tried; exits with 1 where one does not.
Names of rules or of operators as arguments take these alone.
"""

import sys
import warnings
from collections.abc import Callable, Iterator

import torch

from benchmarks.labels import calls, single
from benchmarks.labels.single import Break
from opcheck.rewrite.base import Rule

Breaks = Callable[[Rule, str, int, int], Iterator[Break]]
NUMBERS = 200_000
"""Numbers drawn of each dtype of more than 16 bits."""
CALLS = 400
"""Calls drawn of each overload."""


def found(names: list[str], numbers: int, draws: int) -> Iterator[Break | None]:
    """What each rule does not keep; None where it keeps all."""
    tried: list[tuple[tuple[Rule, str], Breaks, int]]
    tried = [(case, single.breaks, numbers) for case in single.cases()]
    tried += [(case, calls.breaks, draws) for case in calls.cases()]
    for (rule, op), breaks, count in tried:
        if not names or any(name in (rule.name, op) for name in names):
            print(rule.name, op, file=sys.stderr)
            off = list(breaks(rule, op, count, 0))
            yield from off or (None,)


def main() -> int:
    """Print what does not hold."""
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)  # where a thread's share ends, no vector is whole
    tried, broken = 0, 0
    for one in found(sys.argv[1:], NUMBERS, CALLS):
        tried += 1
        if one:
            broken += 1
            print(f"{one.rule} of {one.op}, {one.what}: {one.count} off, as {one.example}")
    print(f"{broken} of {tried} promises do not hold")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())

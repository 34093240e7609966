"""The order of needs: each step is the best of all that there are, by trying every one."""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import chain, combinations

from hypothesis import given
from hypothesis import strategies as st

from opcheck.commands.fleet.answers.cover import Needs, best, steps

KEYS = st.frozensets(st.integers(0, 6), min_size=1, max_size=4)
BLOCKED = st.dictionaries(KEYS, st.integers(1, 5), min_size=1, max_size=9)


def bundles(blocked: Mapping[Needs, int]) -> Iterator[Needs]:
    needs = sorted(frozenset().union(*blocked))
    sizes = range(1, len(needs) + 1)
    return map(frozenset, chain.from_iterable(combinations(needs, size) for size in sizes))


def unblocked(blocked: Mapping[Needs, int], met: Needs) -> int:
    return sum(count for needs, count in blocked.items() if needs <= met)


def tried(blocked: Mapping[Needs, int]) -> Needs:
    """The best bundle, by looking at all."""
    return min(
        bundles(blocked),
        key=lambda met: (-Fraction(unblocked(blocked, met), len(met)), len(met), sorted(met)),
    )


def left(blocked: Mapping[Needs, int], met: Needs) -> dict[Needs, int]:
    found: dict[Needs, int] = {}
    for needs, count in blocked.items():
        if needs - met:
            found[needs - met] = found.get(needs - met, 0) + count
    return found


@given(BLOCKED)
def test_the_best_bundle_is_the_best_of_all(blocked: dict[Needs, int]) -> None:
    assert frozenset(best(blocked).needs) == tried(blocked)


@given(BLOCKED)
def test_every_step_is_the_best_that_is_left(blocked: dict[Needs, int]) -> None:
    rest: Mapping[Needs, int] = blocked
    for met in steps(blocked):
        assert met == tried(rest)
        rest = left(rest, met)
    assert not rest


@given(BLOCKED)
def test_the_order_does_not_hang_on_that_of_what_is_given(blocked: dict[Needs, int]) -> None:
    turned = dict(reversed(blocked.items()))
    assert list(steps(turned)) == list(steps(blocked))


def test_what_helps_only_together_is_taken_together() -> None:
    pairs = {frozenset({0, 1}): 1, frozenset({1, 2}): 1, frozenset({0, 2}): 1, frozenset({9}): 1}
    assert list(steps(pairs)) == [{9}, {0, 1, 2}]


def test_a_bundle_leaves_what_needs_one_more_to_the_next_step() -> None:
    blocked = {frozenset({0, 1}): 4, frozenset({0, 1, 2}): 9, frozenset({3}): 3}
    assert list(steps(blocked)) == [{0, 1, 2}, {3}]
    blocked = {frozenset({0, 1}): 8, frozenset({0, 1, 2}): 3, frozenset({3}): 2}
    assert list(steps(blocked)) == [{0, 1}, {2}, {3}]

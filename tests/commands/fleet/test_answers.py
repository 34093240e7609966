"""What is said of a run as a whole: how many run where, what is missing, what changed."""

from itertools import chain, combinations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from opcheck.commands.fleet.answers.queries import (
    Compared,
    Wanted,
    difference_of,
    missing_of,
    summary_of,
)
from opcheck.commands.fleet.answers.values import (
    Because,
    BlockedBy,
    Change,
    Changed,
    Goal,
    Missing,
    Pool,
    Ranking,
    Standing,
)
from opcheck.commands.fleet.store.store import Store
from opcheck.commands.fleet.store.writing import finish
from opcheck.commands.fleet.values import Blocker, Cause, Done, Ending, Outcome
from opcheck.errors import UsageError
from opcheck.model.verdict import Confidence, Verdict
from tests.commands.fleet.made import (
    asked,
    begun,
    entry,
    failed,
    filled,
    kernel,
    result,
    scanned,
    target,
)

A, B = target("ascend-910b@26.1.0+torch2.12"), target("ascend-310p@26.1.0+torch2.12")
C = target("nvidia-h100@13.0+torch2.12")
ERFCX, GELU, ROLL = (kernel(f"aten::{name}") for name in ("special_erfcx", "gelu", "roll"))
SLOW = kernel("aten::sort", Verdict.FALLBACK)
NOBODY = Blocker(
    "aten::mish", Cause.UNKNOWN, "not-stated", Verdict.UNKNOWN, "nobody has said",
    Confidence.LOW, 1, ("aten::mish",), "head",
)  # fmt: skip
DOUBLE = Blocker(
    "aten::mm", Cause.CONDITION, "dtype-not-supported", Verdict.UNSUPPORTED,
    "float64 is not supported", Confidence.HIGH, 1, ("aten::mm",), "head",
)  # fmt: skip


def unseen(*blockers: Blocker) -> Outcome:
    """A model with parts that the trace did not see."""
    return replace(scanned(result(A, *blockers)), gaps=("head: it failed",))


def ranked(path: Path, outcomes: dict[str, Outcome], wanted: Wanted) -> Missing:
    filled(path / "fleet.db", outcomes, [A, B, C])
    return missing_of(path / "fleet.db", "last", wanted)


def only(found: Missing) -> Ranking:
    (ranking,) = found.rankings
    return ranking


def told(ranking: Ranking) -> list[tuple[list[str], list[str], int]]:
    """Of each step its overloads, its models, and how many models gained until then."""
    return [
        ([need.op.removeprefix("aten::") for need in step.needs], list(step.models),
         step.total_models)
        for step in ranking.steps
    ]  # fmt: skip


def test_a_summary_counts_models_by_target_and_standing(tmp_path: Path) -> None:
    outcomes = {
        "fine": scanned(result(A), result(B)),
        "slow": scanned(result(A), result(B, SLOW)),
        "odd": scanned(result(A, ERFCX, SLOW), result(B, ERFCX)),
        "open": scanned(result(A), result(B, NOBODY)),
        "gone": failed(Ending.FAILED, "gone.py: no such file"),
        "away": failed(Ending.FAILED, "gone.py: no such file"),
        "late": failed(Ending.TIMED_OUT, "not over after 60 s"),
    }
    filled(tmp_path / "fleet.db", outcomes, [A, B])
    found = summary_of(tmp_path / "fleet.db")
    assert [list(tally.counts.values()) for tally in found.targets] == [
        [3, 0, 0, 1, 3], [1, 1, 1, 1, 3],
    ]  # fmt: skip
    assert [tally.support_rate for tally in found.targets] == [0.9, 0.8125]
    assert (found.everywhere, found.nowhere) == (2, 1)
    assert {ending: count for ending, count in found.endings.items() if count} == {
        Ending.SCANNED: 4, Ending.FAILED: 2, Ending.TIMED_OUT: 1,
    }  # fmt: skip
    assert [(one.ending, one.models) for one in found.failures] == [
        (Ending.FAILED, ("gone", "away")), (Ending.TIMED_OUT, ("late",)),
    ]  # fmt: skip


def test_what_is_met_together_unblocks_only_together(tmp_path: Path) -> None:
    outcomes = {
        "pair": scanned(result(A, ERFCX, GELU)),
        "three": scanned(result(A, ERFCX, GELU, ROLL)),
        "alone": scanned(result(A, ROLL)),
        "also": scanned(result(A, ROLL, SLOW)),
        "fine": scanned(result(A)),
    }
    ranking = only(ranked(tmp_path, outcomes, Wanted(("ascend-910b",))))
    assert told(ranking) == [
        (["roll"], ["alone", "also"], 2),
        (["gelu", "special_erfcx"], ["pair", "three"], 4),
    ]
    assert (ranking.answers, ranking.blocked, ranking.unseen, ranking.beyond) == (5, 4, 0, 0)
    assert [need.answers for step in ranking.steps for need in step.needs] == [3, 2, 2]


def test_a_kernel_is_one_need_however_its_lack_is_told(tmp_path: Path) -> None:
    other = replace(ERFCX, code="no-kernel-anywhere", text="nobody has one")
    outcomes = {"one": scanned(result(A, ERFCX)), "two": scanned(result(A, other))}
    assert told(only(ranked(tmp_path, outcomes, Wanted(("ascend-910b",))))) == [
        (["special_erfcx"], ["one", "two"], 2)
    ]


def test_targets_of_a_vendor_are_ranked_together(tmp_path: Path) -> None:
    outcomes = {
        "both": scanned(result(A, ERFCX), result(B, ERFCX), result(C, GELU)),
        "one": scanned(result(A, ERFCX, GELU), result(B), result(C)),
    }
    found = ranked(tmp_path, outcomes, Wanted())
    assert [(one.pool, one.targets, one.answers, one.blocked) for one in found.rankings] == [
        ("ascend", (A.target, B.target), 4, 3), ("nvidia", (C.target,), 2, 1),
    ]  # fmt: skip
    first, second = found.rankings[0].steps
    assert (first.models, first.answers, first.total_models) == (("both",), 2, 1)
    assert (second.models, second.answers, second.total_answers) == (("one",), 1, 3)
    path = tmp_path / "fleet.db"
    pools = missing_of(path, "last", Wanted(pool=Pool.TARGET)).rankings
    assert [ranking.pool for ranking in pools] == [A.target, B.target, C.target]


def test_the_goal_says_what_is_in_the_way(tmp_path: Path) -> None:
    outcomes = {"slow": scanned(result(A, SLOW)), "odd": scanned(result(A, ERFCX, SLOW))}
    assert told(only(ranked(tmp_path, outcomes, Wanted(("ascend-910b",))))) == [
        (["special_erfcx"], ["odd"], 1)
    ]
    wanted = Wanted(("ascend-910b",), Goal.DEVICE)
    assert told(only(missing_of(tmp_path / "fleet.db", "last", wanted))) == [
        (["sort"], ["slow"], 1), (["special_erfcx"], ["odd"], 2),
    ]  # fmt: skip


def test_nothing_is_promised_of_what_was_not_seen_or_not_asked_about(tmp_path: Path) -> None:
    outcomes = {
        "seen": scanned(result(A, ERFCX)),
        "dtype": scanned(result(A, ERFCX, DOUBLE)),
        "hidden": unseen(ERFCX),
    }
    wanted = Wanted(("ascend-910b",), causes=(Cause.KERNEL,))
    ranking = only(ranked(tmp_path, outcomes, wanted))
    assert told(ranking) == [(["special_erfcx"], ["seen"], 1)]
    assert (ranking.blocked, ranking.unseen, ranking.beyond) == (3, 1, 1)


def test_the_first_steps_are_given_and_the_others_counted(tmp_path: Path) -> None:
    outcomes = {f"m{at}": scanned(result(A, kernel(f"aten::op{at % 3}"))) for at in range(6)}
    ranking = only(ranked(tmp_path, outcomes, Wanted(("ascend-910b",), top=1)))
    assert told(ranking) == [(["op0"], ["m0", "m3"], 2)]
    assert ranking.more == 2


SETS = st.lists(st.frozensets(st.integers(0, 4), max_size=3), min_size=1, max_size=6)


@settings(max_examples=25)
@given(SETS)
def test_a_ranking_says_the_truth(
    tmp_path_factory: pytest.TempPathFactory, sets: list[frozenset[int]]
) -> None:
    """Of every step: its models are those that run once all until then is met, and no others."""
    path = tmp_path_factory.mktemp("store")
    blocked = {f"m{at}": some for at, some in enumerate(sets)}
    outcomes = {
        name: scanned(result(A, *(kernel(f"aten::op{op}") for op in sorted(some))))
        for name, some in blocked.items()
    }
    ranking = only(ranked(path, outcomes, Wanted(("ascend-910b",))))
    met: set[str] = set()
    free: set[str] = set()
    for step in ranking.steps:
        met |= {need.op for need in step.needs}
        now = {
            name for name, some in blocked.items()
            if some and {f"aten::op{op}" for op in some} <= met
        }  # fmt: skip
        assert set(step.models) == now - free
        assert (step.total_models, step.total_answers) == (len(now), len(now))
        free = now
        rest = chain.from_iterable(
            combinations(step.needs, size) for size in range(len(step.needs))
        )
        for some_needs in rest:  # no part of a step would have done better for each of its needs
            ops = met - {need.op for need in step.needs} | {need.op for need in some_needs}
            gained = sum(
                bool(some) and {f"aten::op{op}" for op in some} <= ops for some in blocked.values()
            ) - (len(now) - len(step.models))
            assert gained * len(step.needs) <= len(step.models) * len(some_needs)
    assert free == {name for name, some in blocked.items() if some}


def test_a_target_that_the_run_has_not_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="run 1 has no target 'tpu'") as refused:
        ranked(tmp_path, {"one": scanned(result(A))}, Wanted(("ascend-*", "tpu")))
    assert refused.value.hint == ("it has ascend-910b@26.1.0, ascend-310p@26.1.0, nvidia-h100@13.0")


def test_a_run_that_is_not_over_answers_for_what_is_done(tmp_path: Path) -> None:
    path = tmp_path / "fleet.db"
    with Store(path) as store:
        entries = [entry("one"), entry("two")]
        run = begun(store, entries, [A])
        finish(store, run, asked(entries[0]), Done(0, scanned(result(A, ERFCX)), 1.0))
    found = summary_of(path)
    assert (found.run.done, found.run.models, found.run.ended) == (1, 2, "")
    assert found.targets[0].counts[Standing.BROKEN] == 1
    assert told(only(missing_of(path, "last", Wanted()))) == [(["special_erfcx"], ["one"], 1)]


@pytest.fixture
def two(tmp_path: Path) -> Path:
    """A store of two runs, the second with newer data of the first target."""
    path = tmp_path / "fleet.db"
    filled(
        path,
        {
            "same": scanned(result(A, ERFCX)),
            "fixed": scanned(result(A, ERFCX, SLOW)),
            "broken": scanned(result(A)),
            "worse": scanned(result(A)),
            "lost": scanned(result(A)),
            "gained": failed(Ending.TIMED_OUT, "not over after 60 s"),
            "gone": scanned(result(A)),
        },
        [A],
    )
    newer = replace(A, database_digest="fedcba")
    filled(
        path,
        {
            "same": scanned(result(newer, GELU)),
            "fixed": scanned(result(newer, SLOW)),
            "broken": scanned(result(newer, GELU, SLOW)),
            "worse": scanned(result(newer, SLOW)),
            "lost": failed(Ending.CRASHED, "it crashed"),
            "gained": scanned(result(newer)),
            "new": scanned(result(newer)),
        },
        [newer, C],
        digest="newer",
    )
    return path


def test_a_difference_says_what_changed_and_by_what(two: Path) -> None:
    found = difference_of(two, None, Compared())
    assert (found.before.id, found.after.id) == (1, 2)
    assert (found.new, found.gone) == (("new",), ("gone",))
    assert (found.new_targets, found.gone_targets) == ((C.target,), ())
    (changes,) = found.targets
    assert changes.same == 1
    by = (Because.DATABASE,)
    none, device, slow, broken = (
        Standing.NO_ANSWER, Standing.DEVICE, Standing.FALLBACK, Standing.BROKEN
    )  # fmt: skip
    assert [
        (one.model, one.change, one.before, one.after, one.because) for one in changes.changes
    ] == [
        ("broken", Change.BROKEN, device, broken, by),
        ("fixed", Change.FIXED, broken, slow, by),
        ("worse", Change.WORSE, device, slow, by),
        ("lost", Change.LOST, device, none, by),
        ("gained", Change.GAINED, none, device, by),
    ]
    assert [(_ops(one.came), _ops(one.went), one.reason) for one in changes.changes] == [
        (["aten::gelu", "aten::sort"], [], ""),
        ([], ["aten::special_erfcx"], ""),
        (["aten::sort"], [], ""),
        ([], [], "it crashed"),
        ([], [], "not over after 60 s"),
    ]


def _ops(blockers: tuple[BlockedBy, ...]) -> list[str]:
    return [one.op for one in blockers]


def test_two_stores_are_compared_as_two_runs_are(two: Path, tmp_path: Path) -> None:
    other = tmp_path / "old.db"
    filled(other, {"broken": scanned(result(A))}, [A])
    found = difference_of(two, other, Compared())
    assert (found.before.id, found.after.id, found.gone) == (1, 2, ())
    assert [_named(one) for one in found.targets[0].changes] == [("broken", Change.BROKEN)]
    turned = difference_of(other, two, Compared())
    assert [_named(one) for one in turned.targets[0].changes] == [("broken", Change.FIXED)]


def _named(one: Changed) -> tuple[str, Change]:
    return one.model, one.change


def test_a_target_of_another_release_is_held_against_that_of_its_chip(tmp_path: Path) -> None:
    path = tmp_path / "fleet.db"
    newer = target("ascend-910b@27.0.0+torch2.13")
    filled(path, {"one": scanned(result(A, ERFCX), result(B))}, [A, B])
    filled(path, {"one": scanned(result(newer))}, [newer], digest="newer")
    found = difference_of(path, None, Compared())
    (changes,) = found.targets
    assert (changes.before, changes.after) == (A, newer)
    assert [(_named(one), one.because) for one in changes.changes] == [
        (("one", Change.FIXED), (Because.TARGET,))
    ]
    assert (found.new_targets, found.gone_targets) == ((), (B.target,))


def test_one_target_is_held_against_another_of_the_same_run(tmp_path: Path) -> None:
    path = tmp_path / "fleet.db"
    filled(path, {"one": scanned(result(A, ERFCX), result(B))}, [A, B])
    found = difference_of(path, None, Compared(pair=("ascend-910b", "ascend-310p")))
    assert [_named(one) for one in found.targets[0].changes] == [("one", Change.FIXED)]
    with pytest.raises(UsageError, match="'ascend' is 2 targets of run 1"):
        difference_of(path, None, Compared(pair=("ascend", "ascend-310p")))
    with pytest.raises(UsageError, match="no run 'previous'"):
        difference_of(path, None, Compared())

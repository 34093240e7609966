"""How a run went, and how its models stand on each target."""

from collections import Counter, defaultdict
from collections.abc import Mapping

from opcheck.commands.fleet.answers.values import Failure, Standing, Summary, TargetTally
from opcheck.commands.fleet.store.store import Store
from opcheck.commands.fleet.values import Ending, Run


def summary(store: Store, run: Run) -> Summary:
    """Count the models of a run by ending, target and standing."""
    return Summary(
        run, _endings(store, run), _tallies(store, run), *_everywhere(store, run),
        _failures(store, run),
    )  # fmt: skip


def _endings(store: Store, run: Run) -> Mapping[Ending, int]:
    rows = store.connection.execute(
        "SELECT ending, COUNT(*) FROM run_models JOIN models ON models.id = model "
        "WHERE run=? GROUP BY ending",
        (run.id,),
    )
    found = dict(map(tuple, rows))
    return {ending: found.get(ending, 0) for ending in Ending}


def _tallies(store: Store, run: Run) -> tuple[TargetTally, ...]:
    counts: dict[int, Counter[Standing]] = defaultdict(Counter)
    rates: dict[int, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for at, verdict, runs, count, rate, rated in store.connection.execute(
        "SELECT target_position, verdict, runs, COUNT(*), TOTAL(support_rate), "
        "COUNT(support_rate) FROM answers WHERE run=? GROUP BY target_position, verdict, runs",
        (run.id,),
    ):
        counts[at][Standing.of(verdict, runs)] += count
        rates[at] = [rates[at][0] + rate, rates[at][1] + rated]
    return tuple(
        TargetTally(
            target,
            {standing: counts[at][standing] for standing in Standing},
            round(rates[at][0] / rates[at][1], 4) if rates[at][1] else None,
        )
        for at, target in enumerate(run.targets)
    )


def _everywhere(store: Store, run: Run) -> tuple[int, int]:
    """How many models run on every target, and how many are known to run on none."""
    row = store.connection.execute(
        "SELECT TOTAL(good = ?1), TOTAL(bad = ?1) FROM (SELECT TOTAL(runs = 1) AS good, "
        "TOTAL(runs = 0) AS bad FROM answers WHERE run = ?2 GROUP BY position)",
        (len(run.targets), run.id),
    ).fetchone()
    return int(row[0]), int(row[1])


def _failures(store: Store, run: Run) -> tuple[Failure, ...]:
    found: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for name, *why in store.connection.execute(
        "SELECT name, ending, reason, hint FROM run_models JOIN models ON models.id = model "
        "WHERE run=? AND ending <> ? ORDER BY position",
        (run.id, Ending.SCANNED),
    ):
        found[why[0], why[1], why[2]].append(name)
    order = sorted(found, key=lambda why: (-len(found[why]), why))
    return tuple(Failure(Ending(why[0]), why[1], why[2], tuple(found[why])) for why in order)

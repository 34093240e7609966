"""Writes docs/missing-kernels.md from a store: ``python -m benchmarks.missing_kernels STORE``.

``opcheck fleet MANIFEST -t all --store STORE`` makes the store; the page is about its last run.
"""

import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks.measure import ROOT
from opcheck.commands.fleet import terminal
from opcheck.commands.fleet.answers.queries import Wanted, missing_of, summary_of
from opcheck.commands.fleet.answers.values import Goal, Missing, Ranking, Step, Summary
from opcheck.commands.fleet.store.store import Store
from opcheck.commands.fleet.terminal import Alike, alike
from opcheck.commands.fleet.values import Cause, Ending, Run
from opcheck.model.target import TargetSpec
from opcheck.views.terminal.notation import plural

PAGE = ROOT / "docs" / "missing-kernels.md"
TOP = 5
_HEAD = """\
# Most valuable missing kernels

What each vendor would unblock most models with, of {models} ({kinds}) on {targets}, each at
its newest release in the database of {date}. Written by
`python -m benchmarks.missing_kernels STORE` (`make missing STORE=fleet.db`) from what
`opcheck fleet MANIFEST -t all` stored, with opcheck {opcheck} and torch {torch}; {scanned}. The
manifest is that of `benchmarks/fleet_zoo.py`: sixty of transformers, and of 300 of timm, spread
over all that it has, as many as time allowed, drawn by a hash of their names.

A step is the bundle of kernels that unblocks most for each of its kernels, once the steps before
it are done ([how that is found](fleet.md#what-is-missing-most)); kernels of one step help only
together. *models* gain at least one of the vendor's targets by it, *in all* counts those of the
steps before, too, and *pairs* are models on targets. Operators are the overloads that have no
kernel, which are often ones that the model's calls run as. Nothing is promised of models with parts
that the trace did not see.
"""
_GOALS = {
    Goal.RUNS: "To run at all",
    Goal.DEVICE: "To run on the device alone",
}
_GOALS_ARE = {
    Goal.RUNS: "Models that do not run, or of which nobody can tell, and would run.",
    Goal.DEVICE: "The same, and models of which a part runs on the host, and would not any more. "
    "Vendors that are not named here stand as above.",
}
_TABLE = """
| step | kernels | models | in all | pairs |
| ---: | --- | ---: | ---: | ---: |
"""


def page(
    summary: Summary, kinds: Mapping[str, int], missing: dict[Goal, tuple[Missing, Missing]]
) -> str:
    """The whole page; ``missing`` has for each goal the ranking of kernels and that of all."""
    return "".join(_parts(summary, kinds, missing))


def kinds_of(path: Path, run: Run) -> Mapping[str, int]:
    """How many models of a run are of each kind, most first."""
    with Store(path, create=False) as store:
        rows = store.connection.execute(
            "SELECT kind, COUNT(DISTINCT position) AS models FROM answers "
            "WHERE run=? AND kind<>'' GROUP BY kind ORDER BY models DESC, kind",
            (run.id,),
        )
        return dict(rows.fetchall())


def _parts(
    summary: Summary, kinds: Mapping[str, int], missing: dict[Goal, tuple[Missing, Missing]]
) -> Iterator[str]:
    run = summary.run
    yield _HEAD.format(
        models=plural(run.done, "model"),
        kinds=", ".join(f"{count:,} {kind}" for kind, count in kinds.items()),
        targets=plural(len(run.targets), "target"),
        date=max((target.database_date for target in run.targets), default=""),
        opcheck=run.opcheck_version,
        torch=run.torch_version,
        scanned=_scanned(summary),
    )
    told: set[str] = set()
    for goal, (kernels, every) in missing.items():
        yield f"\n## {_GOALS[goal]}\n\n{_GOALS_ARE[goal]}\n"
        for ranking, other in zip(kernels.rankings, every.rankings, strict=True):
            text = "".join(_vendor(ranking, other))
            if text not in told:
                yield text
            told.add(text)


def _scanned(summary: Summary) -> str:
    count, of = summary.endings[Ending.SCANNED], summary.run.done
    if count == of:
        return "all of them were scanned well"
    return f"{count:,} of them were scanned well, the others have no answer"


def _vendor(ranking: Ranking, every: Ranking) -> Iterator[str]:
    names = ", ".join(TargetSpec.parse(target).name for target in ranking.targets)
    yield f"\n### {ranking.pool}\n\n{names}: "
    if not ranking.blocked:
        yield "nothing is blocked.\n"
        return
    yield (
        f"{plural(ranking.blocked_models, 'model')} blocked, {ranking.blocked:,} of "
        f"{plural(ranking.answers, 'pair')}. "
    )
    if ranking.steps:
        last = ranking.steps[-1]
        count = sum(len(step.needs) for step in ranking.steps)
        gained = f"{plural(last.total_models, 'model')}, {plural(last.total_answers, 'pair')}"
        yield f"{_these(count)} would unblock {gained}.\n"
        yield _TABLE
        yield from (_row(number, step) for number, step in enumerate(ranking.steps, 1))
    else:
        yield "Kernels alone would unblock none of them.\n"
    if ranking.beyond and every.steps:
        yield from _others(every)


def _others(every: Ranking) -> Iterator[str]:
    """The first steps where conditions and unknowns are counted on as well."""
    last = every.steps[-1]
    kinds = Counter(need.cause for step in every.steps for need in step.needs)
    said = ", ".join(plural(kinds[cause], cause.value) for cause in Cause if kinds[cause])
    yield (
        f"\nWith conditions lifted and unknowns settled, {said} would unblock "
        f"{plural(last.total_models, 'model')}, {plural(last.total_answers, 'pair')}:\n"
    )
    yield _TABLE.replace("kernels", "needs")
    yield from (_row(number, step) for number, step in enumerate(every.steps, 1))


def _row(number: int, step: Step) -> str:
    needs = "<br>".join(_need(group, ops) for group in alike(step.needs) for ops in group.lines())
    return (
        f"| {number} | {needs} | +{len(step.models):,} | {step.total_models:,} "
        f"| +{step.answers:,} |\n"
    )


def _need(group: Alike, ops: Sequence[str]) -> str:
    names = ", ".join(f"`{op}`" for op in ops)
    more = f" {terminal.more_operators(group.unnamed())}" if group.unnamed() else ""
    if group.cause is Cause.KERNEL:
        return f"{names}{more}"
    return f"{names}{more} {group.code if group.cause is Cause.CONDITION else 'unknown'}"


def _these(count: int) -> str:
    return "This kernel" if count == 1 else f"These {count} kernels"


def main(arguments: list[str]) -> int:
    """Write the page; exits with 2 where no store is named."""
    if len(arguments) != 1:
        sys.stderr.write("usage: python -m benchmarks.missing_kernels STORE\n")
        return 2
    store = Path(arguments[0])
    found = {
        goal: (
            missing_of(store, "last", Wanted(goal=goal, causes=(Cause.KERNEL,), top=TOP)),
            missing_of(store, "last", Wanted(goal=goal, top=TOP)),
        )
        for goal in Goal
    }
    summary = summary_of(store)
    PAGE.write_text(page(summary, kinds_of(store, summary.run), found), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

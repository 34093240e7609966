"""``opcheck fleet missing``: which kernels and conditions would unblock most models."""

from typing import Annotated

import typer

from opcheck.app import options
from opcheck.app.options import Detail
from opcheck.app.output import Output
from opcheck.commands.fleet import group as fleet_options
from opcheck.commands.fleet.answers.values import Goal, Pool
from opcheck.commands.fleet.values import Cause
from opcheck.lang.sentence import Sentence
from opcheck.views.formats import command_view

TOP = 10
"""How many steps are given unless others are asked for."""
_LONGEST = 9
"""Digits of a number."""


def _goal(text: str) -> Goal:
    return Goal(_known(text, tuple(Goal)))


def _pool(text: str) -> Pool:
    return Pool(_known(text, tuple(Pool)))


def _cause(text: str) -> Cause:
    return Cause(_known(text, tuple(Cause)))


def _steps(text: str) -> int:
    if not text.isdecimal() or len(text) > _LONGEST or not int(text):
        raise typer.BadParameter(Sentence("not a number of steps: {text}", text=repr(text[:40])))
    return int(text)


def _known(text: str, names: tuple[str, ...]) -> str:
    if text not in names:
        raise typer.BadParameter(
            Sentence("{text}: want {list}", text=repr(text), list=", ".join(names))
        )
    return text


GoalName = Annotated[
    Goal,
    typer.Option(
        "--goal",
        parser=_goal,
        metavar="|".join(Goal),
        help="What models are to do: run, or run on the device alone.",
    ),
]
PoolName = Annotated[
    Pool,
    typer.Option(
        "--by",
        parser=_pool,
        metavar="|".join(Pool),
        help="Rank for all targets of a vendor together, or for each by itself.",
    ),
]
CauseNames = Annotated[
    list[Cause] | None,
    typer.Option(
        "--cause",
        parser=_cause,
        metavar="|".join(Cause),
        help="Count on nothing but these, repeatable.",
        show_default="all of them",
    ),
]
TopSteps = Annotated[
    int | None,
    typer.Option(
        "--top",
        parser=_steps,
        metavar="N",
        help="Give the first N steps, and count the others.",
        show_default=str(TOP),
    ),
]


def missing(
    store: fleet_options.Store,
    target: fleet_options.RunTargets = None,
    goal: GoalName = Goal.RUNS,
    by: PoolName = Pool.VENDOR,
    cause: CauseNames = None,
    top: TopSteps = None,
    run: fleet_options.RunName = "last",
    format: Annotated[str, options.format_of("fleet")] = "text",
    output: options.OutputFile = None,
    verbose: options.Verbose = False,
) -> None:
    """Rank missing kernels and broken conditions by the models that they unblock.

    A model is unblocked once all that is in its way is gone. So a step may be several things that
    help together alone; of all there are, each step is what unblocks most for each thing in it.
    """
    from opcheck.commands.fleet.answers.queries import Wanted, missing_of
    from opcheck.commands.fleet.store.store import whole

    view, out = command_view("fleet", format), Output(output)
    wanted = Wanted(tuple(target or ()), goal, by, tuple(cause or Cause), top or TOP)
    with whole(store):
        out.write(view.render(missing_of(store, run, wanted), out.page(Detail(verbose))))

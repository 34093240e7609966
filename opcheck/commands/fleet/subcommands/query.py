"""``opcheck fleet query``: the answers of a run that fit."""

from typing import Annotated

import typer

from opcheck.app import options
from opcheck.app.options import Detail
from opcheck.app.output import Output
from opcheck.commands.fleet import group as fleet_options
from opcheck.commands.fleet.values import Ending, Filters
from opcheck.lang.sentence import Sentence
from opcheck.model.verdict import Verdict
from opcheck.views.formats import command_view


def _verdict(text: str) -> Verdict:
    if text not in set(Verdict):
        raise typer.BadParameter(
            Sentence(
                "not a verdict: {text}; they are {list}",
                text=repr(text[:40]),
                list=", ".join(Verdict),
            )
        )
    return Verdict(text)


def _ending(text: str) -> Ending:
    if text not in set(Ending):
        raise typer.BadParameter(
            Sentence(
                "not an ending: {text}; they are {list}",
                text=repr(text[:40]),
                list=", ".join(Ending),
            )
        )
    return Ending(text)


Model = Annotated[
    list[str] | None,
    typer.Option("--model", metavar="GLOB", help="Of these models, repeatable: timm:resnet*."),
]
VerdictName = Annotated[
    list[Verdict] | None,
    typer.Option(
        "--verdict", parser=_verdict, metavar="VERDICT", help="With this verdict, repeatable."
    ),
]
Operator = Annotated[
    list[str] | None,
    typer.Option(
        "--operator", metavar="GLOB", help="With one of these in the way, repeatable: gelu, *conv*."
    ),
]
EndingName = Annotated[
    list[Ending] | None,
    typer.Option(
        "--ending", parser=_ending, metavar="ENDING", help="Whose scan ended so, repeatable."
    ),
]


def query(
    store: fleet_options.Store,
    run: fleet_options.RunName = "last",
    target: fleet_options.RunTargets = None,
    model: Model = None,
    verdict: VerdictName = None,
    operator: Operator = None,
    ending: EndingName = None,
    format: Annotated[str, options.format_of("fleet")] = "text",
    output: options.OutputFile = None,
    verbose: options.Verbose = False,
) -> None:
    """List the answers of a run that fit all that is asked.

    With what is in the way of each. Of several values of one option any will do.
    """
    from opcheck.commands.fleet.answers.queries import query_of
    from opcheck.commands.fleet.store.store import whole

    view, out = command_view("fleet", format), Output(output)
    filters = Filters(
        tuple(target or ()), tuple(model or ()), tuple(verdict or ()), tuple(operator or ()),
        tuple(ending or ()),
    )  # fmt: skip
    with whole(store):
        found = query_of(store, run, filters)
        out.write(view.render(found, out.page(Detail(verbose))))

"""``opcheck models``: what others list as running."""

from typing import Annotated

import typer

from opcheck.app import options
from opcheck.app.output import Output
from opcheck.model.target import TargetSpec
from opcheck.views.formats import command_view

Name = Annotated[
    str | None,
    typer.Argument(
        metavar="[NAME]",
        help="A part of a model's name, or its class, model_type or source: llama, timm:dla102.",
        show_default="every model",
    ),
]
ListTargets = Annotated[
    list[TargetSpec] | None,
    typer.Option(
        "--target",
        "-t",
        parser=options.target,
        metavar="TARGET",
        help="NAME[@SDK][+torchX.Y], VENDOR[@SDK] or all, repeatable; opcheck targets lists them.",
        show_default="every device that a list is of",
    ),
]


def models(
    name: Name = None,
    target: ListTargets = None,
    database: options.Databases = None,
    format: Annotated[str, options.format_of("models")] = "text",
    output: options.OutputFile = None,
) -> None:
    from opcheck.commands.models import answer

    view, out = command_view("models", format), Output(output)
    found = answer.models(name or "", tuple(target or ()), tuple(database or ()))
    out.write(view.render(found, out.page()))

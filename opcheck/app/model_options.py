"""The options and the help of commands that load a model: what it is, what to call it on."""

import math
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from opcheck.app.direct import DirectCommand
from opcheck.app.guide import MORE, write_dynamic, write_inputs, write_sources, write_steps
from opcheck.errors import UsageError
from opcheck.lang.sentence import Sentence
from opcheck.lang.speech import tell, wording
from opcheck.model.dynamic import dynamic_inputs
from opcheck.model.request import CallSpec, ModelSpec, TrainingSpec
from opcheck.sandbox import command_line


def model_spec(
    source: str,
    inputs: Sequence[str] | None,
    timeout: float | None,
    memory: float | None,
    trust: bool,
    *,
    input_sets: str | None = None,
    decode: bool = False,
    train: bool = False,
    step: Sequence[str] | None = None,
    dynamic: Sequence[str] | None = None,
    schemas: Sequence[str] | None = None,
) -> ModelSpec:
    """The model that the options of these names describe; ``step`` implies ``train``."""
    training = train or bool(step)
    if decode and training:
        raise UsageError(
            Sentence("a training step decodes nothing"), Sentence("leave --decode or --train out")
        )
    return ModelSpec(
        source,
        tuple(inputs or ()),
        step=TrainingSpec.parse(step or ()) if training else None,
        calls=CallSpec.parse(input_sets or "", decode=decode),
        dynamic=dynamic_inputs(dynamic or ()),
        schemas=tuple(schemas or ()),
        trust=trust,
        timeout=timeout,
        memory=memory,
    )


def positive(text: str) -> float:
    """Read a number above zero from the command line."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise typer.BadParameter(Sentence("not a positive number: {text}", text=repr(text)))
    return value


Source = Annotated[
    str,
    typer.Argument(
        metavar="SOURCE", help="A model, in one of the forms below.", show_default=False
    ),
]
Inputs = Annotated[
    list[str] | None,
    typer.Option(
        "--input",
        metavar="NAME=SHAPE:DTYPE",
        help="An example input in one of the forms below, repeatable.",
        show_default="what the source tells, or what suits it",
    ),
]
InputSets = Annotated[
    str | None,
    typer.Option(
        "--inputs",
        metavar="FILE.py:NAME",
        help="A function that gives several sets of inputs; the model is called on each.",
        show_default="one call",
        rich_help_panel=MORE,
    ),
]
Decode = Annotated[
    bool,
    typer.Option(
        "--decode",
        help="Call a generating model on one token more, with the cache of the first call.",
        show_default="one call",
        rich_help_panel=MORE,
    ),
]
Train = Annotated[
    bool,
    typer.Option(
        "--train",
        help="Run a training step: forward, backward and optimizer.",
        show_default="a forward alone",
    ),
]
Steps = Annotated[
    list[str] | None,
    typer.Option(
        "--step",
        metavar="NAME=VALUE",
        help="What the training step does, in one of the forms below, repeatable; implies --train.",
        show_default="AdamW as torch chooses it",
        rich_help_panel=MORE,
    ),
]
Dynamic = Annotated[
    list[str] | None,
    typer.Option(
        "--dynamic",
        metavar="NAME:DIM[,DIM]",
        help="Dimensions of an input whose size is not always the same, repeatable.",
        show_default="none, sizes are those of the inputs",
    ),
]
Timeout = Annotated[
    float | None,
    typer.Option(
        parser=positive,
        metavar="SECONDS",
        help="Give up on loading and running the model after so long.",
        show_default="300 for a model file, 3600 with values; none for Python",
        rich_help_panel=MORE,
    ),
]
Memory = Annotated[
    float | None,
    typer.Option(
        parser=positive,
        metavar="GIB",
        help="Memory that loading and running the model may take.",
        show_default="most of what the machine has",
        rich_help_panel=MORE,
    ),
]
Only = Annotated[
    list[str] | None,
    typer.Option(
        "--only",
        metavar="NAME",
        help="Of a folder, the sources of this name; * and ? stand for any, repeatable.",
        show_default="all of them",
        rich_help_panel=MORE,
    ),
]
Trust = Annotated[
    bool,
    typer.Option(
        "--trust",
        help="Run code that is pickled inside the file.",
        show_default="refuse it",
        rich_help_panel=MORE,
    ),
]


def require_plain(source: str, **options: object) -> None:
    """Refuse options that are of one model, where a folder with several is named.

    Raises:
        UsageError: there is one.
    """
    given = next((name for name, value in options.items() if value), "")
    if given:
        raise UsageError(
            Sentence(
                "{text} is a folder with several sources, and --{name} is of one",
                text=source,
                name=given.replace("input_sets", "inputs"),
            ),
            Sentence("say it of that source under sources in opcheck.yaml"),
        )


def refuse_only(source: str, only: Sequence[str] | None) -> None:
    """Refuse to choose among the sources of what is one.

    Raises:
        UsageError: somebody does.
    """
    if only:
        raise UsageError(
            Sentence("--only is for a folder with several sources, and {text} is one", text=source),
            Sentence("leave it out"),
        )


def limits(timeout: float | None, memory: float | None) -> tuple[tuple[str, float], ...]:
    """The limits that were given, by the names that entries of a project have for them."""
    given = (("timeout", timeout), ("memory", memory))
    return tuple((name, value) for name, value in given if value is not None)


class ModelCommand(DirectCommand):
    """Reads a model: its process may be confined. Lists the source kinds under its help."""

    may_be_confined = True
    """Whether the command does nothing that its confined process could not."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        if self.may_be_confined:
            command_line.current().arm()
        _warn()
        return super().invoke(ctx)

    def format_forms(self, ctx: Any, formatter: Any, *, full: bool) -> None:
        """Write the forms that SOURCE can have, and in the full help those of other options."""
        write_sources(formatter)
        if not full:
            return
        write_inputs(formatter)
        if any(param.name == "dynamic" for param in self.params):
            write_dynamic(formatter)
        if any(param.name == "step" for param in self.params):
            write_steps(formatter)


def _warn() -> None:
    """Say once what of a model's limits this system does not enforce."""
    from opcheck.sandbox.limits.confine import missing

    for what in missing() if sys.stderr is not None else ():
        print(wording("opcheck: warning: {said}").format(said=tell(what)), file=sys.stderr)

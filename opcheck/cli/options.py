"""The options that commands share: one spelling, one help text, one parser each."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from opcheck.errors import UsageError
from opcheck.model.calls import CallSpec
from opcheck.model.target import TargetSpec
from opcheck.model.training import TrainingSpec
from opcheck.report.base import formats, gate_formats, listing_formats


def target(text: str) -> TargetSpec:
    """Read a target from the command line."""
    try:
        return TargetSpec.parse(text)
    except ValueError as error:
        raise typer.BadParameter(f"{error}; opcheck targets lists them") from error


def only(targets: Sequence[TargetSpec] | None) -> TargetSpec:
    """The one target of a command that takes one."""
    match tuple(targets or ()):
        case (target,) if target.name == "all":
            raise UsageError(
                "all targets were given; want one",
                "name it with -t, as in -t ascend-910b; opcheck scan takes all at once",
            )
        case (target,):
            return target
        case ():
            raise UsageError(
                "no target was given; want one",
                "name it with -t, as in -t ascend-910b; opcheck targets lists them",
            )
        case several:
            names = ", ".join(map(str, several))
            raise UsageError(
                f"{len(several)} targets were given; want one: {names}",
                "run the command once for each; opcheck scan takes several at once",
            )


def training(train: bool, steps: Sequence[str] | None) -> TrainingSpec | None:
    """The training step that ``--train`` and ``--step`` ask for; None where neither is given."""
    return TrainingSpec.parse(steps or ()) if train or steps else None


def calls(
    input_sets: str | None, decode: bool, train: bool, steps: Sequence[str] | None
) -> CallSpec:
    """The calls that ``--inputs`` and ``--decode`` ask for."""
    if decode and (train or steps):
        raise UsageError("a training step decodes nothing", "leave --decode or --train out")
    return CallSpec.parse(input_sets or "", decode=decode)


def _positive(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise typer.BadParameter(f"not a positive number: {text!r}")
    return value


_LONGEST = 9
"""Digits of a number."""


def _count(text: str) -> int:
    if not text.isdecimal() or len(text) > _LONGEST or not int(text):
        raise typer.BadParameter(f"not a number of findings: {text[:40]!r}")
    return int(text)


def _days(text: str) -> int:
    if not text.isdecimal() or len(text) > _LONGEST:
        raise typer.BadParameter(f"not a number of days: {text[:40]!r}")
    return int(text)


Source = Annotated[
    str,
    typer.Argument(
        metavar="SOURCE", help="A model, in one of the forms below.", show_default=False
    ),
]
Operator = Annotated[
    str,
    typer.Argument(
        metavar="OPERATOR",
        help="aten::gelu, aten.gelu.default, or a base name for all its overloads.",
        show_default=False,
    ),
]
Targets = Annotated[
    list[TargetSpec] | None,
    typer.Option(
        "--target",
        "-t",
        parser=target,
        metavar="TARGET",
        help="NAME[@SDK][+torchX.Y], VENDOR[@SDK] or all, repeatable; opcheck targets lists them.",
        show_default="all, each at its newest release",
    ),
]
JudgedTargets = Annotated[
    list[TargetSpec] | None,
    typer.Option(
        "--target",
        "-t",
        parser=target,
        metavar="TARGET",
        help="NAME[@SDK][+torchX.Y], VENDOR[@SDK] or all, repeatable; opcheck targets lists them.",
        show_default="those of the policy, or of the report",
    ),
]
OneTarget = Annotated[
    list[TargetSpec] | None,
    typer.Option(
        "--target",
        "-t",
        parser=target,
        metavar="TARGET",
        help="NAME[@SDK][+torchX.Y], one; opcheck targets lists them.",
        show_default="none, it must be given",
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
    ),
]
Decode = Annotated[
    bool,
    typer.Option(
        "--decode",
        help="Call a generating model on one token more, with the cache of the first call.",
        show_default="one call",
    ),
]
FormatName = Annotated[
    str,
    typer.Option(
        "--format", metavar="|".join(f.name for f in listing_formats()), help="How to write it."
    ),
]
ReportFormats = Annotated[
    list[str] | None,
    typer.Option(
        "--format",
        metavar="FORMAT[=FILE]",
        help=f"How to write it: {', '.join(f.name for f in formats())}; =FILE says where. "
        "Repeatable.",
        show_default="text",
    ),
]
GateFormats = Annotated[
    list[str] | None,
    typer.Option(
        "--format",
        metavar="FORMAT[=FILE]",
        help=f"How to write it: {', '.join(f.name for f in gate_formats())}; =FILE says where. "
        "Repeatable.",
        show_default="text",
    ),
]
ReportFile = Annotated[
    str,
    typer.Argument(
        metavar="REPORT.json",
        help="What --format json wrote; - reads it from stdin.",
        show_default=False,
    ),
]
OutputFile = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        parser=Path,
        metavar="FILE",
        help="Write there, whole or not at all.",
        show_default="stdout",
    ),
]
Exact = Annotated[
    bool,
    typer.Option(
        "--exact",
        help="Record the kernels that each target itself is asked to run.",
        show_default="only where it costs nothing",
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
Values = Annotated[
    bool,
    typer.Option(
        "--values",
        help="Compute on the host CPU, and compare with a run that is not emulated.",
        show_default="follow shapes alone",
    ),
]
Stop = Annotated[
    bool,
    typer.Option(
        "--stop",
        help="End at the first call that the device refuses, and exit with 10.",
        show_default="go on and collect them all",
    ),
]
Check = Annotated[
    bool,
    typer.Option(
        "--check",
        help="Hold what scan predicts against the run; exit with 10 where they differ.",
        show_default="do not scan",
    ),
]
Shims = Annotated[
    list[str] | None,
    typer.Option(
        "--shim",
        metavar="FILE",
        help="Kernels that opcheck fix --shim wrote, beside the target's own. Repeatable.",
        show_default="the target's own alone",
    ),
]
Timeout = Annotated[
    float | None,
    typer.Option(
        parser=_positive,
        metavar="SECONDS",
        help="Give up on loading and running the model after so long.",
        show_default="no limit",
    ),
]
Memory = Annotated[
    float | None,
    typer.Option(
        parser=_positive,
        metavar="GIB",
        help="Memory that loading and running the model may take.",
        show_default="most of what the machine has",
    ),
]
Trust = Annotated[
    bool,
    typer.Option(
        "--trust", help="Run code that is pickled inside the file.", show_default="refuse it"
    ),
]
Verbose = Annotated[
    bool,
    typer.Option(
        "--verbose",
        help="List what is otherwise summarised, and pass on what the model prints.",
        show_default="summarise",
    ),
]
Quiet = Annotated[
    bool,
    typer.Option(
        "--quiet",
        "-q",
        help="Give the verdict alone, a line for each target.",
        show_default="the whole report",
    ),
]
Explain = Annotated[
    bool,
    typer.Option(
        "--explain",
        help="Show for each finding what was looked at, and all the evidence in full.",
        show_default="the reason and the first sources",
    ),
]
Top = Annotated[
    int | None,
    typer.Option(
        "--top",
        parser=_count,
        metavar="N",
        help="Show the N findings that cost most, and count the others.",
        show_default="all that there is room for",
    ),
]
Databases = Annotated[
    list[str] | None,
    typer.Option(
        "--db",
        metavar="DIR",
        help="A folder of overlays, repeatable; the last one holds.",
        show_default="those of installed packages",
    ),
]
RuleFolders = Annotated[
    list[str] | None,
    typer.Option(
        "--rules",
        metavar="DIR",
        help="A folder of rewrite rules of your own, whose code is run. Repeatable.",
        show_default="those of installed packages",
    ),
]
SchemaFiles = Annotated[
    list[str] | None,
    typer.Option(
        "--schemas",
        metavar="FILE",
        help="A YAML file on a library that is not installed. Repeatable.",
        show_default="those that opcheck brings",
    ),
]
MaxAge = Annotated[
    int | None,
    typer.Option(
        "--max-age",
        parser=_days,
        metavar="DAYS",
        help="Exit with 4 where a vendor's newest data is older.",
        show_default="any age will do",
    ),
]
OneSpec = Annotated[
    TargetSpec,
    typer.Argument(
        parser=target,
        metavar="TARGET",
        help="NAME[@SDK][+torchX.Y]; opcheck targets lists them.",
        show_default=False,
    ),
]
OneOperator = Annotated[
    str | None,
    typer.Argument(
        metavar="[OPERATOR]",
        help="aten::gelu, aten.gelu.default, or a base name for all its overloads.",
        show_default="the target as a whole",
    ),
]
Before = Annotated[
    TargetSpec,
    typer.Argument(
        parser=target,
        metavar="BEFORE",
        help="A target, or VENDOR@RELEASE for every chip of a vendor.",
        show_default=False,
    ),
]
After = Annotated[
    TargetSpec,
    typer.Argument(
        parser=target, metavar="AFTER", help="The same, to compare with.", show_default=False
    ),
]
Vendor = Annotated[
    str,
    typer.Argument(
        metavar="VENDOR", help="Whose files they are: ascend, nvidia, …", show_default=False
    ),
]
SourcesFolder = Annotated[
    Path,
    typer.Argument(
        parser=Path,
        metavar="PATH",
        help="The folder of the vendor's files, or the one that holds it.",
        show_default=False,
    ),
]
Releases = Annotated[
    list[str] | None,
    typer.Option(
        "--release",
        metavar="R",
        help="Only this release, repeatable.",
        show_default="every release that PATH holds files of",
    ),
]
Into = Annotated[
    Path | None,
    typer.Option(
        "--into",
        parser=Path,
        metavar="DIR",
        help="The database to write to.",
        show_default="the one that opcheck reads",
    ),
]

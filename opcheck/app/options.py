"""The options that commands share: one spelling, one help text, one parser each."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from msgspec import Struct

from opcheck.app.guide import MORE
from opcheck.app.language import HOW_TO_WRITE
from opcheck.errors import UsageError
from opcheck.lang.sentence import Sentence, chained, sentence_of
from opcheck.model.target import TargetSpec
from opcheck.views.formats import command_formats, report_formats


class Detail(Struct, frozen=True):
    """What is asked for; as given here, what is usual."""

    verbose: bool = False
    quiet: bool = False
    explain: bool = False
    top: int | None = None
    waived: bool = False

    def __post_init__(self) -> None:
        """Refuse what contradicts itself.

        Raises:
            UsageError: ``--quiet`` comes with an option that asks for more.
        """
        more = {
            "--verbose": self.verbose,
            "--explain": self.explain,
            "--top": self.top is not None,
        }
        if self.quiet and any(more.values()):
            asked = " and ".join(option for option, given in more.items() if given)
            raise UsageError(
                Sentence("--quiet gives the verdict alone, and {text} asks for more", text=asked),
                Sentence("leave one of them out"),
            )


def target(text: str) -> TargetSpec:
    """Read a target from the command line."""
    if "," in text:
        each = " ".join(f"-t {name.strip()}" for name in text.split(",") if name.strip())
        raise typer.BadParameter(Sentence("one target each time: {text}", text=each))
    try:
        return TargetSpec.parse(text)
    except ValueError as error:
        raise typer.BadParameter(
            chained((sentence_of(error), Sentence("opcheck targets lists them")), "; ")
        ) from error


def only(targets: Sequence[TargetSpec] | None, after: Sequence[str] = ()) -> TargetSpec:
    """The one target of a command that takes one.

    ``after``: words that the command hands on to a script, where one may stand by mistake.
    """
    from opcheck.db.selection import GROUPS  # what loads the database, which help does without

    match tuple(targets or ()):
        case (target,) if target.name in GROUPS:
            raise UsageError(
                Sentence("all targets were given; want one"),
                Sentence("name it with -t, as in -t ascend-910b; opcheck scan takes all at once"),
            )
        case (target,):
            return target
        case () if not {"-t", "--target"}.isdisjoint(after):
            raise UsageError(
                Sentence("no target was given; want one"),
                Sentence("-t is the script's own where it stands after it; write it before"),
            )
        case ():
            raise UsageError(
                Sentence("no target was given; want one"),
                Sentence("name it with -t, as in -t ascend-910b; opcheck targets lists them"),
            )
        case several:
            names = ", ".join(map(str, several))
            raise UsageError(
                Sentence(
                    "{count} targets were given; want one: {list}", count=len(several), list=names
                ),
                Sentence("run the command once for each; opcheck scan takes several at once"),
            )


def format_of(command: str) -> Any:
    """``--format`` of a command that writes its answer in one of its own formats."""
    return typer.Option(
        "--format", metavar="|".join(command_formats(command)), help="How to write it."
    )


def several_formats(names: Sequence[str]) -> Any:
    """``--format`` of a command that writes in any of these, in several at once."""
    return typer.Option(
        "--format",
        metavar="FORMAT[=FILE]",
        help=HOW_TO_WRITE.format(list=", ".join(names)),
        show_default="text",
    )


_LONGEST = 9
"""Digits of a number."""


def _count(text: str) -> int:
    if not text.isdecimal() or len(text) > _LONGEST or not int(text):
        raise typer.BadParameter(Sentence("not a number of findings: {text}", text=repr(text[:40])))
    return int(text)


def workers(text: str) -> int:
    """Read how many are to work at a time."""
    if not text.isdecimal() or len(text) > _LONGEST or not int(text):
        raise typer.BadParameter(Sentence("not a number of workers: {text}", text=repr(text[:40])))
    return int(text)


def _days(text: str) -> int:
    if not text.isdecimal() or len(text) > _LONGEST:
        raise typer.BadParameter(Sentence("not a number of days: {text}", text=repr(text[:40])))
    return int(text)


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
ReportFormats = Annotated[list[str] | None, several_formats(report_formats())]
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
        rich_help_panel=MORE,
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
        rich_help_panel=MORE,
    ),
]
Databases = Annotated[
    list[str] | None,
    typer.Option(
        "--db",
        metavar="DIR",
        help="A folder of overlays, repeatable; the last one holds.",
        show_default="those of installed packages",
        rich_help_panel=MORE,
    ),
]
RuleFolders = Annotated[
    list[str] | None,
    typer.Option(
        "--rules",
        metavar="DIR",
        help="A folder of rewrite rules of your own, whose code is run. Repeatable.",
        show_default="those of installed packages",
        rich_help_panel=MORE,
    ),
]
SchemaFiles = Annotated[
    list[str] | None,
    typer.Option(
        "--schemas",
        metavar="FILE",
        help="A YAML file on a library that is not installed. Repeatable.",
        show_default="those that opcheck brings",
        rich_help_panel=MORE,
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
        rich_help_panel=MORE,
    ),
]

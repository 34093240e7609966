"""The language of a command line: asked for by ``--lang`` or the environment, spoken in its help.

typer has its own copy of click, whose words know one language; what it writes is told here.
"""

import io
import os
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from opcheck.errors import UsageError
from opcheck.lang.sentence import Sentence
from opcheck.lang.speech import Language, language_of, spoken, tell, writable

FLAG = "--lang"
HEADING = "heading"
"""Where a catalogue has another word than elsewhere."""
Lang = Annotated[
    str | None,
    typer.Option(
        FLAG,
        metavar="|".join(Language),
        help="The language of texts and help; what programs read is the same in each.",
        show_default="that of OPCHECK_LANG or the locale",
    ),
]
Refusal: Any = typer.BadParameter.__mro__[2]
"""What click raises for a command line that it does not take; it has no public name in typer."""


def language_named(name: str) -> Language:
    """The language of ``--lang``."""
    try:
        return Language(name.lower())
    except ValueError as error:
        known = ", ".join(Language)
        raise UsageError(
            Sentence("unknown language: {text}", text=repr(name)),
            Sentence("known languages: {list}", list=known),
        ) from error


def language_of_run(arguments: Sequence[str]) -> Language:
    """The language that is asked for, or English where stdout cannot write that."""
    language = language_of_arguments(arguments)
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    return language if writable(language, encoding) else Language.ENGLISH


def language_of_arguments(arguments: Sequence[str]) -> Language:
    """The language of a command line, known before any of it is parsed."""
    for i, argument in enumerate(arguments):
        if argument == FLAG and i + 1 < len(arguments):
            return language_named(arguments[i + 1])
        if argument.startswith(f"{FLAG}="):
            return language_named(argument.partition("=")[2])
    return language_of(os.environ)


def with_language(context: Any, parameters: list[Any]) -> list[Any]:
    """A command's parameters and, before its last, the program's own ``--lang``.

    It has been read when the command runs, so the command's function is not given it.
    """
    root = context.find_root()
    own = [option for option in root.command.params if option.name == "lang"]
    if context is root:
        return parameters
    for option in own:
        option.expose_value = False
    return [*parameters[:-1], *own, *parameters[-1:]]


WHICH_SHELL = "For which one: {list}."
BUILT_WITH = "What --custom-op builds with: {list}."
HOW_TO_WRITE = "How to write it: {list}; =FILE says where. Repeatable."
THROUGH_CLICK = (
    *("Usage: {text}", "Try '{text}' for help.", "Error: {said}"),
    *("Missing argument '{name}'.", "Missing option '{name}'."),
    "No such option: {name} (Possible options: {list})",
    "No such option: {name} Did you mean {name_near}?",
    "No such option: {name}",
    "No such command '{name}'. Did you mean {text}?",
    "No such command '{name}'.",
    *("Got unexpected extra argument ({text})", "Got unexpected extra arguments ({text})"),
    "Got unexpected extra argument(s) ({text})",
    *("Option '{name}' requires an argument.", "Option '{name}' does not take a value."),
    *("Invalid value for '{name}' / '{short}': {said}", "Invalid value for '{name}': {said}"),
    *("[default: ({said})]", "[default: {text}]"),
    *(WHICH_SHELL, HOW_TO_WRITE, BUILT_WITH),
)
"""What click says itself, and what it hands on as finished text: read back, the most exact first.

It is a library that fills in its own words, and keeps of a help text no more than that."""


def read_back(text: str) -> str:
    """A text that came through click as the sentence that it was made of; any other as it is."""
    from opcheck.lang.template import Template

    for template in THROUGH_CLICK:
        values = Template(template).read(text)
        if values is not None:
            inner = {k: read_back(v) if k.startswith("said") else v for k, v in values.items()}
            return Sentence(template, **inner)
    return text


def _told(text: str) -> str:
    return text if spoken() is Language.ENGLISH else tell(read_back(text))


def translated_refusal(refusal: Any) -> str:
    """What click writes of a command line that it does not take, told line by line."""
    written = io.StringIO()
    if isinstance(getattr(refusal, "message", None), Sentence):
        refusal.message = tell(refusal.message)
    refusal.show(written)
    return "\n".join(map(_told, written.getvalue().splitlines()))


class TranslatedHelp:
    """A command whose help is told in the language of the run."""

    def get_help(self, ctx: Any) -> str:
        """Write the help by a formatter that tells what it is given."""
        if spoken() is not Language.ENGLISH:
            ctx.formatter_class = type("Told", (_TranslatedFormatter, ctx.formatter_class), {})
        text: str = super().get_help(ctx)  # type: ignore[misc]  # of the class that this is mixed into
        return text

    def get_short_help_str(self, limit: int = 45) -> str:
        """Give the first sentence, whole where it is told: click cuts English ones."""
        whole = (getattr(self, "help", None) or "").partition("\n\n")[0]
        sentence = " ".join(whole.split())
        told = tell(sentence)
        if spoken() is Language.ENGLISH:
            told = super().get_short_help_str(limit)  # type: ignore[misc]  # as above
        return told


class _TranslatedFormatter:
    """Mixed into click's formatter: it tells, and wraps by columns and not by characters."""

    width: int
    current_indent: int

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        """Write the first line."""
        words = " ".join(tell(word) for word in args.split())
        super().write_usage(prog, words, tell("Usage: "))  # type: ignore[misc]  # click's

    def write_heading(self, heading: str) -> None:
        """Write what stands above a section."""
        self._write_lines([f"{tell(heading, HEADING)}："], 0)

    def write_text(self, text: str) -> None:
        """Write paragraphs."""
        for i, paragraph in enumerate(text.split("\n\n")):
            self._write_lines([""] if i else [], 0)
            self._write_lines(_paragraph(paragraph, self.width - self.current_indent), 0)

    def write_dl(
        self, rows: Sequence[tuple[str, str]], col_max: int = 30, col_spacing: int = 2
    ) -> None:
        """Write names with what they mean beside or, where a name is long, below them."""
        from opcheck.views.terminal.wide import columns

        names = [tell(name) if " " in name else name for name, _ in rows]  # one word is a command
        second = min(max(map(columns, names), default=0), col_max) + col_spacing
        width = max(self.width - self.current_indent - second, 10)
        for name, (_, meaning) in zip(names, rows, strict=True):
            lines = _paragraph(meaning, width)
            if columns(name) + col_spacing <= second:
                name += " " * (second - columns(name)) + (lines.pop(0) if lines else "")
            self._write_lines([name.rstrip()], 0)
            self._write_lines(lines, second)

    def _write_lines(self, lines: Sequence[str], indent: int) -> None:
        for line in lines:
            room = " " * (self.current_indent + indent) if line else ""
            self.write(f"{room}{line}\n")  # type: ignore[attr-defined]  # click's


def _paragraph(text: str, width: int) -> list[str]:
    """A text told and wrapped; what click adds in brackets, as a default, is told by itself."""
    from opcheck.views.terminal.wide import wrapped

    head, *added = text.split("  [")
    told = [_told(" ".join(head.split())), *(_told(f"[{part}") for part in added)]
    return wrapped(" ".join(told), width)

"""Commands and groups that read their own options and write their help as any answer.

typer would load pydantic to turn text into text, and take a full disk for a crash.
"""

from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from opcheck.app.guide import EXAMPLES, write_examples, write_exit_codes
from opcheck.app.language import TranslatedHelp, with_language
from opcheck.app.output import Output


class _Direct:
    """Takes the place of typer's coercion; enough for text, flags and options with a parser."""

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """Give the value as its option's parser reads it."""
        parse: Callable[[str], Any] = param.type_descriptor.parameter_info.parser or str
        if param.multiple or param.nargs != 1:
            return [parse(item) for item in value or ()]
        return None if value is None else parse(value)


class DirectCommand(TranslatedHelp, TyperCommand):
    """A command that spares each process the import of pydantic (60 ms)."""

    def get_params(self, ctx: Any) -> Any:
        """Give the parameters, ``--lang`` and ``--help`` included, ready to be read."""
        return _read_directly(with_language(ctx, super().get_params(ctx)))

    def get_help_option(self, ctx: Any) -> Any:
        """Give ``--help``, which writes as every answer is written."""
        return _writing_whole(super().get_help_option(ctx))

    def invoke(self, ctx: Any) -> Any:
        """Run the command, on the targets that were meant."""
        from opcheck.app.target_names import settle  # help does without

        settle(ctx.params)
        return super().invoke(ctx)


class DirectGroup(TranslatedHelp, TyperGroup):
    """The same for the program itself."""

    def get_params(self, ctx: Any) -> Any:
        """Give the parameters, ``--help`` included, ready to be read."""
        return _read_directly(super().get_params(ctx))

    def get_help_option(self, ctx: Any) -> Any:
        """Give ``--help``, which writes as every answer is written."""
        return _writing_whole(super().get_help_option(ctx))


def _read_directly(parameters: Any) -> Any:
    """Put the own coercion where typer 0.29.2 keeps its.

    A version that keeps none there ignores it, and parses the same at its own pace; a test tells
    when that happens.
    """
    for parameter in parameters:
        parameter._runtime_param = _Direct()
    return parameters


def _writing_whole(option: Any) -> Any:
    if option is not None:
        option.callback = _show_help
    return option


def _show_help(context: Any, option: Any, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        Output(None).write(f"{context.get_help()}\n")
        raise typer.Exit


class Group(DirectGroup):
    """Ends its help with the examples of its commands."""

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write examples and exit codes."""
        write_examples(formatter, [line for line in EXAMPLES if f" {ctx.info_name} " in line])
        write_exit_codes(formatter)


class DefaultGroup(Group):
    """Takes arguments that name none of its commands as those of its default."""

    default = "run"

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        """Read the command line, the default written out where it is meant."""
        known = {*self.commands, *self.get_help_option_names(ctx)}
        if args and args[0] not in known:
            args = [self.default, *args]
        return super().parse_args(ctx, args)

"""Commands and groups that read their own options and write their help as any answer.

typer would load pydantic to turn text into text, and take a full disk for a crash.
"""

from collections.abc import Callable
from typing import Any

from typer.core import TyperCommand, TyperGroup

from opcheck.app.language import TranslatedHelp, with_language
from opcheck.app.short_help import ShortHelp


class _Direct:
    """Takes the place of typer's coercion; enough for text, flags and options with a parser."""

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """Give the value as its option's parser reads it."""
        parse: Callable[[str], Any] = param.type_descriptor.parameter_info.parser or str
        if param.multiple or param.nargs != 1:
            return [parse(item) for item in value or ()]
        return None if value is None else parse(value)


class _Command(TyperCommand):
    """One that has ``--lang``, ready to be read."""

    def get_params(self, ctx: Any) -> Any:
        """Give the parameters, ``--lang`` and ``--help`` included."""
        return with_language(ctx, super().get_params(ctx))


class DirectCommand(TranslatedHelp, ShortHelp, _Command):
    """A command that spares each process the import of pydantic (60 ms)."""

    def get_params(self, ctx: Any) -> Any:
        """Give the parameters, ``--lang`` and ``--help`` included, ready to be read."""
        return _read_directly(super().get_params(ctx))

    def invoke(self, ctx: Any) -> Any:
        """Run the command, on the targets that were meant."""
        from opcheck.app.target_names import settle  # help does without

        settle(ctx.params)
        return super().invoke(ctx)


class DirectGroup(TranslatedHelp, ShortHelp, TyperGroup):
    """The same for the program itself, and for a command that has others."""

    def get_params(self, ctx: Any) -> Any:
        """Give the parameters, ``--help`` included, ready to be read."""
        return _read_directly(super().get_params(ctx))

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write its options, and its commands."""
        super().format_options(ctx, formatter)
        self.format_commands(ctx, formatter)


def _read_directly(parameters: Any) -> Any:
    """Put the own coercion where typer 0.29.2 keeps its.

    A version that keeps none there ignores it, and parses the same at its own pace; a test tells
    when that happens.
    """
    for parameter in parameters:
        parameter._runtime_param = _Direct()
    return parameters


class DefaultGroup(DirectGroup):
    """Takes arguments that name none of its commands as those of its default."""

    default = "run"

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        """Read the command line, the default written out where it is meant."""
        known = {*self.commands, *self.get_help_option_names(ctx)}
        if args and args[0] not in known:
            args = [self.default, *args]
        return super().parse_args(ctx, args)

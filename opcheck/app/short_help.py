"""Two helps of a command: what most need on a screen, and with ``--help-all`` all there is."""

from collections.abc import Callable
from copy import copy
from typing import Any

import typer

from opcheck.app.guide import EXAMPLES, write_examples, write_exit_codes, write_more
from opcheck.app.output import Output

FULL = "--help-all"
MORE = "more"
"""Panel of the options that the short help leaves out."""
_SHOWN = 3
"""Examples of a command in its short help."""


class ShortHelp:
    """Mixed into a command or a group: its help leaves out what few people need."""

    def get_params(self, ctx: Any) -> Any:
        """Give the parameters, ``--help-all`` before the last of them, which is ``--help``."""
        *others, last = super().get_params(ctx)  # type: ignore[misc]  # of the class that this is mixed into
        return [*others, self._full_help(last), last]

    def get_help_option(self, ctx: Any) -> Any:
        """Give ``--help``, which writes as every answer is written."""
        option = super().get_help_option(ctx)  # type: ignore[misc]  # as above
        if option is not None:
            option.callback = _showing(full=False)
        return option

    def _full_help(self, like: Any) -> Any:
        """``--help-all``, an option as ``--help`` is; the same one each time it is asked for."""
        option = self.__dict__.get(FULL)
        if option is None:
            option = self.__dict__[FULL] = copy(like)
            option.name, option.opts = "help_all", [FULL]
            option.help = "Show all options, forms and exit codes."
            option.callback = _showing(full=True)
        return option

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write what the command takes; in the short help without what few people need."""
        params = self.get_params(ctx)
        if not is_full(ctx):
            params = [param for param in params if not _is_more(param, ctx)]
        for heading, kind in (("Arguments", "argument"), ("Options", "option")):
            found = [p.get_help_record(ctx) for p in params if p.param_type_name == kind]
            if rows := [row for row in found if row is not None]:
                with formatter.section(heading):
                    formatter.write_dl(rows if is_full(ctx) else [*map(_without_default, rows)])

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the forms of what it takes, examples of it, and in the full help exit codes."""
        full = is_full(ctx)
        self.format_forms(ctx, formatter, full=full)
        examples = [line for line in EXAMPLES if f" {ctx.info_name} " in line]
        if examples:
            write_examples(formatter, examples if full else examples[:_SHOWN])
        if full:
            write_exit_codes(formatter)
        else:
            write_more(formatter)

    def format_forms(self, ctx: Any, formatter: Any, *, full: bool) -> None:
        """Write the forms of what the command takes."""


def is_full(ctx: Any) -> bool:
    """Whether all is to be written."""
    return bool(ctx.meta.get(FULL))


def _is_more(param: Any, ctx: Any) -> bool:
    """Whether few people need it; the language is an option of the program, and told there."""
    told_before = param.name == "lang" and ctx is not ctx.find_root()
    return told_before or getattr(param, "rich_help_panel", None) == MORE


def _without_default(row: tuple[str, str]) -> tuple[str, str]:
    """An option without what is so where it is left out, unless that is a value of it."""
    name, text = row
    return name, text.partition("  [default: (")[0]


def _showing(*, full: bool) -> Callable[[Any, Any, bool], None]:
    def show(context: Any, option: Any, wanted: bool) -> None:
        if wanted and not context.resilient_parsing:
            context.meta[FULL] = full
            Output(None).write(f"{context.get_help()}\n")
            raise typer.Exit

    return show

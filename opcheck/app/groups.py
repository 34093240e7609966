"""Groups of commands: one that is only that, and one that is a command as well."""

from typing import Any

from opcheck.app.direct import DirectGroup
from opcheck.app.guide import EXAMPLES, write_examples, write_exit_codes


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

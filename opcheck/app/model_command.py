"""What the commands that take a model have in common."""

import sys
from typing import Any

from opcheck.app.direct import DirectCommand
from opcheck.app.guide import (
    EXAMPLES,
    write_dynamic,
    write_examples,
    write_exit_codes,
    write_inputs,
    write_sources,
    write_steps,
)
from opcheck.lang.speech import tell, wording
from opcheck.sandbox import command_line


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

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the forms that SOURCE and --input can have, examples, and the exit codes."""
        write_sources(formatter)
        write_inputs(formatter)
        if any(param.name == "dynamic" for param in self.params):
            write_dynamic(formatter)
        if any(param.name == "step" for param in self.params):
            write_steps(formatter)
        write_examples(formatter, [line for line in EXAMPLES if f" {ctx.info_name} " in line])
        write_exit_codes(formatter)


def _warn() -> None:
    """Say once what of a model's limits this system does not enforce."""
    from opcheck.sandbox.limits.confine import missing

    for what in missing() if sys.stderr is not None else ():
        print(wording("opcheck: warning: {said}").format(said=tell(what)), file=sys.stderr)

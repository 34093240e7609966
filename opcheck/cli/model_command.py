"""What the commands that take a model have in common."""

from typing import Any

from opcheck.cli.direct import DirectCommand
from opcheck.cli.guide import (
    EXAMPLES,
    write_dynamic,
    write_examples,
    write_exit_codes,
    write_inputs,
    write_sources,
    write_steps,
)


class ModelCommand(DirectCommand):
    """Lists the source kinds under its help; only then are they imported."""

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

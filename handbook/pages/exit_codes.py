"""What the process exits with."""

from handbook.base import Page, table
from opcheck.app.guide import EXIT_CODES

_PAGE = """\
# Exit codes

The same for every command. The report is on stdout, and nothing else; errors are on stderr, one
message and a hint.

{table}
`scan`, `emulate` and `run` exit with 0 whenever they could answer, whatever the answer is: a
pipeline that is to fail asks [opcheck gate](../gate.md). A process that Ctrl-C ended exits with
130.
"""


class ExitCodes(Page):
    """``reference/exit-codes.md``."""

    name = "exit-codes"

    def text(self) -> str:
        """The codes as a table."""
        rows = ([str(one.value), one.name.lower(), text] for one, text in EXIT_CODES.items())
        return _PAGE.format(table=table(["code", "name", "when"], rows))

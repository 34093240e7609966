"""The command line: every command with every option."""

from collections.abc import Iterable, Iterator, Mapping

from handbook.base import Page, code, plain, table
from handbook.commands import Command, Parameter, commands
from opcheck.app.guide import DYNAMIC, EXAMPLES, INPUTS, STEPS
from opcheck.source.load import kinds

_HEAD = """\
# Command line

Every command with every option, as `--help` has them. What the process exits with is told in
[exit codes](exit-codes.md).
"""


class CommandLine(Page):
    """``reference/cli.md``."""

    name = "cli"

    def text(self) -> str:
        """Commands, then the forms of what they take."""
        every = commands()
        return "\n".join([_HEAD, *map(_section, every), *_forms()])


def _section(command: Command) -> str:
    parts = [f"## {command.name}\n", f"```\n{command.usage}\n```\n", f"{_paragraphs(command)}\n"]
    if command.subcommands:
        links = (f"[{name}](#{name.replace(' ', '-')})" for name in command.subcommands)
        parts.append(f"Commands: {', '.join(links)}.\n")
    parts += _parameters("argument", (one for one in command.parameters if not one.option))
    parts += _parameters("option", (one for one in command.parameters if one.option))
    own = [line for line in EXAMPLES if f"{line} ".startswith(f"{command.name} ")]
    if own and not command.subcommands:
        parts.append("```\n" + "\n".join(own) + "\n```\n")
    return "\n".join(parts)


def _paragraphs(command: Command) -> str:
    """The help, without the breaks of its source; text within it is no markup."""
    return "\n\n".join(plain(" ".join(part.split())) for part in command.text.split("\n\n"))


def _parameters(kind: str, parameters: Iterable[Parameter]) -> Iterator[str]:
    rows = [[code(one.spelled), plain(one.text), plain(one.default)] for one in parameters]
    if rows:
        yield table([kind, "", "without it"], rows)


def _forms() -> Iterator[str]:
    sources = {kind.name: kind.help for kind in kinds()}
    yield _form("SOURCE", ["kind", ""], sources)
    yield _form("--input", ["written", ""], INPUTS)
    yield _form("--dynamic", ["written", ""], DYNAMIC)
    yield _form("--step", ["written", ""], STEPS)


def _form(title: str, head: list[str], forms: Mapping[str, str]) -> str:
    rows = ([code(form), text] for form, text in forms.items())
    return f"## Forms of {title}\n\n{table(head, rows)}"

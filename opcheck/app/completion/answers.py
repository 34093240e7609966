"""What may stand where the cursor is."""

from collections.abc import Sequence
from typing import Any

from opcheck.app.commands import Commands, help_of
from opcheck.app.completion.values import Answer, values

Parameters = Sequence[Any]


def answers(program: Any, words: Sequence[str]) -> tuple[Answer, ...]:
    """Give what the last of the words may become.

    Args:
        program: the command line's outermost command.
        words: what follows the program's name, up to the cursor.
    """
    *before, current = words or ("",)
    place = _Place(program)
    for word in before:
        place.take(word)
    return tuple(answer for answer in place.offers(current) if answer[0].startswith(current))


class _Place:
    """Where in the command line the next word stands."""

    def __init__(self, command: Any) -> None:
        self._program = self._command = command
        self._waiting: Any = None
        """The option whose value comes next."""
        self._taken = 0
        """How many arguments came before."""
        self._lost = False
        """Whether a command was named that there is not."""

    def take(self, word: str) -> None:
        """Go on by one word."""
        if self._waiting is not None:
            self._waiting = None
        elif word.startswith("-") and word != "-":
            name, equals, _ = word.partition("=")
            option = self._options().get(name)
            wants = option is not None and not option.is_flag and not equals
            self._waiting = option if wants else None
        elif commands := self._commands():
            self._command = commands.get(word)
            self._lost = self._command is None
        else:
            self._taken += 1

    def offers(self, current: str) -> Sequence[Answer]:
        """Everything that may come here; what does not begin as ``current`` does is no answer."""
        if self._lost:
            return ()
        if self._waiting is not None:
            return values(self._waiting.metavar or "", current)
        name, equals, value = current.partition("=")
        if current.startswith("--") and equals:
            option = self._options().get(name)
            metavar = "" if option is None else option.metavar or ""
            return [(f"{name}={text}", said) for text, said in values(metavar, value)]
        if current.startswith("-"):
            return self._long_options()
        if isinstance(commands := self._commands(), Commands):
            return [(text, _first_line(help_of(text))) for text in commands]
        if commands:
            return [(text, _first_line(found.help or "")) for text, found in commands.items()]
        return self._argument(current)

    def _argument(self, current: str) -> Sequence[Answer]:
        arguments = [p for p in self._command.params if p.param_type_name == "argument"]
        if not arguments or (self._taken >= len(arguments) and arguments[-1].nargs == 1):
            return ()
        argument = arguments[min(self._taken, len(arguments) - 1)]
        return values(argument.metavar or "", current)

    def _commands(self) -> dict[str, Any]:
        return getattr(self._command, "commands", None) or {}

    def _options(self) -> dict[str, Any]:
        if self._lost:
            return {}
        own = [p for p in self._command.params if p.param_type_name == "option"]
        everywhere = [p for p in self._program.params if p.name == "lang" and p not in own]
        return {text: option for option in (*own, *everywhere) for text in option.opts}

    def _long_options(self) -> list[Answer]:
        named = [(text, _first_line(option.help or "")) for text, option in self._options().items()]
        return [*((t, said) for t, said in named if t.startswith("--")), ("--help", "Show help.")]


def _first_line(text: str) -> str:
    """The first sentence, for the column beside an answer."""
    return text.strip().partition("\n")[0].partition(". ")[0].rstrip(".")

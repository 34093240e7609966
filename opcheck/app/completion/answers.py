"""What a shell offers for a word of the command line."""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from opcheck.app.commands import Commands, help_of
from opcheck.app.completion.scripts import SCRIPTS
from opcheck.app.guide import STEPS
from opcheck.errors import OpcheckError

if TYPE_CHECKING:
    from opcheck.db.store import Database

Answer = tuple[str, str]
"""A word, and what it means; "" where that goes without saying."""

_PLAIN = re.compile(r"[^\s'\"\\$`&;|<>()*?!#\[\]{}~]+")
"""What a shell takes as it stands."""


def values(metavar: str, current: str) -> Sequence[Answer]:
    """Words that may stand for a metavar, of which ``current`` was typed so far."""
    offer = _OFFERS.get(metavar)
    if offer is not None:
        return offer(current)
    if re.fullmatch(r"[a-z]+(\|[a-z]+)+", metavar):
        return [(choice, "") for choice in metavar.split("|")]
    return ()


def _targets(current: str) -> Sequence[Answer]:
    """Targets and releases; other names of them where what was typed begins none of their own."""
    from opcheck.db.releases import toolkit_names
    from opcheck.db.selection import meaning
    from opcheck.db.store import Database
    from opcheck.model.target import TargetKind, TargetSpec

    database = Database.open()
    name, at, _ = current.partition("@")
    if not at:
        named = [(str(t.name), database.chip_name(t)) for t in database.of_kind(*TargetKind)]
        offered = [*named, ("all", "every target")]
        return offered if _any_begins(offered, current) else _other_names(database)
    if (meant := meaning(database, TargetSpec(name))) is None:
        return ()
    releases = reversed(database.releases(meant.spec.name))
    found = [t.sdk for t in releases]
    found += toolkit_names(database.toolkits(database.resolve(meant.spec)))
    return [(f"{name}@{release}", "") for release in dict.fromkeys(found)]


def _any_begins(offered: Sequence[Answer], current: str) -> bool:
    return any(word.startswith(current) for word, _ in offered)


def _other_names(database: "Database") -> Sequence[Answer]:
    """What chips are called beside their targets' names, with these."""
    from opcheck.db.naming import plain_names

    return [
        (name, target) for name, target in plain_names(database.called) if _PLAIN.fullmatch(name)
    ]


def _operators(current: str) -> Sequence[Answer]:
    """Overloads; without a namespace, base names and the namespaces."""
    from opcheck.db.store import Database

    tables = Database.open().tables
    names = {*tables.history, *tables.extensions}
    if "::" in current:
        return [(name, "") for name in sorted(names)]
    bare = {name.removeprefix("aten::").partition(".")[0] for name in tables.history}
    spaces = {f"{name.partition('::')[0]}::" for name in names}
    if current:
        return [*((space, "") for space in sorted(spaces)), *((base, "") for base in sorted(bare))]
    return [(space, "") for space in sorted(spaces)]


def _vendors(current: str) -> Sequence[Answer]:
    from opcheck.db.store import Database

    return [(name, "") for name in Database.open().vendors]


def _formats(current: str) -> Sequence[Answer]:
    from opcheck.views.formats import report_formats

    names = report_formats()
    name, equals, path = current.partition("=")
    if equals:
        return [(f"{name}={text}", said) for text, said in _files(path)] if name in names else ()
    return [(name, "") for name in names]


def _steps(current: str) -> Sequence[Answer]:
    return [(f"{form.partition('=')[0]}=", said) for form, said in STEPS.items()]


def _sources(current: str) -> Sequence[Answer]:
    """Files, and the kinds of model that are named by a prefix."""
    from opcheck.source.load import kinds

    prefixes = [(f"{kind.name}:", kind.help) for kind in kinds() if f"{kind.name}:" in kind.help]
    return [*prefixes, *_files(current)]


def _files(current: str) -> Sequence[Answer]:
    return _entries(current, folders_alone=False)


def _folders(current: str) -> Sequence[Answer]:
    return _entries(current, folders_alone=True)


def _entries(current: str, *, folders_alone: bool) -> Sequence[Answer]:
    """What is in the folder that was typed so far; hidden files when asked for."""
    head, slash, typed = current.rpartition("/")
    folder = Path(f"{head}{slash}" or ".")
    try:
        found = sorted((entry.name, entry.is_dir()) for entry in folder.iterdir())
    except OSError:
        return ()
    return [
        (f"{head}{slash}{name}{'/' if is_folder else ''}", "")
        for name, is_folder in found
        if (is_folder or not folders_alone)
        and _PLAIN.fullmatch(name)
        and (typed.startswith(".") or not name.startswith("."))
    ]


_OFFERS: Mapping[str, Callable[[str], Sequence[Answer]]] = {
    "TARGET": _targets,
    "BEFORE": _targets,
    "AFTER": _targets,
    "[AFTER]": _targets,
    "OPERATOR": _operators,
    "[OPERATOR]": _operators,
    "VENDOR": _vendors,
    "FORMAT[=FILE]": _formats,
    "NAME=VALUE": _steps,
    "SOURCE": _sources,
    "SOURCE|REPORT.json": _sources,
    "REPORT.json": _files,
    "FILE": _files,
    "FILE.py:NAME": _files,
    "PATH": _files,
    "DIR": _folders,
    "SHELL": lambda _: [(shell, "") for shell in SCRIPTS],
}
"""Metavar -> the words that may stand for it, given what was typed so far."""


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
        return [
            *((t, said) for t, said in named if t.startswith("--")),
            ("--help-all", "Show all help."),
            ("--help", "Show help."),
        ]


def _first_line(text: str) -> str:
    """The first sentence, for the column beside an answer."""
    return text.strip().partition("\n")[0].partition(". ")[0].rstrip(".")


LONGEST = 60
"""Characters of what is said beside an answer."""


def shell_lines(program: Any, words: Sequence[str], shell: str) -> str:
    """One answer a line, with a tab before what it means where the shell shows that.

    Where the database cannot be read there is nothing to offer: a prompt is no place for errors.
    """
    try:
        found = answers(program, words)
    except (OpcheckError, OSError):
        return ""
    return "".join(f"{_line(word, said, shell)}\n" for word, said in found)


def _line(word: str, said: str, shell: str) -> str:
    if shell == "bash" or not said:
        return word
    short = said if len(said) <= LONGEST else f"{said[: LONGEST - 3].rstrip()}..."
    return f"{word}\t{short}"

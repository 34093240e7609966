"""What may stand for a metavar: the name that an option's help gives to its value says which."""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from opcheck.app.completion.scripts import SCRIPTS
from opcheck.app.guide import STEPS

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
    from opcheck.db.store import Database

    database = Database.open()
    name, at, _ = current.partition("@")
    if not at:
        named = [(str(t.name), database.chip_name(t)) for t in database.targets()]
        return [*named, ("all", "every target")]
    if name not in database.names():
        return ()
    found = dict.fromkeys((f"{name}@{t.sdk}", "") for t in reversed(database.releases(name)))
    return list(found)


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

"""Rules that users bring: from folders, and from installed packages."""

import importlib.util
import os
import sys
from collections.abc import Iterator, Sequence
from hashlib import sha256
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

from opcheck.errors import UsageError
from opcheck.files import MOST_SOURCE_BYTES, require_regular
from opcheck.lang.sentence import Sentence
from opcheck.model.plan import Label, Tier
from opcheck.rewrite.base import Rule, rules
from opcheck.source.user_code import shown
from opcheck.trace.torch_internals.dispatcher import overload_named

GROUP = "opcheck.rules"
"""Entry points of this group name a module of rules, or a rule."""
_HINT = Sentence(
    "a rule is a class whose base is Rule of opcheck.rewrite.base; docs/how-to/rule.md tells how"
)


def extra_rules(folders: Sequence[str | Path] = ()) -> tuple[Rule, ...]:
    """The rules of installed packages, then those of every Python file in the folders.

    Loading them runs their code.

    Raises:
        UsageError: a folder is none, a file cannot be run, or a rule is not whole.
    """
    found: dict[str, Rule] = {}
    for rule in (*_installed(), *(r for folder in folders for r in _of_folder(Path(folder)))):
        if rule.name in found or rule.name in {known.name for known in rules()}:
            raise UsageError(
                Sentence("two rules are called {text}", text=repr(rule.name)),
                Sentence("give one another name"),
            )
        found[rule.name] = rule
    return tuple(found.values())


def _installed() -> Iterator[Rule]:
    for point in sorted(entry_points(group=GROUP), key=lambda p: (p.name, p.value)):
        try:
            loaded = point.load()
        except Exception as error:  # another package's code
            message = Sentence(
                "cannot load the rules {text} of an installed package: {text_why}",
                text=repr(point.name),
                text_why=error,
            )
            raise UsageError(
                message, Sentence("repair or remove the package of {text}", text=repr(point.value))
            ) from error
        kinds = _kinds(loaded) if isinstance(loaded, ModuleType) else [loaded]
        yield from (_whole(kind, f"the entry point {point.name!r}") for kind in kinds)


def _of_folder(folder: Path) -> Iterator[Rule]:
    if not os.path.isdir(folder):
        raise UsageError(
            Sentence("cannot load rules from {text}: it is no folder", text=folder), _HINT
        )
    kinds = [(path, kind) for path in sorted(folder.glob("*.py")) for kind in _kinds(_run(path))]
    if not kinds:
        raise UsageError(Sentence("no file in {text} has a rule", text=folder), _HINT)
    yield from (_whole(kind, shown(str(path))) for path, kind in kinds)


def _run(path: Path) -> ModuleType:
    """Import a file under a name that no other module has."""
    name = f"opcheck_rules_{sha256(str(path.resolve()).encode()).hexdigest()[:12]}"
    if name in sys.modules:
        return sys.modules[name]
    try:
        require_regular(path, MOST_SOURCE_BYTES)  # Python would wait for a pipe
    except OSError as error:
        raise UsageError(
            Sentence(
                "cannot load rules from {text}: {text_why}", text=path, text_why=error.strerror
            ),
            _HINT,
        ) from error
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        del sys.modules[name]
        if not isinstance(error, Exception):
            raise
        what = f"{type(error).__name__}: {error}"
        raise UsageError(
            Sentence("cannot load rules from {text}: {text_why}", text=path, text_why=what), _HINT
        ) from error
    return module


def _kinds(module: ModuleType) -> list[type[Rule]]:
    """The rules that a module defines itself."""
    return [
        value
        for value in vars(module).values()
        if isinstance(value, type)
        and issubclass(value, Rule)
        and value.__module__ == module.__name__
        and not value.__name__.startswith("_")
    ]


def _whole(kind: Any, where: str) -> Rule:
    """An instance, of a class that says all that a rule has to."""
    if not (isinstance(kind, type) and issubclass(kind, Rule)):
        raise UsageError(
            Sentence("{text} has no rule: {text_name}", text=where, text_name=repr(kind)), _HINT
        )
    for attribute in ("name", "replaces", "summary", "replace"):
        if not hasattr(kind, attribute):
            raise UsageError(
                Sentence(
                    "{rule} of {text} does not say its {name}",
                    rule=kind.__name__,
                    text=where,
                    name=attribute,
                ),
                _HINT,
            )
    try:
        kind.label, kind.tier = Label(kind.label), Tier(kind.tier)
    except ValueError as error:
        raise UsageError(
            Sentence(
                "{rule} of {text}: {text_why}", rule=kind.__name__, text=where, text_why=error
            ),
            _HINT,
        ) from error
    unknown = [op for op in kind.replaces if overload_named(op) is None]
    if unknown:
        names = ", ".join(unknown)
        hint = Sentence("write them as aten::roll or aten::isin.Tensor_Tensor")
        raise UsageError(
            Sentence(
                "{rule} of {text} replaces what torch has not: {list}",
                rule=kind.__name__,
                text=where,
                list=names,
            ),
            hint,
        )
    try:
        return kind()
    except TypeError as error:
        raise UsageError(
            Sentence(
                "{rule} of {text} is not whole: {text_why}",
                rule=kind.__name__,
                text=where,
                text_why=error,
            ),
            _HINT,
        ) from error

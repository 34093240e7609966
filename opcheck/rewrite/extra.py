"""Rules that users bring: from folders, and from installed packages."""

import importlib.util
import os
import sys
from collections.abc import Iterator, Sequence
from hashlib import sha256
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from opcheck.errors import UsageError
from opcheck.files import MOST_SOURCE_BYTES, require_regular
from opcheck.lang.sentence import Sentence
from opcheck.model.plan import Label, Tier
from opcheck.rewrite.base import Rule, rules
from opcheck.rewrite.fusing.base import Fusion, fusions
from opcheck.source.user_code import shown
from opcheck.trace.torch_internals.dispatcher import overload_named

T = TypeVar("T")
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
            raise _same_name(rule.name)
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
        kinds = _kinds(loaded, Rule) if isinstance(loaded, ModuleType) else [loaded]
        yield from (_whole(kind, f"the entry point {point.name!r}") for kind in kinds)


def extra_fusions(folders: Sequence[str | Path] = ()) -> tuple[Fusion, ...]:
    """The fusions of every Python file in the folders; loading them runs their code.

    Raises:
        UsageError: a folder is none, a file cannot be run, or a fusion is not whole.
    """
    found: dict[str, Fusion] = {}
    for path, kind in (pair for folder in folders for pair in _defined(Path(folder), Fusion)):
        fusion = _whole_fusion(kind, shown(str(path)))
        if fusion.name in found or fusion.name in {known.name for known in fusions()}:
            raise _same_name(fusion.name)
        found[fusion.name] = fusion
    return tuple(found.values())


def _same_name(name: str) -> UsageError:
    return UsageError(
        Sentence("two rules are called {text}", text=repr(name)),
        Sentence("give one another name"),
    )


def _of_folder(folder: Path) -> Iterator[Rule]:
    for path, kind in _defined(folder, Rule):
        yield _whole(kind, shown(str(path)))


def _defined(folder: Path, base: Any) -> list[tuple[Path, Any]]:
    """The classes of one kind that the files of a folder define.

    Raises:
        UsageError: the folder is none, or has neither a rule nor a fusion.
    """
    if not os.path.isdir(folder):
        raise UsageError(
            Sentence("cannot load rules from {text}: it is no folder", text=folder), _HINT
        )
    modules = [(path, _run(path)) for path in sorted(folder.glob("*.py"))]
    if not any(_kinds(module, Rule) or _kinds(module, Fusion) for _, module in modules):
        raise UsageError(Sentence("no file in {text} has a rule", text=folder), _HINT)
    return [(path, kind) for path, module in modules for kind in _kinds(module, base)]


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


def _kinds(module: ModuleType, base: Any) -> list[Any]:
    """The classes of one kind that a module defines itself."""
    return [
        value
        for value in vars(module).values()
        if isinstance(value, type)
        and issubclass(value, base)
        and value.__module__ == module.__name__
        and not value.__name__.startswith("_")
    ]


def _whole(kind: Any, where: str) -> Rule:
    """An instance, of a class that says all that a rule has to."""
    if not (isinstance(kind, type) and issubclass(kind, Rule)):
        raise UsageError(
            Sentence("{text} has no rule: {text_name}", text=where, text_name=repr(kind)), _HINT
        )
    _require_said(kind, where, ("name", "replaces", "summary", "replace"))
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
    return _made(kind, where)


def _whole_fusion(kind: type[Fusion], where: str) -> Fusion:
    """An instance, of a class that says all that a fusion has to."""
    _require_said(kind, where, ("name", "kernels", "summary", "variants", "replace", "tolerance"))
    return _made(kind, where)


def _require_said(kind: type[Any], where: str, attributes: Sequence[str]) -> None:
    for attribute in attributes:
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


def _made(kind: type[T], where: str) -> T:
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

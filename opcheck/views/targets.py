"""Short names of targets beside others, and one sentence for several chips or torch versions."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from opcheck.db.versions import version_key
from opcheck.lang.sentence import Sentence, changed
from opcheck.model.report import TargetReport
from opcheck.model.target import target_name


class Named(Protocol):
    """What is said of one target."""

    @property
    def target(self) -> str:
        """The whole name."""

    @property
    def vendor(self) -> str:
        """As in the name."""

    @property
    def chip(self) -> str:
        """As in the name."""


def short_names(targets: Sequence[Named]) -> Mapping[str, str]:
    """Target -> the shortest name that only it has: ``ascend-910b`` where there is one of it."""
    short = {target.target: target_name(target.vendor, target.chip) for target in targets}
    uses = Counter(short.values())
    return {full: name if uses[name] == 1 else full for full, name in short.items()}


def short_target_names(targets: Iterable[str]) -> Mapping[str, str]:
    """The same of targets that are known by their whole name alone."""
    short = {target: target.partition("@")[0] for target in targets}
    uses = Counter(short.values())
    return {full: name if uses[name] == 1 else full for full, name in short.items()}


_CHIP, _TORCH = "\0", "\1"
_VERSIONS = ("version", "wanted")
"""Places of sentences that hold a version of torch."""


def any_chip(text: str, target: TargetReport) -> str:
    """The sentence that every chip and torch shares, made from what is said of one."""
    whole = _any(text, target)
    found = _sentence(text, target) if isinstance(text, Sentence) else whole
    return found if found == whole else whole


def of_chips(text: str, targets: Sequence[TargetReport]) -> str:
    """What :func:`any_chip` gave, said of these."""
    versions = sorted({target.torch for target in targets}, key=version_key, reverse=True)
    chips = _either(dict.fromkeys(target.chip for target in targets))
    torch = _either(versions)
    alone = {_CHIP: chips, _TORCH: torch}
    return changed(
        text,
        lambda part: alone.get(part, part.replace(_CHIP, chips).replace(_TORCH, torch)),
    )


def _any(text: str, target: TargetReport) -> str:
    shared = re.sub(rf"\btorch {re.escape(target.torch)}(?!\.?\d)", f"torch {_TORCH}", text)
    return re.sub(rf"\b{re.escape(target.chip)}\b", _CHIP, shared) if target.chip else shared


def _sentence(text: str, target: TargetReport) -> str:
    """The same of a sentence, made of its arguments."""
    if not isinstance(text, Sentence):
        return _any(text, target)
    parts = {
        name: _TORCH if name in _VERSIONS and value == target.torch else _sentence(value, target)
        for name, value in text.arguments.items()
    }
    return Sentence(_any(text.template, target), **parts)


def _either(names: Iterable[str]) -> str:
    *head, last = names
    return Sentence("{list} or {last}", list=", ".join(head), last=last) if head else last

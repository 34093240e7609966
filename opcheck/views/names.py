"""What a target is called beside others."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

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

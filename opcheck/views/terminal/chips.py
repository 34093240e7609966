"""One sentence for several chips or torch versions: each target's own says it of its own."""

import re
from collections.abc import Iterable, Sequence

from opcheck.db.versions import version_key
from opcheck.model.report import TargetReport
from opcheck.views.terminal import words

_CHIP, _TORCH = "\0", "\1"


def any_chip(text: str, target: TargetReport) -> str:
    """The sentence that every chip and torch shares, made from what is said of one."""
    shared = re.sub(rf"\btorch {re.escape(target.torch)}(?!\.?\d)", f"torch {_TORCH}", text)
    return re.sub(rf"\b{re.escape(target.chip)}\b", _CHIP, shared) if target.chip else shared


def of_chips(text: str, targets: Sequence[TargetReport]) -> str:
    """What :func:`any_chip` gave, said of these."""
    versions = sorted({target.torch for target in targets}, key=version_key, reverse=True)
    chips = _either(dict.fromkeys(target.chip for target in targets))
    return text.replace(_CHIP, chips).replace(_TORCH, _either(versions))


def _either(names: Iterable[str]) -> str:
    *head, last = names
    return f"{', '.join(head)} {words.OR} {last}" if head else last

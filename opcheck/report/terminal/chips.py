"""One sentence for several chips: each target's own says it of its own."""

import re
from collections.abc import Iterable

from opcheck.model.report import TargetReport
from opcheck.report.terminal import words

_CHIP = "\0"


def any_chip(text: str, target: TargetReport) -> str:
    """The sentence that every chip shares, made from what is said of one."""
    return re.sub(rf"\b{re.escape(target.chip)}\b", _CHIP, text)


def of_chips(text: str, targets: Iterable[TargetReport]) -> str:
    """What :func:`any_chip` gave, said of these."""
    chips = dict.fromkeys(target.chip for target in targets)
    return text.replace(_CHIP, f" {words.OR} ".join(chips))

"""Which chip of the database a device's own name stands for."""

import re
from collections.abc import Collection, Mapping, Sequence
from itertools import dropwhile
from typing import Any

Chips = Mapping[str, Mapping[str, Any]]
"""Chip id -> what ``vendor.yaml`` says of it."""

_SERIES = re.compile(r"([a-z])-series")
"""``A-series`` stands for ``A770`` and the like."""
_MARKS = re.compile(r"\((?:r|tm)\)", re.IGNORECASE)
_OTHER_CHIPS = frozenset({"d", "laptop", "mobile", "max-q", "ti", "super", "xtx", "gre"})
"""Words behind a name that make it the name of another chip."""


def chip_of(chips: Chips, vendor_name: str, name: str) -> str:
    """The chip that a device's own name stands for; "" where the database has none of that name.

    ``Ascend910B`` is an old die, ``Ascend910B3`` a 910B: what the vendor lists counts in full.
    """
    for chip, said in chips.items():
        if name == said["name"]:
            return chip
    wanted = _plain(name)
    for chip, said in chips.items():
        if wanted in map(_plain, said.get("socs", ())):
            return chip
    if any(said.get("socs") for said in chips.values()):
        return ""
    words, common = _words(name), set(_words(vendor_name))
    fits = [
        (len(own), chip)
        for chip, said in chips.items()
        for own in (_without(common, _words(str(said["name"]))), [chip])
        if (own != [chip] or words == own or any(map(str.isdigit, chip))) and _holds(words, own)
    ]
    return max(fits, default=(0, ""))[1]


def agreed(chips: Chips, chip: str, architecture: str, fact: str) -> bool | None:
    """What the database says of a chip, or of every chip of its architecture; None: nothing."""
    if chip:
        return chips[chip].get(fact)
    alike = [said for said in chips.values() if architecture and said.get("arch") == architecture]
    answers = {said.get(fact) for said in alike}
    return answers.pop() if len(answers) == 1 else None


def _without(common: Collection[str], words: list[str]) -> list[str]:
    """A name without the vendor's, which not every device's own begins with."""
    return list(dropwhile(common.__contains__, words))


def _holds(words: Sequence[str], own: Sequence[str]) -> bool:
    """Whether a name has the words of another in a row, and none behind that changes it."""
    for start in range(len(words) - len(own) + 1):
        rest = words[start + len(own) :]
        if own and all(map(_same, words[start:], own)) and not _OTHER_CHIPS & set(rest[:1]):
            return True
    return False


def _same(word: str, own: str) -> bool:
    series = _SERIES.fullmatch(own)
    return bool(re.fullmatch(rf"{series[1]}\d+m?", word)) if series else word == own


def _words(name: str) -> list[str]:
    text = _MARKS.sub("", name).lower()
    return [word for word in re.split(r"[\s_/,]+|-(?!series|q\b)", text) if word]


def _plain(name: str) -> str:
    return name.lower().replace("-", "_")

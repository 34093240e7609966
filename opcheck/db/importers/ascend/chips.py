"""Ascend's chips: groups of SoC names that the vendor's code treats alike."""

import re
from collections.abc import Callable, Mapping

from msgspec import Struct

from opcheck.db.versions import version_key


class Chip(Struct, frozen=True):
    """One chip of the database."""

    name: str
    product: str
    pattern: str
    """Of the vendor's SoC names."""
    document: str
    """What the vendor's documents call it."""
    since: str = "0"
    """First release whose SoC enum has it."""
    note: str = ""


CHIPS = {
    "310b": Chip(
        "Ascend 310B", "Atlas inference, 310B series", r"Ascend310B\d", "Atlas 200I/500 A2 推理产品"
    ),
    "310p": Chip(
        "Ascend 310P", "Atlas inference, 310P series", r"Ascend310P\d", "Atlas 推理系列产品"
    ),
    "910a": Chip(
        "Ascend 910A",
        "Atlas training, 910 series",
        r"Ascend910(PremiumA|ProA|A|ProB|B)",
        "Atlas 训练系列产品",
        note="the SoC name Ascend910B, without a digit, is an old die of this group",
    ),
    "910b": Chip("Ascend 910B", "Atlas A2", r"Ascend910B\d\w*", "Atlas A2 训练系列产品"),
    "910c": Chip(
        "Ascend 910C", "Atlas A3", r"Ascend910_93\d\d", "Atlas A3 训练系列产品", since="6.0.0"
    ),
    "950": Chip("Ascend 950", "Ascend 950DT", r"Ascend950", "Ascend 950DT", since="26.0.0"),
}

_FIRST_NEW = "Ascend910B1"
"""From this SoC number on, kernels are op_api by default and bfloat16 exists."""
_NEWEST = "950"
_COMMON = frozenset({"910b", "910c", "950"})
"""A2, A3 and 950: the guard that foreach, logit, unfold_backward and others share."""


class Socs(Struct, frozen=True):
    """The vendor's SoC enum, read."""

    numbers: Mapping[str, int]

    def of(self, chip: str) -> tuple[str, ...]:
        """SoC names of a chip, in the enum's order."""
        pattern = CHIPS[chip].pattern
        return tuple(name for name in self.numbers if re.fullmatch(pattern, name))

    def new(self, chip: str) -> bool:
        """Whether all of a chip's SoCs are Ascend910B1 or above it in number."""
        return min(self.numbers[soc] for soc in self.of(chip)) >= self.numbers[_FIRST_NEW]

    def kernels(self, chip: str, listed: tuple[str, ...]) -> str:
        """The path that an operator listed with ``listed`` takes on a chip, by default."""
        preferred = "op_api" if self.new(chip) else "acl_op"
        return preferred if preferred in listed or not listed else listed[0]

    def where(self, guard: str, release: str) -> tuple[str, ...]:
        """Chips, known to a release, for which the code's question about the SoC is true."""
        chosen = _GUARDS[guard]
        return tuple(chip for chip in known(release) if chosen(self, chip))


_GUARDS: Mapping[str, Callable[[Socs, str], bool]] = {
    "all": lambda socs, chip: True,
    "from_910b1": lambda socs, chip: socs.new(chip),
    "from_910b1_before_950": lambda socs, chip: socs.new(chip) and chip != _NEWEST,
    "from_950": lambda socs, chip: chip == _NEWEST,
    "before_950": lambda socs, chip: chip != _NEWEST,
    "a2_a3_950": lambda socs, chip: chip in _COMMON,
    "only_310p": lambda socs, chip: chip == "310p",
    "only_310b": lambda socs, chip: chip == "310b",
    "a2": lambda socs, chip: chip == "910b",
    "a3": lambda socs, chip: chip == "910c",
    "a2_a3": lambda socs, chip: chip in _COMMON - {_NEWEST},
    "before_910b1": lambda socs, chip: not socs.new(chip),
    "outside_a2_a3_950": lambda socs, chip: chip not in _COMMON,
}


def common_guard(chip: str) -> bool:
    """Whether a chip is A2, A3 or 950."""
    return chip in _COMMON


def known(release: str) -> tuple[str, ...]:
    """Chips that a release knows."""
    return tuple(
        chip for chip, said in CHIPS.items() if version_key(said.since) <= version_key(release)
    )

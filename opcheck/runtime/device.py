"""Which accelerator is here, of which vendor, and which chip of the database it is."""

import os
import re
from collections.abc import Collection, Mapping, Sequence
from itertools import dropwhile
from typing import Any

import torch
from msgspec import Struct

from opcheck.db.store import Database
from opcheck.errors import InferenceError, UsageError
from opcheck.lang.sentence import Sentence
from opcheck.model.target import target_name
from opcheck.runtime.device_modules import Answer, answer, module_of, xla_answer

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


VARIABLE = "OPCHECK_DEVICE"
"""Environment variable with the priority, where a program gives none."""
_BUILT_IN = ("cuda", "xpu", "mps")
"""Device types that torch itself has; asking them imports nothing."""
_CPU = "cpu"
_AUTO = "auto"


class DetectedDevice(Struct, frozen=True):
    """One device that is here, and how it is known."""

    vendor: str
    """As the database names it: ``ascend``; ``cpu`` for the host."""
    device: torch.device
    chip: str = ""
    """As the matrices call it: ``910b``; "" where that is not known."""
    name: str = ""
    """What the device calls itself: ``Ascend910B3``."""
    memory: int | None = None
    """Bytes; None where nobody says."""
    architecture: str = ""
    """``sm_80``, ``gfx942``; "" where that is not known."""
    how: str = ""
    """What told it, in a sentence."""

    @property
    def target(self) -> str:
        """The target to scan for: ``ascend-910b``; "" where the chip is not known."""
        return target_name(self.vendor, self.chip) if self.chip else ""

    def __str__(self) -> str:
        size = "" if self.memory is None else f", {self.memory / 2**30:.0f} GiB"
        return f"{self.device} ({self.name or self.vendor}{size})"


class Build(Struct, frozen=True):
    """What the running torch says of itself; it tells apart who answers to ``cuda``."""

    version: str
    hip: str | None
    dtk: str = ""
    """Where DTK, Hygon's toolkit, is; "" where nothing says so."""

    @classmethod
    def here(cls) -> "Build":
        """Of this process."""
        roots = [os.environ.get(name, "") for name in ("DTK_ROOT", "ROCM_PATH", "ROCM_HOME")]
        dtk = next((root for root in roots if "dtk" in root.lower()), "")
        return cls(torch.__version__, torch.version.hip, dtk)

    def owner(self, name: str) -> tuple[str, str]:
        """The vendor behind a device of type ``cuda``, and what tells it."""
        local = self.version.partition("+")[2].lower()
        if local.startswith("metax") or "metax" in name.lower():
            return "metax", f"torch {self.version} or the device's name is MetaX's"
        if self.hip is None:
            return "nvidia", "torch.version.hip is None"
        if "dtk" in local or "das" in local.split("."):
            return "hygon", f"torch {self.version} is DTK's build"
        if any(mark in name.lower() for mark in ("hygon", "dcu", "k100", "z100")):
            return "hygon", f"torch.version.hip is {self.hip}, and the name is a DCU's"
        if self.dtk and "rocm" not in local:
            return "hygon", f"torch.version.hip is {self.hip}, and its toolkit is {self.dtk}"
        return "amd", f"torch.version.hip is {self.hip}"


def detect_device(priority: str | Sequence[str] | None = None) -> DetectedDevice:
    """Say which device to run on: the first that is here, accelerators before the host.

    Args:
        priority: device types or vendors, the first that is here counts: ``"npu"``,
            ``"ascend,cuda:1,cpu"``, ``["mlu", "cpu"]``. None: what the environment variable
            OPCHECK_DEVICE says, else every accelerator and then the host. A plugin is imported
            only where it is installed, and only to ask for its device.

    Raises:
        UsageError: a name that is none of a device.
        InferenceError: none of those named is here.
        DatabaseError: the database cannot be read.
    """
    database = Database.open()
    kinds = _kinds(database)
    asked = priority if priority is not None else os.environ.get(VARIABLE, "")
    names = [asked] if isinstance(asked, str) else list(asked)
    wanted = [part.strip() for name in names for part in name.split(",") if part.strip()]
    everything = [*kinds, _CPU]
    for text in everything if not wanted or wanted == [_AUTO] else wanted:
        found = _detected(text, kinds, database)
        if found is not None:
            return found
    raise InferenceError(
        Sentence("no device of {list} is here", list=", ".join(wanted)),
        Sentence(
            "opcheck doctor says what a device needs; add cpu to the end to run on the host instead"
        ),
    )


def known_as(
    found: Answer, vendors: Sequence[str], build: Build, database: Database
) -> DetectedDevice:
    """The device of an answer, with its vendor and its chip.

    Args:
        found: what the device's module says.
        vendors: of the database, whose devices have this type.
        build: the running torch.
        database: where chips are looked up.
    """
    vendor, told = vendors[0], ""
    if found.device.type == "cuda":
        vendor, told = build.owner(found.name)
    document = database.vendors[vendor].document.data
    chips: Mapping[str, Mapping[str, Any]] = document["chips"]
    chip = chip_of(chips, str(document["name"]), found.name)
    if not chip and found.device.type in chips:
        chip = found.device.type  # any chip of Metal's, where its name tells none
    name = found.name or str(chips[chip]["name"] if chip else "")
    how = "; ".join(filter(None, (found.how, told)))
    architecture = _architecture(found.architecture, chips)
    return DetectedDevice(vendor, found.device, chip, name, found.memory, architecture, how)


def _kinds(database: Database) -> Mapping[str, tuple[str, ...]]:
    """Device type -> vendors of it, in the order in which they are looked for."""
    kinds: dict[str, tuple[str, ...]] = dict.fromkeys(_BUILT_IN, ())
    for name, vendor in sorted(database.vendors.items()):
        data = vendor.document.data
        if "elsewhere" not in data["fallback"]:  # a graph compiler is no device of its own
            kinds[data["device_type"]] = (*kinds.get(data["device_type"], ()), name)
    return kinds


def _detected(
    text: str, kinds: Mapping[str, tuple[str, ...]], database: Database
) -> DetectedDevice | None:
    """The device that one name of a priority asks for; None where it is not here.

    Raises:
        UsageError: it is no name of a device.
    """
    name, _, number = text.lower().partition(":")
    if name == _CPU:
        return _host()
    types = [kind for kind, vendors in kinds.items() if name in (kind, *vendors)]
    if not types or not (number.isdecimal() or ":" not in text):
        known = ", ".join([*kinds, _CPU, *sorted(v for vs in kinds.values() for v in vs)])
        raise UsageError(
            Sentence("no such device: {text}", text=repr(text)),
            Sentence("it is one of {list}, with :INDEX or not", list=known),
        )
    (kind,) = types
    found = _answer(kind, kinds[kind], int(number or 0), database)
    if found is None:
        return None
    made = known_as(found, kinds[kind], Build.here(), database)
    return made if name in (kind, made.vendor) else None


def _answer(kind: str, vendors: Sequence[str], index: int, database: Database) -> Answer | None:
    if kind == "xla":
        return xla_answer(index)
    environment = database.environment(vendors[0])
    plugin = environment.plugin if environment is not None else None
    return answer(kind, module_of(kind, plugin.module if plugin else ""), index)


def _architecture(said: Sequence[str], chips: Mapping[str, Mapping[str, Any]]) -> str:
    """In the vendor's spelling: ``sm_80`` of the numbers 8 and 0; "" where that is not known."""
    if len(said) < 2:
        return "".join(said)
    known = [str(chip["arch"]) for chip in chips.values() if "arch" in chip]
    spelt = [arch.rstrip("0123456789") + "".join(said) for arch in known[:1]]
    # CUDA's numbers are the name of every architecture, others may be counted another way
    return next((name for name in spelt if name in known or name.startswith("sm_")), "")


def _host() -> DetectedDevice:
    try:
        memory: int | None = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # Windows has no such call
        memory = None
    return DetectedDevice(_CPU, torch.device(_CPU), memory=memory, how="the host is always here")

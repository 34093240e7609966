"""Which chip a name means that is no target's own: ``h100``, ``Ascend910B2``, ``mi-300``."""

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from opcheck.db.by_hand.target_names import VendorNames, other_vendors, vendor_names
from opcheck.db.vendor import Vendor
from opcheck.errors import UsageError
from opcheck.lang.sentence import Sentence
from opcheck.model.target import mode_of, target_name

MOST = 5
"""How many targets a question offers."""
_SIGNS = re.compile(r"[\s\-_./()]+")
_PRODUCT = re.compile(r"(\d{1,3}g(i?b)?|sxm\d?|pcie|nvl|oam|hbm\d?e?|gpu)+")
"""What tells products with one chip apart: its memory, and how it is built in."""
_SHORTEST = 2
"""Of a name that only begins as another does."""
_CLOSE = 0.6
_BACK_ENDS = frozenset({"inductor", "cudagraphs", "aot_eager", "openxla"})
"""Of ``torch.compile``, which the database knows by chip, and not as targets."""
Named = tuple[str, str]
"""A vendor and its chip."""


@dataclass(frozen=True)
class Names:
    """What the chips of a database are called."""

    vendors: Mapping[str, Vendor]
    root: Path
    cache: Path | None
    modes: Mapping[str, Vendor] = field(default_factory=dict)
    """Folders of the graph modes, whose chips are those of vendors."""

    def chip(self, text: str) -> Named:
        """The chip that a name means; its vendor is a graph mode's folder where it names one.

        Raises:
            UsageError: none that is known, or several.
        """
        text, colon, mode = text.partition(":")
        if colon:
            return self._in_mode(self.chip(text), mode)
        if refused := self._refused(text):
            raise refused
        found = self.meant(text)
        if len(found) == 1:
            return found[0]
        raise self._several(text, found) if found else self._unknown(text)

    def _in_mode(self, named: Named, mode: str) -> Named:
        """A vendor's chip in a graph mode of it."""
        vendor, chip = named
        folder = f"{vendor}-{mode.casefold()}"
        if folder in self.modes and chip in self.modes[folder].chips:
            return folder, chip
        known = [
            target_name(name, other)
            for name, one in self.modes.items()
            for other in one.chips
            if (mode_of(name)[0], other) == named
        ]
        what = "{target} has no graph mode {name}"
        raise UsageError(
            Sentence(what, target=target_name(*named), name=repr(mode)),
            self._modes_there_are(mode, target_name(*named), known),
        )

    def _modes_there_are(self, asked: str, chip: str, known: Sequence[str]) -> Sentence:
        if asked.casefold() in _BACK_ENDS:
            return Sentence(
                "it is a back end of torch.compile: compile the model in the source, and the scan"
                " for {target} says what becomes of it",
                target=chip,
            )
        if known:
            return Sentence("known: {text}", text=", ".join(known))
        every = dict.fromkeys(target_name(name, "") for name in self.modes)
        return Sentence("it has none; graph modes are: {list}", list=", ".join(every))

    def meant(self, text: str) -> Sequence[Named]:
        """Every chip that a name may mean, the most used first; () where nothing is known."""
        wanted = compact(text)
        if text not in self.vendors and (whole := self._called_for_all(wanted)):
            return whole
        for vendor in [text] if text in self.vendors else self._vendors_called(wanted):
            return self._ordered((vendor, chip) for chip in self.vendors[vendor].chips)
        owners, rest = self._without_vendor(wanted)
        forms = {named: own for named, own in self._forms.items() if named[0] in owners}
        for fits in (_is_chip, _is_form, _is_product, _begins):
            how = {named: fits(rest, named[1], own) for named, own in forms.items()}
            if best := max(how.values(), default=0):
                return self._ordered(named for named in how if how[named] == best)
        return ()

    def without_vendor(self, text: str) -> str:
        """A name in small letters and without signs, and without the vendor that it begins with."""
        return self._without_vendor(compact(text))[1]

    def _called_for_all(self, wanted: str) -> Sequence[Named]:
        """The chip that stands for all of a vendor's, where a word for the vendor means it."""
        return [
            (name, chip)
            for name, called in self._called.items()
            for chip, words in called.chips.items()
            if wanted in self._words and wanted in map(compact, words)
        ]

    def called(self, vendor: str) -> VendorNames:
        """What users call a vendor, its chips and its releases, in a graph mode too."""
        return self._called[mode_of(vendor)[0]]

    @cached_property
    def _called(self) -> Mapping[str, VendorNames]:
        return {name: vendor_names(self.root, name, self.cache) for name in self.vendors}

    @cached_property
    def _words(self) -> Mapping[str, tuple[str, ...]]:
        """What vendors are called -> those that are."""
        found: dict[str, tuple[str, ...]] = {}
        for name, called in self._called.items():
            others = (also for key, (_, also) in self._others.items() if key == name)
            for word in (name, *called.also, *(word for also in others for word in also)):
                found[compact(word)] = (*found.get(compact(word), ()), name)
        return found

    @cached_property
    def _others(self) -> Mapping[str, tuple[str, tuple[str, ...]]]:
        return other_vendors(self.root, self.cache)

    @cached_property
    def _forms(self) -> Mapping[Named, tuple[str, ...]]:
        """Every chip -> what it is called, without its vendor."""
        return {
            (name, chip): tuple(dict.fromkeys(self._own(name, chip)))
            for name, vendor in self.vendors.items()
            for chip in vendor.chips
        }

    def _own(self, vendor: str, chip: str) -> Iterator[str]:
        said = self.vendors[vendor].chips[chip]
        socs = said.get("socs", ())
        assert isinstance(socs, list | tuple)  # by the schema
        arch = [str(said["arch"])] if "arch" in said else []
        called = self._called[vendor].chips.get(chip, ())
        for text in (chip, str(said["name"]), *called, *socs, *arch):
            yield self._without_vendor(compact(text))[1] or compact(text)

    def _vendors_called(self, wanted: str) -> Sequence[str]:
        return self._words.get(wanted, ())[:1]

    def _without_vendor(self, wanted: str) -> tuple[Collection[str], str]:
        """The vendors that a name begins with, all where it does not, and what is left of it."""
        owners: Collection[str] = self.vendors
        while heads := [word for word in self._words if word and wanted.startswith(word)]:
            word = max(heads, key=len)
            if wanted == word:
                break
            owners = self._words[word]
            wanted = wanted.removeprefix(word)
        return owners, wanted

    def _ordered(self, found: Iterable[Named]) -> Sequence[Named]:
        """The most used first, as the vendor's file has them; vendors by name."""

        def key(named: Named) -> tuple[str, int, str]:
            used = list(self._called[named[0]].chips)
            place = used.index(named[1]) if named[1] in used else len(used)
            return named[0], place, named[1]

        return sorted(found, key=key)

    def _refused(self, text: str) -> UsageError | None:
        """What to say of a chip that a vendor's plugin raises on; None for any other name."""
        owners, wanted = self._without_vendor(compact(text))
        for vendor in owners:
            for chip in self._called[vendor].refused:
                if wanted in map(compact, chip.words):
                    near = " or ".join(target_name(vendor, other) for other in chip.near)
                    return UsageError(
                        Sentence(
                            "{name} has no target: {package} refuses it ({error})",
                            name=chip.name, package=chip.package, error=chip.error,
                        ),
                        Sentence("did you mean {text}?", text=near),
                    )  # fmt: skip
        return None

    def _several(self, text: str, found: Sequence[Named]) -> UsageError:
        names = [target_name(*named) for named in found]
        more = len(names) - MOST
        listed = ", ".join(names[:MOST])
        owners = {vendor for vendor, _ in found}
        whole = "" if len(owners) > 1 or len(names) == 1 else owners.pop()
        return UsageError(
            Sentence("{text} may be {list}", text=repr(text), list=listed)
            if more <= 0
            else Sentence(
                "{text} may be {list} or {count} more",
                text=repr(text), list=listed, count=more,
            ),
            Sentence("name one; where several may be given, -t {vendor} is all", vendor=whole)
            if whole and len(names) == len(self.vendors[whole].chips)
            else Sentence("name one; opcheck targets lists them all"),
        )  # fmt: skip

    def _unknown(self, text: str) -> UsageError:
        message = Sentence("unknown target {text}", text=repr(text))
        wanted = compact(text)
        for name, also in self._others.values():
            if any(wanted.startswith(compact(word)) for word in (name, *also)):
                hint = "the database has nothing of {name}; opcheck targets lists what it has"
                return UsageError(message, Sentence(hint, name=name))
        near = self._near(text)
        known = ", ".join(sorted(target_name(*named) for named in self._forms))
        return UsageError(
            message,
            Sentence("did you mean {text}?", text=" or ".join(near))
            if near
            else Sentence("known targets: {list}", list=known),
        )

    def _near(self, text: str) -> Sequence[str]:
        """The targets whose names are most like one, at most five."""
        import difflib

        owners, rest = self._without_vendor(compact(text))
        close: dict[Named, float] = {}
        for named in self._ordered(named for named in self._forms if named[0] in owners):
            ratios = (
                difflib.SequenceMatcher(None, rest, own).ratio() for own in self._forms[named]
            )
            close[named] = max(ratios)
        near = sorted((each for each in close if close[each] >= _CLOSE), key=lambda n: -close[n])
        if not near and len(owners) < len(self.vendors):
            near = list(close)
        names = [target_name(*named) for named in self._forms]
        likely = difflib.get_close_matches(text, names, n=MOST, cutoff=0.4)
        return [target_name(*named) for named in near[:MOST]] or likely


def plain_names(names: Names) -> Iterator[tuple[str, str]]:
    """Every chip's own name and others, each with the target that it means."""
    for name, vendor in names.vendors.items():
        for chip in vendor.chips:
            for word in (chip, *names.called(name).chips.get(chip, ())):
                if word and names.meant(word) == [(name, chip)]:
                    yield word, target_name(name, chip)


def compact(text: str) -> str:
    """A name without signs and capitals: ``mi300x`` of ``MI-300X``."""
    return _SIGNS.sub("", unicodedata.normalize("NFKC", text).casefold())


Fits = Callable[[str, str, Sequence[str]], int]
"""How well a name is a chip's, of which its own and all its names are given; 0: not at all."""


def _is_chip(wanted: str, chip: str, _: Sequence[str]) -> int:
    return wanted == compact(chip)


def _is_form(wanted: str, _: str, own: Sequence[str]) -> int:
    return wanted in own


def _is_product(wanted: str, _: str, own: Sequence[str]) -> int:
    """How much of a name is a chip's: ``a100`` is more of ``a10080gb`` than ``a10``."""
    return max(
        len(form)
        if wanted.startswith(form) and _PRODUCT.fullmatch(wanted.removeprefix(form))
        else 0
        for form in own
    )


def _begins(wanted: str, _: str, own: Sequence[str]) -> int:
    """Whether a name ends before one of them does, and not within a number of it."""
    return len(wanted) >= _SHORTEST and any(
        form.startswith(wanted) and not (wanted[-1].isdigit() and form[len(wanted)].isdigit())
        for form in own
        if form != wanted
    )

"""What the code that a run goes through could tell device types apart by.

C++ sees the same device in every trace (see ``alias.py``), so that two types can only differ where
Python asks for one by its name: in a constant, an attribute (``is_cuda``, ``torch.npu``) or a name
of its module. The profiler of the standard library tells which code ran. Types that none of it
names have the same trace, but for the name.
"""

import cProfile
import re
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import AbstractContextManager
from functools import cache, partial
from itertools import chain
from types import CodeType, ModuleType
from typing import Any
from unittest.mock import patch

import torch
from msgspec.structs import replace
from torch import nn
from torch.utils import backend_registration

from opcheck.model.trace import Constant, Trace
from opcheck.model.work import VIEWING, viewed
from opcheck.trace.calls.call_site import is_tracer
from opcheck.trace.calls.engine import Engine
from opcheck.trace.calls.noted import Noted
from opcheck.trace.device.alias import ALIASED_TYPES
from opcheck.trace.running.library_flags import NEWER
from opcheck.trace.running.lines_run import LinesRun
from opcheck.trace.running.reached import reached

_Play = Callable[[nn.Module, Engine, tuple[Any, ...], dict[str, Any]], object]
_OURS = re.compile(r"privateuse(?:1|one)")
"""How torch calls the device that has no name of its own; a disguise is not called so."""
_OURS_WORD = "privateuse1"
_WORDS = re.compile(r"[a-z0-9]+")
_GUARDS = backend_registration.__file__
"""C++ asks the guards there of our device whatever a model does."""
_AUTOCAST = torch.amp.autocast_mode.autocast
_PLAIN = frozenset(nn.Module.__mro__)
_HOLDING = (str, torch.device, tuple, list, set, frozenset, dict)
_MOST = 256
"""Elements of a container in which names are looked for: a table of devices has a few."""


class DeviceAsked:
    """Notes what code runs while models do, and which device types that code could tell apart."""

    def __init__(self, types: Iterable[str]) -> None:
        self._types = frozenset(types)
        self._tells = cache(self._names_one)
        self._profile = cProfile.Profile(builtins=False)
        self._lines = LinesRun(self._unclear)
        self._runs = False
        self._whole = True
        """Whether nobody took the profiler's place, and no other thread began."""
        self._casts = False
        """Whether a region of autocast was opened that casts."""
        self._held: set[str] = set()
        """What the model's modules hold that may name a device."""

    def during(self, play: _Play) -> _Play:
        """The same run, whose code is noted."""

        def noted(
            module: nn.Module, engine: Engine, args: tuple[Any, ...], kwargs: dict[str, Any]
        ) -> object:
            self._held |= set(_held(module))
            engine.leaves.noted = Noted(partial(_Turn, self, False), partial(_Turn, self, True))
            begin = _AUTOCAST.__init__

            def cast(region: Any, *given: Any, **named: Any) -> None:
                self._casts |= bool(named.get("enabled", given[2] if len(given) > 2 else True))
                begin(region, *given, **named)

            start = threading.Thread.start

            def apart(thread: threading.Thread) -> None:
                self._whole = False  # no profiler hears what runs there
                start(thread)

            with (
                self._lines.during(),
                patch.object(_AUTOCAST, "__init__", cast),
                patch.object(threading.Thread, "start", apart),
            ):
                self._start()
                try:
                    return play(module, engine, args, kwargs)
                finally:
                    self._stop()

        return noted

    def _start(self) -> None:
        if self._runs:
            return
        try:
            self._profile.enable()
        except ValueError:  # another profiler is at work
            self._whole = False
            return
        self._runs = True

    def _stop(self) -> None:
        if not self._runs:
            return
        self._whole &= _profiled(self._profile)
        self._profile.disable()
        self._runs = False

    def turn(self, *, theirs: bool) -> tuple[bool, bool]:
        """From here on hear all, or nothing; gives what :meth:`turn_back` takes."""
        before = self._runs, self._lines.rest(not theirs)
        if theirs:
            self._start()
        else:
            self._stop()
        return before

    def turn_back(self, before: tuple[bool, bool]) -> None:
        """Hear what was heard before a turn."""
        ran, rested = before
        if ran:
            self._start()
        else:
            self._stop()
        self._lines.rest(rested)

    def told_apart(self, types: Iterable[str]) -> frozenset[str]:
        """Those of some device types that the code could tell from others; all if it is unsure."""
        every = frozenset(types)
        if not self._whole:
            return every
        found = _named(self._held, every)
        for texts in self._said():
            found |= _named([*_texts(texts)], every)
        return frozenset(found)

    @property
    def releases(self) -> frozenset[tuple[int, int]]:
        """The releases of torch that the code asked whether this one is at least."""
        asked = (
            NEWER.fullmatch(text)
            for texts in self._said()
            for text in texts
            if isinstance(text, str)
        )
        return frozenset((int(one[1]), int(one[2])) for one in asked if one)

    def _said(self) -> Iterator[Sequence[object]]:
        """What the code that ran names, of functions that name a type or a release."""
        by_file = _by_file()
        for code, calls in self._codes():
            names = by_file.get(code.co_filename, {})
            if self._matters(code, names):  # most do not
                lines = self._lines.of(code, calls)
                yield [*_reached(code, names, lines)]

    def _matters(self, code: CodeType, names: Mapping[str, Any]) -> bool:
        """Whether code, or what its module holds by the names in it, tells of types or releases."""
        if any(map(self._tells, code.co_names)):
            return True
        held = (names[name] for name in code.co_names if name in names)
        texts = _texts(one for one in chain(code.co_consts, held) if isinstance(one, _HOLDING))
        return any(map(self._tells, texts))

    def _unclear(self, code: CodeType, names: Mapping[str, Any]) -> bool:
        """Whether it depends on which of its lines run what a function names."""
        if not self._matters(code, names) or is_tracer(code):
            return False
        return any(map(self._tells, _texts(_reached(code, names, None))))

    def _names_one(self, text: str) -> bool:
        """Whether a name is one of a device type, or of what asks for a release of torch."""
        return bool(_named((text,), self._types)) or NEWER.fullmatch(text) is not None

    @property
    def casts(self) -> bool:
        """Whether autocast was asked to cast."""
        return self._casts

    def _codes(self) -> Iterator[tuple[CodeType, int]]:
        """The code that ran, and how often it was called."""
        for entry in self._profile.getstats():
            code = entry.code
            if not isinstance(code, CodeType) or is_tracer(code) or code.co_filename == _GUARDS:
                continue
            if not (_of_autocast(code) and not self._casts):  # alike everywhere, casting nothing
                yield code, entry.callcount


class _Turn(AbstractContextManager[None]):
    """A block of the tracer's own work, or of what it calls of others within that.

    There is one for each call of a model: what ``contextmanager`` makes takes five times as long.
    """

    __slots__ = ("_asked", "_before", "_theirs")

    def __init__(self, asked: DeviceAsked, theirs: bool) -> None:
        self._asked, self._theirs = asked, theirs

    def __enter__(self) -> None:
        self._before = self._asked.turn(theirs=self._theirs)

    def __exit__(self, *_: object) -> None:
        self._asked.turn_back(self._before)


def _by_file() -> Mapping[object, Mapping[str, Any]]:
    """The names of every module, by its file."""
    modules = [vars(one) for one in [*sys.modules.values()] if isinstance(one, ModuleType)]
    return {names.get("__file__"): names for names in modules}


def _reached(code: CodeType, names: Mapping[str, Any], lines: Set[int] | None) -> Iterator[object]:
    """Those of them that a run may reach; ``lines``: that ran, where these were heard."""
    for one in reached(code, names, lines):
        yield one
        if isinstance(one, str) and one in names:
            yield names[one]


def said_of(trace: Trace, device_type: str) -> bool:
    """Whether a trace says more of its device type than where its tensors are."""
    elsewhere = replace(trace, device_type="", nodes=(), uses=(), sequence=())
    if re.search(rf"\b{device_type}\b", repr(elsewhere)):
        return True
    place = Constant("device", device_type)
    given = (value for node in trace.nodes for _, value in node.arguments)
    return any(device_type in node.note for node in trace.nodes) or any(
        value != place and device_type in str(value) for value in given
    )


def differing(trace: Trace) -> frozenset[str]:
    """Device types on which some call of the trace would be another.

    The trace names them itself, as where a function asks for a device by default, or has a call
    already that another becomes there.
    """
    given = (value for node in trace.nodes for _, value in node.arguments)
    named = {str(one.value) for one in given if isinstance(one, Constant) and one.kind == "device"}
    twice = len({*map(viewed, trace.nodes)}) < len(trace.nodes)
    return frozenset(named - {trace.device_type} | (VIEWING if twice else set()))


def _of_autocast(code: CodeType) -> bool:
    inside = code.co_qualname.startswith("autocast.")
    return inside and code.co_filename == _AUTOCAST.__enter__.__code__.co_filename


def _profiled(profile: cProfile.Profile) -> bool:
    """Whether the profiler is still the one that is told of calls."""
    if sys.version_info >= (3, 12):
        return sys.monitoring.get_tool(sys.monitoring.PROFILER_ID) is not None
    found: object = sys.getprofile()
    return found is profile


def _held(module: nn.Module) -> Iterator[str]:
    """Names that the parts of a model have as attributes, their classes' own among them."""
    parts = list(module.modules())
    classes = {kind for part in parts for kind in type(part).__mro__ if kind not in _PLAIN}
    for holder in (*parts, *classes):
        yield from _texts(vars(holder).values())


def _texts(values: Iterable[object]) -> Iterator[str]:
    """The names among constants, and in small containers of them."""
    for value in values:
        if isinstance(value, str):
            yield value
        elif isinstance(value, torch.device):
            yield value.type
        elif isinstance(value, tuple | list | set | frozenset | dict) and len(value) <= _MOST:
            yield from (each for each in [*value] if isinstance(each, str))


def _named(texts: Iterable[str], types: frozenset[str]) -> set[str]:
    """Device types that occur as words in names; sentences name nothing."""
    found: set[str] = set()
    for text in texts:
        words = _words(text)
        if words:
            found |= types & words
            if _OURS_WORD in words:
                found |= types & ALIASED_TYPES
    return found


@cache
def _words(text: str) -> frozenset[str]:
    """The words of a name, in small letters; functions have many names in common."""
    if " " in text:
        return frozenset()
    low = text.lower()
    found = _WORDS.findall(low.replace("_", " "))
    return frozenset((*found, _OURS_WORD) if _OURS.search(low) else found)

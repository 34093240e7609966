"""Device types that need no run of their own: the first one's code told them apart by nothing.

Of eleven types of devices most models have one trace. The copies of this process share a note of
which works are done that way.
"""

import mmap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from opcheck.model.trace import Trace
from opcheck.model.work import DeviceWork, WorkRequest
from opcheck.sandbox.child.runs import Run

if TYPE_CHECKING:
    from opcheck.trace.running.device_asked import DeviceAsked

One = tuple[int, DeviceWork, Run]
"""The number of a work, what is asked for, and how the model is run for it."""
_NAMED_BY_CODE = ("xla", "musa", "mlu", "hpu", "cuda", "xpu", "mps", "npu")
"""Device types by how likely a model's code or its trace is another on them; the rest are less."""


class Alike:
    """Which works one copy of the process does for several."""

    def __init__(self, request: WorkRequest, works: Sequence[One], at_once: int) -> None:
        from opcheck.trace.running.exported import EXPORTED_TYPES

        self._exported = EXPORTED_TYPES
        self._done = mmap.mmap(-1, max(len(works), 1))
        first = sorted(works, key=lambda one: _likely(one[1].device_type))
        plain = request.model.step is None and not request.model.dynamic and len(works) > 1
        leaders: dict[bool, One] = {}
        for one in first if plain else ():
            if not one[1].plan and not one[1].exact:
                leaders.setdefault(self._is_exported(one), one)
        self._leaders = list(leaders.values())
        rest = [one for one in reversed(first) if one not in self._leaders]
        self.works = (*self._leaders, *rest) if plain else tuple(works)
        """In the order in which they are to be begun."""
        self._begun = self.works[:at_once]
        """Those that are at work before a leader can tell anything."""

    def _is_exported(self, one: One) -> bool:
        return one[1].device_type in self._exported

    def _of_kind(self, one: One) -> Sequence[One]:
        """The works that a leader may be done for."""
        return [each for each in self.works if self._is_exported(each) == self._is_exported(one)]

    @property
    def leaders(self) -> int:
        """How many of the first works may turn out to be done for others as well."""
        return len(self._leaders)

    def watched(self, one: One) -> "DeviceAsked | None":
        """What is to note the code of a run that may stand for others."""
        if one not in self._leaders:
            return None
        from opcheck.trace.running.device_asked import DeviceAsked

        return DeviceAsked(each[1].device_type for each in self._of_kind(one))

    def found(self, one: One, trace: Trace, asked: "DeviceAsked") -> tuple[str, ...]:
        """The device types that have the trace of a leader; from now on these works are done."""
        from opcheck.trace.running.device_asked import differing, said_of

        of_kind = self._of_kind(one)
        types = {each[1].device_type for each in of_kind}
        apart = asked.told_apart(types)
        if one[1].device_type in apart or said_of(trace, one[1].device_type):
            return ()
        apart |= differing(trace)
        same = [
            each
            for each in of_kind
            if each[1].device_type not in apart
            and each not in self._begun
            and _as(one, each, asked)
        ]
        for number, _, _ in same:
            self._done[number] = 1
        return tuple(work.device_type for _, work, _ in same)

    def is_done(self, one: One) -> bool:
        """Whether another copy has done a work."""
        return bool(self._done[one[0]])


def _likely(device_type: str) -> int:
    return _NAMED_BY_CODE.index(device_type) if device_type in _NAMED_BY_CODE else -1


def _as(one: One, other: One, asked: "DeviceAsked") -> bool:
    """Whether what is asked of two works is the same, as far as the run met it."""
    from opcheck.trace.running.library_flags import taken_for

    (_, work, run), (_, with_work, with_run) = one, other
    lists = work.autocast == with_work.autocast or not asked.casts
    torches = taken_for(run.torch(work)), taken_for(with_run.torch(with_work))
    released = all(len({torch >= one for torch in torches}) == 1 for one in asked.releases)
    plain = not (with_work.plan or with_work.exact)
    return plain and lists and released and work.casts == with_work.casts

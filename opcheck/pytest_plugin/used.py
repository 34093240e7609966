"""What a test asked of the device; values that go from process to process and into the report."""

from typing import TYPE_CHECKING

from msgspec import Struct

from opcheck.model.emulation import Caution, HostCalls, Refusal
from opcheck.model.report import KernelCount

if TYPE_CHECKING:
    from opcheck.emulate.record import Record

_ROOT = "the model itself"


class Used(Struct, frozen=True):
    """What was asked of the device between two moments."""

    kernels: tuple[KernelCount, ...]
    """Every overload asked for, missing ones included."""
    host_calls: tuple[HostCalls, ...]
    refusals: tuple[Refusal, ...]
    cautions: tuple[Caution, ...]
    notes: tuple[str, ...]
    """What rests on an assumption, and what is not emulated."""

    @classmethod
    def of(cls, record: "Record") -> "Used":
        """Give what a record has counted."""
        return cls(
            record.kernels(),
            record.host_calls(),
            record.refusals(),
            record.cautions(),
            (*record.notes, *(f"{gap.where or _ROOT}: {gap.reason}" for gap in record.gaps)),
        )

    @property
    def any(self) -> bool:
        """Whether the device was asked for anything."""
        return bool(self.kernels or self.refusals or self.cautions or self.notes)


class Test(Struct, frozen=True):
    """One test that ran."""

    __test__ = False  # pytest would take the class for a group of tests

    name: str
    """pytest's node id; :data:`OUTSIDE` for what no test did."""
    outcome: str
    """As pytest counts it: ``passed``, ``failed``, ``error``, ``skipped``, ``xfailed``, …"""
    used: Used


OUTSIDE = "(outside tests)"
"""Name of what ran while modules were imported."""

"""What every test of a run used of the emulated device, and that as JSON, ``pytest/1``."""

import json
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from opcheck.model.emulation import Caution, HostCalls, Refusal
from opcheck.model.report import KernelCount
from opcheck.version import __version__
from opcheck.views.document.emulation import calls_value, caution_value
from opcheck.views.document.parts import Json, kernel_value

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


SCHEMA = "opcheck.pytest/1"


class Header(Struct, frozen=True):
    """What holds for the whole run."""

    target: str
    """The target's whole name."""
    values: bool
    """Whether the device computed."""
    confidence: str
    """The least sure condition that refused calls."""


def write(path: Path, header: Header, tests: Sequence[Test], outside: Sequence[Test]) -> None:
    """Write the document."""
    text = json.dumps(run_document(header, tests, outside), indent=2, ensure_ascii=False)
    path.write_text(f"{text}\n", encoding="utf-8")


def run_document(header: Header, tests: Sequence[Test], outside: Sequence[Test]) -> Json:
    """Give the document, its tests by name: several processes run them in any order."""
    return {
        "schema": SCHEMA,
        "opcheck_version": __version__,
        "torch_version": metadata.version("torch").partition("+")[0],
        "target": header.target,
        "values": header.values,
        "confidence": header.confidence,
        "tests": [
            {"test": test.name, "outcome": test.outcome, **_used(test.used)}
            for test in sorted(tests, key=lambda test: test.name)
        ],
        "outside_tests": [_used(test.used) for test in outside],
    }


def _used(used: Used) -> Json:
    return {
        "kernels": [kernel_value(kernel) for kernel in used.kernels],
        "host_calls": [{**calls_value(i), "bytes": i.nbytes} for i in used.host_calls],
        "refusals": [{**calls_value(item), "error": item.error} for item in used.refusals],
        "cautions": list(map(caution_value, used.cautions)),
        "notes": list(used.notes),
    }

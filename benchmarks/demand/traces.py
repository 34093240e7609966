"""Models traced for all targets, a file for each: what is there already is not traced again.

A forward is traced for four device types; those whose casts are none, as PyTorch's own, share one
trace, renamed. A training step is traced for each set of targets that differentiate alike.
"""

import json
import time
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.demand.models import Entry
from opcheck import device_types
from opcheck.errors import OpcheckError
from opcheck.lang.speech import tell
from opcheck.model.codec import to_json
from opcheck.model.matrix import SupportMatrix
from opcheck.model.work import WorkRequest, WorkResult
from opcheck.sandbox.parent.answers import Results
from opcheck.sandbox.parent.preloaded import Template, copied_from
from opcheck.sandbox.parent.process import environment
from opcheck.sandbox.parent.run import run

LIBRARIES = ("torch", "torchvision", "timm", "transformers")
SHARED = "cuda"
"""Whose trace of a forward these types share."""
SHARING = ("mlu", "musa", "xpu")
ALONE = 3
"""A training step is not traced for targets of which fewer differentiate alike on their type."""


class Traces:
    """The folder of what was traced."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._last: tuple[str, Mapping[str, Any]] = ("", {})

    def path(self, entry: Entry) -> Path:
        """The file of an entry."""
        return self._folder / f"{slug(entry)}.z"

    def make(self, entries: Sequence[Entry], matrices: Sequence[SupportMatrix]) -> Iterator[str]:
        """Trace what is missing; a line for each."""
        template = Template(LIBRARIES)
        missing = [entry for entry in entries if not self.path(entry).exists()]
        try:
            for at, entry in enumerate(missing):
                started = time.monotonic()
                with copied_from(template):
                    told = self._make(entry, matrices, template)
                took = time.monotonic() - started
                yield f"[{at + 1}/{len(missing)}] {entry.name} {took:.1f} s {told}"
        finally:
            template.close()

    def _make(self, entry: Entry, matrices: Sequence[SupportMatrix], template: Template) -> str:
        wanted = traced_for(entry, matrices)
        request = WorkRequest(entry.spec, device_types.processes(wanted))
        template.load(environment(request))
        try:
            results, error = run(request, alone=True), ""
        except OpcheckError as failed:
            results, error = (), tell(failed.message).splitlines()[0]
        kept: dict[str, Any] = {"error": error, "results": {}}
        for result in results:
            made = kept["results"].setdefault(result.trace.device_type, [])
            made.append(to_json(result))
        self.path(entry).write_bytes(zlib.compress(json.dumps(kept).encode()))
        return error

    def error(self, entry: Entry) -> str | None:
        """Why an entry could not be traced; "" where it was; None where nobody has tried."""
        if not self.path(entry).exists():
            return None
        return str(self._kept(entry)["error"])

    def read(self, entry: Entry, device_type: str) -> tuple[WorkResult, ...]:
        """What was traced for a device type."""
        kept = self._kept(entry)["results"]
        found = kept.get(device_type, [])
        if entry.spec.step is None and device_type in SHARING:
            text = json.dumps(kept.get(SHARED, []))
            found = json.loads(text.replace(f'"{SHARED}"', f'"{device_type}"'))
        results = Results()
        return tuple(results.read(one) for one in found)

    def _kept(self, entry: Entry) -> Mapping[str, Any]:
        """What a file has; that of the last one asked for is at hand."""
        if self._last[0] != entry.name:
            self._last = entry.name, json.loads(zlib.decompress(self.path(entry).read_bytes()))
        return self._last[1]


def slug(entry: Entry) -> str:
    """A name for files."""
    return entry.name.replace("/", "-").replace(":", ".").replace(" ", "-")


def traced_for(entry: Entry, matrices: Sequence[SupportMatrix]) -> list[SupportMatrix]:
    """The targets that a trace of an entry is made for."""
    if entry.spec.step is None:
        return [m for m in matrices if m.target.device_type not in SHARING]
    return trained(matrices)


def trained(matrices: Sequence[SupportMatrix]) -> list[SupportMatrix]:
    """The targets that a training step is compared with.

    Few of one type that differentiate alike are left out, but where the type has no others.
    """
    from opcheck.emulate.gradients import by_registrations

    found = [m for m in matrices if not m.compiles_graphs]
    left: list[SupportMatrix] = []
    for device_type in dict.fromkeys(m.target.device_type for m in found):
        groups = by_registrations([m for m in found if m.target.device_type == device_type])
        most = max(len(group) for _, group in groups)
        left += [m for _, group in groups if len(group) >= min(most, ALONE) for m in group]
    return left

"""``opcheck.pytest/1``: what every test of a run asked of the emulated device, as JSON."""

import json
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

from msgspec import Struct

from opcheck.commands.emulate.views.json import calls_value, caution_value
from opcheck.pytest_plugin.used import Test, Used
from opcheck.version import __version__
from opcheck.views.document.parts import Json, kernel_value

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

"""Overlays and a whole vendor, written where a test wants them."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent / "compat_db"

OVERLAY = """\
schema: opcheck.overlay/1
vendor: ascend
reason: >-
  Measured in
  our laboratory.
method: tested
date: "2026-10-01"
chips: ["910b"]
releases: "26.0.0.."
torch: "2.9..2.12"
sources:
  lab: {repo: acme/lab, commit: 0a1b2c3, path: report.md, date: "2026-10-01"}
operators:
  aten::lgamma: {at: "lab:12", impl: [acme]}
  aten::gelu.out: {at: "lab:14", registered: false}
  aten::abs: [{at: "lab:15", torch: "2.10..", method: inferred}]
conditions:
  - ops: [aten::lgamma]
    code: dtype-not-supported
    verdict: unsupported
    confidence: high
    text: "{argument} is {actual}"
    at: ["lab:13"]
    tests: [{subject: dtype, argument: self, one_of: [float64]}]
withdrawn:
  - {ops: ["aten::acos"], code: dtype-not-supported, at: ["lab:16"]}
"""
"""Something of everything that an overlay may say."""

VENDOR = """\
schema: opcheck.vendor/1
vendor: acme
name: Acme NPU
reason: Our own device.
device_type: npu
sources:
  list: {repo: acme/torch, ref: v1, commit: 0a1b2c3, path: ops.yaml, date: "2026-09-01"}
chips:
  one: {name: Acme One, at: [list]}
fallback: {to_cpu: false, text: "no kernel for {op}", at: [list]}
pairing: []
complete: true
"""
RELEASE = """\
schema: opcheck.matrix/1
vendor: acme
release: "1.0"
reason: Our own device.
date: "2026-09-01"
torch: ["2.9"]
sources:
  ops: {repo: acme/torch, ref: v1, commit: 0a1b2c3, path: ops.yaml, date: "2026-09-01"}
operators:
  aten::abs: {at: "ops:1"}
complete: true
"""


def written(folder: Path, **files: str) -> Path:
    """The folder with files of these texts; ``__`` in a name stands for a slash."""
    for name, text in files.items():
        path = folder / (name.replace("__", "/") + ".yaml")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def acme(folder: Path) -> Path:
    """A folder with a vendor of its own."""
    return written(folder, acme__vendor=VENDOR, **{"acme__1.0": RELEASE})

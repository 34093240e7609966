"""Writes the table of what composites run as: ``python -m opcheck.composites [DEVICE_TYPE]``.

Run it once for each torch and device type that scans without torch should know.
"""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from opcheck.db.files import digests
from opcheck.db.files.yaml_writer import flow, section
from opcheck.db.schema.tables import COMPOSITES

_FOLDER = Path(__file__).resolve().parent.parent / "compat_db" / "pytorch"
_COMMENT = """\
# What each composite overload was seen to run as, one list for each way it went. A name with
# |bool, |integer, |float or |complex holds where the first tensor is of that class. Written by
# `python -m opcheck.composites {device}` over PyTorch's own operator samples; do not edit.
"""


def text(table: Mapping[str, Sequence[Sequence[str]]], torch_version: str, device: str) -> str:
    """The table as its file has it; the same bytes for the same table."""
    head = {"schema": COMPOSITES, "torch": torch_version, "device": device}
    lines = [f"{name}: {flow(value)}" for name, value in head.items()]
    rows = {op: [list(branch) for branch in branches] for op, branches in sorted(table.items())}
    return _COMMENT.format(device=device) + "\n".join([*lines, *section("composites", rows)]) + "\n"


def main() -> None:
    """Record on the running torch and write the file."""
    import torch

    from opcheck.trace.composites import record

    device = sys.argv[1] if len(sys.argv) > 1 else "npu"
    version = ".".join(torch.__version__.split(".")[:2])
    name = f"composites@{version}-{device}.yaml"
    written = text(record(device), version, device)
    for file, content in {
        name: written,
        digests.NAME: digests.listing(_FOLDER, {name: written}),
    }.items():
        (_FOLDER / file).write_text(content, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()

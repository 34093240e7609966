"""What Torch-FL registers in its build for Enflame's GCU, read from a checkout of its repository.

``python -m opcheck.db.importers.enflame.extract 0.1.0=CHECKOUT … > enflame_operators.yaml``. A file
made by its generator has the operators of topsaten, and C++ registers others for every vendor.
"""

import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from opcheck.db.files import yaml_writer

LIST = "csrc/aten/backends/gcu/generated/gcu_register.inc"
CODE = "csrc/aten/register.cc"
_CODED = re.compile(r'\s*m\.impl\(\s*"(?P<name>[\w.]+)",\s*(?P<kernel>\w+)\);')
_BEGIN = "TORCH_LIBRARY_IMPL(aten, PrivateUse1, m)"
_COMMENT = """\
# What Torch-FL registers under PrivateUse1 in its build for Enflame's GCU. Written by
# `python -m opcheck.db.importers.enflame.extract`; do not edit. at: the line; impl: the function;
# by: list (a kernel of topsaten) or code (what every vendor's build registers).
"""


def read(listed: str, coded: str) -> dict[str, dict[str, Any]]:
    """Operator -> what is registered for it, by the list and by C++."""
    return {**dict(_registered(coded, "code")), **dict(_registered(listed, "list"))}


def _registered(text: str, by: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The registrations of a file, those that other vendors' builds alone compile left out."""
    for line, written in _compiled(text):
        if found := _CODED.fullmatch(written):
            yield found["name"], {"at": line, "impl": found["kernel"], "by": by}


def _compiled(text: str) -> Iterator[tuple[int, str]]:
    """The statements of the block of PrivateUse1, or of a whole file without one, by line."""
    inside, depth, begun = _BEGIN not in text, 0, ""
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("TORCH_LIBRARY_IMPL"):
            inside = line.startswith(_BEGIN)
        depth += line.lstrip().startswith("#if") - line.lstrip().startswith("#endif")
        if not inside or depth or line.lstrip().startswith(("#", "//")):
            continue
        begun = f"{begun} {line.strip()}" if begun else line
        if line.rstrip().endswith((";", "}", "{")) or not line.strip():
            yield number, begun
            begun = ""


def text(releases: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> str:
    """The file: for each release, what is registered for each operator, sorted by it."""
    lines = [_COMMENT.rstrip()]
    for release, operators in releases.items():
        lines.append(f"{yaml_writer.scalar(release)}:")
        lines += [f"  {name}: {yaml_writer.flow(said)}" for name, said in sorted(operators.items())]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Read the checkouts that the command line names."""
    found = {}
    for argument in sys.argv[1:]:
        release, _, folder = argument.partition("=")
        root = Path(folder)
        found[release] = read(
            (root / LIST).read_text(encoding="utf-8"), (root / CODE).read_text(encoding="utf-8")
        )
    sys.stdout.write(text(found))


if __name__ == "__main__":
    main()

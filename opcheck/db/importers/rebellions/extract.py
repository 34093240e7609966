"""What torch-rbln registers, read from checkouts of its repository.

``python -m opcheck.db.importers.rebellions.extract 0.2.0=CHECKOUT … > rebellions_operators.yaml``.
Its ``native_functions.yaml`` generates kernels in Python, and C++ registers others by hand.
"""

import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from opcheck.db.files import yaml_writer

LIST = "aten/src/ATen/native/native_functions.yaml"
CODE = "aten/src/ATen/native/RBLNRegisterOps.cpp"
_HEAD = re.compile(r"- func: (?P<name>[\w.]+)\(")
_KERNEL = re.compile(r"\s+PrivateUse1: (?P<kernel>\w+)")
_CODED = re.compile(r'\s*m\.impl\("(?P<name>[\w.]+)", (?P<kernel>.+)\);')
_FUNCTION = re.compile(r"&?(\w+)\)?\)?$")
_ON_HOST = "fallback_rbln"
_COMMENT = """\
# What torch-rbln registers under PrivateUse1. Written by
# `python -m opcheck.db.importers.rebellions.extract`; do not edit. at: the line; impl: the kernel;
# by: list (a kernel in Python, of native_functions.yaml) or code (C++); host: its kernel hands
# every call to the host CPU.
"""


def read(listed: str, coded: str) -> dict[str, dict[str, Any]]:
    """Operator -> what is registered for it, by the list and by C++."""
    return {**dict(_listed(listed)), **dict(_coded(coded))}


def _listed(text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    name, line = "", 0
    for number, written in enumerate(text.splitlines(), 1):
        if head := _HEAD.match(written):
            name, line = head["name"], number
        elif name and (kernel := _KERNEL.match(written)):
            yield name, {"at": line, "impl": kernel["kernel"], "by": "list"}
            name = ""


def _coded(text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for number, written in enumerate(text.splitlines(), 1):
        if found := _CODED.match(written):
            function = _FUNCTION.search(found["kernel"].strip())
            kernel = function[1] if function else "manual"
            host = {"host": True} if _ON_HOST in found["kernel"] else {}
            yield (
                found["name"],
                {"at": number, "impl": _ON_HOST if host else kernel, "by": "code", **host},
            )


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

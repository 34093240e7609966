"""What Habana's list of operators says, read from checkouts of the bridge.

``python -m opcheck.db.importers.habana.extract 1.19.0=CHECKOUT … > habana_operators.yaml``. The
list, ``scripts/hpu_op.yaml``, generates the registrations, and the checks of dtypes before them.
"""

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from opcheck.db.files import yaml_writer

LIST = "scripts/hpu_op.yaml"
_HEAD = re.compile(r"(?P<name>[\w.]+):\s*")
_FIELD = re.compile(r"  (?P<name>\w+):")
_NAMESPACE = re.compile(r"(?P<namespace>\w+)::")
_CHIPS = ("Gaudi2", "Gaudi3")
_KERNELS = ("guid", "op_backend", "override_fn")
"""What names the kernel, the first that an operator has."""
_COMMENT = """\
# What scripts/hpu_op.yaml of HabanaAI/gaudi-pytorch-bridge says of each operator. Written by
# `python -m opcheck.db.importers.habana.extract`; do not edit. at: its line; impl: what the kernel
# is called; namespace: if not aten; by: who decides on a call (node: the shared layer, of the one
# kernel; shared: the shared layer, by a function; dtypes: the list itself; code: what is written by
# hand); dtypes: of every tensor, or by argument, and by chip where Gaudi 2 and 3 differ; dtypes_at:
# their line; promotes: arguments that are promoted to one dtype first; floats: integers to float.
"""


def read(text: str) -> dict[str, dict[str, Any]]:
    """Operator -> what the list says of it, but for those that register nothing."""
    import yaml

    said: Mapping[str, Mapping[str, Any]] = yaml.load(text, yaml.CSafeLoader)
    lines = _lines(text)
    return {
        name: _operator(entry, lines[name])
        for name, entry in said.items()
        if not entry.get("only_shared_layer")
    }


def _lines(text: str) -> Mapping[str, Mapping[str, int]]:
    """Operator -> the lines of its fields, 1-based; its own by ``""``."""
    found: dict[str, dict[str, int]] = {}
    fields: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if head := _HEAD.fullmatch(line):
            fields = found.setdefault(head["name"], {"": number})
        elif field := _FIELD.match(line):
            fields.setdefault(field["name"], number)
    return found


def _operator(entry: Mapping[str, Any], lines: Mapping[str, int]) -> dict[str, Any]:
    said: dict[str, Any] = {"at": lines[""]}
    if schema := _NAMESPACE.match(str(entry.get("custom_op_schema", ""))):
        said["namespace"] = schema["namespace"]
    if kernel := next((entry[field] for field in _KERNELS if field in entry), ""):
        said["impl"] = str(kernel)
    said["by"] = _decides(entry)
    if said["by"] == "dtypes":
        said |= {"dtypes": _dtypes(entry["dtypes"]), "dtypes_at": lines["dtypes"]}
        if promoted := entry.get("promote_to_common_type") or entry.get("promote_int_to_float"):
            said["promotes"] = list(promoted)
        if "promote_int_to_float" in entry:
            said["floats"] = True
    return said


def _decides(entry: Mapping[str, Any]) -> str:
    validator = entry.get("op_validator")
    if validator:
        return "node" if validator == "check-node-with-shared-layer" else "shared"
    return "dtypes" if "dtypes" in entry and "hpu_wrap_all_versions" not in entry else "code"


def _dtypes(said: Any) -> Any:
    """One answer where both chips have the same, else one by chip."""
    if not (isinstance(said, Mapping) and set(_CHIPS) <= set(said)):
        return said
    first, second = (said[chip] for chip in _CHIPS)
    return first if first == second else {chip: said[chip] for chip in _CHIPS}


def _document(checkouts: Sequence[tuple[str, Path]]) -> Iterator[str]:
    yield _COMMENT.rstrip()
    for release, folder in checkouts:
        found = read((folder / LIST).read_text(encoding="utf-8"))
        yield from yaml_writer.section(f'"{release}"', found)


def main(arguments: Sequence[str]) -> int:
    """Write the file that the importer reads."""
    parts = [argument.partition("=") for argument in arguments]
    for line in _document([(release, Path(folder)) for release, _, folder in parts]):
        sys.stdout.write(f"{line}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

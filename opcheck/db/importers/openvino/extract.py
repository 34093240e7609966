"""What OpenVINO's PyTorch frontend and CPU plugin take, of the installed wheel: a file of facts.

``python -m opcheck.db.importers.openvino.extract CALLS.jsonl > openvino_lowerings.yaml`` reads what
``lowering`` wrote, and asks the wheel which overloads it has converters for. With ``--untried`` it
adds what ``lowering --untried`` wrote to the file that there is. With ``--earlier`` it
asks the wheel of an earlier release, and writes what that lacks, for ``openvino_earlier.yaml``.
"""

import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from opcheck.db.files import yaml_writer
from opcheck.db.importers.base import load_yaml
from opcheck.db.importers.openvino.lowering import FACTS, noted

_UNTRIED = "--untried"
_LIBRARIES = ("torch", "openvino")
_COMMENT = """\
# What OpenVINO's frontend does with each overload of an exported program, and the CPU plugin with
# that. Written by `python -m opcheck.db.importers.openvino.extract`; do not edit.
# converter: true where a call reaches a converter; all others are decomposed first. tried: dtypes
# of the first tensor in which a call of PyTorch's samples was converted and compiled; not: dtype ->
# why not: `leaf` and the overload without a converter that it is decomposed into, `complex`,
# `capture`, `plugin`, `other`.
"""
_COMPLEX = "complex"
_SIZES = ("Reshape", "opset1::Transpose", "out-of-range dimension", "incorrect rank")
"""Of errors that come of a sample's sizes: such a call tells nothing of its dtype."""


def tells(said: Mapping[str, Any]) -> bool:
    """Whether what became of a call holds for others of its dtype."""
    return said["stage"] == "ok" or not any(part in said.get("error", "") for part in _SIZES)


def why(said: Mapping[str, Any], dtype: str) -> str:
    """Why a call does not come through; "" where it does."""
    match said["stage"]:
        case "ok":
            return ""
        case "capture":
            return "capture"
        case "runtime":
            return "plugin"
        case _ if said["missing"]:
            return f"leaf {_named(said['missing'][0])}"
        case _:
            return "complex" if dtype.startswith(_COMPLEX) else "other"


def _named(name: str) -> str:
    """``aten::add.Tensor`` of ``aten.add.Tensor``."""
    namespace, base, overload = name.split(".")
    return f"{namespace}::{base}" + ("" if overload == "default" else f".{overload}")


def facts(
    calls: Mapping[tuple[str, str], Sequence[Mapping[str, Any]]],
    converted: frozenset[str],
    table: frozenset[str],
) -> dict[str, dict[str, Any]]:
    """Overload -> what is known of it."""
    found: dict[str, dict[str, Any]] = {name: {"converter": True} for name in converted}
    found |= {name: {} for name in table - converted}
    for (name, dtype), noted_calls in calls.items():
        telling = [said for said in noted_calls if tells(said)]
        if name not in found or not telling:
            continue
        entry = found[name]
        entry.setdefault("tried", []).append(dtype)
        reasons = [why(said, dtype) for said in telling]
        if all(reasons):
            entry.setdefault("not", {})[dtype] = reasons[0]
    return {name: dict(_sorted(entry)) for name, entry in sorted(found.items())}


def added(
    file: Mapping[str, Any], calls: Mapping[tuple[str, str], Sequence[Mapping[str, Any]]]
) -> dict[str, dict[str, Any]]:
    """What a file of facts says, and what calls say of overloads that it has none of.

    The arguments of these calls are made up: what a converter or the plugin raises for may be
    theirs, and tells nothing.
    """
    found = {name: dict(said) for name, said in file["overloads"].items()}
    telling = {key: [said for said in all_ if said["stage"] == "ok" or said.get("missing")]
               for key, all_ in calls.items()}  # fmt: skip
    new = facts(telling, frozenset(), frozenset(file["decomposed"]))
    return dict(sorted((found | new).items()))


def _sorted(entry: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in entry.items():
        if key == "not":
            yield key, dict(sorted(value.items()))
        else:
            yield key, sorted(value) if key == "tried" else value


def text(found: Mapping[str, Mapping[str, Any]], versions: Mapping[str, str]) -> str:
    """The file."""
    lines = [_COMMENT.rstrip(), f"versions: {yaml_writer.flow(versions)}", "overloads:"]
    lines += [f"  {name}: {yaml_writer.flow(said)}" for name, said in found.items() if said]
    lines.append("# In the table of decompositions, and not tried.")
    untried = [name for name, said in found.items() if not said]
    lines.append(f"decomposed: {yaml_writer.flow(untried)}")
    return "\n".join(lines) + "\n"


def earlier(
    listed: Mapping[str, Mapping[str, Any]], converted: Collection[str], table: Collection[str]
) -> dict[str, list[str]]:
    """Converters that an earlier release has not, by what becomes of the overload there."""
    gone = {name for name, said in listed.items() if "converter" in said}.difference(converted)
    return {
        "lacks": sorted(gone.difference(table)),
        "decomposed": sorted(gone.intersection(table)),
    }


def main() -> None:
    """Write the file of what was converted, or a release of that of earlier ones."""
    from opcheck.db.importers.openvino.wheel import Wheel

    if sys.argv[1] == _UNTRIED:
        file = load_yaml(FACTS)
        sys.stdout.write(text(added(file, noted(Path(sys.argv[2]))), file["versions"]))
        return
    wheel = Wheel()
    if sys.argv[1] == "--earlier":
        listed = load_yaml(FACTS)["overloads"]
        found = earlier(listed, wheel.converted, {call.name() for call in wheel.table})
        lines = [f"  {key}: {yaml_writer.flow(names)}\n" for key, names in found.items()]
        sys.stdout.write("".join([f'"{version("openvino")}":\n', *lines]))
        return
    known = facts(
        noted(Path(sys.argv[1])),
        frozenset(wheel.converted),
        frozenset(call.name() for call in wheel.table),
    )
    versions = {name: version(name).partition("+")[0] for name in _LIBRARIES}
    sys.stdout.write(text(known, versions))


if __name__ == "__main__":
    main()

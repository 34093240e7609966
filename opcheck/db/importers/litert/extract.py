"""What litert-torch lowers and LiteRT's interpreter runs, of the installed wheels: a file of facts.

``python -m opcheck.db.importers.litert.extract CALLS.jsonl > litert_lowerings.yaml`` reads what
``lowering`` wrote, and asks the wheel which overloads it has lowerings for, and where.
"""

import sys
from collections.abc import Collection, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from opcheck.db.files import yaml_writer
from opcheck.db.importers.openvino.lowering import noted

_LIBRARIES = ("torch", "litert-torch", "litert-converter", "ai-edge-litert", "jax")
_COMMENT = """\
# What litert-torch does with each overload of an exported program, and LiteRT's interpreter with
# that. Written by `python -m opcheck.db.importers.litert.extract`; do not edit.
# lowering: where the wheel registers one; overloads without are decomposed first. tried: dtypes of
# the first tensor in which calls of PyTorch's samples were converted and run; not: dtype -> why
# none came through: `leaf` and the overload without a lowering that it is decomposed into,
# `capture`, `conversion`, `runtime`.
"""
_SIZES = ("Invalid tensor size",)
"""Of errors that come of a sample's sizes: such a call tells nothing of its dtype."""
_WIDE = "float32"
_OF_DTYPE = "failed to legalize operation"
"""Of errors of a dtype that an operator of TensorFlow Lite lacks. Where another call comes through,
which may be folded, it depends on more than the dtype."""
_UNTOLD = "none"
"""The stage of a call that was not tried."""


def tells(said: Mapping[str, Any]) -> bool:
    """Whether what became of a call holds for others of its dtype."""
    sizes = any(part in said.get("error", "") for part in _SIZES)
    return said["stage"] != _UNTOLD and not sizes


def _of_dtype(said: Mapping[str, Any]) -> bool:
    return _OF_DTYPE in said.get("error", "")


def why(said: Mapping[str, Any]) -> str:
    """Why a call does not come through; "" where it does."""
    if said["stage"] == "ok":
        return ""
    return f"leaf {_named(said['missing'][0])}" if said["missing"] else str(said["stage"])


def _named(name: str) -> str:
    """``aten::add.Tensor`` of ``aten.add.Tensor``; what has no overload stays as it is."""
    namespace, _, rest = name.partition(".")
    base, _, overload = rest.partition(".")
    if not base:
        return name
    return f"{namespace}::{base}" + ("" if overload in ("", "default") else f".{overload}")


def facts(
    calls: Mapping[tuple[str, str], Sequence[Mapping[str, Any]]],
    lowered: Mapping[str, str],
    table: Collection[str],
) -> dict[str, dict[str, Any]]:
    """Overload -> what is known of it; ``lowered``: those with a lowering, and where it stands."""
    found: dict[str, dict[str, Any]] = {name: {"lowering": at} for name, at in lowered.items()}
    found |= {name: {} for name in table if name not in lowered}
    for (name, dtype), said in sorted(calls.items()):
        telling = list(filter(tells, said))
        if name not in found or not telling:
            continue
        entry = found[name]
        reasons = [why(each) for each in telling]
        if dtype != _WIDE and not all(reasons) and any(map(_of_dtype, telling)):
            continue
        entry.setdefault("tried", []).append(dtype)
        if all(reasons):
            entry.setdefault("not", {})[dtype] = reasons[0]
    return dict(sorted(found.items()))


def text(found: Mapping[str, Mapping[str, Any]], versions: Mapping[str, str]) -> str:
    """The file."""
    lines = [_COMMENT.rstrip(), f"versions: {yaml_writer.flow(versions)}", "overloads:"]
    lines += [f"  {name}: {yaml_writer.flow(said)}" for name, said in found.items() if said]
    lines.append("# In the table of decompositions, and not tried.")
    untried = [name for name, said in found.items() if not said]
    lines.append(f"decomposed: {yaml_writer.flow(untried)}")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write the file of what was lowered."""
    from opcheck.db.importers.litert.wheel import Wheel, cited

    wheel, places = Wheel(), cited()
    lowered = {name: places.get(name, "") for name in sorted(wheel.converted)}
    known = facts(noted(Path(sys.argv[1])), lowered, wheel.decomposed)
    versions = {name: version(name).partition("+")[0] for name in _LIBRARIES}
    sys.stdout.write(text(known, versions))


if __name__ == "__main__":
    main()

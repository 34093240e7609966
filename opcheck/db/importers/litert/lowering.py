"""What becomes of one call of each overload, in each dtype, on its way through LiteRT.

``python -m opcheck.db.importers.litert.lowering FILE.jsonl [DTYPE ...]`` takes the calls that
PyTorch's own samples make, converts and runs each by the installed wheels, and notes how far it
came. Samples that ``benchmarks.exports`` exports are left to it. What stands in the file is not
done again. With ``--untried`` the calls are made from schemas, of what the file has no call of in
these dtypes.
"""

import json
import logging
import multiprocessing
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from opcheck.db.importers.openvino import schema_calls
from opcheck.db.importers.openvino.lowering import first_dtype, noted, samples, told
from opcheck.model.trace import OpName

Key = tuple[str, str]
DTYPES = ("float32", "int64", "float16", "bool", "bfloat16", "float64", "int32", "uint8")
"""Complex numbers are no inputs of a file."""
_CALLS, _MOST = 3, 24
"""Calls of an overload that are noted a dtype: of one operator's samples, and of all operators'."""

_UNTRIED = "--untried"
_WIDE = "float32"
"""What TensorFlow Lite has most of its operators in: a call that it refuses there as well tells
nothing of another dtype."""


def _begun(path: Path) -> Path:
    return path.with_suffix(".begun")


def _done(path: Path) -> Path:
    """Which operators were looked through, for what goes on behind a crash."""
    return path.with_suffix(".done")


class _Noting:
    """A wheel that leaves in a file what is under way, for what ends the process."""

    def __init__(self, wheel: object, path: Path) -> None:
        self._wheel, self._path = wheel, path

    def __getattr__(self, name: str) -> object:
        return getattr(self._wheel, name)

    def lowered(self, call: object, args: object, kwargs: object) -> object:
        """Convert and run one call."""
        said = {"op": call.name(), "dtype": first_dtype(args, kwargs)}  # type: ignore[attr-defined]
        self._path.write_text(json.dumps(said), encoding="utf-8")
        return self._wheel.lowered(call, args, kwargs)  # type: ignore[attr-defined]


def noting(path: Path, dtypes: Sequence[str], made: bool) -> None:
    """Write what becomes of the calls that the file does not have yet; ``made`` from schemas."""
    import torch

    from opcheck.db.importers.litert.wheel import Wheel

    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    torch.set_num_threads(1)
    found = noted(path)
    crashed = {key for key, calls in found.items() if any(map(_crashed, calls))}
    wheel = Wheel(crashed)
    writing = (
        untried(wheel, found, path, dtypes)
        if made
        else _sampled(_Noting(wheel, _begun(path)), found, path, dtypes)
    )
    with path.open("a", encoding="utf-8") as file:
        for said in writing:
            file.write(json.dumps(said) + "\n")
            file.flush()


def _crashed(said: Mapping[str, Any]) -> bool:
    return said["stage"] != "none" and "crash" in said


def _sampled(
    wheel: Any, found: dict[Key, list[Any]], path: Path, dtypes: Sequence[str]
) -> Iterator[Mapping[str, Any]]:
    """What becomes of the calls of PyTorch's samples."""
    done = _done(path)
    looked = set(done.read_text(encoding="utf-8").split() if done.exists() else ())
    with done.open("a", encoding="utf-8") as passed:
        for dtype in dtypes:
            for place, (function, chosen) in enumerate(samples(dtype)):
                key = f"{dtype}:{place}"
                if key in looked:
                    continue
                for said in told(wheel, function, chosen, _open(found), _CALLS):
                    found.setdefault((said["op"], said["dtype"]), []).append(said)
                    yield said
                passed.write(f"{key}\n")
                passed.flush()


def untried(
    wheel: Any, found: Mapping[Key, list[Any]], path: Path, dtypes: Sequence[str]
) -> Iterator[Mapping[str, Any]]:
    """What becomes of one call made from its schema, of each overload that the file has none of."""
    names = sorted({*filter(_dispatched, (*wheel.converted, *wheel.decomposed))})
    for dtype in dtypes:
        for overload in schema_calls.tried(names, map(_overload, names)):
            known = found.get((overload.name(), dtype), ())
            if any(each["stage"] != "none" or each.get("made") for each in known):
                continue
            begun = {"op": overload.name(), "dtype": dtype, "made": True}
            _begun(path).write_text(json.dumps(begun), "utf-8")
            said = _made(wheel, overload, dtype)
            if said is not None:
                yield said


def _made(wheel: Any, overload: Any, dtype: str) -> dict[str, Any] | None:
    """What becomes of a call made from the schema; None where none could be made."""
    import torch

    call = schema_calls.made(overload, getattr(torch, dtype))
    if call is None or first_dtype(*call) != dtype:
        return None
    said = {"op": overload.name(), "dtype": dtype, "made": True, **wheel.lowered(overload, *call)}
    refused = said["stage"] not in ("ok", "none") and not said["missing"]
    if not refused or (dtype != _WIDE and _comes_through(wheel, overload)):
        return said
    return {**said, "stage": "none", "error": f"not of the dtype alone: {said['error']}"}


def _comes_through(wheel: Any, overload: Any) -> bool:
    """Whether the same call does in float32."""
    import torch

    call = schema_calls.made(overload, getattr(torch, _WIDE))
    return call is not None and wheel.lowered(overload, *call)["stage"] == "ok"


def _overload(name: str) -> Any:
    import torch

    op = OpName.parse(name)
    packet = getattr(getattr(torch.ops, op.namespace), op.base)
    return getattr(packet, op.overload or "default")


def _dispatched(name: str) -> bool:
    """Whether the dispatcher has it: overloads of TorchScript's own are lowered too."""
    import torch

    try:
        torch._C._dispatch_has_kernel_for_dispatch_key(name, "CPU")  # checked on 2.13
    except RuntimeError:
        return False
    return True


def _open(found: Mapping[Key, list[Any]]) -> dict[Key, list[Any]]:
    """What is known, without what may still come through by another operator's samples."""
    return {
        key: list(calls)
        for key, calls in found.items()
        if len(calls) >= _MOST or any(each["stage"] in ("ok", "none") for each in calls)
    }


def main() -> None:
    """Write the file, and go on behind a call that ends the process."""
    made = _UNTRIED in sys.argv
    first, *named = (word for word in sys.argv[1:] if word != _UNTRIED)
    path, dtypes = Path(first), tuple(named) or DTYPES
    making = multiprocessing.get_context("spawn")
    while True:
        worker = making.Process(target=noting, args=(path, dtypes, made))
        worker.start()
        worker.join()
        if not (worker.exitcode or 0) < 0:
            sys.exit(worker.exitcode)
        said = json.loads(_begun(path).read_text(encoding="utf-8"))
        stage = "none" if said.get("made") else "runtime"  # PyTorch may have ended it itself
        said |= {"stage": stage, "missing": [], "error": "the process ended", "crash": True}
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(said) + "\n")


if __name__ == "__main__":
    main()

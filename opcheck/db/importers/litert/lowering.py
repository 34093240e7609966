"""What becomes of one call of each overload, in each dtype, on its way through LiteRT.

``python -m opcheck.db.importers.litert.lowering FILE.jsonl [DTYPE ...]`` takes the calls that
PyTorch's own samples make, converts and runs each by the installed wheels, and notes how far it
came. Samples that ``benchmarks.exports`` exports are left to it. What stands in the file is not
done again.
"""

import json
import logging
import multiprocessing
import sys
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from opcheck.db.importers.openvino.lowering import noted, samples, told

Key = tuple[str, str]
DTYPES = ("float32", "int64", "float16", "bool", "bfloat16", "float64", "int32", "uint8")
"""Complex numbers are no inputs of a file."""
_CALLS, _MOST = 3, 24
"""Calls of an overload that are noted a dtype: of one operator's samples, and of all operators'."""


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
        from opcheck.db.importers.openvino.lowering import first_dtype

        said = {"op": call.name(), "dtype": first_dtype(args, kwargs)}  # type: ignore[attr-defined]
        self._path.write_text(json.dumps(said), encoding="utf-8")
        return self._wheel.lowered(call, args, kwargs)  # type: ignore[attr-defined]


def noting(path: Path, dtypes: Sequence[str]) -> None:
    """Write what becomes of the calls that the file does not have yet."""
    import torch

    from opcheck.db.importers.litert.wheel import Wheel

    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    torch.set_num_threads(1)
    found = noted(path)
    crashed = {key for key, calls in found.items() if any(each.get("crash") for each in calls)}
    wheel = _Noting(Wheel(crashed), _begun(path))
    done = _done(path)
    looked = set(done.read_text(encoding="utf-8").split() if done.exists() else ())
    with path.open("a", encoding="utf-8") as file, done.open("a", encoding="utf-8") as passed:
        for dtype in dtypes:
            for place, (function, chosen) in enumerate(samples(dtype)):
                key = f"{dtype}:{place}"
                if key in looked:
                    continue
                for said in told(wheel, function, chosen, _open(found), _CALLS):
                    found.setdefault((said["op"], said["dtype"]), []).append(said)
                    file.write(json.dumps(said) + "\n")
                    file.flush()
                passed.write(f"{key}\n")
                passed.flush()


def _open(found: Mapping[Key, list[Any]]) -> dict[Key, list[Any]]:
    """What is known, without what may still come through by another operator's samples."""
    return {
        key: list(calls)
        for key, calls in found.items()
        if len(calls) >= _MOST or any(each["stage"] in ("ok", "none") for each in calls)
    }


def main() -> None:
    """Write the file, and go on behind a call that ends the process."""
    path, dtypes = Path(sys.argv[1]), tuple(sys.argv[2:]) or DTYPES
    making = multiprocessing.get_context("spawn")
    while True:
        worker = making.Process(target=noting, args=(path, dtypes))
        worker.start()
        worker.join()
        if not (worker.exitcode or 0) < 0:
            sys.exit(worker.exitcode)
        said = json.loads(_begun(path).read_text(encoding="utf-8"))
        said |= {"stage": "runtime", "missing": [], "error": "the process ended", "crash": True}
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(said) + "\n")


if __name__ == "__main__":
    main()

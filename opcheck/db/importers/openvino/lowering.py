"""What becomes of one call of each overload, in each dtype, on its way into OpenVINO's CPU plugin.

``python -m opcheck.db.importers.openvino.lowering FILE.jsonl`` takes the calls that PyTorch's own
samples make, converts and compiles each by the installed wheel, and notes how far it came. Samples
that ``benchmarks.exports`` exports are left to it. What stands in the file is not done again.
With ``--untried`` the calls are made from schemas, of what the file of facts has no call of.
Private torch API used here, checked on 2.13.0: ``torch.testing._internal``, ``CustomDecompTable``.
"""

import json
import logging
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from opcheck.db.importers.base import load_yaml
from opcheck.db.importers.openvino import schema_calls
from opcheck.db.importers.openvino.wheel import Wheel, overloads

_DTYPES = (
    "float32", "int64", "float16", "complex64", "bool", "bfloat16", "float64", "int32", "uint8",
)  # fmt: skip
_OF_SCHEMAS = 3
"""So many of them are tried with calls that are made from schemas."""
_UNTRIED = "--untried"
FACTS = Path(__file__).with_name("openvino_lowerings.yaml")
_HELD_OUT = 3
"""The sample that ``benchmarks.exports`` takes: the fourth, or the last of fewer."""
_SAMPLES, _CALLS = 8, 6
"""Samples of an operator that are looked at, and calls of an overload that are noted a dtype."""
_IDLE, _MISSING = 2, 2
"""So many samples in turn that tell nothing new end an operator, and so many calls with a part that
has no converter decide."""


def samples(name: str) -> Iterator[tuple[Any, list[Any]]]:
    """Each operator that has samples of a dtype, with them."""
    import torch
    from torch.testing._internal.common_methods_invocations import op_db

    dtype = getattr(torch, name)
    for info in op_db:
        if dtype not in info.dtypes:
            continue
        torch.manual_seed(0)
        try:
            taken = info.sample_inputs("cpu", dtype, requires_grad=False)
            found = [sample for _, sample in zip(range(_SAMPLES), taken, strict=False)]
        except Exception:  # PyTorch has no sample of it here
            continue
        yield info.op, _others(found)


def _others(samples: Sequence[Any]) -> list[Any]:
    """The samples but the one that is exported to compare, so that no call is on both sides."""
    out = min(_HELD_OUT, len(samples) - 1)
    return [each for place, each in enumerate(samples) if place != out]


def _seen(wheel: Any, function: Any, sample: Any) -> list[tuple[Any, Any, Any]]:
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode

    found: list[tuple[Any, Any, Any]] = []

    class Seen(TorchDispatchMode):
        def __torch_dispatch__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            kwargs = kwargs or {}
            found.append((func, _copied(args), _copied(kwargs)))
            if func.name() not in wheel.converted:
                with self:
                    result = wheel.parts(func, args, kwargs)
                if result is not NotImplemented:
                    return result
            return func(*args, **kwargs)

    refused = suppress(Exception)  # a sample that PyTorch refuses; the calls before it count
    seen: Any = Seen  # torch has no types of it
    with refused, torch.no_grad(), torch._C._AutoDispatchBelowAutograd(), seen():
        function(sample.input, *sample.args, **sample.kwargs)
    return found


def _copied(value: Any) -> Any:
    import torch
    from torch.utils import _pytree as pytree

    return pytree.tree_map_only(torch.Tensor, lambda tensor: tensor.detach().clone(), value)


def first_dtype(args: Any, kwargs: Any) -> str:
    """The dtype of the first tensor; "none" where there is none."""
    import torch
    from torch.utils import _pytree as pytree

    leaves = pytree.tree_leaves((args, kwargs))
    first = next((leaf for leaf in leaves if isinstance(leaf, torch.Tensor)), None)
    return "none" if first is None else str(first.dtype).removeprefix("torch.")


def _decided(call: Any, found: Mapping[tuple[str, str], Any], known: Sequence[Any]) -> bool:
    """Whether a call more tells nothing new: one came through, or a part has no converter."""
    if any(each["stage"] == "ok" for each in known):
        return True
    if sum(bool(each.get("missing")) for each in known) >= _MISSING:
        return True
    wide = found.get((call.name(), _DTYPES[0]), ())
    return bool(wide) and (call._schema.is_mutable or all(each.get("missing") for each in wide))


def noted(path: Path) -> dict[tuple[str, str], list[dict[str, Any]]]:
    """What a file says: overload and dtype -> what became of its calls."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for said in map(json.loads, lines):
        found.setdefault((said["op"], said["dtype"]), []).append(said)
    return found


def main() -> None:
    """Write the file."""
    import torch

    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    torch.set_num_threads(1)
    path = Path(sys.argv[1])
    wheel, found = Wheel(), noted(path)
    writing = untried(wheel, found) if _UNTRIED in sys.argv else sampled(wheel, found)
    with path.open("a", encoding="utf-8") as file:
        for said in writing:
            file.write(json.dumps(said) + "\n")
            file.flush()


def sampled(wheel: Wheel, found: dict[tuple[str, str], Any]) -> Iterator[dict[str, Any]]:
    """What becomes of the calls of PyTorch's samples."""
    for dtype in _DTYPES:
        for function, chosen in samples(dtype):
            yield from told(wheel, function, chosen, found)


def untried(wheel: Wheel, found: dict[tuple[str, str], Any]) -> Iterator[dict[str, Any]]:
    """What becomes of calls made from the schemas of overloads that no sample calls."""
    import torch

    names = load_yaml(FACTS)["decomposed"]
    for overload in schema_calls.tried(names, overloads()):
        for dtype in _DTYPES[:_OF_SCHEMAS]:
            if (overload.name(), dtype) in found:
                continue
            made = schema_calls.made(overload, getattr(torch, dtype))
            if made is not None:
                said = wheel.lowered(overload, *made)
                yield {"op": overload.name(), "dtype": first_dtype(*made), **said}


def told(
    wheel: Any,
    function: Any,
    chosen: Sequence[Any],
    found: dict[tuple[str, str], Any],
    most: int = _CALLS,
) -> Iterator[dict[str, Any]]:
    """What becomes of the calls of some samples, until two in turn tell nothing new.

    ``wheel`` is any library's that is asked, ``most`` how many calls of an overload a dtype.
    """
    idle = 0
    for sample in chosen:
        idle += 1
        for call, args, kwargs in _seen(wheel, function, sample):
            known = found.setdefault((call.name(), first_dtype(args, kwargs)), [])
            if len(known) < most and not _decided(call, found, known):
                said = {"op": call.name(), "dtype": first_dtype(args, kwargs)}
                known.append({**said, **wheel.lowered(call, args, kwargs)})
                idle = 0
                yield known[-1]
        if idle == _IDLE:
            return


if __name__ == "__main__":
    main()

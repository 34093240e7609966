"""What each overload becomes in ExecuTorch's edge dialect, by PyTorch's own decompositions.

``python -m opcheck.db.importers.executorch.lowering > FILE.jsonl`` takes the calls that PyTorch's
own samples make, decomposes each by the table that ``exir.tracer`` asks for, and notes what is
left, with its dtypes. Nothing is exported, and ExecuTorch is not asked.
Private torch API used here, checked on 2.13.0: ``torch.testing._internal``,
``OpOverload.decompose``, ``_AutoDispatchBelowAutograd``.
"""

import json
import logging
import warnings
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from typing import Any

DTYPES = (
    "float32", "int64", "float16", "complex64", "bool", "bfloat16", "float64", "int32", "uint8",
)  # fmt: skip
_SAMPLES, _HELD_OUT = 7, 3
"""Samples of an operator that are looked at, and the one that ``benchmarks.exports`` takes."""
_CALLS = 4
"""Different outcomes of an overload that are noted a dtype."""

Leaf = tuple[str, str, str]
"""Overload, dtype of its first tensor, dtype of its first result; "none" without tensors."""


def table() -> dict[Any, Any]:
    """The decompositions of the edge dialect, as ``_default_decomposition_table`` has them."""
    import torch
    from torch._decomp import get_decompositions
    from torch.export import default_decompositions

    found = dict(default_decompositions().items())
    return found | dict(get_decompositions([torch.ops.aten.linalg_vector_norm.default]))


class Parts:
    """Notes each call with what it is decomposed into, down to what nothing takes apart."""

    def __init__(self, decompositions: dict[Any, Any]) -> None:
        self._table = decompositions
        self._open: list[list[Leaf]] = []
        self.seen: list[tuple[str, str, tuple[Leaf, ...], bool]] = []
        """Overload, dtype of its first tensor, leaves, and whether it is a leaf itself."""

    def mode(self) -> Any:
        """What PyTorch asks of each call."""
        from torch.utils._python_dispatch import TorchDispatchMode

        called = self._called

        class Mode(TorchDispatchMode):
            def __torch_dispatch__(
                self, func: Any, types: Any, args: Any = (), kwargs: Any = None
            ) -> Any:
                return called(self, func, args, kwargs or {})

        found: Any = Mode  # torch has no types of it
        return found()

    def _called(self, mode: Any, func: Any, args: Any, kwargs: Any) -> Any:
        """Decompose the call, or run it."""
        given = dtype_of(func, args, kwargs)
        self._open.append([])
        result, whole = self._result(mode, func, args, kwargs)
        leaves = self._open.pop()
        if whole:
            leaves = [(func.name(), given, first_dtype(result))]
        self.seen.append((func.name(), given, tuple(dict.fromkeys(leaves)), whole))
        if self._open:
            self._open[-1].extend(leaves)
        return result

    def _result(self, mode: Any, func: Any, args: Any, kwargs: Any) -> tuple[Any, bool]:
        from torch import Tag

        result: Any = NotImplemented
        form = functional(func) if func._schema.is_mutable else None
        if form is not None:  # which export puts in its place
            with mode:
                form(*args, **{key: value for key, value in kwargs.items() if key != "out"})
            return func(*args, **kwargs), False
        if func in self._table:
            with mode:
                result = self._table[func](*args, **kwargs)
        elif func._can_decompose() and not set(func.tags) & {Tag.core}:
            with mode:
                result = func.decompose(*args, **kwargs)
        if result is not NotImplemented:
            return result, False
        return func(*args, **kwargs), True


@cache
def functional(call: Any) -> Any:
    """The overload of the same arguments that writes to none of them; None where there is none."""
    import torch

    base = call._schema.name.removesuffix("_").removeprefix("aten::")
    packet = getattr(torch.ops.aten, base, None)
    for own in packet.overloads() if packet is not None else ():
        other = getattr(packet, own)
        if not other._schema.is_mutable and read(other) == read(call):
            return other
    return None


def read(call: Any) -> list[tuple[str, str]]:
    """What a call reads: the names and types of its arguments, without ``out``."""
    return [(a.name, str(a.type)) for a in call._schema.arguments if not a.is_out]


def dtype_of(func: Any, args: Any, kwargs: Any) -> str:
    """The dtype of the tensor that a kernel is chosen by: of ``where``, what it chooses from."""
    values = args[1:] if func.name() == "aten::where.self" else (args, kwargs)
    return first_dtype(values)


def first_dtype(value: Any) -> str:
    """The dtype of the first tensor; "none" where there is none."""
    import torch
    from torch.utils import _pytree as pytree

    leaves = pytree.tree_leaves(value)
    first = next((leaf for leaf in leaves if isinstance(leaf, torch.Tensor)), None)
    return "none" if first is None else str(first.dtype).removeprefix("torch.")


def samples(name: str) -> Iterator[tuple[Any, Sequence[Any]]]:
    """Each operator that has samples of a dtype, without the one that is exported to compare."""
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
        out = min(_HELD_OUT, len(found) - 1)
        others = [each for place, each in enumerate(found) if place != out]
        yield info.op, others or found


def noted(function: Any, sample: Any, decompositions: dict[Any, Any]) -> list[Any]:
    """What a sample's calls become; as far as PyTorch comes."""
    import torch

    parts = Parts(decompositions)
    below: Any = torch._C._AutoDispatchBelowAutograd
    with suppress(Exception), torch.no_grad(), below(), parts.mode():
        function(sample.input, *sample.args, **sample.kwargs)
    return parts.seen


def main() -> None:
    """Write a line for each different outcome."""
    import torch

    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    torch.set_num_threads(1)
    decompositions, done = table(), set()
    counts: dict[tuple[str, str], int] = {}
    for dtype in DTYPES:
        for function, chosen in samples(dtype):
            for sample in chosen:
                for line in noted(function, sample, decompositions):
                    key = line[:2]
                    if line in done or counts.get(key, 0) >= _CALLS:
                        continue
                    done.add(line)
                    counts[key] = counts.get(key, 0) + 1
                    name, given, leaves, whole = line
                    said = {"op": name, "dtype": given, "leaves": leaves, "whole": whole}
                    print(json.dumps(said), flush=True)


if __name__ == "__main__":
    main()

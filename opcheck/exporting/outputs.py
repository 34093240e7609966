"""What exporters share: outputs that are compared with PyTorch's, and errors as one line."""

import logging
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from io import StringIO
from typing import Any

import torch
from msgspec.structs import replace
from torch import Tensor, nn
from torch.utils import _pytree as pytree  # private: 2.6 to 2.13 have it, and no public one

from opcheck.model.emulation import Difference
from opcheck.model.exporting import ExportRun, Stage

_TOLERANCE = {torch.float16: 2e-2, torch.bfloat16: 8e-2, torch.float32: 1e-3, torch.float64: 1e-6}
"""How far an output may be off, of its largest value: runtimes fuse and reorder sums."""


@contextmanager
def quiet() -> Iterator[None]:
    """Keep to themselves what exporters and runtimes print: what failed is in the answer."""
    disabled = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings(), redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(disabled)


def told(error: BaseException) -> str:
    """The exception's type and the first line of its text."""
    lines = str(error).strip().splitlines() or [""]
    return f"{type(error).__name__}: {lines[0].strip()[:300]}"


def of_model(model: nn.Module, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Tensor]:
    """What PyTorch gives; inputs are copied, for a model may write to them."""
    own = pytree.tree_map_only(Tensor, torch.clone, (tuple(args), dict(kwargs)))
    found = model(*own[0], **own[1])
    return [t for t in pytree.tree_leaves(found) if isinstance(t, Tensor)]


def compared(
    found: ExportRun, wanted: Sequence[Tensor], again: Sequence[Tensor], got: Sequence[Tensor]
) -> ExportRun:
    """What a runtime gave beside what PyTorch gives, which is asked twice: it may be random."""
    random = any(not _alike(a, b) for a, b in zip(wanted, again, strict=True))
    off = _off(wanted, got, random=random)
    return replace(
        found,
        stage=Stage.VALUES if off else Stage.PROVED,
        error=off,
        differences=tuple(_differences(wanted, got)),
        random=random,
    )


def _differences(wanted: Sequence[Tensor], got: Sequence[Tensor]) -> Iterator[Difference]:
    names = [f"output[{i}]" for i in range(len(wanted))] if len(wanted) > 1 else ["output"]
    for name, one, other in zip(names, wanted, got, strict=False):
        dtype = str(one.dtype).removeprefix("torch.")
        yield Difference(name, tuple(one.shape), dtype, _largest(_real(one), other))


def _real(tensor: Tensor) -> Tensor:
    return torch.view_as_real(tensor.resolve_conj()) if tensor.is_complex() else tensor


def _largest(one: Tensor, other: Tensor) -> float | None:
    if one.shape != other.shape:
        return None
    left, right = one.double(), other.double()
    apart = (left - right).abs()
    apart[(left == right) | (left.isnan() & right.isnan())] = 0.0
    if not bool(torch.isfinite(apart).all()):
        return None
    return float(apart.max()) if apart.numel() else 0.0


def _alike(one: Tensor, other: Tensor) -> bool:
    return one.shape == other.shape and _largest(_real(one), _real(other)) == 0.0


def _off(wanted: Sequence[Tensor], got: Sequence[Tensor], *, random: bool) -> str:
    """Say what differs more than rounding does; "" where nothing does."""
    if len(wanted) != len(got):
        return f"{len(got)} outputs, where PyTorch gives {len(wanted)}"
    for place, (one, other) in enumerate(zip(map(_real, wanted), got, strict=True)):
        if one.dtype != other.dtype:
            return f"output {place} is {_dtype(other)}, where PyTorch gives {_dtype(one)}"
        if one.shape != other.shape:
            return f"output {place} is of {_shape(other)}, where PyTorch gives {_shape(one)}"
        largest = _largest(one, other)
        scale = _scale(one)
        if not random and (largest is None or largest > _TOLERANCE.get(one.dtype, 0.0) * scale):
            return f"output {place} is off by {largest}, where the largest value is {scale:g}"
    return ""


def _scale(tensor: Tensor) -> float:
    """The largest finite value, 1 where all are smaller."""
    finite = tensor.double().abs()
    finite = finite[torch.isfinite(finite)]
    return max(1.0, float(finite.max())) if finite.numel() else 1.0


def _dtype(tensor: Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")


def _shape(tensor: Tensor) -> str:
    return str(tuple(tensor.shape))

"""Which overloads a documented Python API calls, from PyTorch's own declarations.

``torch.X`` and ``torch.Tensor.X`` are the function and method variants of ``aten::X``;
``torch.fft.X`` and its like are declared with that module's prefix; ``torch.nn.functional.X`` is
mostly ``aten::X``, and a class of ``torch.nn`` is the functional whose name it spells.
"""

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from opcheck.db.importers import upstream
from opcheck.db.importers.upstream import Function

_PREFIXES = {"torch.fft.": "fft_", "torch.linalg.": "linalg_", "torch.special.": "special_"}
_FUNCTIONAL = "torch.nn.functional."
_MODULE = "torch.nn."
_METHOD = "torch.Tensor."

_UPSAMPLE = (
    "upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d", "upsample_linear1d",
    "upsample_bilinear2d", "upsample_bicubic2d", "upsample_trilinear3d",
)  # fmt: skip
_OTHER_NAMES: Mapping[str, tuple[str, ...]] = {
    # functional -> what its Python body calls, where the names differ
    "affine_grid": ("affine_grid_generator",),
    "cross_entropy": ("cross_entropy_loss",),
    "fold": ("col2im",),
    "grid_sample": ("grid_sampler",),
    "interpolate": _UPSAMPLE,
    "logsigmoid": ("log_sigmoid",),
    "nll_loss": ("nll_loss_nd",),
    "unfold": ("im2col",),
    "upsample": ("upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d"),
    "upsample_bilinear": ("upsample_bilinear2d",),
    "upsample_nearest": ("upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d"),
}


def overloads(api: str, folder: Path, torch: str) -> tuple[Function, ...]:
    """Overloads that an API calls in one torch version; none where that is not plain."""
    bases = _by_base(folder, torch)
    variant = "method" if api.startswith(_METHOD) else "function"
    found = (function for base in _bases(api, bases) for function in bases.get(base, ()))
    return tuple(f for f in found if variant in f.variants or f.module == "nn")


def argument(function: Function, documented: str) -> str:
    """Schema name of a documented tensor argument; "" where the overload has no such."""
    if documented in function.tensors:
        return documented
    names = ("self", "input", "tensors") if documented in ("input", "self") else ()
    return next((name for name in names if name in function.tensors), "")


@cache
def _by_base(folder: Path, torch: str) -> Mapping[str, tuple[Function, ...]]:
    found: dict[str, list[Function]] = {}
    for function in upstream.functions(folder, torch).values():
        found.setdefault(function.base, []).append(function)
    return {base: tuple(listed) for base, listed in found.items()}


def _bases(api: str, known: Mapping[str, object]) -> Iterable[str]:
    for module, prefix in _PREFIXES.items():
        if api.startswith(module):
            return (prefix + api.removeprefix(module),)
    if api.startswith(_FUNCTIONAL):
        return _functional(api.removeprefix(_FUNCTIONAL))
    if api.startswith(_METHOD):
        return (api.removeprefix(_METHOD),)
    if api.startswith(_MODULE):
        return _class(api.removeprefix(_MODULE), known)
    name = api.removeprefix("torch.")
    return (name,) if "." not in name else ()


def _functional(name: str) -> tuple[str, ...]:
    return _OTHER_NAMES.get(name, (name,))


def _class(name: str, known: Mapping[str, object]) -> tuple[str, ...]:
    """The functional whose name, without underscores, is the class's in lower case."""
    if not name[:1].isupper() or "." in name:
        return ()
    spelled = name.lower()
    for functional in (*_OTHER_NAMES, *sorted(known)):
        if functional.replace("_", "") == spelled and not functional.startswith("_"):
            return _functional(functional)
    return ()

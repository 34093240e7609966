"""What libraries of models ask of the machine once: whether a device of some type is there.

transformers keeps the answer in its modules (``_is_torch_npu_available`` in
``transformers/integrations/sdpa_attention.py``), and with it chooses masks and grouped heads of
attention. diffusers asks a function (``RMSNorm`` and ``GEGLU`` call kernels of torch_npu where it
says yes). Both were imported on a machine without the device: while a model runs, they know it.
transformers keeps in the same way whether torch is of some version or newer.
"""

import importlib
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from types import ModuleType
from typing import Any
from unittest.mock import patch

import torch

_KEPT = re.compile(r"_is_torch_(cuda|xpu|mps|npu|mlu|musa)_available")
NEWER = re.compile(r"_is_torch_greater_or_equal_than_(\d+)_(\d+)")
"""Names of what goes by the release of torch, which differs between targets."""
_AVAILABLE = "is_torch_npu_available"
_USERS = ("diffusers.models.normalization", "diffusers.models.activations")
"""Modules that ask while a model runs, and then name torch_npu."""
_NPU, _PLUGIN = "npu", "torch_npu"


@contextmanager
def libraries_know_device(device_type: str) -> Iterator[None]:
    """Have libraries that are imported know a device of this type, and no other, in the block.

    A block inside of one for the same type leaves to it what they know.
    """
    if _known and _known[-1] == device_type:
        yield
        return
    kept = _kept(_KEPT, lambda asked: asked[1] == device_type)
    with _changed([*kept, *(_kernels_of_npu() if device_type == _NPU else ())]):
        _known.append(device_type)
        try:
            yield
        finally:
            _known.pop()


_known: list[str] = []
"""The types of the blocks that are open."""


@contextmanager
def libraries_know_torch(version: tuple[int, ...]) -> Iterator[None]:
    """Have them take an older version of torch, (2, 7), for the one that is here; () is this one.

    Of a newer one they would call what is not there.
    """
    taken = taken_for(version)
    with _changed(_kept(NEWER, lambda asked: taken >= (int(asked[1]), int(asked[2])))):
        yield


def taken_for(version: tuple[int, ...]) -> tuple[int, ...]:
    """The release of torch that libraries take for the one that is here."""
    here = tuple(map(int, torch.__version__.split(".")[:2]))
    return min(version or here, here)


_Change = tuple[dict[str, Any], dict[str, Any]]
"""Names of a module, and what some of them are to be."""


@contextmanager
def _changed(changes: Iterable[_Change]) -> Iterator[None]:
    with ExitStack() as undo:
        for names, changed in changes:
            undo.enter_context(patch.dict(names, changed))
        yield


def _kept(asked: re.Pattern[str], answer: Callable[[re.Match[str]], bool]) -> Iterator[_Change]:
    """The answers that modules of transformers keep, and what they are to be."""
    for name, module in [*sys.modules.items()]:
        if name.startswith("transformers.") and isinstance(module, ModuleType):
            names = vars(module)
            found = [asked.fullmatch(key) for key in names if key.startswith("_is_torch_")]
            if changed := {match[0]: answer(match) for match in found if match}:
                yield names, changed


def _kernels_of_npu() -> Iterator[_Change]:
    users = [sys.modules[name] for name in _USERS if name in sys.modules]
    if not users:
        return
    try:
        plugin = importlib.import_module(_PLUGIN)
    except ImportError:  # nothing stands in for it: the library's own way is recorded
        return
    for module in users:
        if _AVAILABLE in vars(module):
            yield vars(module), {_AVAILABLE: lambda: True, _PLUGIN: plugin}

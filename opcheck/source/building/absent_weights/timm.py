"""Checkpoints that timm takes from the Hugging Face hub; checked on timm 1.0.31."""

from functools import wraps
from types import ModuleType
from typing import Any

from opcheck.source.building.absent_weights.wanted import has_network, wanted
from opcheck.source.building.after_import import after_import

_FUNCTION = "load_state_dict_from_hf"


def prepare() -> None:
    """Have timm go on without a checkpoint that is not in the cache."""
    after_import("timm.models._builder", _change)


def _change(module: ModuleType) -> None:
    original = getattr(module, _FUNCTION)
    if hasattr(original, "__wrapped__"):
        return

    @wraps(original)
    def load_state_dict_from_hf(model_id: str, *args: Any, **kwargs: Any) -> Any:
        try:
            return original(model_id, *args, **kwargs)
        except OSError:
            if has_network():
                raise
            return wanted(model_id)

    setattr(module, _FUNCTION, load_state_dict_from_hf)

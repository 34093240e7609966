"""Models of transformers and diffusers whose config is here, in a folder or the cache, and no more.

Checked on transformers 5.23 and diffusers 0.42: what ``from_pretrained`` raises where weights are
absent, ``_from_config``, ``no_init_weights``.
"""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import wraps
from inspect import signature
from types import ModuleType
from typing import Any

import torch

from opcheck.source.building.absent_weights.wanted import has_network, wanted
from opcheck.source.building.after_import import after_import

_QUANTISED = "quantization_config"
_PLACED = ("auto", "balanced", "balanced_low_0", "sequential")
"""Values of ``device_map`` that leave it to accelerate, which begins with the first device."""
OF_HUB = (
    *("cache_dir", "force_download", "local_files_only", "token", "revision", "subfolder"),
    *("proxies", "trust_remote_code", "code_revision"),
)
"""Arguments that say where files are, and nothing of the model."""
_OF_LOADING = (
    *("device_map", "dtype", "torch_dtype", "low_cpu_mem_usage", "output_loading_info", "config"),
    *("use_safetensors", "variant", "offload_folder", "max_memory", "ignore_mismatched_sizes"),
    *("state_dict", "weights_only", "key_mapping", "adapter_kwargs", "offload_state_dict"),
)
"""Arguments that say how weights are loaded."""
_OF_NO_FILE = "'NoneType' object has no attribute 'endswith'"
"""What transformers 4 comes to where no file is found and none could be looked for."""
Make = Callable[[Any, Any, dict[str, Any]], Any]


def prepare(*, values: bool) -> None:
    """Have ``from_pretrained`` go on where only weights are absent.

    Args:
        values: whether weights are to have values.
    """

    def transformers(module: ModuleType) -> None:
        _change(module.PreTrainedModel, _MakeTransformers(values))

    def diffusers(module: ModuleType) -> None:
        _change(module.ModelMixin, _make_diffusers)

    after_import("transformers.modeling_utils", transformers)
    after_import("diffusers.models.modeling_utils", diffusers)


def _change(owner: Any, make: Make) -> None:
    original = vars(owner)["from_pretrained"].__func__
    if hasattr(original, "_opcheck_weights"):
        return
    takes = tuple(signature(original).parameters)

    @wraps(original)
    def from_pretrained(cls: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return original(cls, *args, **kwargs)
        except (OSError, AttributeError) as error:
            other = not isinstance(error, OSError) and _OF_NO_FILE not in str(error)
            if other or has_network() or kwargs.get(_QUANTISED) is not None:
                raise
            given = {**dict(zip(takes[1:], args, strict=False)), **kwargs}
            name = given.pop(takes[1], None)
            model = make(cls, name, given)
            if model is None:
                raise
        wanted("/".join(str(part) for part in (name, given.get("subfolder")) if part))
        return _placed(model, kwargs)

    from_pretrained._opcheck_weights = True  # type: ignore[attr-defined]  # changed once
    owner.from_pretrained = classmethod(from_pretrained)


def _placed(model: Any, given: Mapping[str, Any]) -> Any:
    """The model where it was to be, ready for inference, as the function leaves it."""
    places = given.get("device_map")
    if isinstance(places, Mapping):
        places = next(iter(places.values()), None)
    if places is not None:
        model = model.to("cuda" if places in _PLACED else torch.device(places))
    model.eval()
    lists = ("missing_keys", "unexpected_keys", "mismatched_keys", "error_msgs")
    return (model, {key: [] for key in lists}) if given.get("output_loading_info") else model


class _MakeTransformers:
    """Makes a model of transformers by its config."""

    def __init__(self, values: bool) -> None:
        self._values = values

    def __call__(self, cls: Any, name: Any, given: dict[str, Any]) -> Any:
        """Give the model; None where its config is not here, or says that it is quantised."""
        config, more = given.get("config"), {}
        try:
            if not hasattr(config, "to_dict"):
                where = {key: given[key] for key in OF_HUB if key in given}
                asked = {k: v for k, v in given.items() if k not in (*OF_HUB, *_OF_LOADING)}
                config, more = cls.config_class.from_pretrained(
                    config or name, return_unused_kwargs=True, **where, **asked
                )
        except OSError:
            return None
        if getattr(config, _QUANTISED, None) is not None:
            return None
        dtype = given.get("dtype", given.get("torch_dtype"))
        chosen = {"dtype": dtype} if isinstance(dtype, torch.dtype) else {}
        implementations = ("attn_implementation", "experts_implementation")
        chosen |= {key: given[key] for key in implementations if key in given and key not in more}
        with self._initialised():
            return cls._from_config(config, **chosen)

    def _initialised(self) -> AbstractContextManager[None]:
        if self._values:
            return nullcontext()
        try:
            from transformers.initialization import no_init_weights
        except ImportError:  # transformers 4
            from transformers.modeling_utils import no_init_weights

        left: AbstractContextManager[None] = no_init_weights()
        return left


def _make_diffusers(cls: Any, name: Any, given: dict[str, Any]) -> Any:
    """Make a model of diffusers by its config; None where that is not here, or is quantised."""
    where = {key: given[key] for key in OF_HUB if key in given}
    try:
        config = cls.load_config(name, **where)
    except OSError:
        return None
    if config.get(_QUANTISED) is not None:
        return None
    model = cls.from_config(config)
    dtype = given.get("torch_dtype", given.get("dtype"))
    return model.to(dtype) if isinstance(dtype, torch.dtype) else model

"""Quark: weights of eight-bit floats with one scale, or of integers, as AMD Quark 0.13 has them.

``_map_to_quark``, quark/torch/export/api.py line 1215, and ``QParamsLinear``, export/nn/modules/
qparamslinear.py line 57, which transformers 5.23 has it put in (quantizers/quantizer_quark.py line
63). Which settings a layer has: ``get_layer_quant_config``, export/main_export/
quant_config_parser.py line 61. Inputs and outputs become floats of eight bits, and whole again;
where ROCm multiplies such floats, they are multiplied as they are.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatch
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from opcheck.source.building.quantised.experts import STAY
from opcheck.source.building.quantised.method import (
    Method,
    Section,
    features,
    names_of,
    settings_of,
)
from opcheck.source.building.quantised.quark_integers import (
    Integers,
    QuarkIntegerLinear,
    integers_of,
)

_FLOAT8, _MOST = torch.float8_e4m3fn, 448
_KIND, _SCHEME = "fp8_e4m3", "per_tensor"
_REORDER = "reorder"
_PARTS = ("weight", "input_tensors", "output_tensors", "bias")
_OTHERS = ("algo_config", "softmax_quant_spec", "layer_type_quant_config")
_BY_NAME = ("layer_quant_config", "kv_cache_quant_config")
Parts = tuple[bool, bool, bool]
"""Whether weights, inputs and outputs are floats of eight bits."""


def _rounded(x: Tensor, scale: Tensor) -> Tensor:
    """``fake_quantize_fp8_per_tensor_with_scale`` of hw_emulation_interface.py, line 716."""
    small = torch.clamp(x / scale, min=-_MOST, max=_MOST)
    return small.to(_FLOAT8).to(small.dtype) * scale


def _linear(
    x: Tensor, weight: Tensor, input_scale: Tensor, weight_scale: Tensor, bias: Tensor | None = None
) -> Tensor:
    """What runs where ROCm does not multiply floats of eight bits."""
    rounded = _rounded(x, input_scale)
    whole = (weight.to(torch.float32) * weight_scale).to(x.dtype)
    bias = None if bias is None else bias.to(x.dtype)
    return functional.linear(rounded, whole, bias)


KERNELS: Mapping[str, Callable[..., Any]] = {"quark::fp8_linear": _linear}
"""Operator -> what runs on every device."""


class Quark(Method):
    """Linear layers by the settings for their names."""

    name = "quark"
    library = "quark"
    defaults = KERNELS
    whole = STAY

    def __init__(self, section: Section) -> None:
        super().__init__(section)
        self._parts: dict[nn.Module, Parts | Integers] = {}

    def models(self, model: nn.Module) -> bool:
        """Floats of eight bits with one scale, which is known before, or weights of integers."""
        if any(self.setting(name) for name in _OTHERS):
            return False
        found = list(self._settings(model))
        self._parts = {module: parts for module, parts in found if parts is not None and any(parts)}
        return all(parts is not None for _, parts in found)

    def _settings(self, model: nn.Module) -> Iterator[tuple[nn.Module, Parts | Integers | None]]:
        """Each linear layer with what is rounded; None where in another way than is known here."""
        excluded = names_of("exclude", self.setting("exclude"))
        by_name = [settings_of(name, self.setting(name)) for name in _BY_NAME]
        for path, module in model.named_modules():
            if type(module) is not nn.Linear:
                continue
            named, cache = (_first(given, path) for given in by_name)
            own = self._usual() if named is None else named
            if any(fnmatch(path, pattern) for pattern in excluded):
                own = {} if cache is None else {"output_tensors": cache.get("output_tensors")}
            yield module, _parts_of(own) or self._integers(module, own)

    def _integers(self, module: nn.Module, own: Mapping[str, Any]) -> Integers | None:
        """Weights of integers alone; None where there are none, or others."""
        if any(own.get(name) for name in _PARTS[1:]):
            return None
        export = self.setting("export")
        packed = export.get("pack_method") if isinstance(export, Mapping) else None
        found = integers_of(own.get("weight"), reorder=(packed or _REORDER) == _REORDER)
        return found if found is not None and found.takes(*features(module)) else None

    def _usual(self) -> Mapping[str, Any]:
        """The settings of layers that no pattern names."""
        name = "global_quant_config"
        given = self.setting(name)
        return given if isinstance(given, Mapping) else settings_of(name, given)

    def kept(self, model: nn.Module) -> Sequence[str]:
        """Nothing more than the layers that have no settings."""
        return ()

    def replaceable(self, module: nn.Module) -> bool:
        """Whether the layer has settings."""
        return module in self._parts

    def layer(self, linear: nn.Module, rows: int, columns: int) -> nn.Module:
        """The library's layer."""
        own = self._parts[linear]
        if isinstance(own, Integers):
            return QuarkIntegerLinear(rows, columns, linear.bias, own)
        weight, inputs, outputs = own
        return QuarkLinear(
            rows, columns, linear.bias, weight=weight, inputs=inputs, outputs=outputs
        )


def _first(given: Mapping[str, Any], path: str) -> Mapping[str, Any] | None:
    found = (own for pattern, own in given.items() if fnmatch(path, pattern))
    own = next(found, None)
    return own if isinstance(own, Mapping) else None


def _parts_of(own: Mapping[str, Any]) -> Parts | None:
    """What is rounded by settings; None where in another way than is known here."""
    given = [own.get(name) for name in _PARTS]
    if any(part is not None and not _is_known(part) for part in given):
        return None
    weight, inputs, outputs, bias = (part is not None for part in given)
    return None if bias or (inputs and not weight) else (weight, inputs, outputs)


def _is_known(part: Any) -> bool:
    return (
        isinstance(part, Mapping)
        and part.get("dtype") == _KIND
        and part.get("qscheme") == _SCHEME
        and not part.get("is_dynamic")
    )


class _Scale(nn.Module):
    """One scale, under the name that the library keeps it by."""

    scale: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("scale", torch.ones(()))


class QuarkLinear(nn.Module):
    """Weights of eight bits or of float32, and what comes in or goes out rounded."""

    def __init__(
        self, rows: int, columns: int, bias: Any, *, weight: bool, inputs: bool, outputs: bool
    ) -> None:
        super().__init__()
        self.small = weight
        made = torch.empty(rows, columns, dtype=_FLOAT8 if weight else torch.float32)
        self.weight = nn.Parameter(made, False)
        self.bias = None if bias is None else nn.Parameter(torch.empty(rows), False)
        self.weight_quantizer = _Scale() if weight else None
        self.input_quantizer = _Scale() if inputs else None
        self.output_quantizer = _Scale() if outputs else None

    def forward(self, x: Tensor) -> Tensor:
        """Multiply, and round what goes out."""
        dtype = x.dtype
        own, inputs = self.weight_quantizer, self.input_quantizer
        if own is not None and inputs is not None:
            out: Tensor = torch.ops.quark.fp8_linear(
                x, self.weight, inputs.scale, own.scale, self.bias
            )
        else:
            weight = self.weight if own is None else self.weight.to(torch.float32) * own.scale
            bias = None if self.bias is None else self.bias.to(dtype)
            out = functional.linear(x, weight.to(dtype), bias)
        return out if self.output_quantizer is None else _rounded(out, self.output_quantizer.scale)

"""torchao 0.18.0: the linear layers whose weights it packs, as the config that is saved tells.

``TorchAoHfQuantizer`` of transformers 5.23, quantizers/quantizer_torchao.py line 105, and what
``quantize_`` makes of the configuration, torchao/quantization/quant_api.py line 275.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import torch
from torch import nn
from torch.nn.modules.linear import NonDynamicallyQuantizableLinear

from opcheck.errors import SourceError
from opcheck.lang.sentence import Sentence
from opcheck.source.building.quantised import torchao_layers as layers
from opcheck.source.building.quantised.experts import STAY
from opcheck.source.building.quantised.method import (
    Method,
    Section,
    dtype_of,
    is_kept,
    one_of,
    patterns_of,
    settings_of,
)
from opcheck.source.patterns import matches

_INT8 = ("Int8WeightOnlyConfig", "Int8DynamicActivationInt8WeightConfig")
_FLOAT8 = ("Float8WeightOnlyConfig", "Float8DynamicActivationFloat8WeightConfig")
_INT4 = "Int4WeightOnlyConfig"
_VERSION = 2
_SIXTEEN = 16
"""Layers whose sizes it does not divide stay as they are, where activations become float8."""
_FLOATS = (torch.float8_e4m3fn, torch.float8_e4m3fnuz, torch.float8_e5m2, torch.float8_e5m2fnuz)
_KINDS = ("PerTensor", "PerRow", "PerGroup")
_TILES = (8, 16)
_PLAIN, _INT32, _TILED, _SHUFFLED = _PACKINGS = (
    "plain", "plain_int32", "tile_packed_to_4d", "preshuffled"
)  # fmt: skip
_TWO_DEVICES = Sentence(
    "torchao packs int4 weights as plain_int32 for XPU and Ascend, each in its own way, and raises "
    "NotImplementedError for another device"
)
_BY_NAME = ("FqnToConfig", "ModuleFqnToConfig")
_REST = "_default"
_REGEX = "re:"
_GROUP = 128
Make = Callable[[nn.Module, int, int], nn.Module]


class TorchAO(Method):
    """Weights of eight bits, of float8, and of four bits in tiles."""

    name = "torchao"
    others = ("mslk", "torch_npu")
    whole: ClassVar[Sentence | None] = STAY

    def __init__(self, section: Section) -> None:
        super().__init__(section)
        self._named: dict[nn.Module, TorchAO | None] = {}

    def models(self, model: nn.Module) -> bool:
        """A configuration for all layers or one for each, whose kernels are known here."""
        self._type, self._data = self._configuration()
        if self._type in _BY_NAME:
            return self._models_by_name(model)
        if self.setting("include_input_output_embeddings"):
            return False
        make = self._maker()
        if make is None:
            return False
        self._make = make
        return True

    def _models_by_name(self, model: nn.Module) -> bool:
        """``TorchAoQuantize`` of transformers, integrations/torchao.py line 101."""
        given = self._data.get("fqn_to_config") or self._data.get("module_fqn_to_config")
        given = settings_of("fqn_to_config", given)
        patterns_of("fqn_to_config", [name.removeprefix(_REGEX) for name in given])
        made = {name: self._alone(found, model) for name, found in given.items()}
        if any(found is False for found in made.values()):
            return False
        for path, module in model.named_modules():
            if not path:
                continue
            name = _named(given, path, linear=isinstance(module, nn.Linear))
            found = made.get(name) if name is not None else None
            if isinstance(found, TorchAO):
                if not isinstance(module, nn.Linear):
                    return False
                self._named[module] = found
                self.notes = tuple(dict.fromkeys((*self.notes, *found.notes)))
        return bool(self._named)

    def _alone(self, given: Any, model: nn.Module) -> "TorchAO | bool | None":
        """What a configuration alone makes; None where layers stay, False where it is not known."""
        if given is None:
            return None
        found = type(self)({**self.section, "quant_type": {"default": given}})
        return found if found.models(model) else False

    def kept(self, model: nn.Module) -> Sequence[str]:
        """Layers that the config names, and those whose sizes the library does not pack."""
        kept = self.kept_by("modules_to_not_convert", model)
        return [
            f"{path}$".replace(".", r"\.")
            for path, module in model.named_modules()
            if self.replaceable(module)
            and (is_kept(f"{path}.weight", kept) or not self.fits(module))
        ]

    def replaceable(self, module: nn.Module) -> bool:
        """Linear layers of any class but that of PyTorch's own attention."""
        if self._type in _BY_NAME and module not in self._named:
            return False
        return isinstance(module, nn.Linear) and not isinstance(
            module, NonDynamicallyQuantizableLinear
        )

    def layer(self, linear: nn.Module, rows: int, columns: int) -> nn.Module:
        """The one that the configuration makes."""
        own = self._named.get(linear)
        return (
            self._make(linear, rows, columns) if own is None else own.layer(linear, rows, columns)
        )

    def fits(self, linear: Any) -> bool:
        """Whether the library packs weights of such sizes."""
        own = self._named.get(linear)
        if own is not None:
            return own.fits(linear)
        if self._type == _INT4:
            return bool(linear.in_features % self._data.get("group_size", _GROUP) == 0)
        if self._type == _FLOAT8[1]:
            return bool(linear.in_features % _SIXTEEN == 0 == linear.out_features % _SIXTEEN)
        return True

    def _configuration(self) -> tuple[str, Mapping[str, Any]]:
        """The name of the library's class, and what it holds."""
        given = self.setting("quant_type")
        found = given.get("default") if isinstance(given, Mapping) and len(given) == 1 else None
        name = found.get("_type") if isinstance(found, Mapping) else None
        data = found.get("_data") if isinstance(found, Mapping) else None
        if not isinstance(found, Mapping) or not name or not isinstance(data, Mapping):
            raise SourceError(
                Sentence(
                    "quant_type is {text_value}, want a configuration of torchao under default",
                    text_value=given,
                )
            )
        if name in _INT8 and found.get("_version", 1) != _VERSION:
            raise SourceError(
                Sentence(
                    "quant_type is version {version} of {type}, which torchao has removed",
                    version=found.get("_version", 1), type=name,
                )
            )  # fmt: skip
        current = found.get("_version", 1) == _VERSION or name in _BY_NAME
        return (str(name) if current else ""), data

    def _maker(self) -> Make | None:
        """What makes a layer; None where the kernels are others than PyTorch's."""
        if self._type in _INT8:
            return self._int8()
        if self._type in _FLOAT8:
            return self._float8()
        if self._type == _INT4:
            return self._int4(_word(self._data.get("int4_packing_format") or _PLAIN).lower())
        return None

    def _int8(self) -> Make | None:
        dynamic = self._type == _INT8[1]
        own, weight = self._granularities(dynamic)
        if own is None or weight is None:
            return None
        kind = self._data.get("act_mapping_type")
        asymmetric = dynamic and _word(kind).upper() == "ASYMMETRIC"

        def make(linear: Any, rows: int, columns: int) -> nn.Module:
            _check_group(weight, columns)
            return layers.Int8Linear(
                rows, columns, linear.bias,
                group=weight, activation=own if dynamic else None, asymmetric=asymmetric,
            )  # fmt: skip

        return make

    def _float8(self) -> Make | None:
        dynamic = self._type == _FLOAT8[1]
        own, weight = self._granularities(dynamic, default="PerTensor" if dynamic else "PerRow")
        plain = _word(self._data.get("packing_format") or "plain").lower() == "plain"
        other = _word(self._data.get("kernel_preference") or "auto").lower() == "mslk"
        if own is None or weight is None or not plain or other:
            return None
        kinds = {key: self._dtype(key) for key in ("weight_dtype", "activation_dtype")}
        config = self._data.get("mm_config")
        fast = config["_data"].get("use_fast_accum") if isinstance(config, Mapping) else None

        def make(linear: Any, rows: int, columns: int) -> nn.Module:
            _check_group(weight, columns)
            return layers.Float8Linear(
                rows, columns, linear.bias,
                group=weight, dtype=kinds["weight_dtype"], whole=linear.weight.dtype,
                activation=kinds["activation_dtype"] if dynamic else None, fast=fast,
            )  # fmt: skip

        return make

    def _int4(self, packing: str) -> Make | None:
        size = self._data.get("group_size", _GROUP)
        tile = self._data.get("int4_tile_packed_ntile", _TILES[0])
        if not isinstance(size, int) or size <= 0:
            raise SourceError(
                Sentence("group_size is {text_value}, want a positive integer", text_value=size)
            )
        one_of("int4_tile_packed_ntile", tile, [str(known) for known in _TILES])
        kind = one_of("int4_packing_format", packing, _PACKINGS)

        def make(linear: Any, rows: int, columns: int) -> nn.Module:
            dtype = linear.weight.dtype
            if kind == _PLAIN:
                _check_dtype(kind, dtype, (torch.bfloat16,))
                return layers.Int4PlainLinear(rows, columns, linear.bias, group=size)
            if kind == _INT32:
                _check_dtype(kind, dtype, (torch.float16, torch.bfloat16))
                return layers.Int4Int32Linear(rows, columns, linear.bias, group=size, dtype=dtype)
            return layers.Int4Linear(rows, columns, linear.bias, group=size, tile=int(tile))

        if kind == _INT32:
            self.notes = (*self.notes, _TWO_DEVICES)
        return None if kind == _SHUFFLED else make

    def _granularities(
        self, dynamic: bool, default: str = "PerRow"
    ) -> tuple[int | None, int | None]:
        """Of activations and weights: 0 for one scale, -1 for one a row, or the size of groups."""
        given = self._data.get("granularity")
        both = given if isinstance(given, list) and given else [given]
        own, weight = (_granularity(one, default) for one in (both[0], both[-1]))
        if dynamic and (own or 0) > 0:
            one_of("granularity", "PerGroup", _KINDS[:2])
        return own, weight

    def _dtype(self, key: str) -> torch.dtype:
        return dtype_of(key, _word(self._data.get(key) or "float8_e4m3fn"), _FLOATS)


def _word(value: Any) -> str:
    """A setting that the library saves as a word, or as the name of a class with one."""
    return str(value.get("_data") if isinstance(value, Mapping) else value)


def _granularity(value: Any, default: str) -> int | None:
    """One granularity; None where the layers here have none like it."""
    name = default if value is None else value.get("_type") if isinstance(value, Mapping) else value
    data = value.get("_data") if isinstance(value, Mapping) else None
    settings = data if isinstance(data, Mapping) else {}
    match name:
        case "PerTensor":
            return 0
        case "PerRow":
            return -1 if settings.get("dim", -1) == -1 else None
        case "PerGroup" if isinstance(size := settings.get("group_size"), int) and size > 0:
            return size
        case "PerBlock":
            return None
    one_of("granularity", name, _KINDS[:2] if name in _KINDS else _KINDS)
    return None


def _named(given: Mapping[str, Any], path: str, *, linear: bool) -> str | None:
    """The name under which a configuration has a layer; None where it has none."""
    whole = f"{path}.weight"
    for name in (whole, path):
        if name in given:
            return name
    for name in given:
        pattern = name.removeprefix(_REGEX)
        if pattern != name and any(matches(pattern, one, whole=True) for one in (whole, path)):
            return name
    return _REST if linear and _REST in given else None


def _check_dtype(kind: str, dtype: torch.dtype, known: Sequence[torch.dtype]) -> None:
    names = [str(one).removeprefix("torch.") for one in (dtype, *known)]
    if dtype not in known:
        raise SourceError(
            Sentence(
                "a layer has weights of {dtype}, and torchao packs {list} as {name}",
                dtype=names[0], list=", ".join(names[1:]), name=kind,
            )
        )  # fmt: skip


def _check_group(group: int, columns: int) -> None:
    if group > 0 and columns % group:
        raise SourceError(
            Sentence(
                "group_size is {text_value}, which does not divide {columns} features",
                text_value=group, columns=columns,
            )
        )  # fmt: skip

"""compressed-tensors 0.20.0: which linear layers have packed weights and rounded activations.

``CompressedTensorsHfQuantizer`` of transformers 5.23, quantizers/quantizer_compressed_tensors.py
line 97, and ``apply_quantization_config``, quantization/lifecycle/apply.py line 93. What a scheme
may say: ``QuantizationArgs``, quantization/quant_args.py line 185, and ``QuantizationScheme``,
quantization/quant_scheme.py line 26.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import torch
from torch import nn

from opcheck.errors import SourceError
from opcheck.lang.sentence import Sentence
from opcheck.source.building.quantised.compressed_fp4 import (
    KERNELS,
    SMALL_FORMATS,
    SmallFloatLinear,
)
from opcheck.source.building.quantised.compressed_layers import (
    PACKED_BITS,
    CompressedLinear,
    Rounding,
)
from opcheck.source.building.quantised.experts import experts_of
from opcheck.source.building.quantised.method import Method, one_of, patterns_of
from opcheck.source.patterns import matches

_REGEX = "re:"
_PACKED = "pack-quantized"
_BYTES = ("int-quantized", "float-quantized", "naive-quantized")
_STRATEGIES = ("tensor", "channel", "group", "block", "token", "tensor_group", "attn_head")
_MEASURED = ("token", "tensor", "tensor_group", "group")
_TENSOR_GROUP = "tensor_group"
_HERE = ("tensor", "channel", "group", "block", "token", _TENSOR_GROUP)
_NVFP4, _MXFP4, _MXFP8 = SMALL_FORMATS
_SCALES: Mapping[str, Any] = {
    "None": None, "float8_e4m3fn": torch.float8_e4m3fn, "uint8": torch.uint8,
}  # fmt: skip
_OTHERS = ("kv_cache_scheme", "transform_config", "moe_sparsity_config")
_WHOLE_EXPERTS = Sentence(
    "transformers makes the packed weights of experts floats when it loads them, and rounds none "
    "of what goes into them"
)
"""``CompressedTensorsDequantize``, line 55 of integrations/compressed_tensors.py."""
_KINDS = ("int", "float")
_EIGHT = 8
_MX_GROUP, _NV_GROUP = 32, 16
_PARTS = ("weights", "input_activations", "output_activations")
_MIXED = "mixed-precision"
Scheme = tuple[str, Rounding | None, Rounding | None, Rounding | None]
"""How weights are stored, and how these, inputs and outputs are rounded."""


class CompressedTensors(Method):
    """Linear layers that groups of the config name; weights are whole after the first call.

    Those of experts that are kept together are whole from the beginning.
    """

    name = "compressed-tensors"
    others = ("compressed_tensors",)
    defaults = KERNELS
    notes = (
        Sentence(
            "compressed-tensors makes packed weights whole in the first call, and rounds "
            "activations in floats: products are those of the model's dtype, in full memory"
        ),
    )

    whole = _WHOLE_EXPERTS
    lists_experts = True

    def unseen(self, model: nn.Module, names: Collection[str]) -> Sentence | None:
        """Nothing: packed weights of experts are loaded, and made whole."""
        return None

    def models(self, model: nn.Module) -> bool:
        """Integers of up to eight bits, and floats of eight and four."""
        groups = self.setting("config_groups")
        sparse = self.setting("sparsity_config") or {}
        if (
            not isinstance(groups, Mapping)
            or self.setting("quantization_status") != "compressed"
            or any(self.setting(name) for name in _OTHERS)
            or sparse.get("format", "dense") != "dense"
            or self.setting("dequantize") or self.setting("run_compressed") is False
            or self.setting("use_optimized_inference")
        ):  # fmt: skip
            return False
        self._ignored = patterns_of("ignore", self.setting("ignore"))
        self._schemes: dict[str, Scheme] = {}
        for group in groups.values():
            scheme = self._scheme(group) if isinstance(group, Mapping) else None
            if scheme is None:
                return False
            self._schemes |= dict.fromkeys(patterns_of("targets", group.get("targets")), scheme)
        experts = experts_of(model)
        embeddings = (p for p in model.named_modules() if isinstance(p[1], nn.Embedding))
        return not any(self._target(*named) for named in chain(embeddings, experts))

    def kept(self, model: nn.Module) -> Sequence[str]:
        """Layers that no group names, or that the config leaves out."""
        self._paths = {module: path for path, module in model.named_modules()}
        return [
            f"{path}$".replace(".", r"\.")
            for module, path in self._paths.items()
            if self.replaceable(module) and not self._target(path, module)
        ]

    def replaceable(self, module: nn.Module) -> bool:
        """Linear layers of any class."""
        return isinstance(module, nn.Linear)

    def layer(self, linear: nn.Module, rows: int, columns: int) -> nn.Module:
        """One with the scheme of the first target that names it."""
        stored, *roundings = self._schemes[self._target(self._paths[linear], linear)]
        for how in roundings:
            if how is not None and how.group and columns % how.group:
                raise SourceError(
                    Sentence(
                        "group_size is {text_value}, which does not divide {columns} features",
                        text_value=how.group, columns=columns,
                    )
                )  # fmt: skip
        if stored in SMALL_FORMATS:
            return SmallFloatLinear(linear, *roundings, packed=True)
        return CompressedLinear(linear, *roundings, packed=stored == _PACKED)

    def _target(self, path: str, module: nn.Module) -> str:
        """The target that names a module first; "" where none does, or it is left out."""
        if any(_names(one, path) or _is_class(one, module) for one in self._ignored):
            return ""
        ordered = sorted(self._schemes, key=lambda target: (_REGEX in target, target))
        by_name = (target for target in ordered if _names(target, path))
        by_class = (target for target in ordered if _is_class(target, module))
        return next(chain(by_name, by_class), "")

    def _scheme(self, group: Mapping[str, Any]) -> Scheme | None:
        """The scheme of a group; None where the layers here have none like it."""
        parts = [self._rounding(group.get(name)) for name in _PARTS]
        weights, inputs, outputs = parts
        if weights is None or "" in parts:
            return None
        stored = _stored(weights, inputs)
        form = str(group.get("format") or self.setting("format"))
        if stored is None or form not in (_MIXED, *([stored] if stored else _BYTES)):
            return None
        others = [how for how in (inputs, outputs) if how is not None]
        if not all(_is_known(how, stored) for how in others):
            return None
        return stored, weights, inputs, outputs

    def _rounding(self, given: Any) -> Any:
        """How one part is rounded; None where it is not, "" where in no way that is known here."""
        if not isinstance(given, Mapping):
            return None
        _check(given)
        strategy = _strategy(given)
        bits, floating = given.get("num_bits", _EIGHT), given.get("type", "int").lower() == "float"
        scale = _SCALES.get(str(given.get("scale_dtype")).removeprefix("torch."), "")
        known = range(1, _EIGHT + 1) if not floating else (PACKED_BITS, _EIGHT)
        local = given.get("dynamic") == "local"
        if strategy not in _HERE or scale == "" or bits not in known:
            return ""
        if local != (strategy == _TENSOR_GROUP and bool(given.get("dynamic"))):
            return ""
        return Rounding(
            strategy, bits, floating, given.get("symmetric", True), bool(given.get("dynamic")),
            given.get("group_size") or 0 if strategy in ("group", _TENSOR_GROUP) else 0,
            tuple(given.get("block_structure") or (1, 1)), scale,
        )  # fmt: skip


def _stored(weights: Rounding, inputs: Rounding | None) -> str | None:
    """How the library stores weights, which it infers itself; "": in whole bytes; None: in no way.

    ``infer_module_format``, compressors/format.py line 79.
    """
    if not weights.floating:
        return _PACKED if inputs is None else ""
    if weights.bits == PACKED_BITS:
        return {_MX_GROUP: _MXFP4, _NV_GROUP: _NVFP4}.get(weights.group)
    return _MXFP8 if weights.group == _MX_GROUP and weights.scale == torch.uint8 else ""


def _is_known(how: Rounding, stored: str) -> bool:
    """Whether activations are rounded in a way that is known here, beside weights stored so."""
    four = how.floating and how.bits == PACKED_BITS
    if four != (how.strategy == _TENSOR_GROUP) or (four and stored != _NVFP4):
        return False
    return how.scale == (torch.float8_e4m3fn if four else None) and not (
        how.group and not how.dynamic
    )


def _strategy(given: Mapping[str, Any]) -> str:
    """What a part names, or what follows from its groups."""
    named, size = given.get("strategy"), given.get("group_size")
    if named is not None:
        return str(named).lower()
    return "tensor" if size is None else "channel" if size == -1 else "group"


def _check(given: Mapping[str, Any]) -> None:
    """Refuse what the library refuses.

    Raises:
        SourceError: a setting is none of the library's, or contradicts another.
    """
    one_of("type", str(given.get("type", "int")).lower(), _KINDS)
    strategy = one_of("strategy", _strategy(given), _STRATEGIES)
    size, dynamic = given.get("group_size"), given.get("dynamic")
    grouped = strategy in ("group", "tensor_group")
    if str(given.get("actorder")).lower() in ("group", "dynamic", "true"):
        one_of("actorder", given["actorder"], ("weight", "static"))
    if dynamic:
        one_of("strategy", strategy, _MEASURED)
    elif strategy == "token":
        raise SourceError(Sentence("strategy is token, which needs dynamic to be true"))
    if grouped and (not isinstance(size, int) or size <= 0):
        raise SourceError(
            Sentence("group_size is {text_value}, want a positive integer", text_value=size)
        )
    if not grouped and isinstance(size, int) and size > 0:
        raise SourceError(
            Sentence(
                "group_size is {text_value}, and strategy {name} has no groups",
                text_value=size, name=strategy,
            )
        )  # fmt: skip
    block = given.get("block_structure")
    if (strategy == "block") != (block is not None) or not (block is None or _is_block(block)):
        raise SourceError(
            Sentence(
                "block_structure is {text_value}, and strategy is {name}: block alone has one, "
                "of two positive integers",
                text_value=block, name=strategy,
            )
        )  # fmt: skip


def _is_block(block: Any) -> bool:
    return (
        isinstance(block, list)
        and len(block) == len((0, 1))
        and all(isinstance(side, int) and side > 0 for side in block)
    )


def _names(target: str, path: str) -> bool:
    if target.startswith(_REGEX):
        return matches(target.removeprefix(_REGEX), path)
    return target == path


def _is_class(target: str, module: nn.Module) -> bool:
    return any(kind.__name__ == target for kind in _kinds(module))


def _kinds(module: nn.Module) -> Iterator[type]:
    return (kind for kind in type(module).__mro__ if issubclass(kind, nn.Module))

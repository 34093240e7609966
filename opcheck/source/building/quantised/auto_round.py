"""auto-round 0.16.1: linear layers of a model's blocks, packed as GPTQ's or AWQ's are.

``convert_hf_model``, auto_round/inference/convert_model.py line 828: which layers (line 237), by
which settings of theirs, and with which kernel: the first of auto_round/inference/backend.py that
takes the layer on the device. Here it is the one that auto-round brings itself, with Triton, and
for AWQ's layout GPTQModel's. What settings are valid: utils/quantization_config.py line 239 of
transformers 5.23.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from torch import nn

from opcheck.lang.sentence import Sentence
from opcheck.source.building.quantised import auto_round_layers as layers
from opcheck.source.building.quantised.awq import check_sizes
from opcheck.source.building.quantised.experts import together
from opcheck.source.building.quantised.gptqmodel_layers import chosen_by_device
from opcheck.source.building.quantised.method import (
    Method,
    Section,
    features,
    group_of,
    one_of,
    patterns_of,
    settings_of,
    usually_kept,
)
from opcheck.source.patterns import matches

_GPTQ = ("auto", "auto_round:gptq", "auto_round:auto_gptq")
_PLAIN = ("auto_round", "auto_round:gptqmodel")
_AWQ = ("auto_round:awq", "auto_round:auto_awq")
_BITS, _KNOWN_BITS = range(2, 9), (2, 3, 4, 8)
_FOUR, _WHOLE = 4, 16
_BLOCK = 32
"""Features that auto-round's own kernels take at a time."""
_OTHERS = ("rotation_config", "spinquant_config", "act_bits", "act_data_type", "desc_act")


class AutoRound(Method):
    """Each linear layer of a block by the settings for it."""

    name = "auto-round"
    library = "auto_round"
    defaults = layers.KERNELS
    notes: tuple[Sentence, ...] = (
        Sentence(
            "auto-round chooses its kernel by device_map, and raises where that names another "
            "device than cpu, cuda, xpu, hpu or mps: elsewhere load the model without it, and move "
            "it"
        ),
    )

    def __init__(self, section: Section) -> None:
        super().__init__(section)
        self._own: dict[nn.Module, Mapping[str, Any]] = {}

    def models(self, model: nn.Module) -> bool:
        """Weights of integers in linear layers, by kernels that auto-round or GPTQModel brings."""
        self._check(self.section)
        self._format = str(self.setting("packing_format", _GPTQ[1])).lower()
        backend = self.setting("backend", "auto")
        if together(model) or not chosen_by_device(backend, "auto_round"):
            return False
        if self._format not in (*_GPTQ, *_PLAIN, *_AWQ) or any(map(self._is_other, _OTHERS)):
            return False
        self._own = dict(self._settings(model))
        return all(self._known(module, own) for module, own in self._own.items())

    def kept(self, model: nn.Module) -> Sequence[str]:
        """Nothing more than the layers that have no settings."""
        return ()

    def replaceable(self, module: nn.Module) -> bool:
        """Whether the layer has settings."""
        return module in self._own

    def layer(self, linear: nn.Module, rows: int, columns: int) -> nn.Module:
        """The library's layer."""
        bias: Any = linear.bias
        own = self._own[linear]
        if self._format in _AWQ:
            check_sizes(rows, columns, own["group_size"])
            return layers.AutoRoundAWQLinear(rows, columns, bias, _FOUR, own["group_size"])
        return layers.AutoRoundLinear(
            rows, columns, bias, own["bits"], own["group_size"], one_less=self._format in _GPTQ
        )

    def usual(self, model: nn.Module) -> Sequence[str]:
        """What stays where the config names nothing, by its names."""
        return list(usually_kept(model))

    def _is_other(self, name: str) -> bool:
        value = self.setting(name)
        return bool(value) and not (isinstance(value, int) and value >= _WHOLE)

    def _check(self, given: Mapping[str, Any]) -> None:
        """Refuse what transformers refuses.

        Raises:
            SourceError: bits or a group that are none.
        """
        bits = given.get("bits", _FOUR)
        text = bits if isinstance(bits, int) else repr(bits)
        one_of("bits", text, [*map(str, _BITS), str(_WHOLE)])
        group_of(given.get("group_size", 128))

    def _known(self, module: nn.Module, own: Mapping[str, Any]) -> bool:
        """Whether a kernel that is known here takes a layer with such settings."""
        rows, columns = features(module)
        size = columns if own["group_size"] == -1 else own["group_size"]
        if self._format in _AWQ:
            return bool(own["bits"] == _FOUR)
        return bool(
            own["bits"] in _KNOWN_BITS
            and own["data_type"] == "int"
            and not (self._format in _GPTQ and not own["sym"])
            and rows % _BLOCK == columns % _BLOCK == columns % size == 0
        )

    def _settings(self, model: nn.Module) -> Iterator[tuple[nn.Module, Mapping[str, Any]]]:
        """Layers that are packed, with the settings of each."""
        usual = {"bits": _FOUR, "group_size": 128, "sym": True, "data_type": "int"}
        usual = {name: self.setting(name, default) for name, default in usual.items()}
        extra = settings_of("extra_config", self.setting("extra_config"))
        patterns_of("extra_config", list(extra))
        blocks = tuple(f"{block}." for block in self._blocks(model))
        key = "modules_to_not_convert"
        kept = [*self.usual(model), *patterns_of(key, self.setting(key))]
        for path, module in model.named_modules():
            if type(module) is not nn.Linear and type(module).__name__ != "Conv1D":
                continue
            inside = path.startswith(blocks)
            own = self._extra(path, extra, kept if inside else ())
            if own is None and not inside:
                continue
            found = {**usual, **(own or {})}
            self._check(found)
            if found["bits"] < _WHOLE:
                yield module, found

    def _extra(
        self, path: str, extra: Mapping[str, Any], kept: Sequence[str]
    ) -> Mapping[str, Any] | None:
        """What the config says of one layer; None where it says nothing.

        What it keeps are layers of blocks (``skip_not_convert_modules``, line 70).
        """
        if any(matches(f".*?(?:{pattern})", path) for pattern in kept):
            return {"bits": _WHOLE}
        if path in extra:
            return dict(extra[path] or {})
        named = (own for name, own in extra.items() if own and matches(f".*?(?:{name})", path))
        return next(named, None)

    def _blocks(self, model: nn.Module) -> Iterator[str]:
        """What the paths of layers in blocks begin with."""
        named = self.setting("block_name_to_quantize") or self.setting("to_quant_block_names")
        if isinstance(named, str):
            yield from named.split(",")
        elif isinstance(named, list):
            yield from (str(one) for one in _flat(named))
        else:
            yield from _lists("", model)


def _lists(path: str, module: nn.Module) -> Iterator[str]:
    """The lists of modules that are in no other: ``_search_block``, utils/model.py line 1547."""
    for name, child in module.named_children():
        whole = f"{path}.{name}" if path else name
        if "ModuleList" in type(child).__name__:
            if not re.search("audio", whole.lower()):
                yield whole
        else:
            yield from _lists(whole, child)


def _flat(names: Sequence[Any]) -> Iterator[Any]:
    for one in names:
        if isinstance(one, list):
            yield from _flat(one)
        else:
            yield one

"""Nunchaku Lite: layers of four bits in the parts of diffusers pipelines that a config names.

What a config may have: ``NunchakuLiteQuantizationConfig`` of diffusers 0.42, quantizers/
quantization_config.py line 460; where the layers go: quantizers/nunchaku/utils.py line 287.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import nn

from opcheck.errors import SourceError
from opcheck.lang.sentence import Sentence
from opcheck.source.building.quantised.method import Method, Section, dtype_of, names_of, one_of
from opcheck.source.building.quantised.nunchaku_layers import AWQLinear, SVDQLinear

_SVDQ, _AWQ = "svdq_w4a4", "awq_w4a16"
_GROUPS = {"int4": 64, "nvfp4": 16}
_DTYPES = (torch.bfloat16, torch.float16, torch.float32)


class NunchakuLite(Method):
    """The layers that the config names, each by the way under which it is named."""

    name = "nunchaku_lite"
    library = "nunchaku_lite"
    notes: tuple[Sentence, ...] = (
        Sentence(
            "diffusers loads Nunchaku Lite's kernels from rootonchair/nunchaku-lite-kernels of "
            "the Hub, where DIFFUSERS_TRUST_REMOTE_KERNELS=true is set"
        ),
    )

    def __init__(self, section: Section) -> None:
        super().__init__(section)
        self._own: dict[nn.Module, tuple[str, Mapping[str, Any]]] = {}

    @property
    def dtype(self) -> torch.dtype:
        """The dtype in which diffusers loads the part.

        Raises:
            SourceError: the section names another than is known.
        """
        return dtype_of("compute_dtype", self.setting("compute_dtype") or "bfloat16", _DTYPES)

    def models(self, model: nn.Module) -> bool:
        """Every valid section."""
        self._dtype = self.dtype
        given = {name: self.setting(name) for name in (_SVDQ, _AWQ)}
        if not any(given.values()):
            raise SourceError(Sentence("it names layers neither in svdq_w4a4 nor in awq_w4a16"))
        for way, own in given.items():
            if own is not None:
                self._own |= dict.fromkeys(_layers(model, way, own), (way, own))
        return True

    def kept(self, model: nn.Module) -> Sequence[str]:
        """Nothing more than the layers that are not named."""
        return ()

    def replaceable(self, module: nn.Module) -> bool:
        """Whether the layer is named."""
        return module in self._own

    def layer(self, linear: nn.Module, rows: int, columns: int) -> nn.Module:
        """The library's layer."""
        way, own = self._own[linear]
        given = rows, columns, linear.bias is not None, self._dtype
        if way == _AWQ:
            return AWQLinear(*given, group=own["group_size"])
        return SVDQLinear(*given, rank=own["rank"], floats=own["precision"] == "nvfp4")


def _layers(model: nn.Module, way: str, own: Any) -> list[nn.Module]:
    """The layers that are named under one way.

    Raises:
        SourceError: a setting is none, or a name is that of no linear layer.
    """
    if not isinstance(own, Mapping):
        raise SourceError(
            Sentence("{name} is {text_value}, want settings", name=way, text_value=own)
        )
    kinds = tuple(_GROUPS) if way == _SVDQ else ("int4",)
    kind = one_of(f"{way}: precision", own.get("precision"), kinds)
    if way == _SVDQ:
        one_of(f"{way}: group_size", own.get("group_size"), (str(_GROUPS[kind]),))
    name = "rank" if way == _SVDQ else "group_size"
    if not isinstance(own.get(name), int) or own[name] <= 0:
        said = "{name} is {text_value}, want a positive integer"
        raise SourceError(Sentence(said, name=f"{way}: {name}", text_value=own.get(name)))
    return list(_named(model, f"{way}: targets", own.get("targets")))


def _named(model: nn.Module, setting: str, given: Any) -> Iterator[nn.Module]:
    """The linear layers that a setting names.

    Raises:
        SourceError: it names none, or something else.
    """
    found = dict(model.named_modules())
    for name in names_of(setting, given or ""):
        if not isinstance(found.get(name), nn.Linear):
            raise SourceError(
                Sentence(
                    "{name} names {text}, which is no linear layer of the model",
                    name=setting,
                    text=repr(name),
                )
            )
        yield found[name]

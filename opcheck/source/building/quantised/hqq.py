"""HQQ: weights of one to eight bits, which are made whole by PyTorch's own operators in each call.

``HQQLinear`` of hqq 0.2.8 with its default backend: hqq/core/quantize.py lines 387 (layer), 184
(the weights made whole) and 880 (the product), and how bits are unpacked, hqq/core/bitpack.py.
Which layers it takes the place of: ``prepare_for_hqq_linear`` of transformers 5.23,
integrations/hqq.py line 85. Its other backends (torch.compile, hqq_aten, and those that are
patched in later) are asked for in code, which a config does not hold.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from opcheck.errors import SourceError
from opcheck.lang.sentence import Sentence
from opcheck.source.building.quantised.experts import together
from opcheck.source.building.quantised.method import Method, Section, patterns_of

_NO_EXPERTS = Sentence(
    "hqq saves and loads no weights of experts that a model keeps together: they have no values"
)
_BITS = (8, 6, 5, 4, 3, 2, 1.58, 1)
_AXES = (0, 1)
_STEP = 8
"""What the size of a group is a multiple of."""
_FIELD = {8: 8, 6: 8, 5: 8, 4: 4, 3: 3, 2: 2, 1.58: 2, 1: 1}
"""Bits of a weight -> the bits that it takes; three of them are packed by tens in 32 bits."""


class HQQ(Method):
    """Every linear layer that the config does not skip, all alike or each kind in its own way."""

    name = "hqq"
    notes = (
        Sentence(
            "transformers 5.23 has no loader for weights of HQQ; their layers are those of "
            "hqq 0.2.8, which makes the weights whole in each call"
        ),
    )

    def __init__(self, section: Section) -> None:
        super().__init__(section)
        self.chosen: dict[nn.Module, Section] = {}
        self.together = False

    def models(self, model: nn.Module) -> bool:
        """Layers that keep their scales on the device; which ones, by the end of their paths."""
        asked = self.setting("quant_config")
        if not isinstance(asked, Mapping):
            raise SourceError(
                Sentence(
                    "{name} is {text_value}, want an object", name="quant_config", text_value=asked
                )
            )  # fmt: skip
        linear = {p: m for p, m in model.named_modules() if isinstance(m, nn.Linear)}
        skipped = set(patterns_of("skip_modules", self.setting("skip_modules", ["lm_head"])))
        tags = {_tag(path) for path in linear} - skipped
        by_tag = asked if any(tag in tags for tag in asked) else dict.fromkeys(tags, asked)
        ways = {path: by_tag.get(_tag(path)) for path in linear}
        self.chosen = {linear[p]: _checked(way) for p, way in ways.items() if way is not None}
        elsewhere = any(isinstance(w, Mapping) and w.get("offload_meta") for w in ways.values())
        self.together = together(model, lambda module: not any(True for _ in module.children()))
        return bool(self.chosen) and not elsewhere

    def unseen(self, model: nn.Module, names: Collection[str]) -> Sentence | None:
        """Experts that hqq has no weights of: it goes through modules without modules in them.

        hqq/models/base.py lines 407 (saved) and 118 (loaded); transformers' have an activation.
        """
        return _NO_EXPERTS if self.together else None

    def kept(self, model: nn.Module) -> Sequence[str]:
        """Nothing more than the layers that were not chosen."""
        return ()

    def replaceable(self, module: nn.Module) -> bool:
        """Whether the config has a way for the layer."""
        return module in self.chosen

    def layer(self, linear: nn.Module, rows: int, columns: int) -> nn.Module:
        """One of the library's, computing in the dtype that the layer had."""
        way = self.chosen[linear]
        axis, bits = way.get("axis", 1), way.get("nbits", 4)
        size = way.get("group_size", 64)
        size = size if size is not None else columns if axis == 1 else rows
        if rows * columns % size or _packed_unevenly(rows * columns // size, size, axis, bits):
            raise SourceError(
                Sentence(
                    "group_size is {text_value}, which does not divide {columns} features",
                    text_value=size, columns=columns,
                )
            )  # fmt: skip
        return HQQLinear(
            linear, (rows, columns), bits, size, axis, as_float=bool(way.get("view_as_float"))
        )


def _tag(path: str) -> str:
    """What the library calls a layer: its path without ``model``, ``layers`` and numbers."""
    names = (name for name in path.split(".") if name not in {"model", "layers"})
    return ".".join(name for name in names if not name.isnumeric())


def _checked(way: Any) -> Section:
    """How the weights of a layer are packed.

    Raises:
        SourceError: hqq refuses it (``hqq_base_quant_config`` and ``Quantizer.quantize``).
    """
    asked = way.get("weight_quant_params") if isinstance(way, Mapping) else None
    if not isinstance(asked, Mapping):
        raise SourceError(
            Sentence(
                "{name} is {text_value}, want an object",
                name="weight_quant_params", text_value=asked,
            )
        )  # fmt: skip
    for name, default, known in (("nbits", 4, _BITS), ("axis", 1, _AXES)):
        value = asked.get(name, default)
        if value not in known:
            raise SourceError(
                Sentence(
                    "{name} is {text_value}, want {list}",
                    name=name, text_value=value, list=", ".join(map(str, known)),
                )
            )  # fmt: skip
    size = asked.get("group_size", 64)
    if size is not None and (not isinstance(size, int) or size <= 0 or size % _STEP):
        raise SourceError(
            Sentence("group_size is {text_value}, want a multiple of 8", text_value=size)
        )
    return asked


def _packed_unevenly(groups: int, size: int, axis: int, bits: float) -> bool:
    """Whether rows are left over where those of a byte are put together."""
    field = _FIELD[bits]
    return field != 3 and (groups if axis == 1 else size) % (8 // field) != 0


class HQQLinear(nn.Module):
    """Packed weights with a scale and a zero for each group."""

    scale: Tensor
    zero: Tensor

    def __init__(
        self,
        linear: Any,
        shape: tuple[int, int],
        bits: float,
        size: int,
        axis: int,
        *,
        as_float: bool,
    ) -> None:
        super().__init__()
        compute: torch.dtype = linear.weight.dtype
        self.shape, self.field, self.compute = shape, _FIELD[bits], compute
        groups = shape[0] * shape[1] // size
        whole = (groups, size) if axis == 1 else (size, groups)
        self.rows, self.as_float = whole[0], as_float
        if self.field == 3:
            made = torch.empty(-(-whole[0] // 10), whole[1], dtype=torch.int32)
        else:
            made = torch.empty(whole[0] * self.field // 8, whole[1], dtype=torch.uint8)
        self.kind = made.dtype
        self.W_q = nn.Parameter(made.view(compute) if as_float else made, False)
        scale = (groups, 1) if axis == 1 else (1, groups)
        self.register_buffer("scale", torch.empty(scale, dtype=compute))
        self.register_buffer("zero", torch.empty(scale, dtype=compute))
        self.bias = linear.bias

    def opcheck_alike(self) -> tuple[Any, ...]:
        """What its operators depend on beside tensors."""
        return self.shape, self.field, self.compute, self.rows, self.as_float

    def forward(self, x: Tensor) -> Tensor:
        """Make the weights whole, and multiply by them."""
        packed = self.W_q.view(self.kind) if self.as_float else self.W_q
        weight = _unpacked(packed, self.field, self.compute)
        if self.field == 3:
            weight = weight[: self.rows]
        weight = ((weight - self.zero) * self.scale).reshape(self.shape)
        out = torch.matmul(x, weight.t())
        if self.bias is not None:
            out += self.bias
        return out


def _unpacked(packed: Tensor, field: int, dtype: torch.dtype) -> Tensor:
    """The numbers of each byte or word, the highest bits first, one part below another."""
    if field == 8:
        return packed.to(dtype)
    count, step = (10 if field == 3 else 8 // field), packed.shape[0]
    made = torch.empty([count * step, packed.shape[1]], dtype=dtype, device=packed.device)
    for part in range(count):
        shift = field * (count - 1 - part)
        found = packed & ((2**field - 1) << shift)
        made[part * step : (part + 1) * step] = found >> shift if shift else found
    return made

"""Ascend's weights of eight bits, as msModelSlim writes them and vllm-ascend runs them.

A file beside the config, quant_model_description.json, has a word for each weight. Layers as
vllm-ascend makes them at commit 182b75ea84ff13ece27b57391331ef8935410aea: vllm_ascend/quantization/
methods/w8a8_static.py line 33, w8a8_dynamic.py line 52 and w8a16.py line 30, with what they hold
once weights are loaded (``process_weights_after_loading``). Which layers they take the place of:
modelslim_config.py line 605. vLLM puts projections together that are called one by one here.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from opcheck.errors import SourceError
from opcheck.lang.sentence import Sentence
from opcheck.source.building.quantised.method import Method, Section

_ops = torch.ops.npu
_FLOAT = "FLOAT"
_TOGETHER = (("q_proj", "k_proj", "v_proj"), ("gate_proj", "up_proj"))
"""Layers that vLLM makes one of, for which the file must have the same word."""
_QINT8 = 12
"""torch.qint8, as torch_npu's operators take it."""
_WEIGHT = ".weight"
_UNWEIGHED = ("norm", "embed", "rotary")
"""Modules whose weights are no matrices that a product takes."""


class MsModelSlim(Method):
    """Each linear layer by its own word; experts have kernels of their own."""

    name = "msmodelslim"
    library = "torch_npu"
    file = "quant_model_description.json"
    refusal = Sentence("vllm-ascend refuses to load such a file; quantise the model anew")
    notes = (
        Sentence(
            "quantised layers are those of vllm-ascend, which runs what msModelSlim writes; it "
            "puts projections together that are called one by one here"
        ),
    )

    def __init__(self, section: Section) -> None:
        super().__init__(section)
        self.words: dict[nn.Module, str] = {}

    def models(self, model: nn.Module) -> bool:
        """A model whose quantised weights are all those of layers known here."""
        linear = {p: m for p, m in model.named_modules() if isinstance(m, nn.Linear)}
        words = {path: self.setting(path + _WEIGHT) for path in linear}
        others = self._others(linear)
        known = (None, _FLOAT, *_KINDS)
        if others or any(word not in known for word in words.values()):
            return False
        self._checked(model, words)
        self.words = {linear[p]: word for p, word in words.items() if word not in (None, _FLOAT)}
        return bool(self.words)

    def _others(self, linear: Mapping[str, nn.Module]) -> bool:
        """Whether anything else is quantised, such as experts or a cache of keys."""
        return any(
            word != _FLOAT
            and name.endswith(_WEIGHT)
            and name.removesuffix(_WEIGHT) not in linear
            and not any(part in name for part in _UNWEIGHED)
            for name, word in self.section.items()
        )

    def _checked(self, model: Any, words: Mapping[str, Any]) -> None:
        """Refuse what vllm-ascend refuses (modelslim_config.py lines 462 and 466).

        Raises:
            SourceError: a layer has no word, or another one than a layer it is put together with.
        """
        output = model.get_output_embeddings() if hasattr(model, "get_output_embeddings") else None
        for path, word in words.items():
            if word is None and model.get_submodule(path) is not output:
                raise SourceError(Sentence("{name} is missing", name=path + _WEIGHT))
            last = path.rpartition(".")[2]
            for first, *rest in _TOGETHER:
                beside = words.get(path.removesuffix(last) + first, word)
                if last in rest and beside != word:
                    raise SourceError(
                        Sentence(
                            "{name} is {text_value}, while {text_first} beside it is {text_word}",
                            name=path + _WEIGHT, text_value=word,
                            text_first=first, text_word=beside,
                        )
                    )  # fmt: skip

    def kept(self, model: nn.Module) -> Sequence[str]:
        """Nothing more than the layers that the file calls floats."""
        return ()

    def replaceable(self, module: nn.Module) -> bool:
        """Whether the file has another word for the layer than that its weights are floats."""
        return module in self.words

    def layer(self, linear: nn.Module, rows: int, columns: int) -> nn.Module:
        """The layer for the word."""
        return _KINDS[self.words[linear]](linear, rows, columns)


class _Packed(nn.Module):
    """What all of them hold: weights of eight bits, transposed, with a scale for each row."""

    weight_scale: Tensor
    weight_offset: Tensor

    def __init__(self, linear: Any, rows: int, columns: int) -> None:
        super().__init__()
        self.dtype: torch.dtype = linear.weight.dtype
        self.weight = nn.Parameter(torch.empty(columns, rows, dtype=torch.int8), False)
        self.register_buffer("weight_scale", torch.empty(rows, dtype=self.dtype))
        self.register_buffer("weight_offset", torch.empty(rows, dtype=self.dtype))

    def forward(self, x: Tensor) -> Tensor:
        """Multiply rows of ``x``."""
        columns, rows = self.weight.shape
        return self.multiply(x.reshape(-1, columns)).reshape(*x.shape[:-1], rows)

    def multiply(self, x: Tensor) -> Tensor:
        """Multiply the rows of a matrix."""
        raise NotImplementedError


class W8A8(_Packed):
    """Activations become eight bits by a scale that is known before."""

    def __init__(self, linear: Any, rows: int, columns: int) -> None:
        super().__init__(linear, rows, columns)
        scale = torch.float32 if self.dtype == torch.bfloat16 else torch.int64
        self.register_buffer("quant_bias", torch.empty(rows, dtype=torch.int32))
        self.register_buffer("deq_scale", torch.empty(rows, dtype=scale))
        for name in ("scale", "scale_reciprocal", "offset"):
            made = torch.empty(columns, dtype=self.dtype)
            self.register_buffer(f"aclnn_input_{name}", made)

    def multiply(self, x: Tensor) -> Tensor:
        """Quantise and multiply, with the bias in the product's integers."""
        packed = _ops.npu_quantize(
            x, self.aclnn_input_scale_reciprocal, self.aclnn_input_offset, _QINT8, -1, False
        )
        out: Tensor = _ops.npu_quant_matmul(
            packed, self.weight, self.deq_scale, bias=self.quant_bias, output_dtype=self.dtype
        )
        return out


class W8A8Dynamic(_Packed):
    """Activations become eight bits by a scale for each of their rows."""

    def __init__(self, linear: Any, rows: int, columns: int) -> None:
        super().__init__(linear, rows, columns)
        self.bias = linear.bias

    def multiply(self, x: Tensor) -> Tensor:
        """Find the scales, quantise and multiply."""
        packed, scale = _ops.npu_dynamic_quant(x, dst_type=torch.int8)
        out: Tensor = _ops.npu_quant_matmul(
            packed, self.weight, self.weight_scale, pertoken_scale=scale, bias=self.bias,
            output_dtype=x.dtype,
        )  # fmt: skip
        return out


class W8A16(_Packed):
    """Activations stay as they are."""

    def __init__(self, linear: Any, rows: int, columns: int) -> None:
        super().__init__(linear, rows, columns)
        self.bias = linear.bias

    def multiply(self, x: Tensor) -> Tensor:
        """Multiply by weights that the kernel makes whole."""
        out: Tensor = _ops.npu_weight_quant_batchmatmul(
            x, self.weight, self.weight_scale, self.weight_offset, bias=self.bias
        )
        return out


_KINDS: Mapping[str, type[_Packed]] = {
    "W8A8": W8A8,
    "W8A8_DYNAMIC": W8A8Dynamic,
    "W8A16": W8A16,
}
"""The file's word for a weight -> its layer."""

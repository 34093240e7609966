"""A part of a diffusers pipeline with the weights of a GGUF file, as ``from_single_file`` loads it.

diffusers 0.42: what of the file stays packed (``load_gguf_checkpoint``, models/
model_loading_utils.py line 733), under which names (``from_single_file``, loaders/
single_file_model.py line 523, by the library's own functions on tensors without values), and which
layers it has then (``_replace_with_gguf_linear``, quantizers/gguf/utils.py line 137).
"""

import importlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves

from opcheck.errors import SourceError
from opcheck.lang.sentence import Sentence
from opcheck.model.trace import QUANTISED, Gap
from opcheck.source.base import LoadOptions
from opcheck.source.building.failures import brief
from opcheck.source.building.huggingface.diffusers_quantised import in_float32
from opcheck.source.building.quantised.gguf_layers import BLOCKS, GGUFLinear, bytes_of
from opcheck.source.building.weightless import weightless
from opcheck.source.gguf_file import UNPACKED, packed_file
from opcheck.source.gguf_header import Header, read_header
from opcheck.source.gguf_types import TENSORS, names_of

_LOADER = "diffusers.loaders.single_file_model"
_DTYPE = torch.float32
"""``GGUFQuantizationConfig.compute_dtype`` where none is given."""
_PLAIN = {"F32": torch.float32, "F16": torch.float16}
_FEW, _SHOWN = 2**8, 3
_CORRECT = Sentence("give the file that was made of the model of this config.json")
Checkpoint = Mapping[str, Tensor]
Found = tuple[tuple[Gap, ...], tuple[str, ...]]
"""What cannot be seen of a part, and what a reader is to know of it."""


class _Packed(Tensor):
    """Bytes of a weight, and the number of its type, which what is made of them has, too."""

    kind: int

    @classmethod
    def of(cls, data: Tensor, kind: int) -> "_Packed":
        """Bytes with their type."""
        made: _Packed = data.as_subclass(cls)
        made.kind = kind
        return made

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Give each tensor that is made the type of the first one that it is made of."""
        out = super().__torch_function__(func, types, args, kwargs)  # type: ignore[no-untyped-call]  # torch leaves it untyped
        first = next((one for one in tree_leaves(args) if isinstance(one, _Packed)), None)
        for one in tree_leaves(out):
            if isinstance(one, _Packed) and first is not None:
                one.kind = first.kind
        return out


def packed(model: nn.Module, config: Mapping[str, Any], path: Path, options: LoadOptions) -> Found:
    """Pack the linear layers of a part whose weights the file has packed.

    Raises:
        SourceError: the file is damaged, or of another model.
    """
    header = read_header(path)
    types = names_of(tensor.kind for tensor in header.tensors)
    if UNPACKED.issuperset(types):
        return (), ()
    if options.weights or options.train or config.get("quantization_config"):
        return packed_file(path), ()
    unknown = [name for name in types if name not in BLOCKS and name not in UNPACKED]
    if unknown:
        return (Gap(str(path), _not_loaded(unknown), QUANTISED),), ()
    try:
        held = _as_in_model(model, config, _checkpoint(header))
    except Exception as error:  # the library's functions fail in their own ways
        return (_unconverted(path, model, brief(error)),), ()
    _check(model, path, held)
    return _replaced(model, path, held, types)


def _not_loaded(unknown: Sequence[str]) -> Sentence:
    return Sentence(
        "diffusers 0.42 cannot dequantise weights of {list}, so that it does not load them",
        list=", ".join(unknown),
    )


def _unconverted(path: Path, model: nn.Module, why: str) -> Gap:
    reason = Sentence(
        "diffusers does not find the weights of {model} in the file ({why}); what computes with "
        "them on the device was not seen",
        model=type(model).__name__,
        why=why,
    )
    return Gap(str(path), reason, QUANTISED)


def _checkpoint(header: Header) -> dict[str, Tensor]:
    """The tensors of the file, without values: those that are packed as bytes."""
    made: dict[str, Tensor] = {}
    for tensor in header.tensors:
        kind, shape = TENSORS[tensor.kind], tuple(reversed(tensor.shape))
        if kind.name in _PLAIN:
            made[tensor.name] = torch.empty(shape, dtype=_PLAIN[kind.name], device="meta")
            continue
        size = (*shape[:-1], bytes_of(shape[-1], kind))
        data = torch.empty(size, dtype=torch.uint8, device="meta")
        made[tensor.name] = _Packed.of(data, tensor.kind)
    return made


def _as_in_model(
    model: nn.Module, config: Mapping[str, Any], checkpoint: dict[str, Tensor]
) -> Checkpoint:
    """The tensors under the names that they have in the model."""
    if model.state_dict().keys() == checkpoint.keys():
        return checkpoint
    loader = importlib.import_module(_LOADER)  # private; checked with diffusers 0.42
    name = loader._get_single_file_loadable_mapping_class(type(model))
    if name is None:
        raise LookupError(f"from_single_file has no {type(model).__name__}")
    convert = loader.SINGLE_FILE_LOADABLE_CLASSES[name]["checkpoint_mapping_fn"]
    made: Checkpoint = convert(config=dict(config), checkpoint=checkpoint)
    return made


def _check(model: nn.Module, path: Path, held: Checkpoint) -> None:
    """Refuse a file without some weights of the model, or with such of other sizes.

    Raises:
        SourceError: there is one.
    """
    state = model.state_dict()
    missing = [name for name in state if name not in held]
    if missing:
        why = Sentence(
            "it has no weights for {list}, which {model} has",
            list=_few(missing),
            model=type(model).__name__,
        )
        raise SourceError(Sentence("{text_file}: {why}", text_file=path, why=why), _CORRECT)
    for name, value in state.items():
        sizes = _sizes(held[name])
        if sizes != tuple(value.shape):
            why = Sentence(
                "{name} is of {shape}, and in {model} of {shape_other}",
                name=name,
                shape="x".join(map(str, sizes)),
                model=type(model).__name__,
                shape_other="x".join(map(str, value.shape)),
            )
            raise SourceError(Sentence("{text_file}: {why}", text_file=path, why=why), _CORRECT)


def _sizes(value: Tensor) -> tuple[int, ...]:
    """The sizes of a weight when it is whole."""
    if not isinstance(value, _Packed):
        return tuple(value.shape)
    kind = TENSORS[value.kind]
    return (*value.shape[:-1], value.shape[-1] // kind.size * kind.block)


def _few(names: Sequence[str]) -> str:
    more = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" (+{more})" if more > 0 else "")


def _replaced(model: nn.Module, path: Path, held: Checkpoint, types: Sequence[str]) -> Found:
    """Put the packed layers in; what else is packed cannot be seen."""
    kinds = {name: value.kind for name, value in held.items() if isinstance(value, _Packed)}
    kept = {name for name in kinds if name in model.state_dict() and _is_kept(model, name)}
    layers = dict(_linear(model))
    with weightless(integers=_FEW, floats=_FEW):
        for name in [name for name in layers if name in kinds and name not in kept]:
            made = GGUFLinear(layers[name], kinds[name], _DTYPE)
            made.train(model.training)
            model.set_submodule(name.removesuffix(".weight"), made)
    others = [name for name in model.state_dict() if name in kinds and name not in layers]
    others = [name for name in others if name not in kept]
    if others:
        reason = Sentence(
            "diffusers leaves {list} packed, which no linear layer has; what computes with them "
            "on the device was not seen",
            list=_few(others),
        )
        return (Gap(str(path), reason, QUANTISED),), _notes(types)
    return (), _notes(types)


def _linear(model: nn.Module) -> Iterator[tuple[str, nn.Linear]]:
    """Linear layers by the names of their weights."""
    found = ((path, one) for path, one in model.named_modules() if isinstance(one, nn.Linear))
    return ((f"{path}.weight", one) for path, one in found)


def _is_kept(model: nn.Module, name: str) -> bool:
    """Whether the weight is made whole when it is loaded, as the class has it in float32."""
    return not set(in_float32(model)).isdisjoint(name.split("."))


def _notes(types: Sequence[str]) -> tuple[str, ...]:
    return (
        Sentence(
            "diffusers dequantises the packed weights ({list}) in each call by PyTorch's "
            "operators, and computes in {dtype} unless compute_dtype is another; on CUDA, "
            "DIFFUSERS_GGUF_CUDA_KERNELS=true has kernels of the Hub do it",
            list=", ".join(name for name in types if name not in UNPACKED),
            dtype=str(_DTYPE).removeprefix("torch."),
        ),
    )

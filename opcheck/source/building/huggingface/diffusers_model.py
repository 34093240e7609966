"""One model of a diffusers pipeline, built from its config, and inputs for it."""

import difflib
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from opcheck.errors import SourceError
from opcheck.lang.sentence import NOTHING, Sentence, verbatim
from opcheck.source.base import Loaded, LoadOptions
from opcheck.source.building.build import build
from opcheck.source.building.example import Inputs, Signature, example, float_dtype, needed
from opcheck.source.building.failures import brief, import_library
from opcheck.source.building.guess import probe
from opcheck.source.building.huggingface import diffusers_gguf, diffusers_quantised
from opcheck.source.building.huggingface.transformers_model import model_of
from opcheck.source.building.quantised.packed import unseen_of
from opcheck.source.building.ready import ready
from opcheck.source.config_values import checked
from opcheck.source.gguf_file import packed_file
from opcheck.source.model_folder import CLASS, read_config

_TOKENS = 77
_SIDE = 64
_PICTURE = 256
_FRAMES = 9
"""One more than a multiple of what video models take together."""
_GRID = 16
"""Patches along each side of a picture, for models that take them in a row."""
_TEXT_WIDTHS = (
    "encoder_hid_dim", "caption_channels", "joint_attention_dim", "text_dim", "text_embed_dim",
    "cross_attention_dim", "context_in_dim", "cap_feat_dim", "caption_feat_dim", "embedding_dim",
)  # fmt: skip
"""Where configs keep how wide the text is, the widest sense first."""
_MIXED = "to have the same device type"
"""Attention says so where a small tensor has values and a large one has none: the shapes fit."""
_TEXT_LENGTHS = ("max_text_seq_length", "text_len", "num_embeddings")


def inputs_of(model: nn.Module, given: frozenset[str]) -> tuple[Inputs, tuple[str, ...]]:
    """What the model's forward is called with in its pipeline, with a note.

    ``given`` are the inputs that the user brings.

    Raises:
        SourceError: the config does not tell them.
    """
    signature = Signature.of(model)
    config = _Config(model)
    problem = NOTHING
    for main in _mains(model, config):
        made = {**main, **_others(model, config, signature, main)}
        unknown = [n for n in signature.required if n not in made and n not in given]
        if unknown:
            problem = Sentence("cannot infer {list}", list=", ".join(unknown))
            break
        if given:
            return ((), made), ()
        try:
            probe(model, weights=False, **made)
        except Exception as error:  # the library's forward: these are not for it
            if _MIXED not in str(error):
                problem = problem or verbatim(brief(error))
                continue
        shown = ", ".join(f"{n} {_shape(v)}" for n, v in main.items() if isinstance(v, Tensor))
        return ((), made), (Sentence("called on {text}", text=shown),)
    why = problem or Sentence("no way to call it is known")
    told = Sentence(
        "the inputs of {model} cannot be told ({said})", model=type(model).__name__, said=why
    )
    raise needed(told, signature)


class _Config:
    """A model's config, asked for the first of some settings that is there."""

    def __init__(self, model: Any) -> None:
        self._values: Mapping[str, Any] = model.config

    def number(self, *names: str, default: int = 0) -> int:
        """The first setting that is a number, or a list that begins with one."""
        for name in names:
            value = self._values.get(name)
            first = value[0] if isinstance(value, list | tuple) and value else value
            if isinstance(first, int) and not isinstance(first, bool):
                return first
        return default

    def has(self, name: str) -> bool:
        """Whether a setting is there and on."""
        return bool(self._values.get(name))

    def get(self, name: str) -> Any:
        """A setting as it is; None where it is missing."""
        return self._values.get(name)


def _mains(model: nn.Module, config: _Config) -> Iterator[dict[str, Any]]:
    """What the model works on, in the layouts that such models have, most usual first."""
    names = Signature.of(model).names
    main = next((n for n in ("sample", "hidden_states", "x") if n in names), "")
    if not main:
        return
    dtype = float_dtype(model)
    pictures = hasattr(model, "encode") and hasattr(model, "decode")
    side = config.number("sample_size", default=_PICTURE if pictures else _SIDE)
    side = min(side, _PICTURE) if pictures else side
    rows = config.number("sample_height", default=side)
    columns = config.number("sample_width", default=side)
    channels = config.number("in_channels", default=3 if pictures else 4)
    frames = config.number("sample_frames", default=_FRAMES)
    depth = (frames - 1) // config.number("temporal_compression_ratio", default=4) + 1
    clip = frames if pictures else depth
    flat = any(isinstance(part, nn.Conv3d) for part in model.modules())
    shapes = [
        ((1, channels, rows, columns), {}),
        ((1, channels, clip, rows, columns), {}),
        ((1, clip, channels, rows, columns), {}),
        ((1, _GRID * _GRID, channels), {"num_frames": 1, "height": _GRID, "width": _GRID}),
        ((1, config.number("embedding_dim", default=channels)), {}),
        ((1, channels, _SIDE * _SIDE), {}),
    ]
    if flat:
        shapes.sort(key=lambda item: len(item[0]) != 5)
    for shape, sizes in shapes:
        made = {main: example(main, shape, dtype)}
        yield made | {name: size for name, size in sizes.items() if name in names}


def _others(
    model: nn.Module, config: _Config, signature: Signature, main: Mapping[str, Any]
) -> dict[str, Any]:
    """What goes with it: a moment, a text, conditions."""
    latent = next(iter(main.values()))
    made = {name: make(model, config, latent) for name, make in _MADE.items()}
    return {
        name: value
        for name, value in made.items()
        if value is not None and name in signature.names and name not in main
    }


Make = Callable[[nn.Module, _Config, Tensor], Any]


def _text(model: nn.Module, config: _Config, latent: Tensor) -> Any:
    width = config.number(*_TEXT_WIDTHS)
    length = config.number(*_TEXT_LENGTHS, default=_TOKENS)
    if not width:
        return None
    return example("text", (1, length, width), float_dtype(model))


def _mask(model: nn.Module, config: _Config, latent: Tensor) -> Any:
    required = "encoder_attention_mask" in Signature.of(model).required
    length = config.number(*_TEXT_LENGTHS, default=_TOKENS)
    return torch.ones(1, length, dtype=torch.int64) if required else None


def _pooled(model: nn.Module, config: _Config, latent: Tensor) -> Any:
    width = config.number("pooled_projection_dim")
    return example("pooled", (1, width), float_dtype(model)) if width else None


def _places(count: Callable[[_Config, Tensor], int]) -> Make:
    def make(model: nn.Module, config: _Config, latent: Tensor) -> Any:
        axes = config.get("axes_dims_rope")
        if not isinstance(axes, list | tuple):
            return None
        return torch.zeros(count(config, latent), len(axes), dtype=float_dtype(model))

    return make


def _guidance(model: nn.Module, config: _Config, latent: Tensor) -> Any:
    return torch.ones(1, dtype=float_dtype(model)) if config.has("guidance_embeds") else None


def _classes(model: nn.Module, config: _Config, latent: Tensor) -> Any:
    wanted = config.has("num_class_embeds") or config.has("class_embed_type")
    labelled = type(model).__name__.startswith("DiT") and config.has("num_embeds_ada_norm")
    return torch.zeros(1, dtype=torch.int64) if wanted or labelled else None


def _added(model: nn.Module, config: _Config, latent: Tensor) -> Any:
    """Conditions of Stable Diffusion XL, and those that PixArt is given empty."""
    dtype = float_dtype(model)
    if config.get("addition_embed_type") == "text_time":
        times = 6
        whole = config.number("projection_class_embeddings_input_dim")
        width = whole - times * config.number("addition_time_embed_dim")
        return {
            "text_embeds": example("text", (1, width), dtype),
            "time_ids": torch.ones(1, times, dtype=dtype),
        }
    if type(model).__name__.startswith("PixArt"):
        sizes = {"resolution": (1, 2), "aspect_ratio": (1, 1)}
        large = config.number("sample_size") == 128
        return {n: torch.ones(s, dtype=dtype) if large else None for n, s in sizes.items()}
    return None


def _condition(model: nn.Module, config: _Config, latent: Tensor) -> Any:
    channels = config.number("conditioning_channels", default=3)
    layers = config.get("conditioning_embedding_out_channels")
    smaller = 2 ** (len(layers) - 1) if isinstance(layers, list | tuple) else 8
    sides = (smaller * size for size in latent.shape[2:])
    return example("condition", (1, channels, *sides), float_dtype(model))


def _embedding(model: nn.Module, config: _Config, latent: Tensor) -> Any:
    width = config.number("embedding_dim")
    return example("embedding", (1, width), float_dtype(model)) if width else None


_MADE: Mapping[str, Make] = {
    "timestep": lambda model, config, latent: torch.ones(1, dtype=torch.int64),
    "encoder_hidden_states": _text,
    "encoder_attention_mask": _mask,
    "pooled_projections": _pooled,
    "img_ids": _places(lambda config, latent: latent.shape[1]),
    "txt_ids": _places(lambda config, latent: config.number(*_TEXT_LENGTHS, default=_TOKENS)),
    "guidance": _guidance,
    "class_labels": _classes,
    "added_cond_kwargs": _added,
    "controlnet_cond": _condition,
    "proj_embedding": _embedding,
}
"""Parameter -> what makes it; None where this model takes none."""


def _shape(tensor: Tensor) -> str:
    return "x".join(map(str, tensor.shape))


_WEIGHTS = "diffusion_pytorch_model*.safetensors"


class _Uncalled(nn.Module):
    """Stands for a part that could not be called, so that its gap is in the report."""

    def __init__(self, reason: str) -> None:
        super().__init__()
        self._reason = reason

    def forward(self) -> None:
        raise RuntimeError(Sentence("not called: {list}", list=self._reason))


def uncalled_part(error: SourceError, kind: str, digest: str) -> Loaded:
    """What stands for a part that could not be built or called."""
    return Loaded(_Uncalled(error.message), (), {}, kind, digest)


def loaded_part(
    path: Path, options: LoadOptions, kind: str, digest: str, gguf: Path | None = None
) -> Loaded:
    """The model of a config, ready to be called; with weights of a GGUF file, as these are there.

    Raises:
        SourceError: no class fits the config, it cannot be built, or its inputs cannot be told.
    """
    config = read_config(path)
    if "model_type" in config:  # of transformers
        model, notes = model_of(path, options)
        unseen, packed = unseen_of(model, path, config, options)
        notes = (*notes, *packed)
        unseen = (*unseen, *(packed_file(gguf) if gguf else ()))
        return ready(model, None, options, kind=kind, digest=digest, notes=notes, unseen=unseen)
    diffusers = import_library("diffusers")
    diffusers.utils.logging.set_verbosity_error()
    chosen = _class(diffusers, path, config.get(CLASS))
    content = dict(config) if options.trust else checked(path, config)
    built = diffusers_quantised.factory(partial(chosen.from_config, content), config, options)
    stored = partial(chosen.from_pretrained, str(path.parent), local_files_only=True)
    beside = options.weights and any(path.parent.glob(_WEIGHTS))
    model, notes = build(
        Sentence("the model of {text}", text=path),
        built,
        weights=options.weights,
        stored=stored if beside else None,
    )
    inputs, said = inputs_of(model, frozenset(s.name for s in options.inputs))
    random = () if beside else options.random_weights
    unseen, packed = diffusers_quantised.packed(model, path, config, options)
    if gguf is not None:
        gaps, own = diffusers_gguf.packed(model, content, gguf, options)
        unseen, packed = (*unseen, *gaps), (*packed, *own)
    notes = (*notes, *random, *said, *packed)
    return ready(model, inputs, options, kind=kind, digest=digest, notes=notes, unseen=unseen)


def _class(diffusers: Any, path: Path, name: Any) -> Any:
    found = getattr(diffusers, name, None) if isinstance(name, str) else None
    if isinstance(found, type) and issubclass(found, nn.Module):
        return found
    near = difflib.get_close_matches(str(name), [n for n in dir(diffusers) if n[0].isupper()], 3)
    raise SourceError(
        Sentence(
            "{text_file}: diffusers {version} has no model {name}",
            text_file=path,
            version=diffusers.__version__,
            name=repr(name),
        ),
        Sentence("did you mean {text}?", text=", ".join(near))
        if near
        else Sentence("a newer diffusers may know it"),
    )

"""The model that ``from_pretrained(gguf_file=…)`` gives, built from the file's header."""

from pathlib import Path
from typing import Any

from opcheck.errors import SourceError
from opcheck.lang.sentence import Sentence
from opcheck.model.trace import QUANTISED, Gap
from opcheck.source.base import LoadOptions
from opcheck.source.building.build import build
from opcheck.source.building.failures import brief, import_library
from opcheck.source.building.huggingface.gguf_config import config_of, reads_itself
from opcheck.source.building.huggingface.transformers_model import chosen_for, config_class
from opcheck.source.config_values import checked
from opcheck.source.gguf_header import ARCHITECTURE, Header
from opcheck.source.gguf_types import MADE_WHOLE, PLAIN, READ_IN_BLOCKS, names_of

_HALVES = {"BF16": "bfloat16", "F16": "float16"}
_KERNELS = "ggml-org/ggml-quantization"


def model_of(
    path: Path, header: Header, options: LoadOptions
) -> tuple[Any, tuple[str, ...], tuple[Gap, ...]]:
    """Build the model of a header; gives it with the notes, and what cannot be seen of it.

    Raises:
        SourceError: transformers has no model for it, or refuses what it says.
    """
    transformers = import_library("transformers")
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    dtype = _dtype(header)
    config = _config(transformers, path, header, dtype)
    chosen = chosen_for(transformers, config)
    model, notes = build(
        Sentence("the model of {text}", text=path), chosen.make, weights=options.weights
    )
    unseen = _unseen(path, header)
    said = () if unseen else (_made_whole(header, dtype),)
    return model, (chosen.note, *said, *_notes(path, header, options), *notes), unseen


def _config(transformers: Any, path: Path, header: Header, dtype: str) -> Any:
    """The config object, made from what of the header may reach the library."""
    content = checked(path, {**config_of(transformers, path, header), "dtype": dtype})
    kind = content.get("model_type")
    if not isinstance(kind, str) or kind not in transformers.CONFIG_MAPPING:
        raise SourceError(
            Sentence(
                "{text_file}: transformers {version} has no model for the architecture {text}",
                text_file=path,
                version=transformers.__version__,
                text=repr(header.text(ARCHITECTURE)),
            ),
            Sentence("scan the config.json of the model that it was converted from"),
        )
    try:
        return config_class(transformers, content).from_dict(content)
    except Exception as error:  # each config class checks its fields in its own way
        raise SourceError(
            Sentence(
                "{text_file}: transformers refuses it: {text}", text_file=path, text=brief(error)
            ),
            Sentence("scan the config.json of the model that it was converted from"),
        ) from error


def _types(header: Header) -> tuple[str, ...]:
    return names_of(tensor.kind for tensor in header.tensors)


def _dtype(header: Header) -> str:
    """The dtype of the model where ``from_pretrained`` is given none.

    float32, or for files that transformers reads without gguf their own, if they have no blocks
    (``GgufHfQuantizer.update_dtype`` of transformers 5.23, quantizers/quantizer_gguf.py line 112).
    """
    types = _types(header)
    if reads_itself(header.text(ARCHITECTURE)) is None or not PLAIN.issuperset(types):
        return "float32"
    return next((dtype for name, dtype in _HALVES.items() if name in types), "float32")


def _made_whole(header: Header, dtype: str) -> str:
    return Sentence(
        "transformers dequantises the weights ({list}) when it loads the file, to {dtype} unless "
        "another dtype is given: no kernel for packed weights is needed",
        list=", ".join(_types(header)),
        dtype=dtype,
    )


def _notes(path: Path, header: Header, options: LoadOptions) -> tuple[str, ...]:
    """What was not read of the file."""
    ends = Sentence(
        "{text_file} ends {count} bytes before its tensors do: its header alone was read",
        text_file=path,
        count=header.missing,
    )
    values = Sentence("the weights of {text_file} are not read: they are random", text_file=path)
    return (*((ends,) if header.missing else ()), *((values,) if options.weights else ()))


def _unseen(path: Path, header: Header) -> tuple[Gap, ...]:
    """Weights that cannot be loaded, or that a kernel may take as they are packed."""
    types = _types(header)
    own = reads_itself(header.text(ARCHITECTURE)) is not None
    unknown = [name for name in types if name not in (READ_IN_BLOCKS if own else MADE_WHOLE)]
    if unknown:
        reason = Sentence(
            "{library} cannot dequantise weights of {list}, so that transformers does not load "
            "them",
            library="transformers 5.23" if own else "gguf 0.19",
            list=", ".join(unknown),
        )
        return (Gap(str(path), reason, QUANTISED),)
    if own and not PLAIN.issuperset(types):
        reason = Sentence(
            "transformers keeps the weights ({list}) packed where {repository} of the Hub has a "
            "kernel for the device, and dequantises them elsewhere; what the kernel does was not "
            "seen",
            list=", ".join(types),
            repository=_KERNELS,
        )
        return (Gap(str(path), reason, QUANTISED),)
    return ()

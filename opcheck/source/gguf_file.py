"""Which GGUF file a text names, and whether what its header says can be a model of transformers."""

import os
import re
from collections.abc import Sequence
from pathlib import Path

from opcheck.errors import SourceError
from opcheck.files import MOST_MODEL_BYTES, open_regular
from opcheck.lang.sentence import Sentence
from opcheck.model.trace import QUANTISED, Gap
from opcheck.source.adapter_folder import ADAPTER
from opcheck.source.gguf_header import ARCHITECTURE, MAGIC, Header, read_header
from opcheck.source.model_folder import CONFIG, INDEX, is_pipeline_part

PREFIX = "hf:"
_ENDING = ".gguf"
_OTHERS = (CONFIG, INDEX, ADAPTER)
"""Files of a folder that say what model it holds, whatever weights are beside them."""
_WORD = re.compile(r"[A-Za-z0-9][\w.-]{0,63}")
_MODEL = "model"
UNPACKED = frozenset(("F32", "F16"))
"""Types that diffusers 0.42 takes as they are (quantizers/gguf/utils.py, UNQUANTIZED_TYPES)."""
_SHOWN = 3


def is_gguf(path: Path) -> bool:
    """Whether a file starts as one."""
    try:
        if not os.path.isfile(path):  # of any name, however long
            return False
        with open_regular(path, MOST_MODEL_BYTES) as stream:
            return stream.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def files_of(text: str) -> tuple[Path, ...]:
    """The GGUF files that a text names: itself, or those of a folder without a config.

    None for a file beside a config of diffusers, whose weights it holds.
    """
    path = Path(text.removeprefix(PREFIX))
    try:
        if not os.path.isdir(path):
            beside = path.parent / CONFIG
            other = beside.is_file() and is_pipeline_part(beside)
            return (path,) if not other and is_gguf(path) else ()
        if any((path / name).exists() for name in _OTHERS):
            return ()
        named = sorted(file for file in path.iterdir() if file.suffix.lower() == _ENDING)
    except (OSError, ValueError):  # a name that no file can have
        return ()
    return tuple(file for file in named if is_gguf(file))


def only(files: Sequence[Path]) -> Path:
    """The one file there is.

    Raises:
        SourceError: there are several.
    """
    if len(files) == 1:
        return files[0]
    shown = [str(file) for file in files[:_SHOWN]]
    raise SourceError(
        Sentence(
            "{text_file} holds {count} GGUF files, want one", text_file=files[0].parent,
            count=len(files),
        ),
        Sentence("name one of them: {list}", list=", ".join(shown)),
    )  # fmt: skip


def model_header(path: Path) -> Header:
    """Read the header of a file that holds a whole model.

    Raises:
        SourceError: it is damaged, or holds something else.
    """
    header = read_header(path)
    architecture = header.text(ARCHITECTURE)
    if not _WORD.fullmatch(architecture):
        raise _refused(
            path,
            Sentence(
                "{key} is {text}, want the name of an architecture",
                key=ARCHITECTURE,
                text=repr(architecture[:60]),
            ),
            Sentence("convert the model again with a current llama.cpp"),
        )
    kind = header.text("general.type") or _MODEL
    if kind != _MODEL or not header.tensors:
        what = "a vocabulary" if kind == _MODEL else kind[:60]
        raise _refused(
            path,
            Sentence("it holds {text} and no model", text=what),
            Sentence("give the file of the model that it belongs to"),
        )
    parts = header.number("split.count")
    if parts > 1:
        raise _refused(
            path,
            Sentence("it is one of {count} parts, and transformers reads one file", count=parts),
            Sentence("join them: llama-gguf-split --merge FIRST-PART OUTPUT"),
        )
    return header


def gguf_of(text: str) -> Path | None:
    """The GGUF file that a text names; None: it names none."""
    path = Path(text)
    return path if is_gguf(path) else None


def packed_file(path: Path) -> tuple[Gap, ...]:
    """What cannot be seen of a part of diffusers whose weights such a file has.

    Raises:
        SourceError: the file is damaged.
    """
    from opcheck.source.gguf_types import names_of  # of such a part alone

    types = names_of(tensor.kind for tensor in read_header(path).tensors)
    if UNPACKED.issuperset(types):
        return ()
    reason = Sentence(
        "diffusers keeps the weights ({list}) packed and dequantises them in each call; what "
        "computes with them on the device was not seen",
        list=", ".join(types),
    )
    return (Gap(str(path), reason, QUANTISED),)


def _refused(path: Path, why: Sentence, hint: Sentence) -> SourceError:
    return SourceError(Sentence("{text_file}: {why}", text_file=path, why=why), hint)

"""Jupyter notebooks, read as the Python of their code cells; nothing of a notebook is run here."""

from collections.abc import Sequence
from pathlib import Path

import msgspec
from msgspec import Struct, field

from opcheck.errors import SourceError
from opcheck.files import MOST_SOURCE_BYTES, read_bytes
from opcheck.lang.sentence import Sentence
from opcheck.source.magics import as_python

SUFFIX = ".ipynb"
MOST_NOTEBOOK_BYTES = 1 << 28
"""Of a notebook: its pictures are in it."""
_MAY_RAISE, _SKIP = "raises-exception", "skip-execution"
"""Tags of cells that nbclient, which runs notebooks, takes notice of."""
_CODE, _PYTHON = "code", ("python", "ipython")
_FORMATS = (3, 4)


class Cell(Struct, frozen=True):
    """A code cell that is to be run."""

    number: int
    """1-based among the code cells that are not blank: ``In [number]`` after *Run All*."""
    text: str
    """Its code as it was written."""
    python: str
    """The same with a call in the place of each magic; its lines keep their numbers."""
    may_raise: bool = False
    """Whether the cells after it are run although it raises."""

    def file(self, notebook: str) -> str:
        """What the cell's code has as its file: ``train.ipynb#In[3]``, of a session ``In[3]``."""
        return f"{notebook}#In[{self.number}]" if notebook else f"In[{self.number}]"


class _Metadata(Struct):
    tags: list[str] = []


class _Cell(Struct):
    """A cell as the file has it, in format 4 and 3."""

    cell_type: str
    source: str | list[str] = ""
    input: str | list[str] = ""
    language: str = "python"
    metadata: _Metadata = field(default_factory=_Metadata)

    @property
    def text(self) -> str:
        return "".join(self.source or self.input)


class _Sheet(Struct):
    cells: list[_Cell] = []


class _Kernel(Struct):
    language: str = ""
    name: str = ""


class _About(Struct):
    kernelspec: _Kernel = field(default_factory=_Kernel)
    language_info: _Kernel = field(default_factory=_Kernel)

    @property
    def language(self) -> str:
        """The language of the cells; "" where the file does not say it."""
        return self.language_info.name or self.kernelspec.language


class _File(Struct):
    nbformat: int
    cells: list[_Cell] = []
    worksheets: list[_Sheet] = []
    metadata: _About = field(default_factory=_About)


def read(name: str) -> tuple[Cell, ...]:
    """The code cells of a notebook, in their order.

    Raises:
        SourceError: it cannot be read, is none, is not in Python, or has no code.
    """
    found = _parsed(name)
    cells = [*found.cells, *(cell for sheet in found.worksheets for cell in sheet.cells)]
    code = [cell for cell in cells if cell.cell_type == _CODE and cell.text.strip()]
    other = next((cell.language for cell in code if cell.language.lower() not in _PYTHON), "")
    language = found.metadata.language or other
    if language and language.lower() not in _PYTHON:
        raise SourceError(
            Sentence(
                "{text_file} is a notebook in {language}, not in Python",
                text_file=name,
                language=language,
            ),
            Sentence("give a notebook whose kernel is Python"),
        )
    if not code:
        raise SourceError(
            Sentence("{text_file} is a notebook without code", text_file=name),
            Sentence("give a notebook with at least one code cell"),
        )
    if sum(len(cell.text) for cell in code) > MOST_SOURCE_BYTES:
        raise SourceError(
            Sentence("{text_file} has more code than can be read", text_file=name),
            Sentence("move data out of the cells of the notebook"),
        )
    return tuple(
        Cell(number, cell.text, as_python(cell.text), _MAY_RAISE in cell.metadata.tags)
        for number, cell in enumerate(code, 1)
        if _SKIP not in cell.metadata.tags
    )


def of_session(texts: Sequence[str]) -> tuple[Cell, ...]:
    """The cells of a session as they were run; of those before the last, any may have raised."""
    return tuple(
        Cell(number, text, as_python(text), may_raise=number < len(texts))
        for number, text in enumerate(texts, 1)
    )


def _parsed(name: str) -> _File:
    try:
        content = read_bytes(Path(name), MOST_NOTEBOOK_BYTES)
    except OSError as error:
        raise SourceError(
            Sentence("cannot read {text_file}: {text}", text_file=name, text=error.strerror)
        ) from error
    try:
        found = msgspec.json.decode(content.removeprefix(b"\xef\xbb\xbf"), type=_File)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise SourceError(
            Sentence("{text_file} is not a notebook: {text}", text_file=name, text=error),
            Sentence("a notebook is what Jupyter saves as .ipynb: JSON with cells"),
        ) from error
    if found.nbformat not in _FORMATS:
        raise SourceError(
            Sentence(
                "{text_file} is a notebook of format {version}, and 3 and 4 can be read",
                text_file=name,
                version=found.nbformat,
            ),
            Sentence("save it in format 4: jupyter nbconvert --to notebook {text}", text=name),
        )
    return found

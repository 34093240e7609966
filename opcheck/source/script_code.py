r"""The words in the code of a TorchScript archive, read before PyTorch compiles any; no torch.

Loading such an archive runs code of it: what ``__setstate__`` of a class does, and the default of a
parameter or the value of a constant may be any call. An operator is called by its name alone, which
has no escapes, so that code without the word ``save`` saves nothing. The one way around is
``getattr(torch, "sa\x76e")``, so that a ``getattr`` may only name what stands there.
"""

import re
from pathlib import Path

from opcheck.errors import SourceError
from opcheck.lang.sentence import Sentence
from opcheck.source.archive import Archive

_CODE = ("code/",)
_LEGACY = "model.json"
_WORD = re.compile(rb"[A-Za-z_][A-Za-z0-9_]*")
_STRING = re.compile(rb'"((?:[^"\\\n]|\\[^\n])*)"')
_GETATTR = re.compile(rb'\bgetattr\([\w.\s]+,\s*"(\d+)"\s*\)')
_OTHER_QUOTES = re.compile(rb"""['"#]|\\""")
_CLASS = re.compile(rb"torch[.\n]classes[.\n](\w+)[.\n](\w+)")
_SAVE_AGAIN = Sentence("save the model again with a newer torch.jit.save")
_HINT = Sentence("--trust loads it, if you know who wrote it")


def require_one_model(path: Path, archive: Archive) -> None:
    """Check that PyTorch finds the model where it was found here, written as it is today.

    Raises:
        SourceError: it has several folders, of which PyTorch takes the first, or is of the form
            that came before, whose code is elsewhere.
    """
    names = archive.zip_file.namelist()
    folder = names[0].partition("/")[0] + "/"
    strangers = [name for name in names if not name.startswith(folder)]
    if strangers:
        raise SourceError(
            Sentence(
                "{text_file}: {text} is not within {text_folder}",
                text_file=path,
                text=repr(strangers[0]),
                text_folder=repr(folder),
            ),
            _SAVE_AGAIN,
        )
    if any(name[len(folder) :].lower() == _LEGACY for name in names):
        raise SourceError(
            Sentence(
                "{text_file}: TorchScript of PyTorch 1.0, which runs code as it is", text_file=path
            ),
            _HINT,
        )


def words_of(path: Path, archive: Archive) -> frozenset[str]:
    """Every word that may name an operator, a class or a function in the code.

    Raises:
        SourceError: a ``getattr`` could name something that does not stand there.
    """
    found: set[bytes] = set()
    for name in archive.members:
        inner = name.partition("/")[2].lower()  # PyTorch looks names up without regard to case
        if inner.startswith(_CODE) and inner.endswith(".py"):
            found |= _words(path, name, archive.read(name))
    return frozenset(word.decode() for word in found)


def classes_of(archive: Archive) -> frozenset[str]:
    """The C++ classes, as ``quantized.LinearPackedParamsBase``, that its pickles could make."""
    found = set()
    for name in archive.members:
        inner = name.partition("/")[2].lower()
        if inner.endswith(".pkl") and "/" not in inner:
            found |= {b".".join(names).decode() for names in _CLASS.findall(archive.read(name))}
    return frozenset(found)


def _words(path: Path, member: str, text: bytes) -> set[bytes]:
    strings: list[bytes] = []

    def number(match: re.Match[bytes]) -> bytes:
        strings.append(match[1])
        return b'"%d"' % (len(strings) - 1)

    numbered = _STRING.sub(number, text)
    if b'"""' in text or _OTHER_QUOTES.search(_STRING.sub(b"", text)):
        return _all_words(path, member, text)
    selected = []
    while matches := _GETATTR.findall(numbered):
        selected += [strings[int(index)] for index in matches]
        numbered = _GETATTR.sub(b"_", numbered)
    words = set(_WORD.findall(numbered))
    if b"getattr" in words or any(b"\\" in name for name in selected):
        raise _unreadable(path, member)
    return words | {word for name in selected for word in _WORD.findall(name)}


def _all_words(path: Path, member: str, text: bytes) -> set[bytes]:
    """The words of code in which strings are not told from the rest, those in strings too."""
    words = set(_WORD.findall(text))
    if b"getattr" in words:
        raise _unreadable(path, member)
    return words


def _unreadable(path: Path, member: str) -> SourceError:
    return SourceError(
        Sentence(
            "{text_file}: {text} looks something up by a name that does not stand there as such",
            text_file=path,
            text=member,
        ),
        _HINT,
    )

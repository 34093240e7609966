"""The shapes of the files on code for CUDA: what must stand in them."""

from opcheck.db.shape import Flag, ListOf, MapOf, Record, Text

PORTING = "opcheck.porting/1"
CUDA_NAMES = "opcheck.cuda-names/1"

_TEXTS = ListOf(Text())
_SOURCE = Record(
    {"repo": Text(), "ref": Text(), "commit": Text(), "path": Text()}, {"date": Text()}
)
_TOLD = Record({"at": Text()}, {"use": Text(), "text": Text()})
_TOPICS = frozenset({"device", "method", "module", "nccl", "tensor-type", "extension"})
_TRANSFER = Record(
    {"write": Text(), "text": Text(), "covers": ListOf(Text(_TOPICS), least=1), "at": _TEXTS}
)

PORTING_FILE = Record(
    {
        "schema": Text(frozenset({PORTING})),
        "vendor": Text(),
        "sources": MapOf(_SOURCE),
        "device": Text(),
        "module": Text(),
        "package": Text(),
        "autoloads": Flag(),
        "method": Flag(),
        "collectives": Text(),
        "extension": Text(),
        "environment": MapOf(Text()),
        "monitor": Text(),
        "same": _TEXTS,
        "renamed": MapOf(Text()),
        "cited": MapOf(_TEXTS),
        "complete": Flag(),
    },
    {
        "hip": Flag(),
        "answers": Text(),
        "unsupported": MapOf(_TOLD),
        "deprecated": MapOf(_TOLD),
        "transfers": ListOf(_TRANSFER),
    },
)
"""One vendor's words for what CUDA has."""

CUDA_NAMES_FILE = Record(
    {
        "schema": Text(frozenset({CUDA_NAMES})),
        "sources": MapOf(_SOURCE),
        "quiet": MapOf(Text()),
        "deprecated": MapOf(_TOLD),
        "packages": MapOf(Record({"use": Text(), "text": Text(), "vendors": _TEXTS, "at": _TEXTS})),
        "complete": Flag(),
    }
)
"""What is so of code for CUDA on every other device."""

"""Files on what users call a vendor's chips, the vendor itself, and its releases."""

from opcheck.db.schema.checks import Flag, ListOf, MapOf, Record, Text

TARGET_NAMES = "opcheck.names/1"

_CITED = ListOf(Text(), least=1)
_WORD = Text(pattern=r"\S+( \S+)*", form="a name, with single spaces at most")
_WORDS = ListOf(_WORD)
_SOURCE = Record(
    {"repo": Text(), "ref": Text(), "commit": Text(), "path": Text()},
    {"date": Text(), "note": Text()},
)
_PAIR = Record({"version": Text(), "torch": _CITED, "at": _CITED})
_TOOLKIT = Record(
    {"name": Text()},
    {
        "package": Text(),
        "pattern": Text(),
        "build": Text(frozenset({"cu", "rocm"})),
        "chips": _CITED,
        "pairs": ListOf(_PAIR, least=1),
    },
)
_REFUSED = Record(
    {
        "name": Text(),
        "also": _WORDS,
        "package": Text(),
        "error": Text(),
        "near": _CITED,
        "at": _CITED,
    }
)

TARGET_NAMES_FILE = Record(
    {
        "schema": Text(frozenset({TARGET_NAMES})),
        "vendor": Text(),
        "also": _WORDS,
        "chips": MapOf(_WORDS),
        "complete": Flag(),
    },
    {"toolkits": MapOf(_TOOLKIT), "refused": MapOf(_REFUSED), "sources": MapOf(_SOURCE)},
)
"""``chips`` stand the most used first; ``package`` is of the vendor's table of pairs, ``build`` how
the builds of torch are named that pytorch.org has for it, and ``pairs`` are cited here. ``refused``
are chips that the vendor's plugin raises on, with those that may be meant."""

OTHER_VENDORS_FILE = Record(
    {
        "schema": Text(frozenset({TARGET_NAMES})),
        "vendors": MapOf(Record({"name": Text(), "also": _WORDS})),
        "complete": Flag(),
    }
)
"""Vendors that the database has nothing of."""

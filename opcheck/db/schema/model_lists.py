"""Files on which whole models run, by lists of vendors and communities."""

from opcheck.db.schema.checks import Flag, ListOf, MapOf, Record, Text
from opcheck.db.schema.tables import METHOD, SOURCE
from opcheck.model.model_lists import Outcome

MODELS = "opcheck.model-list/1"

_WORDS = ListOf(Text(pattern=r"\S+", form="names without spaces"), least=1)
_OUTCOME = Text(frozenset(Outcome))
_ROW = Record(
    {"name": Text(), "at": Text()},
    {
        "says": _OUTCOME,
        "in": MapOf(_WORDS, _OUTCOME),
        "mode": Text(frozenset({"train"})),
        "chips": _WORDS,
        "types": _WORDS,
        "classes": _WORDS,
        "builds": _WORDS,
        "note": Text(),
    },
)

MODELS_FILE = Record(
    {
        "schema": Text(frozenset({MODELS})),
        "name": Text(),
        "vendor": Text(),
        "engine": Text(),
        "release": Text(),
        "method": METHOD,
        "sources": MapOf(SOURCE),
        "models": ListOf(_ROW, least=1),
        "complete": Flag(),
    },
    {"other_chips": MapOf(Text()), "chips": _WORDS},
)
"""``says`` is whatever the precision, ``in`` of each; ``chips`` beside them are of every row that
names none, and ``other_chips`` those that the database has no target for, with their names."""

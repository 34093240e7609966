"""PyTorch's tables: what all targets share."""

from opcheck.db.shape import Flag, ListOf, MapOf, Record, Text
from opcheck.db.shapes.values import COMPLETE, SOURCE, TEST, TEXTS, VERSIONS
from opcheck.model.trace import Composite
from opcheck.model.verdict import Confidence, Method

HISTORY = "opcheck.history/1"
OPERATORS = "opcheck.operators/1"
EXTENSIONS = "opcheck.extensions/1"
COMPOSITES = "opcheck.composites/1"
CHOICES = "opcheck.choices/1"
EARLIER = "opcheck.earlier/1"
COLLECTIVES = "opcheck.collectives/1"

KINDS = {
    "CIA": Composite.IMPLICIT,
    "CEA": Composite.EXPLICIT,
    "CEANF": Composite.NON_FUNCTIONAL,
    "none": None,
}
"""Short names of composite kinds in the files."""

HISTORY_FILE = Record(
    {
        "schema": Text(frozenset({HISTORY})),
        "sources": MapOf(SOURCE),
        "torch": VERSIONS,
        "overloads": MapOf(ListOf(Text(), least=1)),
        "complete": COMPLETE,
    }
)
OPERATORS_FILE = Record(
    {
        "schema": Text(frozenset({OPERATORS})),
        "torch": Text(),
        "sources": MapOf(SOURCE),
        "overloads": MapOf(Text(frozenset(f"{k}{c}" for k in KINDS for c in ("", " cpu")))),
        "complete": COMPLETE,
    }
)
EXTENSIONS_FILE = Record(
    {
        "schema": Text(frozenset({EXTENSIONS})),
        "sources": MapOf(SOURCE),
        "overloads": MapOf(Record({"cpu": Flag(), "at": Text()}, {"note": Text()})),
        "complete": COMPLETE,
    }
)
COMPOSITES_FILE = Record(
    {
        "schema": Text(frozenset({COMPOSITES})),
        "torch": Text(),
        "device": Text(),
        "composites": MapOf(ListOf(TEXTS)),
    }
)

_CHOICE = Record(
    {"devices": ListOf(Text(), least=1), "text": Text(), "at": TEXTS},
    {
        "vendors": TEXTS,
        "since": Text(),
        "when": ListOf(TEST),
        "asks": TEXTS,
        "casts": MapOf(Text()),
        "preferred": Flag(),
        "confidence": Text(frozenset(Confidence)),
        "renames": MapOf(Text()),
    },
)
CHOICES_FILE = Record(
    {
        "schema": Text(frozenset({CHOICES})),
        "torch": Text(),
        "sources": MapOf(SOURCE),
        "choices": MapOf(ListOf(_CHOICE, least=1)),
        "complete": COMPLETE,
    }
)
EARLIER_FILE = Record(
    {
        "schema": Text(frozenset({EARLIER})),
        "sources": MapOf(SOURCE),
        "earlier": MapOf(Record({"asks": ListOf(Text(), least=1), "text": Text(), "at": TEXTS})),
        "complete": COMPLETE,
    }
)
COLLECTIVES_FILE = Record(
    {
        "schema": Text(frozenset({COLLECTIVES})),
        "sources": MapOf(SOURCE),
        "calls": MapOf(Text()),
        "dtypes": MapOf(
            Record({"takes": TEXTS, "unclear": TEXTS, "at": ListOf(Text(), least=1)})
        ),
        "backends": ListOf(
            Record(
                {
                    "vendor": Text(), "name": Text(), "releases": ListOf(Text(), least=1),
                    "has": TEXTS, "lacks": TEXTS, "at": ListOf(Text(), least=1),
                },
                {"chips": TEXTS, "method": Text(frozenset(Method))},
            ),
            least=1,
        ),
        "complete": COMPLETE,
    }
)  # fmt: skip

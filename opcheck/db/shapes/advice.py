"""What is told of targets beside their kernels: remedies, and how they take sizes."""

from opcheck.db.shape import Flag, ListOf, MapOf, Record, Text
from opcheck.db.shapes.values import (
    CITATIONS,
    CODE,
    COMPLETE,
    DATE,
    METHOD,
    OPEN_SPANS,
    OPERATORS,
    SOURCE,
    TEXTS,
    WHERE,
    WHY,
)
from opcheck.model.dynamic import SiteKind, Taking
from opcheck.model.plan import Label
from opcheck.model.verdict import Confidence

REMEDY = "opcheck.remedy/1"
DYNAMIC = "opcheck.dynamic/1"

REMEDY_FILE = Record(
    {
        "schema": Text(frozenset({REMEDY})),
        "id": CODE,
        "for": ListOf(Record({"vendor": Text()}, {**WHERE, "releases": OPEN_SPANS}), least=1),
        "summary": WHY,
        "write": Text(),
        "on_device": Flag(),
        "label": Text(frozenset(Label)),
        "confidence": Text(frozenset(Confidence)),
        "method": METHOD,
        "reason": WHY,
        "sources": MapOf(SOURCE),
        "at": TEXTS,
    },
    {
        "codes": TEXTS,
        "ops": OPERATORS,
        "dtypes": TEXTS,
        "gives_up": WHY,
        "complete": COMPLETE,
    },
)
"""What a vendor ships against a finding."""
DYNAMIC_FILE = Record(
    {
        "schema": Text(frozenset({DYNAMIC})),
        "id": CODE,
        "for": ListOf(Record({"vendor": Text()}, {**WHERE, "releases": OPEN_SPANS}), least=1),
        "says": ListOf(
            Record(
                {
                    "sites": ListOf(Text(frozenset(SiteKind)), least=1),
                    "how": Text(frozenset(Taking)),
                    "text": WHY,
                    "at": CITATIONS,
                },
                {"ops": OPERATORS},
            ),
            least=1,
        ),
        "confidence": Text(frozenset(Confidence)),
        "method": METHOD,
        "reason": WHY,
        "sources": MapOf(
            Record(
                {"repo": Text(), "path": Text()},
                {"ref": Text(), "commit": Text(), "date": DATE, "note": Text()},
            )
        ),
    },
    {"complete": COMPLETE},
)
"""How targets take sizes that are not always the same."""

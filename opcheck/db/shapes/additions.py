"""What is added to the targets of a vendor: overlays, and advisories on what runs and is wrong."""

from opcheck.db.shape import Flag, ListOf, MapOf, OneOrMore, Record, Text
from opcheck.db.shapes.values import (
    CITATIONS,
    CODE,
    COMPLETE,
    DATE,
    METHOD,
    OPEN_SPANS,
    OPERATOR,
    OPERATORS,
    TEST,
    TEXTS,
    WHERE,
    WHY,
)
from opcheck.model.verdict import Confidence, Verdict

OVERLAY = "opcheck.overlay/1"
ADVISORY = "opcheck.advisory/1"

OVERLAY_FILE = Record(
    {
        "schema": Text(frozenset({OVERLAY})),
        "vendor": Text(),
        "reason": WHY,
        "method": METHOD,
        "sources": MapOf(
            Record(
                {"repo": Text()},
                {"ref": Text(), "commit": Text(), "path": Text(), "date": DATE, "note": Text()},
            )
        ),
    },
    {
        **WHERE,
        "releases": OPEN_SPANS,
        "date": DATE,
        "operators": MapOf(
            OneOrMore(
                Record(
                    {"at": Text()},
                    {
                        **WHERE,
                        "registered": Flag(),
                        "impl": TEXTS,
                        "keys": TEXTS,
                        "method": METHOD,
                    },
                )
            ),
            OPERATOR,
        ),
        "conditions": ListOf(
            Record(
                {
                    "ops": OPERATORS,
                    "code": CODE,
                    "verdict": Text(frozenset(Verdict)),
                    "confidence": Text(frozenset(Confidence)),
                    "text": WHY,
                    "at": CITATIONS,
                },
                {**WHERE, "method": METHOD, "tests": ListOf(TEST)},
            )
        ),
        "withdrawn": ListOf(Record({"ops": OPERATORS, "code": CODE, "at": CITATIONS}, WHERE)),
        "complete": COMPLETE,
    },
)
"""What others add to the targets of a vendor, or correct."""
ADVISORY_FILE = Record(
    {
        "schema": Text(frozenset({ADVISORY})),
        "id": CODE,
        "title": WHY,
        "date": DATE,
        "effect": Text(
            frozenset({"wrong-values", "wrong-shape", "memory-corruption", "crash", "hang"})
        ),
        "affects": ListOf(Record({"vendor": Text()}, {**WHERE, "releases": OPEN_SPANS}), least=1),
        "uses": ListOf(Record({"ops": OPERATORS}, {"tests": ListOf(TEST)}), least=1),
        "text": WHY,
        "confidence": Text(frozenset(Confidence)),
        "method": METHOD,
        "reason": WHY,
        "references": ListOf(
            Record({"url": Text(pattern=r"https?://\S+", form="an address"), "date": DATE}),
            least=1,
        ),
    },
    {"fixed_in": Text(), "workaround": Text(), "complete": COMPLETE},
)
"""Operators that run and do something else than they should."""

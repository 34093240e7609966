"""A release: what a vendor registers, and under which conditions."""

from opcheck.db.shape import Flag, ListOf, MapOf, OneOrMore, Record, Text
from opcheck.db.shapes.values import COMPLETE, DTYPES, METHOD, SOURCE, SPANS, TEST, TEXTS, VERSIONS
from opcheck.model.verdict import Confidence, Method, Verdict

MATRIX = "opcheck.matrix/1"
_DTYPES = ListOf(Text(frozenset(DTYPES)))
_CONDITION = Record(
    {
        "ops": TEXTS,
        "code": Text(),
        "verdict": Text(frozenset(Verdict)),
        "confidence": Text(frozenset(Confidence)),
        "method": Text(frozenset(Method)),
        "text": Text(),
        "at": TEXTS,
    },
    {"chips": TEXTS, "torch": SPANS, "tests": ListOf(TEST), "document": Flag()},
)
_ADVISORY = Record({"code": Text(), "text": Text(), "at": TEXTS, "chips": TEXTS})
_ENTRY = Record(
    {"at": Text()},
    {"impl": TEXTS, "keys": TEXTS, "torch": SPANS, "method": METHOD, "package": Text()},
)
_GRADIENT = Record(
    {"at": TEXTS, "formulas": MapOf(TEXTS)},
    {
        "method": Text(frozenset(Method)),
        "chips": TEXTS,
        "torch": SPANS,
        "unless": ListOf(TEST),
    },
)
_DOCUMENTED = Record(
    {"ops": TEXTS, "argument": Text(), "chips": TEXTS, "at": TEXTS},
    {"only": _DTYPES, "not": _DTYPES},
)
_SECOND = Record(
    {"ops": TEXTS, "runs": Flag(), "method": METHOD, "text": Text(), "at": TEXTS},
    {"chips": TEXTS, "torch": SPANS, "argument": Text(), "dtypes": _DTYPES, "others_than": _DTYPES},
)
"""``dtypes`` that run, or ``others_than`` some that do not; neither: every use."""

RELEASE = Record(
    {
        "schema": Text(frozenset({MATRIX})),
        "vendor": Text(),
        "release": Text(),
        "date": Text(),
        "torch": VERSIONS,
        "sources": MapOf(SOURCE),
        "operators": MapOf(OneOrMore(_ENTRY)),
        "complete": COMPLETE,
    },
    {
        "not_aten": MapOf(TEXTS),
        "own_names": TEXTS,  # under aten, and only in a torch that the vendor itself patches
        "reason": Text(),
        "method": METHOD,
        "gradients": MapOf(OneOrMore(_GRADIENT)),
        "advisories": ListOf(_ADVISORY),
        "conditions": ListOf(_CONDITION),
        "documented": ListOf(_DOCUMENTED),
        "second_sources": ListOf(_SECOND),
    },
)

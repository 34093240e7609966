"""PyTorch's tables, which all targets share, and values that all kinds of files have."""

from collections.abc import Mapping

from opcheck.db.predicates import PredicateShape
from opcheck.db.schema.checks import (
    Flag,
    ListOf,
    MapOf,
    Number,
    Record,
    Shape,
    Text,
)
from opcheck.model.launches import LimitKind
from opcheck.model.matrix import CompilerDoes
from opcheck.model.trace import DTYPE_BYTES, Composite
from opcheck.model.verdict import Confidence, Method

DTYPES = {
    "bf16": "bfloat16",
    "fp16": "float16",
    "fp32": "float32",
    "fp64": "float64",
    **dict(zip(DTYPE_BYTES, DTYPE_BYTES, strict=True)),
}
"""Short names of dtypes in the files -> torch's names."""

TEXTS = ListOf(Text())
_VERSION = r"\d+\.\d+"
VERSIONS = ListOf(Text(pattern=_VERSION, form="a version such as 2.7"), least=1)
SPANS = Text(
    pattern=rf"{_VERSION}(\.\.{_VERSION})?(, {_VERSION}(\.\.{_VERSION})?)*",
    form="spans of versions such as 2.1..2.4, 2.7",
)
COMPLETE = Flag()
"""Of the last line: a file that was cut short lacks it."""
SOURCE = Record(
    {"repo": Text(), "ref": Text(), "commit": Text(), "path": Text()},
    {"date": Text(), "note": Text()},
)
TEST = PredicateShape()
METHOD = Text(frozenset(Method))
WHY = Text(pattern=r"(?s:.*\S.*)", form="a sentence that says why")
OPERATOR = Text(pattern=r"[^:\s]+::[^:\s.]+(\.[^:\s]+)?", form="an overload as aten::add.Tensor")
OPERATORS = ListOf(Text(pattern=r"\*|[^:\s]+::[^:\s.]+(\.[^:\s]+)?", form=OPERATOR.form), least=1)
_BOUND = r"[^\s,]*?[^\s,.]"
_SPAN = rf"({_BOUND}|{_BOUND}\.\.|\.\.{_BOUND}|{_BOUND}\.\.{_BOUND})"
OPEN_SPANS = Text(
    pattern=rf"{_SPAN}(, {_SPAN})*", form="spans of versions such as ..2.4, 2.7, 2.9..2.11, 2.13.."
)
DATE = Text(pattern=r"\d{4}-\d\d-\d\d", form="a date such as 2026-08-22")
CODE = Text(pattern=r"[a-z0-9]+(-[a-z0-9]+)*", form="words with hyphens such as no-kernel")
CITATIONS = ListOf(Text(), least=1)
MODES = ListOf(Text(frozenset({"inference", "train"})), least=1)
WHERE: Mapping[str, Shape] = {"chips": TEXTS, "torch": OPEN_SPANS}


HISTORY = "opcheck.history/1"
OPERATORS_SCHEMA = "opcheck.operators/1"
EXTENSIONS = "opcheck.extensions/1"
COMPOSITES = "opcheck.composites/1"
CHOICES = "opcheck.choices/1"
EARLIER = "opcheck.earlier/1"
COLLECTIVES = "opcheck.collectives/1"
COMPILERS = "opcheck.compilers/1"
TRITON = "opcheck.triton/1"
SPARSE = "opcheck.sparse/1"
DETERMINISTIC = "opcheck.deterministic/1"
NAMES = "opcheck.names/1"

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
    },
    {"whole": MapOf(Record({"torch": VERSIONS, "cpu": Flag()}))},
)
OPERATORS_FILE = Record(
    {
        "schema": Text(frozenset({OPERATORS_SCHEMA})),
        "torch": Text(),
        "sources": MapOf(SOURCE),
        "overloads": MapOf(Text(frozenset(f"{k}{c}" for k in KINDS for c in ("", " cpu")))),
        "complete": COMPLETE,
    }
)
NAMES_FILE = Record(
    {
        "schema": Text(frozenset({NAMES})),
        "sources": MapOf(SOURCE),
        "torch": VERSIONS,
        "names": MapOf(MapOf(Text(pattern=_VERSION, form="a version such as 2.7"))),
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
        "until": Text(),
        "when": ListOf(TEST),
        "asks": TEXTS,
        "backward": TEXTS,
        "casts": MapOf(Text()),
        "preferred": Flag(),
        "confidence": Text(frozenset(Confidence)),
        "renames": MapOf(Text()),
        "inside": Text(),
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
SPARSE_FILE = Record(
    {
        "schema": Text(frozenset({SPARSE})),
        "sources": MapOf(SOURCE),
        "torch": MapOf(MapOf(Text())),
        "kernels": MapOf(MapOf(Text(pattern=rf"{_VERSION} \S+:\d+", form="as 2.9 torch-2.9:120"))),
        "targets": ListOf(
            Record(
                {
                    "vendor": Text(), "release": Text(), "at": CITATIONS,
                    "kinds": ListOf(Text(frozenset({"Sparse", "SparseCsr"})), least=1),
                },
                {"torch": VERSIONS, "shared": Flag(), "host": Flag()},
            )
        ),
        "inside": MapOf(
            MapOf(
                Record(
                    {"at": Text()},
                    {
                        "asks": ListOf(Text(), least=1), "both": ListOf(Text(), least=1),
                        "unclear": Flag(), "before": Text(pattern=_VERSION, form="a version"),
                    },
                )
            )
        ),
        "complete": COMPLETE,
    }
)  # fmt: skip
_REDUCTIONS = {"SUM", "AVG", "PRODUCT", "MIN", "MAX", "BAND", "BOR", "BXOR", "PREMUL_SUM"}
REDUCTIONS = ListOf(Text(frozenset(_REDUCTIONS)), least=1)
COLLECTIVES_FILE = Record(
    {
        "schema": Text(frozenset({COLLECTIVES})),
        "sources": MapOf(SOURCE),
        "calls": MapOf(Text()),
        "dtypes": MapOf(
            ListOf(
                Record(
                    {"takes": TEXTS, "unclear": TEXTS, "at": ListOf(Text(), least=1)},
                    {"releases": TEXTS, "chips": TEXTS, "methods": TEXTS},
                ),
                least=1,
            )
        ),
        "reductions": ListOf(
            Record(
                {"backend": Text(), "at": ListOf(Text(), least=1)},
                {
                    "has": REDUCTIONS, "lacks": REDUCTIONS, "releases": TEXTS, "chips": TEXTS,
                    "methods": TEXTS, "dtypes": TEXTS, "method": Text(frozenset(Method)),
                },
            )
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

COMPILERS_FILE = Record(
    {
        "schema": Text(frozenset({COMPILERS})),
        "sources": MapOf(SOURCE),
        "everywhere": Record({"names": TEXTS, "at": CITATIONS}),
        "owned": MapOf(Record({"vendors": ListOf(Text(), least=1), "at": CITATIONS})),
        "backends": ListOf(
            Record(
                {
                    "vendor": Text(), "names": ListOf(Text(), least=1),
                    "does": Text(frozenset(CompilerDoes)), "releases": ListOf(Text(), least=1),
                    "at": CITATIONS,
                },
                {
                    "chips": TEXTS, "torch": VERSIONS, "error": Text(), "needs": Text(),
                    "instead": Text(), "note": Text(), "method": METHOD,
                    "without": MapOf(
                        Record({"chips": TEXTS, "releases": TEXTS, "at": CITATIONS})
                    ),
                    "supported": Record({"modes": MODES}, {"chips": TEXTS, "releases": TEXTS}),
                },
            ),
            least=1,
        ),
        "conditions": ListOf(
            Record(
                {
                    "does": Text(frozenset(CompilerDoes)), "text": WHY, "ops": OPERATORS,
                    "at": CITATIONS,
                },
                {
                    "names": TEXTS, "vendors": ListOf(Text(), least=1), "chips": TEXTS,
                    "releases": OPEN_SPANS, "torch": OPEN_SPANS, "fullgraph": Flag(),
                    "modes": MODES, "method": METHOD,
                    "cases": ListOf(ListOf(TEST, least=1), least=1),
                },
            ),
        ),
        "complete": COMPLETE,
    }
)  # fmt: skip

TRITON_FILE = Record(
    {
        "schema": Text(frozenset({TRITON})),
        "sources": MapOf(SOURCE),
        "cuda_sources": MapOf(
            Record({"at": CITATIONS}, {"converts": Flag(), "error": Text(), "method": METHOD})
        ),
        "languages": MapOf(
            Record(
                {"names": TEXTS, "at": CITATIONS},
                {
                    "operations": MapOf(
                        Record(
                            {"at": CITATIONS},
                            {
                                "dtypes": TEXTS, "refuses": TEXTS, "texts": MapOf(TEXTS),
                                "chips": TEXTS, "torch": VERSIONS, "method": METHOD,
                            },
                        )
                    )
                },
            )
        ),
        "compilers": ListOf(
            Record(
                {"vendor": Text(), "at": CITATIONS},
                {
                    "package": Text(), "error": Text(), "not_installed": Text(),
                    "releases": ListOf(Text(), least=1),
                    "torch": VERSIONS, "chips": TEXTS, "languages": TEXTS, "method": METHOD,
                    "doubt": Text(),
                    "without": MapOf(
                        Record({"chips": TEXTS, "at": CITATIONS}, {"named": Flag()})
                    ),
                    "programs": Record({"most": Number(), "at": CITATIONS}, {"unless": Text()}),
                },
            ),
            least=1,
        ),
        "limits": ListOf(
            Record(
                {
                    "kind": Text(frozenset(LimitKind)), "vendors": ListOf(Text(), least=1),
                    "at": CITATIONS,
                },
                {
                    "chips": TEXTS, "torch": VERSIONS, "most": Number(), "least": ListOf(Number()),
                    "words": TEXTS, "dtypes": TEXTS, "method": METHOD,
                },
            ),
        ),
        "shared_memory": ListOf(
            Record(
                {
                    "vendor": Text(), "chips": TEXTS, "bytes": Number(), "stages": Number(),
                    "at": CITATIONS,
                },
                {"torch": VERSIONS},
            ),
        ),
        "complete": COMPLETE,
    }
)  # fmt: skip

DETERMINISTIC_FILE = Record(
    {
        "schema": Text(frozenset({DETERMINISTIC})),
        "reason": WHY,
        "sources": MapOf(SOURCE),
        "raises": ListOf(
            Record(
                {
                    "vendors": ListOf(Text(), least=1), "kernel": Text(), "ops": OPERATORS,
                    "at": CITATIONS,
                },
                {
                    "torch": OPEN_SPANS, "releases": OPEN_SPANS,
                    "cases": ListOf(ListOf(TEST, least=1), least=1),
                    "method": METHOD, "confidence": Text(frozenset(Confidence)),
                },
            ),
            least=1,
        ),
        "once": ListOf(
            Record(
                {
                    "vendors": ListOf(Text(), least=1), "torch": OPEN_SPANS, "code": CODE,
                    "ops": OPERATORS, "text": WHY, "at": CITATIONS,
                },
            )
        ),
        "complete": COMPLETE,
    }
)  # fmt: skip

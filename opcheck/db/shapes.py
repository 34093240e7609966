"""The shapes of the database's files: what a release, a vendor and PyTorch's tables must say."""

from collections.abc import Mapping

from opcheck.db.shape import Flag, ListOf, MapOf, Number, OneOrMore, Record, Shape, Text
from opcheck.model.dynamic import SiteKind, Taking
from opcheck.model.matrix import Subject
from opcheck.model.plan import Label
from opcheck.model.trace import DTYPE_BYTES, Composite
from opcheck.model.verdict import Confidence, Method, Verdict

MATRIX = "opcheck.matrix/1"
VENDOR = "opcheck.vendor/1"
HISTORY = "opcheck.history/1"
OPERATORS = "opcheck.operators/1"
EXTENSIONS = "opcheck.extensions/1"
COMPOSITES = "opcheck.composites/1"
OVERLAY = "opcheck.overlay/1"
ADVISORY = "opcheck.advisory/1"
CHOICES = "opcheck.choices/1"
DYNAMIC = "opcheck.dynamic/1"
REMEDY = "opcheck.remedy/1"
EARLIER = "opcheck.earlier/1"
COLLECTIVES = "opcheck.collectives/1"

DTYPES = {
    "bf16": "bfloat16",
    "fp16": "float16",
    "fp32": "float32",
    "fp64": "float64",
    **dict(zip(DTYPE_BYTES, DTYPE_BYTES, strict=True)),
}
"""Short names of dtypes in the files -> torch's names."""

_TEXTS = ListOf(Text())
_VERSION = r"\d+\.\d+"
_VERSIONS = ListOf(Text(pattern=_VERSION, form="a version such as 2.7"), least=1)
_SPANS = Text(
    pattern=rf"{_VERSION}(\.\.{_VERSION})?(, {_VERSION}(\.\.{_VERSION})?)*",
    form="spans of versions such as 2.1..2.4, 2.7",
)
_COMPLETE = Flag()
"""Of the last line: a file that was cut short lacks it."""
_DTYPES = ListOf(Text(frozenset(DTYPES)))
_SOURCE = Record(
    {"repo": Text(), "ref": Text(), "commit": Text(), "path": Text()},
    {"date": Text(), "note": Text()},
)
_TEST = Record(
    {"subject": Text(frozenset(Subject)), "argument": Text()},
    {
        "one_of": _TEXTS,
        "none_of": _TEXTS,
        "minimum": Number(),
        "maximum": Number(),
        "dim": Number(),
        "default": Text(),
        "dim_argument": Text(),
        "multiple_of": Text(),
        "factor_of": Text(),
        "divisible_by": Number(),
        "same_as": Text(),
    },
)
_CONDITION = Record(
    {
        "ops": _TEXTS,
        "code": Text(),
        "verdict": Text(frozenset(Verdict)),
        "confidence": Text(frozenset(Confidence)),
        "method": Text(frozenset(Method)),
        "text": Text(),
        "at": _TEXTS,
    },
    {"chips": _TEXTS, "torch": _SPANS, "tests": ListOf(_TEST)},
)
_ADVISORY = Record({"code": Text(), "text": Text(), "at": _TEXTS, "chips": _TEXTS})
_METHOD = Text(frozenset(Method))
_ENTRY = Record(
    {"at": Text()},
    {"impl": _TEXTS, "keys": _TEXTS, "torch": _SPANS, "method": _METHOD, "package": Text()},
)
_GRADIENT = Record(
    {"at": _TEXTS, "formulas": MapOf(_TEXTS)},
    {
        "method": Text(frozenset(Method)),
        "chips": _TEXTS,
        "torch": _SPANS,
        "unless": ListOf(_TEST),
    },
)
_DOCUMENTED = Record(
    {"ops": _TEXTS, "argument": Text(), "chips": _TEXTS, "at": _TEXTS},
    {"only": _DTYPES, "not": _DTYPES},
)

RELEASE = Record(
    {
        "schema": Text(frozenset({MATRIX})),
        "vendor": Text(),
        "release": Text(),
        "date": Text(),
        "torch": _VERSIONS,
        "sources": MapOf(_SOURCE),
        "operators": MapOf(OneOrMore(_ENTRY)),
        "complete": _COMPLETE,
    },
    {
        "not_aten": MapOf(_TEXTS),
        "own_names": _TEXTS,  # under aten, and only in a torch that the vendor itself patches
        "reason": Text(),
        "method": _METHOD,
        "gradients": MapOf(OneOrMore(_GRADIENT)),
        "advisories": ListOf(_ADVISORY),
        "conditions": ListOf(_CONDITION),
        "documented": ListOf(_DOCUMENTED),
    },
)

_CHIP = Record(
    {"name": Text(), "at": _TEXTS},
    {
        "product": Text(),
        "arch": Text(),
        "socs": _TEXTS,
        "soc_numbers": ListOf(Number()),
        "kernels": Text(),
        "bfloat16": Flag(),
        "float64": Flag(),
        "inf_nan": Flag(),
        "since": Text(),
        "until": Text(),
        "aclnn_only": Flag(),
        "note": Text(),
    },
)
_PAIR = Record(
    {"torch": Text(), "at": Text()},
    {
        "release": Text(),
        "branch": Text(),
        "torch_npu": Text(),
        "cann": Text(),
        "packages": MapOf(Text()),
    },
)
_CALL = Record({"call": Text(), "at": Text()}, {"since": Text(), "effect": Text()})
_FALLBACK = Record(
    {"to_cpu": Flag(), "text": Text(), "at": _TEXTS},
    {"disable": Text(), "enable": Text(), "elsewhere": Text(), "note": Text()},
)
_NOTE = Record({"text": Text(), "at": _TEXTS})
_AUTOCAST = Record({"at": _TEXTS, "policies": MapOf(_TEXTS)})
_MESSAGE = Record({"text": Text(), "raises": Flag(), "at": _TEXTS}, {"number": Text()})

KINDS = {
    "CIA": Composite.IMPLICIT,
    "CEA": Composite.EXPLICIT,
    "CEANF": Composite.NON_FUNCTIONAL,
    "none": None,
}
"""Short names of composite kinds in the files."""

VENDOR_FILE = Record(
    {
        "schema": Text(frozenset({VENDOR})),
        "vendor": Text(),
        "name": Text(),
        "device_type": Text(),
        "sources": MapOf(_SOURCE),
        "chips": MapOf(_CHIP),
        "fallback": _FALLBACK,
        "pairing": ListOf(_PAIR),
        "complete": _COMPLETE,
    },
    {
        "dispatch_key": Text(frozenset({"PrivateUse1", "CUDA", "XPU", "MPS", "XLA"})),
        "inherits": ListOf(Text(frozenset(KINDS) - {"none"})),
        "autocast": _AUTOCAST,
        "messages": MapOf(_MESSAGE),
        "python": MapOf(_TEXTS),
        "compat_layer": ListOf(_CALL),
        "notes": ListOf(_NOTE),
        "reason": Text(),
    },
)

HISTORY_FILE = Record(
    {
        "schema": Text(frozenset({HISTORY})),
        "sources": MapOf(_SOURCE),
        "torch": _VERSIONS,
        "overloads": MapOf(ListOf(Text(), least=1)),
        "complete": _COMPLETE,
    }
)
OPERATORS_FILE = Record(
    {
        "schema": Text(frozenset({OPERATORS})),
        "torch": Text(),
        "sources": MapOf(_SOURCE),
        "overloads": MapOf(Text(frozenset(f"{k}{c}" for k in KINDS for c in ("", " cpu")))),
        "complete": _COMPLETE,
    }
)
EXTENSIONS_FILE = Record(
    {
        "schema": Text(frozenset({EXTENSIONS})),
        "sources": MapOf(_SOURCE),
        "overloads": MapOf(Record({"cpu": Flag(), "at": Text()}, {"note": Text()})),
        "complete": _COMPLETE,
    }
)
COMPOSITES_FILE = Record(
    {
        "schema": Text(frozenset({COMPOSITES})),
        "torch": Text(),
        "device": Text(),
        "composites": MapOf(ListOf(_TEXTS)),
    }
)

_CHOICE = Record(
    {"devices": ListOf(Text(), least=1), "text": Text(), "at": _TEXTS},
    {
        "vendors": _TEXTS,
        "when": ListOf(_TEST),
        "asks": _TEXTS,
        "preferred": Flag(),
        "confidence": Text(frozenset(Confidence)),
        "renames": MapOf(Text()),
        "host": Flag(),
    },
)
CHOICES_FILE = Record(
    {
        "schema": Text(frozenset({CHOICES})),
        "torch": Text(),
        "sources": MapOf(_SOURCE),
        "choices": MapOf(ListOf(_CHOICE, least=1)),
        "complete": _COMPLETE,
    }
)
EARLIER_FILE = Record(
    {
        "schema": Text(frozenset({EARLIER})),
        "sources": MapOf(_SOURCE),
        "earlier": MapOf(Record({"asks": ListOf(Text(), least=1), "text": Text(), "at": _TEXTS})),
        "complete": _COMPLETE,
    }
)
COLLECTIVES_FILE = Record(
    {
        "schema": Text(frozenset({COLLECTIVES})),
        "sources": MapOf(_SOURCE),
        "calls": MapOf(Text()),
        "backends": ListOf(
            Record(
                {
                    "vendor": Text(), "name": Text(), "releases": ListOf(Text(), least=1),
                    "has": _TEXTS, "lacks": _TEXTS, "at": ListOf(Text(), least=1),
                },
                {"chips": _TEXTS, "method": Text(frozenset(Method))},
            ),
            least=1,
        ),
        "complete": _COMPLETE,
    }
)  # fmt: skip

_WHY = Text(pattern=r"(?s).*\S.*", form="a sentence that says why")
_OPERATOR = Text(pattern=r"[^:\s]+::[^:\s.]+(\.[^:\s]+)?", form="an overload as aten::add.Tensor")
_OPERATORS = ListOf(Text(pattern=r"\*|[^:\s]+::[^:\s.]+(\.[^:\s]+)?", form=_OPERATOR.form), least=1)
_BOUND = r"[^\s,]*?[^\s,.]"
_SPAN = rf"({_BOUND}|{_BOUND}\.\.|\.\.{_BOUND}|{_BOUND}\.\.{_BOUND})"
_OPEN_SPANS = Text(
    pattern=rf"{_SPAN}(, {_SPAN})*", form="spans of versions such as ..2.4, 2.7, 2.9..2.11, 2.13.."
)
_DATE = Text(pattern=r"\d{4}-\d\d-\d\d", form="a date such as 2026-08-22")
_CODE = Text(pattern=r"[a-z0-9]+(-[a-z0-9]+)*", form="words with hyphens such as no-kernel")
_CITATIONS = ListOf(Text(), least=1)
_WHERE: Mapping[str, Shape] = {"chips": _TEXTS, "torch": _OPEN_SPANS}

OVERLAY_FILE = Record(
    {
        "schema": Text(frozenset({OVERLAY})),
        "vendor": Text(),
        "reason": _WHY,
        "method": _METHOD,
        "sources": MapOf(
            Record(
                {"repo": Text()},
                {"ref": Text(), "commit": Text(), "path": Text(), "date": _DATE, "note": Text()},
            )
        ),
    },
    {
        **_WHERE,
        "releases": _OPEN_SPANS,
        "date": _DATE,
        "operators": MapOf(
            OneOrMore(
                Record(
                    {"at": Text()},
                    {
                        **_WHERE,
                        "registered": Flag(),
                        "impl": _TEXTS,
                        "keys": _TEXTS,
                        "method": _METHOD,
                    },
                )
            ),
            _OPERATOR,
        ),
        "conditions": ListOf(
            Record(
                {
                    "ops": _OPERATORS,
                    "code": _CODE,
                    "verdict": Text(frozenset(Verdict)),
                    "confidence": Text(frozenset(Confidence)),
                    "text": _WHY,
                    "at": _CITATIONS,
                },
                {**_WHERE, "method": _METHOD, "tests": ListOf(_TEST)},
            )
        ),
        "withdrawn": ListOf(Record({"ops": _OPERATORS, "code": _CODE, "at": _CITATIONS}, _WHERE)),
        "complete": _COMPLETE,
    },
)
"""What others add to the targets of a vendor, or correct."""

REMEDY_FILE = Record(
    {
        "schema": Text(frozenset({REMEDY})),
        "id": _CODE,
        "for": ListOf(Record({"vendor": Text()}, {**_WHERE, "releases": _OPEN_SPANS}), least=1),
        "summary": _WHY,
        "write": Text(),
        "on_device": Flag(),
        "label": Text(frozenset(Label)),
        "confidence": Text(frozenset(Confidence)),
        "method": _METHOD,
        "reason": _WHY,
        "sources": MapOf(_SOURCE),
        "at": _TEXTS,
    },
    {
        "codes": _TEXTS,
        "ops": _OPERATORS,
        "dtypes": _TEXTS,
        "gives_up": _WHY,
        "complete": _COMPLETE,
    },
)
"""What a vendor ships against a finding."""
DYNAMIC_FILE = Record(
    {
        "schema": Text(frozenset({DYNAMIC})),
        "id": _CODE,
        "for": ListOf(Record({"vendor": Text()}, {**_WHERE, "releases": _OPEN_SPANS}), least=1),
        "says": ListOf(
            Record(
                {
                    "sites": ListOf(Text(frozenset(SiteKind)), least=1),
                    "how": Text(frozenset(Taking)),
                    "text": _WHY,
                    "at": _CITATIONS,
                },
                {"ops": _OPERATORS},
            ),
            least=1,
        ),
        "confidence": Text(frozenset(Confidence)),
        "method": _METHOD,
        "reason": _WHY,
        "sources": MapOf(
            Record(
                {"repo": Text(), "path": Text()},
                {"ref": Text(), "commit": Text(), "date": _DATE, "note": Text()},
            )
        ),
    },
    {"complete": _COMPLETE},
)
"""How targets take sizes that are not always the same."""
ADVISORY_FILE = Record(
    {
        "schema": Text(frozenset({ADVISORY})),
        "id": _CODE,
        "title": _WHY,
        "date": _DATE,
        "effect": Text(
            frozenset({"wrong-values", "wrong-shape", "memory-corruption", "crash", "hang"})
        ),
        "affects": ListOf(Record({"vendor": Text()}, {**_WHERE, "releases": _OPEN_SPANS}), least=1),
        "uses": ListOf(Record({"ops": _OPERATORS}, {"tests": ListOf(_TEST)}), least=1),
        "text": _WHY,
        "confidence": Text(frozenset(Confidence)),
        "method": _METHOD,
        "reason": _WHY,
        "references": ListOf(
            Record({"url": Text(pattern=r"https?://\S+", form="an address"), "date": _DATE}),
            least=1,
        ),
    },
    {"fixed_in": Text(), "workaround": Text(), "complete": _COMPLETE},
)
"""Operators that run and do something else than they should."""

"""The shapes of the database's files: what a release, a vendor and PyTorch's tables must say."""

from opcheck.db.shape import Flag, ListOf, MapOf, Number, OneOrMore, Record, Text
from opcheck.model.matrix import Subject
from opcheck.model.trace import DTYPE_BYTES, Composite
from opcheck.model.verdict import Confidence, Method, Verdict

MATRIX = "opcheck.matrix/1"
VENDOR = "opcheck.vendor/1"
HISTORY = "opcheck.history/1"
OPERATORS = "opcheck.operators/1"
EXTENSIONS = "opcheck.extensions/1"
COMPOSITES = "opcheck.composites/1"

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
    {"at": Text()}, {"impl": _TEXTS, "keys": _TEXTS, "torch": _SPANS, "method": _METHOD}
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

"""A vendor's file, and a release's - what is registered, and under which conditions."""

from opcheck.db.schema.checks import Flag, ListOf, MapOf, Number, OneOrMore, Record, Text
from opcheck.db.schema.tables import (
    COMPLETE,
    DTYPES,
    KINDS,
    METHOD,
    OPEN_SPANS,
    SOURCE,
    SPANS,
    TEST,
    TEXTS,
    VERSIONS,
)
from opcheck.model.target import TargetKind
from opcheck.model.verdict import Confidence, Method, Verdict

VENDOR = "opcheck.vendor/1"

_CHIP = Record(
    {"name": Text(), "at": TEXTS},
    {
        "product": Text(),
        "arch": Text(),
        "capability": ListOf(Number()),
        "socs": TEXTS,
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
    {"to_cpu": Flag(), "text": Text(), "at": TEXTS},
    {
        "disable": Text(),
        "enable": Text(),
        "elsewhere": Text(),
        "raises": Flag(),
        "note": Text(),
    },
)
_NOTE = Record({"text": Text(), "at": TEXTS})
_AUTOCAST = Record({"at": TEXTS, "policies": MapOf(TEXTS)})
_MESSAGE = Record({"text": Text(), "raises": Flag(), "at": TEXTS}, {"number": Text()})

VENDOR_FILE = Record(
    {
        "schema": Text(frozenset({VENDOR})),
        "vendor": Text(),
        "name": Text(),
        "device_type": Text(),
        "sources": MapOf(SOURCE),
        "chips": MapOf(_CHIP),
        "fallback": _FALLBACK,
        "pairing": ListOf(_PAIR),
        "complete": COMPLETE,
    },
    {
        "dispatch_key": Text(frozenset({"PrivateUse1", "CUDA", "XPU", "MPS", "XLA", "HPU", "CPU"})),
        "inherits": ListOf(Text(frozenset(KINDS) - {"none"})),
        "kind": Text(frozenset(TargetKind)),
        "autocast": _AUTOCAST,
        "messages": MapOf(_MESSAGE),
        "python": MapOf(TEXTS),
        "compat_layer": ListOf(_CALL),
        "notes": ListOf(_NOTE),
        "reason": Text(),
    },
)


MATRIX = "opcheck.matrix/1"
_DTYPES = ListOf(Text(frozenset(DTYPES)))
_AT = Record({"at": TEXTS})
_CONDITION = Record(
    {
        "ops": TEXTS,
        "code": Text(),
        "text": Text(),
        "at": TEXTS,
    },
    {
        "verdict": Text(frozenset(Verdict)),
        "confidence": Text(frozenset(Confidence)),
        "method": Text(frozenset(Method)),
        "chips": TEXTS,
        "torch": SPANS,
        "opset": OPEN_SPANS,
        "tests": ListOf(TEST),
        "document": Flag(),
        "checked": _AT,
    },
)
MOST_OFTEN = {
    "verdict": Verdict.UNSUPPORTED.value,
    "confidence": Confidence.HIGH.value,
    "method": Method.REGISTERED.value,
}
"""What holds of a condition that does not say otherwise: as it is of most, none says it."""
_ADVISORY = Record(
    {"code": Text(), "text": Text(), "at": TEXTS, "chips": TEXTS}, {"opset": OPEN_SPANS}
)
_OPSETS = Record({"default": Number(), "first": Number(), "last": Number()})
"""Versions of ONNX's operators that a converter writes, and the one where none is asked for."""
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
_REFUSAL = Record(
    {"ops": TEXTS, "kernels": TEXTS, "arguments": TEXTS, "chips": TEXTS, "at": TEXTS},
    {
        "not": _DTYPES,
        "most": Number(),
        "scalars": Flag(),
        "stands": Flag(),
        "checked": _AT,
        "inferred": Flag(),
    },
)
"""``not``: dtypes, of numbers as well only with ``scalars``; ``most``: dimensions; ``checked``:
where the kernels check, without which no line ``stands``; ``inferred``: from newer kernels."""
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
        "opsets": _OPSETS,
        "own_names": TEXTS,  # under aten, and only in a torch that the vendor itself patches
        "reason": Text(),
        "method": METHOD,
        "gradients": MapOf(OneOrMore(_GRADIENT)),
        "advisories": ListOf(_ADVISORY),
        "conditions": ListOf(_CONDITION),
        "documented": ListOf(_DOCUMENTED),
        "refusals": ListOf(_REFUSAL),
        "second_sources": ListOf(_SECOND),
    },
)

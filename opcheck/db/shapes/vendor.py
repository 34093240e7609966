"""A vendor: what holds for all its releases."""

from opcheck.db.shape import Flag, ListOf, MapOf, Number, Record, Text
from opcheck.db.shapes.tables import KINDS
from opcheck.db.shapes.values import COMPLETE, SOURCE, TEXTS

VENDOR = "opcheck.vendor/1"

_CHIP = Record(
    {"name": Text(), "at": TEXTS},
    {
        "product": Text(),
        "arch": Text(),
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
    {"disable": Text(), "enable": Text(), "elsewhere": Text(), "note": Text()},
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
        "dispatch_key": Text(frozenset({"PrivateUse1", "CUDA", "XPU", "MPS", "XLA", "CPU"})),
        "inherits": ListOf(Text(frozenset(KINDS) - {"none"})),
        "autocast": _AUTOCAST,
        "messages": MapOf(_MESSAGE),
        "python": MapOf(TEXTS),
        "compat_layer": ListOf(_CALL),
        "notes": ListOf(_NOTE),
        "reason": Text(),
    },
)

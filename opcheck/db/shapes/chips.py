"""The shape of the files on what chips have: what must stand in them."""

from opcheck.db.shape import Flag, ListOf, MapOf, Number, Record, Shape, Text
from opcheck.model.chip import DTYPES, Grade

CHIPS = "opcheck.chips/1"

READINGS = {"MB": 2**20, "GB": 2**30, "TB": 2**40}
"""What the units of memory are to those who mean powers of two by them."""
SIZES = {"MB": 10**6, "GB": 10**9, "TB": 10**12, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}
"""Units of memory; bandwidth has them a second."""
RATES = {"GFLOP/s": 1e9, "TFLOP/s": 1e12, "GOP/s": 1e9, "TOP/s": 1e12}
"""Units of peak rates."""
_NUMBER = r"[1-9]\d{0,5}(\.\d{1,3})?"
_CITED = ListOf(Text(), least=1)
_SOURCE = Record(
    {
        "repo": Text(),
        "ref": Text(),
        "commit": Text(),
        "path": Text(),
        "grade": Text(frozenset(Grade)),
    },
    {"date": Text(), "note": Text()},
)
_SIZE = Text(pattern=rf"{_NUMBER} ({'|'.join(SIZES)})", form='a size such as "80 GB" or "64 GiB"')
_SPEED = Text(pattern=rf"{_NUMBER} ({'|'.join(SIZES)})/s", form='a bandwidth such as "2039 GB/s"')
_RATE = Text(
    pattern=rf"{_NUMBER} ({'|'.join(RATES)})", form='a rate such as "312 TFLOP/s" or "624 TOP/s"'
)
_DTYPE = Text(frozenset(DTYPES))
_MEMORY = Record({"size": _SIZE, "at": _CITED}, {"note": Text()})
_BANDWIDTH = Record({"rate": _SPEED, "at": _CITED}, {"note": Text()})
_PEAKS = Record({"rates": MapOf(_RATE, _DTYPE), "at": _CITED}, {"note": Text()})
_MULTIPLES = Record({"by": MapOf(Number(), _DTYPE), "at": _CITED}, {"note": Text()})
_FORMATS = ListOf(Record({"format": Text(), "text": Text(), "at": _CITED}))
_COMPILERS = ListOf(Record({"name": Text(), "text": Text(), "at": _CITED}))
_COMMON: dict[str, Shape] = {"multiples": _MULTIPLES, "formats": _FORMATS, "compilers": _COMPILERS}
_PRODUCT = Record(
    {},
    {
        "memory": _MEMORY,
        "bandwidth": _BANDWIDTH,
        "matrix": _PEAKS,
        "vector": _PEAKS,
        "socs": ListOf(Text()),
        "note": Text(),
    },
)
_CHIP = Record(
    {"products": MapOf(_PRODUCT)},
    {
        **_COMMON,
        "matrix": _PEAKS,
        "vector": _PEAKS,
        "default": Record({"product": Text(), "why": Text()}),
        "note": Text(),
    },
)

CHIPS_FILE = Record(
    {
        "schema": Text(frozenset({CHIPS})),
        "vendor": Text(),
        "sources": MapOf(_SOURCE),
        "chips": MapOf(_CHIP),
        "complete": Flag(),
    },
    {"common": Record({}, _COMMON)},
)
"""What one vendor's chips have."""

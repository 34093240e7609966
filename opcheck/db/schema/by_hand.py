"""Files kept by hand - what chips have, what machines need, how CUDA code is ported."""

from opcheck.db.schema.checks import Flag, ListOf, MapOf, Number, Record, Shape, Text
from opcheck.model.costs import DTYPES, Grade
from opcheck.model.verdict import Method

CHIPS = "opcheck.chips/1"

READINGS = {"MB": 2**20, "GB": 2**30, "TB": 2**40}
"""What the units of memory are to those who mean powers of two by them."""
SIZES = {"MB": 10**6, "GB": 10**9, "TB": 10**12, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}
"""Units of memory; bandwidth has them a second."""
RATES = {"GFLOP/s": 1e9, "TFLOP/s": 1e12, "GOP/s": 1e9, "TOP/s": 1e12}
"""Units of peak rates."""
_NUMBER = r"[1-9]\d{0,5}(\.\d{1,3})?"
_CITED = ListOf(Text(), least=1)
_CHIP_SOURCE = Record(
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
        "any_of": ListOf(Text()),
        "note": Text(),
    },
)

CHIPS_FILE = Record(
    {
        "schema": Text(frozenset({CHIPS})),
        "vendor": Text(),
        "sources": MapOf(_CHIP_SOURCE),
        "chips": MapOf(_CHIP),
        "complete": Flag(),
    },
    {"common": Record({}, _COMMON)},
)
"""What one vendor's chips have."""


ENVIRONMENT = "opcheck.environment/1"
TORCH_ENVIRONMENT = "opcheck.torch-environment/1"

_TEXTS = ListOf(Text())
_METHOD = Text(frozenset(Method))
_MACHINE_SOURCE = Record(
    {"repo": Text(), "ref": Text(), "commit": Text(), "path": Text()},
    {"date": Text(), "note": Text()},
)
_SYSTEMS = Record(
    {"names": ListOf(Text(frozenset({"Linux", "Windows", "Darwin"})), least=1), "at": _CITED},
    {
        "machines": _TEXTS,
        "macos": ListOf(Record({"since": Text(), "version": Text()})),
        "method": _METHOD,
    },
)
_TORCH = Record(
    {
        "build": Text(frozenset({"cpu", "cuda", "rocm", "xpu"})),
        "same": Text(frozenset({"patch", "minor"})),
        "at": _CITED,
    },
    {"any_build": Flag(), "refused": Text(), "foreign": Text(), "note": Text()},
)
_PLUGIN = Record(
    {"package": Text(), "module": Text(), "at": _CITED},
    {
        "version": Text(frozenset({"release", "torch"})),
        "chips": MapOf(
            Record({"package": Text(), "version": Text(), "at": _CITED}, {"systems": _TEXTS})
        ),
    },
)
_TOOLKIT = Record(
    {"name": Text(), "package": Text(), "variables": _CITED, "places": _TEXTS, "at": _CITED},
    {
        "files": _TEXTS,
        "command": _TEXTS,
        "pattern": Text(),
        "setup": Text(),
        "optional": Flag(),
        "foreign": Text(),
        "libraries": MapOf(Text()),
    },
)
_DRIVER = Record(
    {"name": Text(), "at": _CITED},
    {
        "files": _TEXTS,
        "devices": _TEXTS,
        "command": _TEXTS,
        "pattern": Text(),
        "package": Text(),
        "chips": Text(),
        "prefix": Text(),
        "least": MapOf(Text()),
    },
)
_SETTING = Record(
    {"variable": Text(), "text": Text(), "command": Text(), "at": _CITED}, {"contains": Text()}
)
_STEP = {"since": Text(), "until": Text()}

ENVIRONMENT_FILE = Record(
    {
        "schema": Text(frozenset({ENVIRONMENT})),
        "vendor": Text(),
        "sources": MapOf(_MACHINE_SOURCE),
        "systems": _SYSTEMS,
        "torch": _TORCH,
        "complete": Flag(),
    },
    {
        "plugin": _PLUGIN,
        "packages": _TEXTS,
        "python": ListOf(Record({"versions": _TEXTS, "at": _CITED}, _STEP)),
        "toolkit": _TOOLKIT,
        "driver": _DRIVER,
        "settings": ListOf(_SETTING),
        "compile": Record({"package": Text(), "at": _CITED}, {"other": Text(), "chips": _TEXTS}),
        "install": ListOf(Record({"command": Text(), "at": _CITED}, {**_STEP, "optional": Flag()})),
        "by_hand": ListOf(Record({"text": Text(), "at": _CITED}, _STEP)),
        "images": ListOf(
            Record(
                {"image": Text(), "at": _CITED},
                {"chips": _TEXTS, "packages": MapOf(Text()), "floating": Flag(), "holds": Flag()},
            )
        ),
    },
)
"""What one vendor's devices ask of a machine."""

TORCH_ENVIRONMENT_FILE = Record(
    {
        "schema": Text(frozenset({TORCH_ENVIRONMENT})),
        "sources": MapOf(_MACHINE_SOURCE),
        "numpy": Record({"torch": Text(), "numpy": Text(), "at": _CITED}),
        "autoload": Record({"since": Text(), "at": _CITED}),
        "one_backend": Record({"at": _CITED}),
        "vision": Record({"at": _CITED}),
        "c_compiler": Record({"at": _CITED}),
        "cxx_compiler": Record({"at": _CITED}),
        "pythons": ListOf(Record({"since": Text(), "python": Text(), "at": _CITED}), least=1),
        "releases": MapOf(Record({"torchvision": Text(), "at": _CITED}, {"builds": _TEXTS})),
        "complete": Flag(),
    }
)
"""What a release of torch goes with, whatever the device."""


PORTING = "opcheck.porting/1"
CUDA_NAMES = "opcheck.cuda-names/1"

_PORTING_SOURCE = Record(
    {"repo": Text(), "ref": Text(), "commit": Text(), "path": Text()}, {"date": Text()}
)
_TOLD = Record({"at": Text()}, {"use": Text(), "text": Text()})
_TOPICS = frozenset({"device", "method", "module", "nccl", "tensor-type", "extension"})
_TRANSFER = Record(
    {"write": Text(), "text": Text(), "covers": ListOf(Text(_TOPICS), least=1), "at": _TEXTS}
)

PORTING_FILE = Record(
    {
        "schema": Text(frozenset({PORTING})),
        "vendor": Text(),
        "sources": MapOf(_PORTING_SOURCE),
        "device": Text(),
        "module": Text(),
        "package": Text(),
        "autoloads": Flag(),
        "method": Flag(),
        "collectives": Text(),
        "extension": Text(),
        "environment": MapOf(Text()),
        "monitor": Text(),
        "same": _TEXTS,
        "renamed": MapOf(Text()),
        "cited": MapOf(_TEXTS),
        "complete": Flag(),
    },
    {
        "hip": Flag(),
        "answers": Text(),
        "unsupported": MapOf(_TOLD),
        "deprecated": MapOf(_TOLD),
        "transfers": ListOf(_TRANSFER),
    },
)
"""One vendor's words for what CUDA has."""

CUDA_NAMES_FILE = Record(
    {
        "schema": Text(frozenset({CUDA_NAMES})),
        "sources": MapOf(_PORTING_SOURCE),
        "quiet": MapOf(Text()),
        "deprecated": MapOf(_TOLD),
        "packages": MapOf(Record({"use": Text(), "text": Text(), "vendors": _TEXTS, "at": _TEXTS})),
        "complete": Flag(),
    }
)
"""What is so of code for CUDA on every other device."""

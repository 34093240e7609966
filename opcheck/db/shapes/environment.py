"""The shapes of the files on what must be on a machine: what must stand in them."""

from opcheck.db.shape import Flag, ListOf, MapOf, Record, Text
from opcheck.model.verdict import Method

ENVIRONMENT = "opcheck.environment/1"
TORCH_ENVIRONMENT = "opcheck.torch-environment/1"

_TEXTS = ListOf(Text())
_CITED = ListOf(Text(), least=1)
_METHOD = Text(frozenset(Method))
_SOURCE = Record(
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
    {"version": Text(frozenset({"release", "torch"}))},
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
        "sources": MapOf(_SOURCE),
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
        "sources": MapOf(_SOURCE),
        "numpy": Record({"torch": Text(), "numpy": Text(), "at": _CITED}),
        "autoload": Record({"since": Text(), "at": _CITED}),
        "one_backend": Record({"at": _CITED}),
        "vision": Record({"at": _CITED}),
        "pythons": ListOf(Record({"since": Text(), "python": Text(), "at": _CITED}), least=1),
        "releases": MapOf(Record({"torchvision": Text(), "at": _CITED}, {"builds": _TEXTS})),
        "complete": Flag(),
    }
)
"""What a release of torch goes with, whatever the device."""

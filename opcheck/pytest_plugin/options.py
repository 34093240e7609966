"""What a user of the plugin can choose, on pytest's command line or in its configuration file."""

from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from opcheck.lang.sentence import Sentence

_LEVELS = ("high", "medium", "low")
_TEXTS = {
    "device": ("TARGET", "run on an emulated device, as 'opcheck targets' names it: ascend-910b"),
    "confidence": (
        "LEVEL",
        "the least sure condition that refuses a call: high, medium or low (default: low)",
    ),
    "report": ("FILE", "write what every test asked of the device as JSON"),
}
"""Option -> placeholder and help."""
_DATABASES = "db"
_FOLDER = "DIR", "a folder of overlays on opcheck's database, repeatable; the last one holds"
_SWITCHES = {
    "default": "new tensors and modules go to the device unless they say otherwise",
    "as-cuda": "cuda devices and torch.cuda mean the device, as under the vendor's transfer module",
    "shapes": "compute nothing: follow only dtypes, shapes and strides",
    "strict": "a test fails if it runs an operator on the host",
}


class Options(Struct, frozen=True):
    """A run on an emulated device, as the user asked for it."""

    target: str
    confidence: str
    report: Path | None
    default: bool
    as_cuda: bool
    shapes: bool
    strict: bool
    databases: tuple[Path, ...] = ()


def declare(parser: pytest.Parser) -> None:
    """Declare every option twice: for the command line and for the configuration file."""
    group = parser.getgroup("opcheck", "an accelerator that is not there (opcheck)")
    for name, (placeholder, text) in _TEXTS.items():
        group.addoption(_flag(name), metavar=placeholder, help=text)
        parser.addini(_key(name), f"{_flag(name)}: {text}", default="")
    placeholder, text = _FOLDER
    group.addoption(_flag(_DATABASES), action="append", metavar=placeholder, help=text)
    parser.addini(_key(_DATABASES), f"{_flag(_DATABASES)}: {text}", type="paths", default=[])
    for name, text in _SWITCHES.items():
        group.addoption(_flag(name), action="store_true", default=None, help=text)
        parser.addini(_key(name), f"{_flag(name)}: {text}", type="bool", default=False)


def chosen(config: pytest.Config) -> Options | None:
    """Give what the user chose; None where no device is asked for.

    Raises:
        pytest.UsageError: an option has a value that makes no sense, or makes none alone.
    """
    target = _value(config, "device").strip()
    if not target:
        _refuse_alone(config)
        return None
    report = _value(config, "report")
    return Options(
        target=target,
        confidence=_level(_value(config, "confidence") or "low"),
        report=_file(config.invocation_params.dir / report) if report else None,
        default=_value(config, "default"),
        as_cuda=_value(config, "as-cuda"),
        shapes=_value(config, "shapes"),
        strict=_value(config, "strict"),
        databases=_folders(config),
    )


def _flag(name: str) -> str:
    return f"--opcheck-{name}"


def _key(name: str) -> str:
    return f"opcheck_{name.replace('-', '_')}"


def _given(config: pytest.Config, name: str) -> Any:
    """What the command line says; None where it says nothing."""
    # the namespace is all there is before conftest files are loaded
    for namespace in (config.option, config.known_args_namespace):
        value = getattr(namespace, _key(name), None)
        if value is not None:
            return value
    return None


def _value(config: pytest.Config, name: str) -> Any:
    given = _given(config, name)
    return config.getini(_key(name)) if given is None else given


def _refuse_alone(config: pytest.Config) -> None:
    for name in (*_TEXTS, _DATABASES, *_SWITCHES):
        if name != "device" and _given(config, name) is not None:
            raise _refused(
                Sentence(
                    "{option} says how to emulate a device, but no device is named; "
                    "add --opcheck-device TARGET",
                    option=_flag(name),
                )
            )


def _level(text: str) -> str:
    if text not in _LEVELS:
        raise _refused(
            Sentence(
                "{option}: {text} is no confidence; it is one of {list}",
                option=_flag("confidence"),
                text=repr(text),
                list=", ".join(_LEVELS),
            )
        )
    return text


def _folders(config: pytest.Config) -> tuple[Path, ...]:
    """Those on the command line, from where pytest was started; else those of the file, from it."""
    return tuple(config.invocation_params.dir / path for path in _value(config, _DATABASES))


def _file(path: Path) -> Path:
    if path.is_dir():
        raise _refused(
            Sentence(
                "{option}: {text} is a directory; name a file", option=_flag("report"), text=path
            )
        )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _refused(
            Sentence("{option}: {text}; name a file elsewhere", option=_flag("report"), text=error)
        ) from error
    return path


def _refused(problem: Sentence) -> pytest.UsageError:
    from opcheck.pytest_plugin.language import translated  # every run of pytest imports this module

    return pytest.UsageError(translated(problem))

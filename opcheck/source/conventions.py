"""Conventions of Python files: names that say which model one has, and with what it is made.

*KernelBench* (ScalingIntelligence/KernelBench): a class ``Model`` or ``ModelNew``,
``get_init_inputs()`` with the arguments of the class and ``get_inputs()`` with those of a forward.
*torch.hub*: each function of a ``hubconf.py`` makes a model; ``dependencies`` names the packages
that it needs, and one of the usual arguments, ``pretrained``, has it download weights.
"""

import inspect
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from opcheck.errors import SourceError
from opcheck.lang.sentence import Sentence

_MODEL = "Model"
_INPUTS, _ARGUMENTS = "get_inputs", "get_init_inputs"
_HUB = "hubconf.py"
_DEPENDENCIES, _PRETRAINED = "dependencies", "pretrained"
Arguments = tuple[tuple[Any, ...], Mapping[str, Any]]
"""Positional and named ones."""


def model_named(defined: Sequence[str]) -> str:
    """The one model of a file that defines these names; "" where no convention tells."""
    return _MODEL if {_MODEL, _INPUTS} <= {*defined} else ""


def entry_points(path: Path, defined: Sequence[str]) -> Sequence[str]:
    """Names in a file that may stand for a model."""
    return [name for name in defined if path.name != _HUB or name != _DEPENDENCIES]


def require_dependencies(module: Any, path: Path) -> None:
    """Check that the packages are there which a ``hubconf.py`` names.

    Raises:
        SourceError: one is not.
    """
    named = getattr(module, _DEPENDENCIES, ()) if path.name == _HUB else ()
    missing = [name for name in named if isinstance(name, str) and not _is_there(name)]
    if missing:
        raise SourceError(
            Sentence(
                "{text_file} needs packages that are not installed: {list}",
                text_file=path, list=", ".join(missing),
            ),
            Sentence("install them beside opcheck"),
        )  # fmt: skip


def _is_there(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def arguments_of(module: Any, path: Path, target: Any) -> Arguments:
    """What a class or function of a file is called with; ``((), {})`` where nothing tells."""
    given = getattr(module, _ARGUMENTS, None)
    if isinstance(target, type) and callable(given):
        found = given()
        return ((), found) if isinstance(found, Mapping) else (tuple(found), {})
    if path.name == _HUB and _downloads(target):
        return (), {_PRETRAINED: False}
    return (), {}


def _downloads(target: Any) -> bool:
    parameter = inspect.signature(target).parameters.get(_PRETRAINED)
    return parameter is not None and parameter.default is not False


def inputs_of(module: Any, target: Any) -> Any:
    """The inputs of a forward that a file gives for its class; None where it gives none."""
    given = getattr(module, _INPUTS, None)
    if not (isinstance(target, type) and callable(given)):
        return None
    found: Any = given()
    return tuple(found) if isinstance(found, list) else found

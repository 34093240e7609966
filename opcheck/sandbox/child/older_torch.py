"""PyTorch as an older release of it looks to a model's code, and to the libraries that it uses.

What that release lacks is hidden: ``hasattr`` does not find it, and importing it fails. PyTorch's
own code finds everything, and so does what is released with it for one version of it: who asks is
told by the module that the calling frame belongs to.
"""

import builtins
import importlib.metadata
import sys
from collections.abc import Callable, Mapping
from types import FrameType, ModuleType
from typing import Any

from opcheck.db.tables import Tables
from opcheck.db.versions import major_minor, version_key
from opcheck.model.trace import AsOlder

_OURS = frozenset({
    "torch", "torchgen", "functorch", "torchvision", "torchaudio", "triton", "opcheck",
    "importlib", "inspect",
})  # fmt: skip
"""Packages that find all of the installed torch: its own, what is built for it alone, and what
imports and looks at modules for others."""
_TENSOR, _OPERATORS = "torch.Tensor", "torch.ops.aten"
_VERSIONS = ("torch", "torch.version", "torch.torch_version")
_VERSION = "__version__"


class Hidden:
    """What of the installed torch an older one lacks."""

    def __init__(self, torch: str, tables: Tables) -> None:
        """``torch``: the older one, as ``2.7``."""
        self._torch = torch
        self.names = names_newer_than(torch, tables)
        self._asked: set[str] = set()

    @property
    def _version(self) -> str:
        return f"{self._torch}.0"

    @property
    def told(self) -> AsOlder:
        """What was hidden of what code has looked for until now."""
        return AsOlder(self._torch, tuple(sorted(self._asked)))

    def is_hidden(self, name: str, frame: FrameType | None) -> bool:
        """Whether code at ``frame`` is not to find a name, which is then noted as asked for."""
        if frame is None or _is_ours(frame.f_globals.get("__name__")):
            return False
        self._asked.add(name)
        return True

    def begin(self) -> None:
        """Hide it from all that runs from here on in this process."""
        import torch

        for module in {*self.names, *_VERSIONS}:
            if module != _TENSOR:
                self._cover(sys.modules.get(module))
        self._cover(torch.ops.aten, _OPERATORS)
        for name in self.names.get(_TENSOR, ()):
            _cover_method(torch.Tensor, name, self)
        builtins.__import__ = _watching(builtins.__import__, self)
        _tell_version(self._version)

    def covered(self, module: str) -> None:
        """Hide what a module lacks that was perhaps imported only now."""
        if module in self.names:
            self._cover(sys.modules.get(module))

    def _cover(self, module: ModuleType | None, name: str = "") -> None:
        # some modules have a class of their own that decides about attributes, or are none
        if module is None or (type(module) is not ModuleType and not name):
            return
        name = name or module.__name__
        told = {}
        if name in _VERSIONS:
            told[_VERSION] = _version_of(self._version)
        names = self.names.get(name, frozenset())
        module.__class__ = _covering(type(module), name, names, told, self)


def names_newer_than(torch: str, tables: Tables) -> Mapping[str, frozenset[str]]:
    """By module what a torch, ``2.7``, lacks; tensors and operators are listed as if modules."""
    version = version_key(major_minor(torch))
    first: dict[str, tuple[int, ...]] = {}
    for op, (since, _) in tables.history.items():
        base = op.partition("::")[2].partition(".")[0]
        first[base] = min(first.get(base, version_key(since)), version_key(since))
    newer = {
        module: frozenset(name for name, since in names.items() if version_key(since) > version)
        for module, names in tables.names.items()
    }
    return {**newer, _OPERATORS: frozenset(op for op, since in first.items() if since > version)}


def _is_ours(module: object) -> bool:
    """Whether a module finds all; code that was made at run time has no name, and is torch's."""
    return not isinstance(module, str) or module.partition(".")[0] in _OURS


def _version_of(text: str) -> str:
    from torch.torch_version import TorchVersion

    return TorchVersion(text)


def _covering(
    kind: type[ModuleType],
    module: str,
    names: frozenset[str],
    told: Mapping[str, str],
    hidden: Hidden,
) -> type[ModuleType]:
    """A class of modules that lack names, or tell others, when somebody else's code reads them."""
    read = kind.__getattribute__
    watched = names | told.keys()

    class Covering(kind):  # type: ignore[valid-type, misc]  # the module's own class
        def __getattribute__(self, name: str) -> Any:
            if name in watched:
                frame = sys._getframe(1)
                if name in told:
                    ours = _is_ours(frame.f_globals.get("__name__"))
                    return read(self, name) if ours else told[name]
                if hidden.is_hidden(f"{module}.{name}", frame):
                    raise AttributeError(f"module {module!r} has no attribute {name!r}")
            return read(self, name)

        def __dir__(self) -> list[str]:
            return [name for name in kind.__dir__(self) if name not in names]

    look = getattr(kind, "__getattr__", None)
    if look is not None:  # which Python calls after an AttributeError

        def found(self: Any, name: str) -> Any:
            if name in names and hidden.is_hidden(f"{module}.{name}", sys._getframe(1)):
                raise AttributeError(f"module {module!r} has no attribute {name!r}")
            return look(self, name)

        Covering.__getattr__ = found
    return Covering


class _Method:
    """A method or a property of tensors that others' code does not find."""

    def __init__(self, own: Any, name: str, hidden: Hidden) -> None:
        self._own, self._name, self._hidden = own, name, hidden

    def __get__(self, tensor: Any, kind: type) -> Any:
        if self._hidden.is_hidden(f"{_TENSOR}.{self._name}", sys._getframe(1)):
            raise AttributeError(f"{kind.__name__!r} object has no attribute {self._name!r}")
        return self._own.__get__(tensor, kind)


class _Property(_Method):
    """One that can be set."""

    def __set__(self, tensor: Any, value: Any) -> None:
        self._own.__set__(tensor, value)


def _cover_method(tensors: type, name: str, hidden: Hidden) -> None:
    own = next((vars(base)[name] for base in tensors.__mro__ if name in vars(base)), None)
    if hasattr(own, "__get__"):
        kind = _Property if hasattr(own, "__set__") else _Method
        setattr(tensors, name, kind(own, name, hidden))


def _watching(real: Callable[..., Any], hidden: Hidden) -> Callable[..., Any]:
    """``__import__``, which finds no module and no name of torch that is hidden."""

    def found(
        name: str,
        globals: Mapping[str, Any] | None = None,  # as __import__ has it
        locals: Mapping[str, Any] | None = None,
        fromlist: tuple[str, ...] | None = (),
        level: int = 0,
    ) -> Any:
        if level or name.partition(".")[0] != "torch" or _is_ours((globals or {}).get("__name__")):
            return real(name, globals, locals, fromlist, level)
        _require(name, fromlist or (), hidden, sys._getframe(1))
        module = real(name, globals, locals, fromlist, level)
        for one in (name, *(f"{name}.{part}" for part in fromlist or ())):
            hidden.covered(one)
        return module

    return found


def _require(name: str, parts: tuple[str, ...], hidden: Hidden, frame: FrameType) -> None:
    """Refuse an import as Python does where there is no such module, or no such name in it."""
    found = "torch"
    for part in name.split(".")[1:]:
        if part in hidden.names.get(found, ()) and hidden.is_hidden(f"{found}.{part}", frame):
            raise ModuleNotFoundError(f"No module named {f'{found}.{part}'!r}", name=name)
        found = f"{found}.{part}"
    for part in parts:
        if part in hidden.names.get(name, ()) and hidden.is_hidden(f"{name}.{part}", frame):
            raise ImportError(f"cannot import name {part!r} from {name!r}", name=name)


def _tell_version(version: str) -> None:
    """Have the metadata of the installed package give this version."""
    told = vars(importlib.metadata.Distribution)["version"].fget

    def given(self: importlib.metadata.Distribution) -> str:
        return version if self.metadata["Name"] == "torch" else str(told(self))

    importlib.metadata.Distribution.version = property(given)  # type: ignore[method-assign, assignment]

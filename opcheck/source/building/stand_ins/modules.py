"""Python modules and device types that stand in for those of a library or plugin."""

import sys
import types
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

import torch
from torch import Tensor, nn

from opcheck.model.schemas import Constant, DeviceSchema, LayerSchema, LibrarySchema, OperatorSchema
from opcheck.source.building.stand_ins.operators import dimensions, parsed, register

GIVES_WAY = "_opcheck_gives_way"
"""Attribute of a stand-in for a device module: a function that takes it away."""

_ANSWERS = {
    "is_available": False, "is_initialized": False, "device_count": 0, "empty_cache": None,
    "manual_seed": None, "manual_seed_all": None, "memory_allocated": 0,
    "max_memory_allocated": 0, "memory_reserved": 0, "max_memory_reserved": 0,
}  # fmt: skip
"""What ``torch.cuda`` answers where there is no CUDA; everything else there is an error."""


class NoDevice(ModuleType):
    """The module of a device type of which there is no device."""

    def __init__(self, plugin: str, device: DeviceSchema) -> None:
        super().__init__(f"torch.{device.type}", f"Stands in for that of {plugin}.")
        self._plugin, self._type = plugin, device.type
        for name, value in {**_ANSWERS, **device.answers}.items():
            setattr(self, name, _always(value))
        setattr(self, GIVES_WAY, self._give_way)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"{self.__name__}.{name} needs a device: {self._plugin} is not installed, and there "
            f"is no {self._type} here"
        )

    def _give_way(self) -> None:
        """Take the module and the methods away, for those of a device that is there."""
        delattr(torch, self._type)
        sys.modules.pop(self.__name__, None)
        for owner in (Tensor, nn.Module):
            delattr(owner, self._type)


def bring(plugin: str, device: DeviceSchema) -> Callable[[str], Any]:
    """Let torch have a device type as the plugin would; gives what looks names up in its module.

    Where torch has one of that name it is left as it is.
    """
    device_type = device.type
    if not hasattr(torch, device_type):
        module = NoDevice(plugin, device)
        setattr(torch, device_type, module)
        sys.modules[module.__name__] = module
        setattr(Tensor, device_type, _tensor_method(device_type))
        setattr(nn.Module, device_type, _module_method(device_type))
    return lambda name: getattr(getattr(torch, device_type), name)


def _always(value: object) -> Callable[..., Any]:
    return lambda *_, **__: value


def _tensor_method(device_type: str) -> Callable[..., Tensor]:
    def move(self: Tensor, device: Any = None, non_blocking: bool = False, **_: Any) -> Tensor:
        return self.to(_place(device_type, device), non_blocking=non_blocking)

    return move


def _module_method(device_type: str) -> Callable[..., nn.Module]:
    def move(self: nn.Module, device: Any = None) -> nn.Module:
        place = _place(device_type, device)
        moved: nn.Module = self._apply(lambda tensor: tensor.to(place))
        return moved

    return move


def _place(device_type: str, device: Any) -> Any:
    """The device as code names it, which torch refuses where there is none."""
    return f"{device_type}:{device}" if isinstance(device, int) else device or device_type


_MARK = "_opcheck_stands_for"


def modules_of(library: LibrarySchema) -> Mapping[str, types.ModuleType]:
    """The library's modules by their dotted names, the package itself first."""
    made: dict[str, types.ModuleType] = {library.name: _module(library, library.name)}
    operators = register(library)
    for dotted in library.modules:
        _parents(library, dotted, made)
    for dotted, value in _contents(library, operators).items():
        module, _, name = dotted.rpartition(".")
        _parents(library, module, made)
        setattr(made[module], name, value)
    if library.device is not None:
        look_up = bring(library.name, library.device)
        for dotted in library.device.modules:
            _parents(library, dotted, made)
            made[dotted].__dict__["__getattr__"] = look_up
    return made


def _contents(library: LibrarySchema, operators: Mapping[str, Any]) -> Mapping[str, Any]:
    found: dict[str, Any] = {
        name: _function(name, library.operators[op], operators[op], library)
        for name, op in library.functions.items()
    }
    for name, layer in library.layers.items():
        call = _function(name, library.operators[layer.calls], operators[layer.calls], library)
        found[name] = _layer(name, layer, call, library)
    found |= {name: _answering(name, value) for name, value in library.answers.items()}
    found |= {name: _passing(name) for name in library.passes}
    for name, means in library.markers.items():
        found[name] = _class(name, (), {_MARK: dict(means)})
    return found


def _parents(library: LibrarySchema, module: str, made: dict[str, types.ModuleType]) -> None:
    """Make a module and those it lies in."""
    if module in made:
        return
    parent, _, name = module.rpartition(".")
    _parents(library, parent, made)
    made[module] = _module(library, module)
    setattr(made[parent], name, made[module])


def _module(library: LibrarySchema, dotted: str) -> types.ModuleType:
    module = types.ModuleType(dotted, f"Stands in for {dotted}, which is not installed.")
    module.__path__ = []
    module.__file__ = library.path  # where a name that cannot be imported was looked for
    if library.version:
        module.__dict__["__version__"] = library.version

    def missing(name: str) -> Any:
        raise AttributeError(
            f"{dotted}.{name} is not known: {library.name} is not installed, and {library.path} "
            "does not describe it"
        )

    module.__dict__["__getattr__"] = missing
    return module


def _function(
    dotted: str, operator: OperatorSchema, op: Any, library: LibrarySchema
) -> Callable[..., Any]:
    """What calls the operator as the library's own function would."""
    schema = parsed(library, operator.name, operator.name + operator.signature)
    names = [argument.name for argument in schema.arguments]

    def function(*args: Any, **kwargs: Any) -> Any:
        if len(args) > len(names):
            raise TypeError(f"{dotted}() takes at most {len(names)} arguments, got {len(args)}")
        given = dict(zip(names, args, strict=False)) | kwargs
        if "self" in names and "input" in given:  # what torch calls the first one in Python
            given["self"] = given.pop("input")
        given = _without_markers({k: v for k, v in given.items() if k not in operator.ignores})
        for name, value in operator.only.items():
            if name in given and given[name] != value:
                raise NotImplementedError(
                    f"{dotted}({name}={given[name]!r}): {library.name} is not installed, and "
                    f"{library.path} describes it for {name}={value!r} alone"
                )
        return op(**given)

    function.apply = function  # type: ignore[attr-defined]  # where it is an autograd.Function
    return _named(dotted, function)


def _answering(dotted: str, value: Constant) -> Callable[..., Any]:
    """What computes nothing, and answers as it would where there is no device."""
    return _named(dotted, lambda *_, **__: value)


def _passing(dotted: str) -> Callable[..., Any]:
    """What gives back its first argument, which it would have made faster."""
    return _named(dotted, lambda given, *_, **__: given)


def _named(dotted: str, function: Any) -> Callable[..., Any]:
    function.__module__, _, function.__name__ = dotted.rpartition(".")
    function.__qualname__ = function.__name__
    return function  # type: ignore[no-any-return]  # Any has the attributes set


def _without_markers(given: dict[str, Any]) -> dict[str, Any]:
    """The arguments, with those that a marker stands for in its place."""
    meant: dict[str, Constant] = {}
    for value in given.values():
        meant |= getattr(value, _MARK, {}) if not isinstance(value, torch.Tensor) else {}
    return given | meant


def _layer(
    dotted: str, layer: LayerSchema, call: Callable[..., Any], library: LibrarySchema
) -> type[nn.Module]:
    """A module class with the layer's arguments and parameters."""
    where = f"layers > {dotted} > arguments"
    arguments = parsed(library, where, f"layer{layer.signature} -> ()").arguments
    inputs = parsed(library, where, _operator_of(library, layer)).arguments

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807  # a class's own
        nn.Module.__init__(self)
        self._given = _bound(dotted, arguments, args, kwargs)
        for name, one in layer.parameters.items():
            if one.when and not self._given.get(one.when):
                self.register_parameter(name, None)
            else:
                sizes = dimensions(one.shape, self._given)
                made = (torch.zeros if name == "bias" else torch.ones)(sizes)
                self.register_parameter(name, nn.Parameter(made))
        for name, value in self._given.items():
            if name not in layer.parameters:
                setattr(self, name, value)

    def forward(self: Any, *args: Any, **kwargs: Any) -> Any:
        own = {
            argument.name: getattr(self, argument.name)
            for argument in inputs
            if argument.name in layer.parameters or argument.name in self._given
        }
        rest = (argument.name for argument in inputs if argument.name not in own)
        return call(**own, **dict(zip(rest, args, strict=False)), **kwargs)

    made: type[nn.Module] = _class(dotted, (nn.Module,), {"__init__": __init__, "forward": forward})
    return made


def _operator_of(library: LibrarySchema, layer: LayerSchema) -> str:
    return layer.calls + library.operators[layer.calls].signature


def _bound(
    dotted: str, arguments: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> dict[str, Any]:
    """The constructor's arguments by name, single numbers for lists made lists."""
    names = [argument.name for argument in arguments]
    given = dict(zip(names, args, strict=False)) | dict(kwargs)
    unknown = sorted(given.keys() - set(names))
    if unknown or len(args) > len(names):
        raise TypeError(f"{dotted}() takes {', '.join(names)}; got {', '.join(unknown) or args}")
    found = {}
    for argument in arguments:
        if argument.name not in given and not argument.has_default_value():
            raise TypeError(f"{dotted}() needs the argument {argument.name!r}")
        value = given.get(argument.name, argument.default_value)
        if str(argument.type) == "List[int]" and isinstance(value, int):
            value = [value] * (argument.N or 1)
        found[argument.name] = list(value) if isinstance(value, list | tuple) else value
    return found


def _class(dotted: str, bases: tuple[type, ...], members: dict[str, Any]) -> Any:
    module, _, name = dotted.rpartition(".")
    return type(name, bases, {**members, "__module__": module, "__qualname__": name})

"""``path/to/file.py:name``: a factory, a module class or a module in a Python file."""

import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from opcheck.errors import SourceError, UsageError
from opcheck.lang.sentence import Sentence, verbatim
from opcheck.source import base, conventions, model_configs
from opcheck.source.base import Loaded, LoadOptions, Source
from opcheck.source.user_code import FORM, look_up, parts_of, require_names, run_file

if TYPE_CHECKING:
    from types import ModuleType


class PythonFile(Source):
    """Runs a Python file and builds the model that a name in it stands for."""

    name = "python"
    code = True
    help = "path/to/file.py:NAME (a factory, a module class or a module; or several: NAME,NAME)"

    @classmethod
    def claims(cls, text: str) -> bool:
        """Whether it names a ``.py`` file."""
        return FORM.fullmatch(text) is not None

    @classmethod
    def path(cls, text: str) -> Path | None:
        """The file, without the name in it."""
        return parts_of(text)[0]

    def check(self, text: str, options: LoadOptions) -> None:
        """Find the file, a syntax error in it, or that no name was given."""
        names = _names(text)
        if len({*names}) < len(names):
            raise UsageError(
                Sentence("{text}: names a model twice", text=text), Sentence("name each once")
            )
        if len(names) > 1 and options.calls.input_sets:
            raise UsageError(
                Sentence("--inputs gives the inputs of one model, and several are named"),
                Sentence("name one, or return (model, inputs) from each factory"),
            )

    def load(self, text: str, options: LoadOptions) -> Loaded:
        """Run the file, then build the model."""
        from opcheck.source.building.build import build, make
        from opcheck.source.building.several import taken_by, together

        self.check(text, options)
        path, names = parts_of(text)[0], _names(text)
        notes: tuple[str, ...] = ()
        module: ModuleType | None = None
        if model_configs.is_settings(path):
            pass  # its library reads it
        elif options.weights:  # once and for real: a second time might register things twice
            module = make(verbatim(path), lambda: run_file(path))
        else:
            module, notes = build(verbatim(path), lambda: run_file(path))
        if module is not None:
            conventions.require_dependencies(module, path)
        made = {name: _made(module, path, name, options) for name in names}
        if len(made) > 1:
            asked = taken_by({name: one.model for name, one in made.items()}, options)
        else:
            asked = {names[0]: options}
        loaded = together({name: self._ready(one, path, asked[name]) for name, one in made.items()})
        return replace(loaded, notes=(*notes, *loaded.notes))

    def _ready(self, made: "_Made", path: Path, options: LoadOptions) -> Loaded:
        from opcheck.source.building.ready import ready

        file = base.digest_of_file(path)
        return ready(
            made.model, made.inputs, options, kind=self.name, digest=file, notes=made.notes
        )


def _names(text: str) -> list[str]:
    """The names of models in the file; in a config a convention gives the one that is left out."""
    path, names = parts_of(text)
    if model_configs.is_settings(path):
        return [name or model_configs.MODEL for name in names]
    return require_names(text, conventional=True)


class _Made(Struct, frozen=True):
    """What a name in the file stands for."""

    model: Any
    inputs: Any
    """None where it gave none."""
    notes: tuple[str, ...]


def _made(module: "ModuleType | None", path: Path, name: str, options: LoadOptions) -> _Made:
    from opcheck.source.building.build import build

    if module is None:
        what = Sentence("{name} of {text}", name=name, text=path)
        made, notes = build(what, lambda: model_configs.built(path, name), weights=options.weights)
        return _Made(*_taken_apart(made, what), notes)
    target = look_up(module, path, name)
    what = Sentence("{name}() of {text}", name=name, text=path)

    def make() -> Any:
        made = _call(module, path, target, what)
        inputs = conventions.inputs_of(module, target)
        return made if inputs is None or isinstance(made, tuple) else (made, inputs)

    made, notes = build(what, make, weights=options.weights)
    return _Made(*_taken_apart(made, what), notes)


def _call(module: "ModuleType", path: Path, target: Any, what: str) -> Any:
    from torch import nn

    if isinstance(target, nn.Module) or not callable(target):
        return model_configs.instantiated(target)
    try:
        signature = inspect.signature(target)
    except ValueError:  # a builtin without a signature
        return target()
    given, named = conventions.arguments_of(module, path, target)
    required = [
        parameter.name
        for parameter in signature.parameters.values()
        if parameter.default is parameter.empty
        and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    ]
    if required and not (given or named):
        raise SourceError(
            Sentence("{text} needs arguments: {list}", text=what, list=", ".join(required)),
            Sentence("write a function without arguments that passes them, and scan that"),
        )
    return target(*given, **named)


def _taken_apart(made: Any, what: str) -> tuple[Any, Any]:
    """Split what a factory returned into module and inputs; inputs are None if it gave none."""
    from torch import nn

    from opcheck.source.building.example import normalise

    if isinstance(made, nn.Module):
        return made, None
    if isinstance(made, tuple) and len(made) == 2 and isinstance(made[0], nn.Module):
        return made[0], normalise(what, made[1])
    kind = type(made).__name__
    raise SourceError(
        Sentence(
            "{text} gives {type}, want a torch.nn.Module or (module, inputs)", text=what, type=kind
        ),
        Sentence("return the model itself, not its outputs, weights or config"),
    )

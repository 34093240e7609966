"""Several calls run as one - of one model on sets of inputs, or of models that belong together."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from msgspec.structs import replace
from torch import nn

from opcheck.errors import SourceError
from opcheck.lang.sentence import Sentence, chained, verbatim
from opcheck.source.base import Loaded, LoadOptions
from opcheck.source.building.build import build, make
from opcheck.source.building.example import Inputs, Signature, normalise
from opcheck.source.user_code import look_up, require_names, run_once

Given = tuple[tuple[Any, ...], Mapping[str, Any]]
"""Positional and named inputs of one call."""


class Repeated(nn.Module):
    """One model, called on one set of inputs after another."""

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self._orig_mod = module
        """By the name that torch.compile gives what it wraps: no path shows it."""

    def forward(self, *sets: Given) -> tuple[Any, ...]:
        """Give the output for each set."""
        return tuple(self._orig_mod(*args, **kwargs) for args, kwargs in sets)


class Together(nn.Module):
    """Models by name, each called once; the paths of their modules begin with the name."""

    def __init__(self, parts: Mapping[str, nn.Module]) -> None:
        super().__init__()
        for name, part in parts.items():
            self.add_module(name.replace(".", "_"), part)

    def forward(self, *sets: Given) -> tuple[Any, ...]:
        """Give the output of each part for its inputs."""
        parts = zip(self.children(), sets, strict=True)
        return tuple(part(*args, **kwargs) for part, (args, kwargs) in parts)


def repeated(module: nn.Module, sets: Sequence[Inputs]) -> tuple[nn.Module, Inputs]:
    """One module that calls ``module`` on each of ``sets``, with its inputs; itself on one set."""
    if len(sets) == 1:
        return module, sets[0]
    return Repeated(module), (tuple(sets), {})


def together(loaded: Mapping[str, Loaded]) -> Loaded:
    """One model that calls each of ``loaded``; itself where it is one."""
    first, *others = loaded.values()
    if not others:
        return first
    notes = [f"{name}: {note}" for name, one in loaded.items() for note in one.notes]
    return replace(
        first,
        module=Together({name: _module(one) for name, one in loaded.items()}),
        args=tuple((one.args, one.kwargs) for one in loaded.values()),
        kwargs={},
        notes=(Sentence("called one after another: {list}", list=", ".join(loaded)), *notes),
        unseen=tuple(dict.fromkeys(gap for one in loaded.values() for gap in one.unseen)),
    )


def taken_by(models: Mapping[str, nn.Module], options: LoadOptions) -> Mapping[str, LoadOptions]:
    """The options of each model: of the named inputs, those that its forward takes.

    Raises:
        SourceError: none takes one of them.
    """
    signatures = {name: Signature.of(model) for name, model in models.items()}
    for spec in options.inputs:
        if spec.name and not any(known.takes(spec.name) for known in signatures.values()):
            raise SourceError(
                Sentence(
                    "--input {name}=…: no forward has a parameter {name_b}",
                    name=spec.name,
                    name_b=repr(spec.name),
                ),
                chained(
                    [
                        Sentence("{name} takes {list}", name=name, list=known)
                        for name, known in signatures.items()
                    ],
                    "; ",
                ),
            )
    return {
        name: replace(
            options,
            inputs=tuple(s for s in options.inputs if not s.name or known.takes(s.name)),
        )
        for name, known in signatures.items()
    }


def _module(loaded: Loaded) -> nn.Module:
    assert isinstance(loaded.module, nn.Module), "every source that has parts makes modules"
    return loaded.module


MOST = 64
"""Sets that one scan may have; a function that never ends is stopped there."""
_HINT = Sentence(
    "write def make_inputs(): ... that yields, or returns a list of, what "
    "the model is called with: a tensor, a tuple of arguments, a dict of "
    "named ones, or (tuple, dict)"
)


def sets_of(what: str, made: Any) -> tuple[Inputs, ...]:
    """The sets of inputs in a list or an iterator; what is neither is one set.

    Raises:
        SourceError: there is none, there are too many, or one is no input.
    """
    if not isinstance(made, list | Iterator):
        return (normalise(what, made),)
    sets = list(islice(iter(made), MOST + 1))
    if not sets:
        raise SourceError(Sentence("{said} gives no inputs", said=what), _HINT)
    if len(sets) > MOST:
        raise SourceError(
            Sentence("{said} gives more than {count} sets of inputs", said=what, count=MOST),
            Sentence("give those that differ"),
        )
    return tuple(
        normalise(Sentence("{said}, set {count}", said=what, count=place), one)
        for place, one in enumerate(sets, 1)
    )


def sets_named(text: str, *, values: bool) -> tuple[Inputs, ...]:
    """What the function that ``FILE.py:NAME`` stands for gives; large tensors without ``values``.

    Raises:
        SourceError: there is no such file or name, it fails, or what it gives are no inputs.
    """
    require_names(text)
    path, _, name = text.rpartition(":")
    found = look_up(make(verbatim(path), lambda: run_once(Path(path))), Path(path), name)
    what = Sentence("{name}() of {text}", name=name, text=path)
    if not callable(found):
        raise SourceError(
            Sentence("{text} is {type}, want a function", text=text, type=type(found).__name__),
            _HINT,
        )
    if values:
        return make(what, lambda: sets_of(what, found()), _HINT)
    sets, _ = build(what, lambda: sets_of(what, found()), _HINT)
    return sets

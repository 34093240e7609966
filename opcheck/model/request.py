"""What the user asks for - one model, its calls, a training step - and for which targets."""

import difflib
import math
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from opcheck.errors import UsageError
from opcheck.lang.sentence import Sentence
from opcheck.model.dynamic import DynamicInput
from opcheck.model.target import TargetSpec


class CallSpec(Struct, frozen=True):
    """What the user asked for beyond one call."""

    input_sets: str = ""
    """``FILE.py:NAME`` of a function that gives sets of inputs, one call each; "": none."""
    decode: bool = False
    """Whether one more token follows, with the cache that the first call leaves."""

    @staticmethod
    def parse(input_sets: str = "", *, decode: bool = False) -> "CallSpec":
        """Read ``--inputs`` and ``--decode``.

        Raises:
            UsageError: ``input_sets`` does not name a function in a Python file.
        """
        path, _, name = input_sets.rpartition(":")
        if input_sets and not (path.endswith(".py") and name.isidentifier()):
            raise UsageError(
                Sentence("--inputs {text} is not the name of a function", text=repr(input_sets)),
                Sentence(
                    "write FILE.py:NAME; a single input is given with --input NAME=SHAPE:DTYPE"
                ),
            )
        return CallSpec(input_sets, decode)


OPTIMIZERS: Mapping[str, tuple[str, ...]] = {
    "adadelta": ("plain", "foreach"),
    "adafactor": ("plain", "foreach"),
    "adagrad": ("plain", "foreach", "fused"),
    "adam": ("plain", "foreach", "fused"),
    "adamax": ("plain", "foreach"),
    "adamw": ("plain", "foreach", "fused"),
    "asgd": ("plain", "foreach"),
    "nadam": ("plain", "foreach"),
    "radam": ("plain", "foreach"),
    "rmsprop": ("plain", "foreach"),
    "rprop": ("plain", "foreach"),
    "sgd": ("plain", "foreach", "fused"),
}
"""Optimizer of ``torch.optim`` in lower case -> the implementations that it has."""
AUTOCAST = ("float16", "bfloat16")
"""What the forward may be cast to."""
WRAPS = ("ddp", "fsdp2")
"""How a model may be made one of several processes that train it."""
OPTIMIZER, WRAPPER = "(the optimizer)", "(the wrapper)"
"""Places outside the model: what steps the parameters, and what has processes train together."""
_YES_OR_NO = {"true": True, "false": False}


class TrainingSpec(Struct, frozen=True):
    """One training step: forward, loss, backward, optimizer; and what surrounds them."""

    optimizer: str = "adamw"
    """A key of ``OPTIMIZERS``."""
    implementation: str = ""
    """``foreach``, ``fused`` or ``plain`` (one parameter after the other); "": torch chooses."""
    autocast: str = ""
    """The dtype that the forward runs under ``torch.autocast`` in; "" without it."""
    scaler: bool = False
    """Whether a ``torch.amp.GradScaler`` scales the loss and unscales the gradients."""
    clip: float | None = None
    """The norm that all gradients together are clipped to; None: they are not."""
    loss: str = ""
    """``FILE.py:NAME`` of a function that makes the loss of the output; "": the model's own, else
    the sum of the means of its outputs."""
    checkpointing: bool = False
    """Whether the model is told to compute activations again in backward, as its library does."""
    wrap: str = ""
    """A member of ``WRAPS``: the model is trained by several processes; "": by one."""

    @staticmethod
    def parse(texts: Sequence[str]) -> "TrainingSpec":
        """Read ``NAME=VALUE`` texts, of which the last of one name holds.

        Raises:
            UsageError: an unknown name, or a value that it does not take.
        """
        spec = TrainingSpec()
        for text in texts:
            name, sep, value = text.partition("=")
            if name not in _READERS:
                raise UsageError(
                    Sentence(
                        "--step {text}: unknown part {name}", text=repr(text), name=repr(name)
                    ),
                    _nearest(name),
                )
            if not sep or not value:
                raise UsageError(
                    Sentence("--step {text}: no value", text=repr(text)),
                    Sentence("write {name}={text}", name=name, text=_FORMS[name]),
                )
            spec = _READERS[name](spec, value, text)
        return spec


def _optimizer(spec: TrainingSpec, value: str, text: str) -> TrainingSpec:
    name, sep, implementation = value.partition(":")
    if name not in OPTIMIZERS:
        known = difflib.get_close_matches(name, OPTIMIZERS, 3, 0.4) or list(OPTIMIZERS)
        raise UsageError(
            Sentence("--step {text}: unknown optimizer {name}", text=repr(text), name=repr(name)),
            _one_of(known),
        )
    if sep and implementation not in OPTIMIZERS[name]:
        raise UsageError(
            Sentence(
                "--step {text}: {name} has no implementation {text_way}",
                text=repr(text),
                name=name,
                text_way=repr(implementation),
            ),
            _one_of(OPTIMIZERS[name]),
        )
    return replace(spec, optimizer=name, implementation=implementation)


def _autocast(spec: TrainingSpec, value: str, text: str) -> TrainingSpec:
    if value not in AUTOCAST:
        raise UsageError(
            Sentence(
                "--step {text}: cannot cast to {text_dtype}",
                text=repr(text),
                text_dtype=repr(value),
            ),
            _one_of(AUTOCAST),
        )
    return replace(spec, autocast=value)


def _wrap(spec: TrainingSpec, value: str, text: str) -> TrainingSpec:
    if value not in WRAPS:
        raise UsageError(
            Sentence(
                "--step {text}: unknown wrapper {text_value}",
                text=repr(text),
                text_value=repr(value),
            ),
            _one_of(WRAPS),
        )
    return replace(spec, wrap=value)


def _clip(spec: TrainingSpec, value: str, text: str) -> TrainingSpec:
    try:
        norm = float(value)
    except ValueError:
        norm = math.nan
    if not 0 < norm < math.inf:
        raise UsageError(
            Sentence(
                "--step {text}: {text_value} is no norm", text=repr(text), text_value=repr(value)
            ),
            Sentence("write clip=1.0"),
        )
    return replace(spec, clip=norm)


def _loss(spec: TrainingSpec, value: str, text: str) -> TrainingSpec:
    path, _, name = value.rpartition(":")
    if not (path.endswith(".py") and name.isidentifier()):
        raise UsageError(
            Sentence(
                "--step {text}: {text_value} is not the name of a function",
                text=repr(text),
                text_value=repr(value),
            ),
            Sentence("write FILE.py:NAME"),
        )
    return replace(spec, loss=value)


def _flag(text: str, value: str) -> bool:
    if value not in _YES_OR_NO:
        name = text.partition("=")[0]
        raise UsageError(
            Sentence(
                "--step {text}: {text_b} is neither true nor false",
                text=repr(text),
                text_b=repr(value),
            ),
            Sentence("write {name}=true", name=name),
        )
    return _YES_OR_NO[value]


_READERS: Mapping[str, Callable[[TrainingSpec, str, str], TrainingSpec]] = {
    "optimizer": _optimizer,
    "autocast": _autocast,
    "scaler": lambda spec, value, text: replace(spec, scaler=_flag(text, value)),
    "clip": _clip,
    "loss": _loss,
    "checkpointing": lambda spec, value, text: replace(spec, checkpointing=_flag(text, value)),
    "wrap": _wrap,
}
_FORMS: Mapping[str, str] = {
    "optimizer": "adamw:fused",
    "autocast": "bfloat16",
    "scaler": "true",
    "clip": "1.0",
    "loss": "FILE.py:NAME",
    "checkpointing": "true",
    "wrap": "ddp",
}
"""Part of a step -> a value that it takes."""


def _nearest(name: str) -> Sentence:
    near = difflib.get_close_matches(name, _READERS, 1)
    return (
        Sentence("did you mean {text}?", text=f"{near[0]}={_FORMS[near[0]]}")
        if near
        else _one_of(list(_READERS))
    )


def _one_of(names: Sequence[str]) -> Sentence:
    return Sentence("give one of {list}", list=", ".join(names))


class ModelSpec(Struct, frozen=True):
    """One model, what it is called on, and what loading and running it may use."""

    source: str
    """A file, a directory or a name, as the user wrote it."""
    inputs: tuple[str, ...] = ()
    """``--input``, as the user wrote them: ``ids=1x128:int64``, parsed by ``source``."""
    step: TrainingSpec | None = None
    """The training step to run; None: a forward."""
    calls: CallSpec = CallSpec()
    """The calls beyond one."""
    dynamic: tuple[DynamicInput, ...] = ()
    """Inputs with dimensions whose size is not always the same."""
    schemas: tuple[str, ...] = ()
    """Files of the user's with operator schemas of libraries that are not installed."""
    patched: Mapping[str, str] = field(default_factory=dict)
    """Path of a Python file of the user's -> the file whose text is imported in its place."""
    patches: tuple[str, ...] = ()
    """Python files whose ``patch`` the model goes through once it is loaded."""
    trust: bool = False
    """Whether pickled code in the source may run."""
    timeout: float | None = None
    """Seconds for loading and running the model; None: the default of the source's kind."""
    memory: float | None = None
    """GiB for the process that loads and runs the model; None: most of what the machine has."""
    older_torch: str = ""
    """The torch, ``2.7``, that its code is to find, with what that lacks hidden; "": the installed
    one."""


class ScanRequest(Struct, frozen=True):
    """One scan, before anything is loaded or looked up."""

    model: ModelSpec
    targets: tuple[TargetSpec, ...]
    """Empty: the newest release of every target in the database."""
    exact: bool = False
    """Whether to record the kernels of every target, not only where that is free."""
    databases: tuple[str, ...] = ()
    """Folders of overlays, of which the last one holds."""
    max_age: int | None = None
    """Days that the vendors' data may be old; None: any age will do."""
    rules: tuple[str, ...] = ()
    """Folders of the user's own rewrite rules, for a plan."""
    explained: bool = False
    """Whether each finding is to list the steps that led to it."""

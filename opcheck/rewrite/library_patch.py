"""A Python module that has layers of a library call other functions, with the library as it is."""

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from opcheck.model.jobs import LayerClass
from opcheck.rewrite.source.changing import Form
from opcheck.rewrite.text import Module
from opcheck.version import __version__


class PatchedLayer(Struct, frozen=True):
    """Layers of one class, and what they call now."""

    paths: tuple[str, ...]
    """Of the modules, layer numbers as ``*``."""
    layer: LayerClass
    forms: Mapping[str, Form]
    """Spelling of a function -> what is called for it."""


class PatchedAttention(Struct, frozen=True):
    """Attention that models of transformers look up by a name, and what it calls now."""

    package: str
    version: str
    paths: tuple[str, ...]
    """Of the layers that were seen to call it, layer numbers as ``*``."""
    forms: Mapping[str, Form]
    """Spelling of a function -> what is called for it."""


_HEAD = '''\
"""Layers of libraries call other functions, for {target}.

{layers}

Written by opcheck {version}. The library stays as it is; {how}:

    import {module}

    model = {module}.patch(model)

In the forward of these layers, and of layers inside of them, functions that are defined here are
called in place of

{calls}

A call that passes something else than these take stays as it is.
"""
'''
_BY_SUBCLASS = """\
the layers become ones of subclasses, with
the same parameters, buffers and names, so that a state_dict fits before and after"""
_BY_NAME = """\
models of transformers
whose attention is "sdpa" get one that is registered under a name of its own, and is as that one but
for what it calls"""
_VERSIONS = '''\
VERSIONS = {versions}
"""The libraries that the layers are of, as they were when this was written and proved."""


def _require_versions():
    for name, wanted in VERSIONS.items():
        found = importlib.metadata.version(name)
        if found != wanted:
            raise ImportError(
                f"{{__file__}} is for {{name}} {{wanted}}, and {{found}} is installed: have "
                "opcheck fix --patch write it anew"
            )


_require_versions()
'''
_TAIL = '''\
class _Instead(TorchFunctionMode):
    """Calls other functions, wherever a call is one that those take."""

    def __init__(self, functions):
        super().__init__()
        self._functions = functions

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        instead = self._functions.get(func)
        if instead is not None:
            named = {_NAMES.get(name, name): value for name, value in kwargs.items()}
            if "input" in named and "input" not in inspect.signature(instead).parameters:
                args = (named.pop("input"), *args)
            try:
                inspect.signature(instead).bind(*args, **named)
            except TypeError:
                return func(*args, **kwargs)
            return instead(*args, **named)
        return func(*args, **kwargs)


_NAMES = {"axis": "dim", "keepdims": "keepdim"}
"""Names of arguments that NumPy has, and PyTorch takes as well."""
'''
_ATTENTION = '''\
ATTENTION = "{module}"
"""The name that the attention is registered under."""
_ATTENTION_CALLS = {calls}


def _called_by_name(module, *args, **kwargs):
    """The attention of transformers that is called "sdpa", where it calls what is defined here."""
    with _Instead(_ATTENTION_CALLS):
        return transformers.integrations.sdpa_attention.sdpa_attention_forward(
            module, *args, **kwargs
        )


transformers.modeling_utils.ALL_ATTENTION_FUNCTIONS.register(ATTENTION, _called_by_name)
transformers.masking_utils.ALL_MASK_ATTENTION_FUNCTIONS.register(
    ATTENTION, transformers.masking_utils.ALL_MASK_ATTENTION_FUNCTIONS["sdpa"]
)


def _attend(model):
    """Set the attention of every model of transformers in a model that has "sdpa"."""
    kind = transformers.modeling_utils.PreTrainedModel
    models = [each for each in model.modules() if isinstance(each, kind)]
    for each in models:
        if each.config._attn_implementation == "sdpa":
            each.set_attn_implementation({{"": ATTENTION}})
    if not any(each.config._attn_implementation == ATTENTION for each in models):
        raise ValueError("the model has no attention of transformers that is called by a name")
'''
_PATCH = '''\
def patch(model):
    """Have a model call what is defined here; gives the same model."""
{attended}    done = set()
    for path, layer in model.named_modules(remove_duplicate=False):
        place = re.sub(r"(?<![^.])\\d+(?![^.])", "*", path)
        wanted = LAYERS.get((place, type(layer)))
        if wanted is not None:
            layer.__class__ = wanted
            done.add(place)
    missing = sorted({place for place, _ in LAYERS} - done)
    if missing and not any(type(layer) in LAYERS.values() for layer in model.modules()):
        raise ValueError(f"the model has no such layers: {', '.join(missing)}")
    return model
'''


def library_patch(
    layers: Sequence[PatchedLayer],
    target: str,
    module: str,
    attention: PatchedAttention | None = None,
) -> str:
    """The text of the module.

    Args:
        layers: by class, sorted; of libraries alone.
        target: for which it is written.
        module: what it is called by ``import``.
        attention: of models of transformers, which is registered in place of subclasses.
    """
    room = Module()

    def named(forms: Mapping[str, Form]) -> Mapping[str, str]:
        return {spelling: room.add(form.code, form.function) for spelling, form in forms.items()}

    functions = [named(one.forms) for one in layers]
    attending = _attending(named(attention.forms), module) if attention else ""
    every = [one.forms for one in layers] + ([attention.forms] if attention else [])
    spellings = sorted({spelling for one in every for spelling in one})
    shown = {f"{one.layer.shown}: {path}" for one in layers for path in one.paths}
    versions = {one.layer.package: one.layer.version for one in layers}
    ways = [_BY_SUBCLASS] if layers else []
    if attention:
        versions[attention.package] = attention.version
        shown |= {f"{attention.package} {attention.version}: {path}" for path in attention.paths}
        ways.append(_BY_NAME)
    head = _HEAD.format(
        layers=_listed(shown),
        how=",\nand ".join(ways),
        target=target,
        version=__version__,
        module=module,
        calls=_listed(map(_meant, spellings)),
    )
    listed = "".join(f'\n    "{name}": "{found}",' for name, found in sorted(versions.items()))
    parts = [
        _VERSIONS.format(versions=f"{{{listed}\n}}").rstrip(),
        room.body,
        _TAIL.rstrip(),
        attending,
        _PATCH.replace("{attended}", "    _attend(model)\n" if attention else "").rstrip(),
        *(_subclass(*each) for each in zip(layers, functions, range(len(layers)), strict=True)),
        _table(layers),
    ]
    more = _OF_TRANSFORMERS if attention else ()
    return f"{head}\n{_imports(room, layers, more)}\n\n" + "\n\n\n".join(filter(None, parts)) + "\n"


def _listed(items: Iterable[str]) -> str:
    return "\n".join(f"    {item}" for item in sorted(items))


_OF_TRANSFORMERS = (
    "import transformers.integrations.sdpa_attention", "import transformers.masking_utils",
    "import transformers.modeling_utils",
)  # fmt: skip


def _attending(functions: Mapping[str, str], module: str) -> str:
    return _ATTENTION.format(module=module, calls=_calls(functions)).rstrip()


def _calls(functions: Mapping[str, str]) -> str:
    found = "".join(f"\n    {_meant(s)}: {functions[s]}," for s in sorted(functions))
    return f"{{{found}\n}}"


def _imports(room: Module, layers: Sequence[PatchedLayer], more: Sequence[str]) -> str:
    own = {
        "import importlib.metadata", "import inspect", "import re", "import torch",
        "from torch.overrides import TorchFunctionMode",
    }  # fmt: skip
    own |= {f"import {one.layer.module}" for one in layers} | {*more}
    lines = sorted(own | set(room.imports.splitlines()))
    plain = [line for line in lines if line.startswith("import ")]
    return "\n".join([*plain, *(line for line in lines if line not in plain)])


def _name(layer: LayerClass, number: int) -> str:
    return f"Patched{layer.name.rpartition('.')[2]}{number or ''}"


def _subclass(one: PatchedLayer, functions: Mapping[str, str], number: int) -> str:
    name = _name(one.layer, number)
    return (
        f"_CALLS_{number} = {_calls(functions)}\n\n\n"
        f"class {name}({one.layer.module}.{one.layer.name}):\n"
        f'    """Calls other functions; all else is as {one.layer.shown} has it."""\n\n'
        "    def forward(self, *args, **kwargs):\n"
        f"        with _Instead(_CALLS_{number}):\n"
        "            return super().forward(*args, **kwargs)"
    )


def _meant(spelling: str) -> str:
    """The function that a spelling stands for."""
    return f"torch.{spelling}" if spelling.startswith("Tensor.") else spelling


def _table(layers: Sequence[PatchedLayer]) -> str:
    rows = "".join(
        f'\n    ("{path}", {one.layer.module}.{one.layer.name}): {_name(one.layer, number)},'
        for number, one in enumerate(layers)
        for path in one.paths
    )
    table = f"{{{rows}\n}}" if rows else "{}"
    return (
        f"LAYERS = {table}\n"
        '"""Path of layers, numbers as ``*``, and their class -> the class that they become."""'
    )

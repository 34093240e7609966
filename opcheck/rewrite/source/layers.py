"""What stands for the calls that a rule knows, and for layers whose forward makes them."""

import ast
import builtins
import inspect
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from functools import cache

import torch

from opcheck.rewrite.base import Rule, rules
from opcheck.rewrite.source.call_sites import Parameters
from opcheck.rewrite.source.changing import Form
from opcheck.rewrite.text import standalone

FUNCTIONS = "torch.nn.functional."
"""How the spelling of a function that layers call begins."""
_OF_F = re.compile(r"\bF\.(\w+)")
_KNOWN = frozenset((*dir(builtins), "F", "torch"))


def layers_calling(spelling: str, parameters: Parameters) -> tuple[str, ...]:
    """Names in ``torch.nn`` of layers whose forward calls ``torch.nn.functional.NAME`` itself.

    Args:
        spelling: of the function.
        parameters: what is to be called instead; layers that pass it more are left out.
    """
    name = spelling.removeprefix(FUNCTIONS)
    layers = _layers().get(name, ()) if spelling.startswith(FUNCTIONS) else ()
    return tuple(
        layer
        for layer in layers
        if not any(_misfit(call, parameters) for call in _calls(_forward(layer), name))
    )


def layer_calling(layer: str, spelling: str, function: str) -> tuple[str, str]:
    """A class that is ``torch.nn.LAYER`` but for what its forward calls; its text and its name.

    The forward is PyTorch's own, with ``function`` in the place of ``spelling``.
    """
    forward = _forward(layer)
    assert forward is not None, "a layer that calls it"
    short = spelling.removeprefix(FUNCTIONS)
    lines = _source(layer).splitlines()[forward.body[0].lineno - 1 : forward.end_lineno]
    body = _OF_F.sub(
        lambda found: function if found[1] == short else f"{FUNCTIONS}{found[1]}",
        textwrap.dedent("\n".join(lines)),
    )
    name = f"Swapped{layer}"
    text = (
        f"class {name}(torch.nn.{layer}):\n"
        f'    """``torch.nn.{layer}`` whose forward calls ``{function}``."""\n\n'
        f"    def forward({ast.unparse(forward.args)}):\n{textwrap.indent(body, ' ' * 8)}\n"
    )
    return text, name


def _source(layer: str) -> str:
    return textwrap.dedent(inspect.getsource(getattr(torch.nn, layer).forward))


@cache
def _layers() -> Mapping[str, tuple[str, ...]]:
    """Name of a function -> the layers that call it, sorted."""
    found: dict[str, list[str]] = {}
    for layer in sorted(vars(torch.nn)):
        for call in _calls(_forward(layer)):
            assert isinstance(call.func, ast.Attribute), "of F"
            found.setdefault(call.func.attr, []).append(layer)
    return {name: tuple(dict.fromkeys(layers)) for name, layers in found.items()}


def _forward(layer: str) -> ast.FunctionDef | None:
    """What the forward of a layer does, without annotations; None if it needs more than torch."""
    kind = getattr(torch.nn, layer)
    if not (isinstance(kind, type) and issubclass(kind, torch.nn.Module)):
        return None
    (statement,) = ast.parse(_source(layer)).body
    if not isinstance(statement, ast.FunctionDef) or statement.decorator_list:
        return None
    statement.returns = None
    for argument in ast.walk(statement.args):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    if ast.get_docstring(statement) is not None:
        statement.body = statement.body[1:]
    names = [node for node in ast.walk(statement) if isinstance(node, ast.Name)]
    own = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    own |= {node.arg for node in ast.walk(statement) if isinstance(node, ast.arg)}
    needs = {node.id for node in names} - own
    asked = [node.attr for node in ast.walk(statement) if isinstance(node, ast.Attribute)]
    is_plain = not any(name.startswith("_") for name in asked) and needs <= _KNOWN
    return statement if is_plain and statement.body else None


def _calls(forward: ast.FunctionDef | None, wanted: str = "") -> Iterator[ast.Call]:
    """What it calls of ``F``: all of it, or what has one name."""
    for node in ast.walk(forward) if forward is not None else ():
        if isinstance(node, ast.Call):
            match node.func:
                case ast.Attribute(value=ast.Name(id="F"), attr=name) if wanted in ("", name):
                    yield node


def _misfit(call: ast.Call, parameters: Parameters) -> str:
    keywords = [keyword.arg or "**" for keyword in call.keywords]
    return parameters.misfit(len(call.args), keywords)


def forms_of(name: str, extra: Iterable[Rule] = ()) -> Mapping[str, Form]:
    """Spelling -> what to call for it; empty where no rule of that name knows any.

    Layers whose forward makes such a call have one as well: ``torch.nn.Unfold``.

    Args:
        name: of a rule.
        extra: rules of the user's.
    """
    rule = next((rule for rule in (*extra, *rules()) if rule.name == name), None)
    if rule is None:
        return {}
    functions = {spelling: type(rule).replace for spelling in rule.spellings} | dict(rule.spelled)
    forms = {
        spelling: Form(standalone(function), function.__name__)
        for spelling, function in functions.items()
    }
    layers = [_layer_forms(spelling, form) for spelling, form in forms.items()]
    forms = _in_place(forms) | forms
    return forms | {layer: form for found in layers for layer, form in found.items()}


def _in_place(forms: Mapping[str, Form]) -> dict[str, Form]:
    """Spellings that write to their first argument, by the names of those that do not."""
    found: dict[str, Form] = {}
    for spelling, form in forms.items():
        owner, _, name = spelling.rpartition(".")
        home = {"torch": torch, "Tensor": torch.Tensor}.get(owner)
        if home is not None and hasattr(home, f"{name}_"):
            found[f"{spelling}_"] = Form(form.code, form.function, in_place=True)
    return found


def _layer_forms(spelling: str, form: Form) -> Mapping[str, Form]:
    """Layers that make such a call -> the class to construct instead."""
    forms: dict[str, Form] = {}
    for layer in layers_calling(spelling, Parameters.of(form.code, form.function)):
        text, name = layer_calling(layer, spelling, form.function)
        code = f"import torch\n{form.code}\n\n{text}"
        forms[f"torch.nn.{layer}"] = Form(code, name, is_layer=True)
    return forms

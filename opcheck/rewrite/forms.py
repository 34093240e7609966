"""What may be called in a user's source instead of the calls that a rule knows the spelling of."""

from collections.abc import Iterable, Mapping

from opcheck.rewrite.base import Rule, rules
from opcheck.rewrite.binding import Parameters
from opcheck.rewrite.layers import layer_calling, layers_calling
from opcheck.rewrite.swapping import Form
from opcheck.rewrite.text import standalone


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
    layers = (_layers(spelling, form) for spelling, form in forms.items())
    return forms | {layer: form for found in layers for layer, form in found.items()}


def _layers(spelling: str, form: Form) -> Mapping[str, Form]:
    """Layers that make such a call -> the class to construct instead."""
    forms: dict[str, Form] = {}
    for layer in layers_calling(spelling, Parameters.of(form.code, form.function)):
        text, name = layer_calling(layer, spelling, form.function)
        code = f"import torch\n{form.code}\n\n{text}"
        forms[f"torch.nn.{layer}"] = Form(code, name, is_layer=True)
    return forms

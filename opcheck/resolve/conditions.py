"""Whether a condition of the matrix matches a use, with the dtypes that autocast gives it."""

from collections.abc import Mapping

from msgspec.structs import replace

from opcheck.lang.sentence import Sentence, place_names
from opcheck.model.matrix import Condition
from opcheck.model.predicates import Match
from opcheck.model.trace import Constant, Node, TensorMeta, Value


def with_dtypes(node: Node, casts: Mapping[str, str]) -> Node:
    """The same call with tensors of other dtypes: dtype in the trace -> dtype on the device."""
    return replace(
        node,
        arguments=tuple((name, _cast(value, casts)) for name, value in node.arguments),
        outputs=tuple(_cast(value, casts) for value in node.outputs),
    )


def _cast(value: Value, casts: Mapping[str, str]) -> Value:
    if isinstance(value, TensorMeta):
        return replace(value, dtype=casts.get(value.dtype, value.dtype))
    if isinstance(value, Constant):
        return replace(value, value=casts.get(value.value, value.value))
    if isinstance(value, tuple):
        return tuple(_cast(item, casts) for item in value)
    return value


def matches(condition: Condition, node: Node) -> tuple[Match, ...] | None:
    """Give what each predicate of the condition matched; None where one matches nothing."""
    found: list[Match] = []
    for predicate in condition.predicates:
        match = predicate.match(node)
        if match is None:
            return None
        found.append(match)
    return tuple(found)


def sentence(condition: Condition, matched: tuple[Match, ...], chip: str) -> Sentence:
    """The condition's sentence for this use."""
    argument, actual = matched[0] if matched else ("", "")
    known = {"argument": argument, "actual": actual, "chip": chip}
    named = place_names(condition.text)
    return Sentence(condition.text, **{name: known[name] for name in known if name in named})

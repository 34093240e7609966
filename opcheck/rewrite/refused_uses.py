"""Which uses of an overload a target refuses, as Python for a file that knows torch alone."""

from collections.abc import Iterator

from opcheck.model.matrix import Condition, SupportMatrix
from opcheck.model.predicates import (
    ANY,
    RETURN,
    ArgumentValue,
    Bound,
    Dtype,
    Fewer,
    More,
    NoneOf,
    NotDivisible,
    Numel,
    OneOf,
    Outside,
    Predicate,
    Rank,
    Remainder,
    Size,
    Unlike,
)

EVERY = "True"
"""Of a kernel that no use of has an answer on the chip."""
HELPERS = '''\
def _tensors(given, name=None):
    """Tensors of one argument; without a name, all that are not the host's."""
    found = list(given.values()) if name is None else [given.get(name)]
    found = [t for value in found for t in (value if isinstance(value, (list, tuple)) else [value])]
    found = [t for t in found if isinstance(t, torch.Tensor)]
    return [t for t in found if t.device.type != "cpu"] if name is None else found


def _dtype(tensor):
    return str(tensor.dtype).removeprefix("torch.")


def _size(tensor, dim):
    return tensor.size(dim) if -tensor.dim() <= dim < tensor.dim() else None


def _text(value):
    """An argument that is no tensor, or None where it is one."""
    if isinstance(value, torch.Tensor):
        return None
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(str(_text(item)) for item in value) + "]"
    return str(value).removeprefix("torch.")


def _results(overload, given):
    """Tensors that a call gives, without their values."""
    namespace, name = overload.split("::")
    base, _, form = name.partition(".")
    func = getattr(getattr(getattr(torch.ops, namespace), base), form or "default")

    def on_meta(value):
        if isinstance(value, (list, tuple)):
            return [on_meta(item) for item in value]
        return value.to("meta") if isinstance(value, torch.Tensor) else value

    try:
        found = func(**{name: on_meta(value) for name, value in given.items()})
    except Exception:
        return []
    return _tensors({"": found}, "")


def _number(text):
    try:
        return float(text)
    except (TypeError, ValueError):
        return None
'''
"""What the expressions call."""
_MEASURES = {Dtype: "_dtype({})", Rank: "{}.dim()", Numel: "{}.numel()"}


def refused_uses(matrix: SupportMatrix, op: str) -> str:
    """An expression of ``given``, the arguments by name, that is true of what the target refuses.

    ``EVERY`` where it refuses all. A condition that such a file cannot ask about is left out; ""
    where that leaves none, or none is known. Conditions on all overloads alike are left out, too:
    they hold for what would run instead.
    """
    found: list[str] = []
    for condition in _against(matrix, op):
        tests = [_test(predicate, op) for predicate in condition.predicates]
        if not tests:
            return EVERY
        if all(tests):
            found.append(" and ".join(tests))
    return "\n        or ".join(dict.fromkeys(found))


def _against(matrix: SupportMatrix, op: str) -> Iterator[Condition]:
    everywhere = {id(condition) for condition in matrix.conditions.get("*", ())}
    for condition in matrix.conditions_for(op):
        if not condition.verdict.on_device and id(condition) not in everywhere:
            yield condition


def _test(predicate: Predicate, op: str) -> str:
    """One test of a call; "" for a kind, or a bound, that is not known here."""
    if isinstance(predicate, ArgumentValue):
        return _value_test(predicate)
    measure = _MEASURES.get(type(predicate), "")
    if isinstance(predicate, Size) and not predicate.dim_argument:
        measure = f"_size({{}}, {predicate.dim})"
    if not measure:
        return ""
    name = "" if predicate.argument == ANY else f', "{predicate.argument}"'
    taken = f"_tensors(given{name})"
    if predicate.argument == RETURN:
        taken = f'_results("{op}", given)'
    bound = _bounded(measure, predicate.bound, number=not isinstance(predicate, Dtype))
    if isinstance(predicate, Size) and bound:
        bound = f"{measure.format('t')} is not None and {bound}"
    return f"any({bound} for t in {taken})" if bound else ""


def _value_test(predicate: ArgumentValue) -> str:
    default = f', "{predicate.default}"' if predicate.default else ""
    value = f'_text(given.get("{predicate.argument}"{default}))'
    there = f'"{predicate.argument}" in given and ' if not predicate.default else ""
    match predicate.bound:
        case OneOf(listed):
            return f"({there}{value} in {_listed(listed)})"
        case NoneOf(listed):
            return f"({there}{value} not in (*{_listed(listed)}, None))"
        case Outside(minimum, maximum):
            number = f"_number({value})"
            outside = _outside(number, minimum, maximum)
            return f"({there}{number} is not None and {outside})"
        case _:
            return ""


def _bounded(measure: str, bound: Bound, number: bool) -> str:
    here = measure.format("t")
    match bound:
        case OneOf(listed):
            return " in ".join((here, _listed(listed, number)))
        case NoneOf(listed):
            return f"{here} not in {_listed(listed, number)}"
        case Outside(minimum, maximum):
            return _outside(here, minimum, maximum)
        case NotDivisible(by) if by:
            return f"{here} % {by}"
        case Remainder(divisor, left) if divisor:
            return f"{here} % {divisor} == {left}"
        case Unlike(other):
            return _beside_another(measure, "!=", other)
        case Fewer(other):
            return _beside_another(measure, ">", other)
        case More(other):
            return _beside_another(measure, "<", other)
        case _:
            return ""


def _beside_another(measure: str, sign: str, other: str) -> str:
    """Whether the quantity of another argument is so beside that of this one."""
    here, there = measure.format("t"), measure.format("o")
    apart = f"{there} {sign} {here}"
    if "_size" in here:
        apart = f"{there} is not None and {apart}"
    return f'any({apart} for o in _tensors(given, "{other}"))'


def _outside(number: str, minimum: int | None, maximum: int | None) -> str:
    ends = [
        *([f"{number} < {minimum}"] if minimum is not None else []),
        *([f"{number} > {maximum}"] if maximum is not None else []),
    ]
    return f"({' or '.join(ends)})" if ends else "False"


def _listed(listed: frozenset[str], number: bool = False) -> str:
    items = sorted(map(int, listed)) if number else sorted(listed)
    return f"({', '.join(map(repr, items))},)"

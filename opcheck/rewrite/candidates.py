"""What could replace an overload: rules, PyTorch's own code, the same overload in float32."""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

import torch
from msgspec import Struct
from torch import Tensor
from torch.utils._pytree import tree_leaves, tree_map

from opcheck.lang.sentence import Sentence
from opcheck.model.plan import Label, Tier
from opcheck.model.trace import OpName
from opcheck.model.verdict import Evidence, Method
from opcheck.rewrite.base import Rule, rules
from opcheck.rewrite.call import Call
from opcheck.rewrite.measure import Canonical, Unique, Valid, as_drawn, as_given, everything
from opcheck.rewrite.text import standalone
from opcheck.rewrite.variants import functional, serving
from opcheck.trace.torch_internals.dispatcher import facts, overload_named

_MOVERS = frozenset({"_to_copy", "copy_", "copy", "_copy_from", "to", "clone", "type_as"})
"""What only moves values cannot move them in another dtype."""


def narrowed(func: Any, dtype: torch.dtype, other: torch.dtype) -> Callable[..., Any]:
    """A function that takes and gives what ``func`` does, computed in another dtype than one."""

    def moved(value: Any, source: torch.dtype, to: torch.dtype) -> Any:
        if isinstance(value, Tensor) and value.dtype is source:
            return value.to(to)
        return to if value is source else value

    def computed(*args: Any, **kwargs: Any) -> Any:
        wide, named = tree_map(lambda v: moved(v, dtype, other), (args, kwargs))
        return tree_map(lambda v: moved(v, other, dtype), func(*wide, **named))

    return computed


def narrowed_code(op: OpName, dtype: torch.dtype, other: torch.dtype) -> str:
    """Give the same as text."""
    return _TEXT.format(
        name=op.base, func=f"torch.ops.{op.namespace}.{op.base}.{op.overload or 'default'}",
        dtype=dtype, other=other,
    )  # fmt: skip


def not_in_another(call: Call, dtype: torch.dtype) -> str:
    """Say why a call cannot be computed in another dtype than ``dtype``."""
    tensors = [t for t in tree_leaves((call.args, dict(call.kwargs))) if isinstance(t, Tensor)]
    kinds = {t.dtype for t in tensors if t.is_floating_point() or t.is_complex()}
    if kinds != {dtype}:
        return Sentence(
            "its arguments are not of {dtype} alone", dtype=str(dtype).removeprefix("torch.")
        )
    if facts(call.func).view or OpName.parse(call.func.name()).base in _MOVERS:
        return "it moves values and computes none"
    if torch.Tag.nondeterministic_seeded in call.func.tags:
        return "it draws random numbers"
    return ""


_TEXT = """\
import torch
from torch.utils._pytree import tree_map


def _moved(value, source, to):
    if isinstance(value, torch.Tensor) and value.dtype is source:
        return value.to(to)
    return to if value is source else value


def {name}(*args, **kwargs):
    wide, named = tree_map(lambda v: _moved(v, {dtype}, {other}), (args, kwargs))
    result = {func}(*wide, **named)
    return tree_map(lambda v: _moved(v, {other}, {dtype}), result)
"""


_OF_PYTORCH = "pytorch-decomposition"
_FEW = 16.0
"""Roundings, in ``eps``, that code may add which no test of opcheck's holds to a figure."""


class Candidate(Struct, frozen=True):
    """A function that might stand for one overload."""

    rule: str
    tier: Tier
    label: Label
    """At best."""
    summary: str
    function: Callable[..., Any]
    """Takes what the overload takes, in-place and ``out=`` forms too."""
    refuses: Callable[[Call], str]
    code: str
    entry: str
    """Name of the function in ``code``."""
    gives_up: str = ""
    evidence: tuple[Evidence, ...] = ()
    tolerance: float = 0.0
    """How far values may be off, in ``eps`` of the largest; 0.0 where that is for a measurement."""
    unmeasured: Label = Label.EXACT
    """At best where nothing can be measured: no test of opcheck's holds PyTorch's own code."""
    random: bool = False
    """Whether every call draws its results anew."""
    whole: bool = False
    """Whether it holds for all calls of the model together, or for none."""
    recorded: Callable[..., Any] | None = None
    """What is recorded for a target, where that is not ``function``."""
    given: Callable[[Call], Call] = lambda call: call
    """The call that is recorded, of the one that the model makes."""
    canonical: Canonical = everything
    valid: Valid = as_drawn
    unique: Unique = as_given

    @property
    def order(self) -> tuple[int, int, bool, str]:
        """The cheapest first; among equals rules, whose code can be read and put anywhere."""
        return self.tier, self.label.rank, self.rule.startswith(_OF_PYTORCH), self.rule


def candidates(
    op: str, extra: Iterable[Rule] = (), dtypes: Collection[str] = ()
) -> tuple[Candidate, ...]:
    """Everything that could stand for an overload, the cheapest first; of equals, the user's.

    Args:
        op: in schema spelling; PyTorch's or an extension's.
        extra: rules of the user's.
        dtypes: of the tensors that it is given; some may be exchanged for others.
    """
    base = functional(op)
    if not base:
        return ()
    extra = tuple(extra)
    found = [_of_rule(rule, op) for rule in (*extra, *rules()) if base in rule.replaces]
    found += _of_pytorch(op, base)
    found += (_in_float32(op, base, dtype) for dtype in _OTHER if dtype in dtypes)
    own = {rule.name for rule in extra}
    return tuple(
        sorted(found, key=lambda each: (*each.order[:-1], each.rule not in own, each.rule))
    )


_OTHER = ("float64", "float16", "bfloat16")


def _in_float32(op: str, base: str, text: str) -> Candidate:
    """The overload itself, computed in float32 instead of one dtype."""
    dtype: torch.dtype = getattr(torch, text)
    fewer = dtype is torch.float64
    return _in_another(
        op, base, dtype, torch.float32,
        rule=f"float32-instead-of-{text}",
        tier=Tier.STRUCTURAL if fewer else Tier.SWAP,
        summary=Sentence("Compute {op} in float32 instead of {dtype}", op=base, dtype=text),
        gives_up="All digits of float64 beyond the seventh" if fewer else "",
    )  # fmt: skip


IN_HALF = "float16-instead-of-float32"
"""The suggestion as plans name it."""
HALF_GIVES_UP = "All digits of float32 beyond the third, and numbers beyond 65,504"


def in_half(op: str) -> Candidate | None:
    """The overload itself, computed in float16 instead of float32; None where it cannot be."""
    base = functional(op)
    if not base:
        return None
    return _in_another(
        op, base, torch.float32, torch.float16,
        rule=IN_HALF,
        tier=Tier.STRUCTURAL,
        summary=Sentence("Compute {op} in float16 instead of float32", op=base),
        gives_up=HALF_GIVES_UP,
    )  # fmt: skip


def _in_another(
    op: str,
    base: str,
    dtype: torch.dtype,
    other: torch.dtype,
    *,
    rule: str,
    tier: Tier,
    summary: str,
    gives_up: str,
) -> Candidate:
    """The overload itself, computed in another dtype than one."""
    function, name = narrowed(overload_named(base), dtype, other), OpName.parse(base)
    return Candidate(
        rule=rule,
        tier=tier,
        label=Label.TOLERANCE,
        summary=summary,
        function=serving(op, function) if base != op else function,
        refuses=lambda call: not_in_another(call, dtype),
        code=narrowed_code(name, dtype, other),
        entry=name.base,
        gives_up=gives_up,
        tolerance=_FEW * max(1.0, torch.finfo(other).eps / torch.finfo(dtype).eps),
    )


def _of_rule(rule: Rule, op: str) -> Candidate:
    function = rule.function(functional(op))
    return Candidate(
        rule=rule.name,
        tier=rule.tier,
        label=rule.label,
        summary=rule.summary,
        function=serving(op, function),
        refuses=rule.refuses,
        code=standalone(function),
        entry=function.__name__,
        gives_up=rule.gives_up,
        tolerance=rule.tolerance,
        random=rule.random,
        canonical=rule.canonical,
        valid=rule.valid,
        unique=rule.unique,
    )


def _of_pytorch(op: str, base: str) -> Iterable[Candidate]:
    """PyTorch's decomposition or reference of an overload, if it has one."""
    function = _table().get(base)
    if function is None:
        return
    name = OpName.parse(base)
    place = f"torch.ops.{name.namespace}.{name.base}.{name.overload or 'default'}"
    yield Candidate(
        rule=f"{_OF_PYTORCH}({base.removeprefix('aten::')})",
        tier=Tier.SWAP,
        label=Label.EXACT,
        summary=Sentence("Use PyTorch's own decomposition of {op}", op=base),
        function=serving(op, function),
        refuses=lambda call: "",
        code=(
            "import torch\nfrom torch._decomp import decomposition_table\n\n"
            f"{name.base} = decomposition_table[{place}]\n"
        ),
        entry=name.base,
        unmeasured=Label.TOLERANCE,
        tolerance=_FEW,
        evidence=(_where(function),),
    )


def _where(function: Callable[..., Any]) -> Evidence:
    inner = getattr(function, "__wrapped__", function)
    module = getattr(inner, "__module__", "torch._decomp").replace(".", "/")
    version = torch.__version__.partition("+")[0]
    return Evidence(Method.TESTED, "pytorch/pytorch", path=f"{module}.py", commit=f"v{version}")


_found: dict[str, Callable[..., Any]] = {}


def _table() -> Mapping[str, Callable[..., Any]]:
    """PyTorch's decompositions by schema spelling; loading its references takes a while."""
    if not _found:
        import torch._refs  # registers references as decompositions, checked on 2.13.0
        from torch._decomp import decomposition_table

        for func, function in decomposition_table.items():
            if isinstance(func, torch._ops.OpOverload):
                _found[func.name()] = function
    return _found

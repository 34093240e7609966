"""What is fixed about an overload on the emulated device, and whether the target takes a call."""

from collections.abc import Sequence, Set
from typing import Any

import torch
from msgspec import Struct
from torch import Tensor

from opcheck.lang.sentence import Sentence
from opcheck.model.matrix import Condition, SupportMatrix
from opcheck.model.predicates import RETURN
from opcheck.model.report import Reason
from opcheck.model.trace import Composite, Node, OpName, Value
from opcheck.model.verdict import Confidence, Verdict
from opcheck.resolve import resolution as codes
from opcheck.resolve.conditions import matches, sentence
from opcheck.resolve.kernels import mixes_host
from opcheck.trace.calls.signature import Call, meta_of, named_arguments
from opcheck.trace.torch_internals.autocast_casts import handed_on
from opcheck.trace.torch_internals.dispatcher import OverloadFacts, facts
from opcheck.trace.torch_internals.modes import modes_of

CAST = frozenset(
    {"aten::_to_copy", "aten::to.dtype", "aten::to.device", "aten::to.dtype_layout",
     "aten::to.other", "aten::type_as"}
)  # fmt: skip
"""Overloads that change a tensor's dtype."""


class Overload(Struct, frozen=True):
    """One overload of torch as the target has it."""

    func: Any
    """``torch._ops.OpOverload``."""
    name: str
    """Schema spelling."""
    op: OpName
    facts: OverloadFacts
    native: bool
    """The target registers a kernel."""
    on_host: bool
    """No kernel, but the vendor's fallback and a CPU kernel, which need not be installed here."""
    conditions: tuple[Condition, ...]
    random: bool
    """Draws random numbers."""

    @property
    def composite(self) -> Composite | None:
        """The alias-key kernel that runs where the target has none."""
        return self.facts.composite

    @property
    def leaves(self) -> bool:
        """Whether every call runs on the host."""
        return self.on_host and not self.native and self.composite is None

    @classmethod
    def of(cls, func: Any, matrix: SupportMatrix) -> "Overload":
        """Look one overload up in the dispatcher and in the target's matrix."""
        known = facts(func)
        name = str(known.name)
        native = name in matrix.entries
        inside = known.composite is not None and not native
        on_cpu = matrix.extensions.get(name, known.cpu_kernel)
        return cls(
            func=func,
            name=name,
            op=known.name,
            facts=known,
            native=native,
            on_host=matrix.fallback.to_cpu and on_cpu,
            # what holds everywhere is looked at where the device is asked
            conditions=matrix.conditions.get(name, ()) if inside else matrix.conditions_for(name),
            random=torch.Tag.nondeterministic_seeded in func.tags,
        )


class Objection(Struct, frozen=True):
    """A condition that matches on a call."""

    verdict: Verdict
    """UNSUPPORTED: refused; FALLBACK: runs on the host; NATIVE: runs, but otherwise; UNKNOWN: runs,
    which no source settles."""
    reason: Reason


_FINE: tuple[Objection, ...] = ()


class Judge:
    """Looks each signature up once."""

    def __init__(self, chip: str, device: str, least: Confidence) -> None:
        self._chip = chip
        self._device = device
        self._least = least
        self._known: dict[tuple[Any, ...], tuple[Objection, ...]] = {}

    def before(self, overload: Overload, call: Call) -> tuple[Objection, ...]:
        """What is against a call by its arguments, worst first, and surest among those."""
        found = self._known.get(call.key)
        if found is None:
            found = self._known[call.key] = self._judged(overload, call)
        return found

    def cast(self, overload: Overload, call: Call, reached: Set[str]) -> tuple[Objection, ...]:
        """The same of a composite whose tensors reach what it runs as in these dtypes."""
        return self._judged(overload, call, reached)

    def after(self, overload: Overload, result: Any) -> tuple[Objection, ...]:
        """What is against a call by its results."""
        conditions = [c for c in overload.conditions if _looks_at_results(c)]
        if not conditions:
            return _FINE
        node = Node(overload.op, (), results(result), modes=modes_of(overload.func))
        return self._bitten(node, conditions)

    def _judged(
        self, overload: Overload, call: Call, reached: Set[str] = frozenset()
    ) -> tuple[Objection, ...]:
        given = named_arguments(overload.facts.argument_names, call.args, call.kwargs)
        composite = overload.facts.composite
        handed = handed_on(given, reached)
        node = Node(overload.op, handed, composite=composite, modes=call.modes)
        inside = overload.composite is not None and not overload.native
        if mixes_host(node, inside=inside):
            text = Sentence(
                "a tensor in host memory meets tensors on {device}", device=self._device
            )
            return (Objection(Verdict.UNSUPPORTED, Reason(codes.HOST_TENSOR, text)),)
        conditions = [c for c in overload.conditions if not _looks_at_results(c)]
        if overload.leaves:  # what only a document says is of no kernel that is not there
            conditions = [c for c in conditions if c.confidence is Confidence.HIGH]
        return self._bitten(node, conditions) if conditions else _FINE

    def _bitten(self, node: Node, conditions: Sequence[Condition]) -> tuple[Objection, ...]:
        found = []
        for condition in sorted(conditions, key=lambda c: c.confidence.rank):
            unsure = condition.confidence.rank > self._least.rank
            matched = None if unsure else matches(condition, node)
            if matched is not None:
                text = sentence(condition, matched, self._chip)
                found.append(Objection(condition.verdict, Reason(condition.code, text)))
        return tuple(sorted(found, key=lambda o: -o.verdict.rank))


def _looks_at_results(condition: Condition) -> bool:
    return any(predicate.argument == RETURN for predicate in condition.predicates)


def results(result: Any) -> tuple[Value, ...]:
    """The tensors that a call gives, as model values."""
    values = result if isinstance(result, (list, tuple)) else (result,)
    return tuple(meta_of(v) for v in values if isinstance(v, Tensor))

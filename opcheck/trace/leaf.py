"""What one call returns when it runs whole, as a native kernel would: values or just specs.

Strides follow one convention everywhere: a leaf returns those that the CPU kernel gives, since
later calls (``contiguous``, ``view``) depend on them.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves, tree_map

from opcheck.trace import collectives
from opcheck.trace.assume import Assumption, assumption_for
from opcheck.trace.device import DeviceTensor, Spec, become, device_tensor
from opcheck.trace.device_only import kernel_for
from opcheck.trace.dispatcher import facts
from opcheck.trace.extension import open_sized, without_rule
from opcheck.trace.loops import Loops
from opcheck.trace.outputs import settled, standing_for
from opcheck.trace.signature import Call
from opcheck.trace.stride_exceptions import CPU_ALWAYS, CPU_IF_PERMUTED
from opcheck.trace.unseen import OtherLayout, Unseen, require_strides

VALUE_LIMIT = 1 << 20
"""Largest tensor, in elements, whose values are kept where they are known."""
PROBE_LIMIT = 1 << 24
"""Largest sum of elements for which a kernel is run on zeros just to see what it returns."""


PRODUCT_LIMIT = 1 << 30
"""Largest number of multiplications that such a run may cost."""

_PACK: Any = torch.ops.aten._pack_padded_sequence.default


_CASTS = frozenset(
    getattr(getattr(torch.ops.aten, name), overload)
    for name, overload in (
        ("_to_copy", "default"), ("to", "dtype"), ("to", "device"), ("to", "dtype_layout"),
        ("to", "other"), ("type_as", "default"),
    )
)  # fmt: skip
"""Overloads that change a tensor's dtype."""


@dataclass(frozen=True, slots=True)
class _Same:
    """The output is the caller's own tensor, which then has this spec."""

    index: int
    spec: Spec


@dataclass(frozen=True, slots=True)
class _Constant:
    """The output is no tensor."""

    value: Any


Plan = Spec | _Same | _Constant | list["Plan"]
"""How to make the outputs of a signature again without running anything."""


def small(spec: Spec) -> bool:
    """Whether the values of such a tensor are worth keeping."""
    return spec.numel <= VALUE_LIMIT


class Leaves:
    """Runs calls whole, and remembers per signature what they return."""

    def __init__(
        self,
        device: torch.device,
        casts: Mapping[torch.dtype, torch.dtype],
        assumed: Callable[[Call, Assumption], None],
    ) -> None:
        self._device = device
        self._casts = casts
        self._assumed = assumed
        self._loops = Loops()
        self._plans: dict[tuple[Any, ...], Plan | None] = {}
        self.learned: dict[tuple[Any, ...], Plan] = {}
        """What composites were seen to return that meta refuses; may be handed to another run."""

    def run(self, call: Call) -> Any:
        """Give the outputs of the call, on the traced device or, if it says so, on the host.

        Raises:
            Unseen: nothing here can tell what it returns.
            Exception: whatever torch raises for arguments that the operator refuses.
        """
        if call.func is _PACK:
            return self._packed(call)
        if call.func.namespace == collectives.NAMESPACE:
            return collectives.collected(call.func, call.args)
        key = call.key
        if key in self._plans:
            plan = self._plans[key]
        else:
            try:
                plan = self._plans[key] = self._cast(call, self._plan(call))
            except Exception as error:
                return self._by_values(call, error)
        if call.known and (plan is None or _all_small(plan)):
            with suppress(NotImplementedError):  # the host has no kernel, or none for this dtype
                return self._told(call, self._real(call))
        if plan is None:
            return self._assume(call)
        return self.replay(plan, call)

    def _by_values(self, call: Call, error: Exception) -> Any:
        """Run for real what shapes alone do not tell, as the classes of ``one_hot``."""
        if not call.known:
            raise error
        try:
            return self._real(call)
        except OtherLayout:
            raise
        except Exception:
            raise error from None

    def _cast(self, call: Call, plan: Plan | None) -> Plan | None:
        """A cast's plan with the dtype that this device gives for the one asked for."""
        if call.func not in _CASTS or not isinstance(plan, Spec):
            return plan
        here = call.ours or (call.device is not None and call.device.type == self._device.type)
        given = self._casts.get(plan.dtype)
        if not here or given is None or not asks_for(call, plan.dtype):
            return plan
        return Spec.of(given, plan.shape, plan.stride)

    def learn(self, call: Call, result: Any) -> Any:
        """Take ``result``, found in another way, as what this signature returns."""
        plan = self.learned[call.key] = self._plans[call.key] = self.plan_of(result, call)
        return self.replay(plan, call)

    def replay(self, plan: Plan, call: Call) -> Any:
        """Make the planned outputs for this call's own tensors; what it writes is not known."""
        for tensor in _written(call):
            tensor.lose()
        return self._again(plan, call)

    def _again(self, plan: Plan, call: Call) -> Any:
        match plan:
            case Spec():
                return self._output(plan, call)
            case _Same(index, spec):
                tensor = call.tensors[index]
                if _crosses(tensor, call):
                    return self._output(spec, call)
                if isinstance(tensor, DeviceTensor) and _writes_own(call):
                    tensor.lose()
                    become(tensor, device_tensor(spec, None, self._device))
                return tensor
            case _Constant(value):
                return value
            case list():
                return [self._again(item, call) for item in plan]

    def plan_of(self, result: Any, call: Call) -> Plan:
        """Describe outputs so that :meth:`replay` can make them again."""
        if isinstance(result, Tensor):
            for index, tensor in enumerate(call.tensors):
                if tensor is result:
                    return _Same(index, Spec.like(tensor))
            return Spec.like(result)
        if isinstance(result, (list, tuple)):
            return [self.plan_of(item, call) for item in result]
        return _Constant(result)

    def _output(self, spec: Spec, call: Call) -> Tensor:
        if call.device is not None and call.device.type == "cpu":
            if spec.numel > PROBE_LIMIT * 4:
                return spec.on_meta()
            return spec.zeros()
        return device_tensor(spec, None, self._device)

    def _plan(self, call: Call) -> Plan | None:
        """Find out what this signature returns; None where that depends on values."""
        if assumption_for(call) is not None:
            return None
        if call.key in self.learned:
            return self.learned[call.key]
        func = kernel_for(call.func, call.args)
        elements = sum(t.numel() for t in call.tensors)
        if _meta_differs(call) and elements <= PROBE_LIMIT and _products(call) <= PRODUCT_LIMIT:
            return self._probe(func, call, _zeros)
        try:
            return self._open_sized(call) or self._probe(func, call, _on_meta)
        except Exception as error:
            unseen = isinstance(error, NotImplementedError) or without_rule(call.func)
            if elements > PROBE_LIMIT or not call.tensors or facts(call.func).composite:
                if unseen:
                    raise Unseen(_first_line(error)) from error
                raise
            return self._on_cpu(func, call, error)

    def _on_cpu(self, func: Any, call: Call, error: Exception) -> Plan:
        """Ask the CPU kernel where meta has none, or is stricter than any kernel."""
        try:
            return self._probe(func, call, _zeros)
        except NotImplementedError as missing:
            raise Unseen(_first_line(missing)) from missing
        except OtherLayout:
            raise
        except Exception:
            raise error from None

    def _open_sized(self, call: Call) -> Plan | None:
        """What an extension's own shape rule gives, sizes that depend on data at their most."""
        if call.func.namespace == "aten":
            return None
        rule = open_sized(call.func, call.tensors)
        return None if rule is None else self._probe(rule, call, _on_meta)

    def _probe(self, func: Any, call: Call, make: Callable[[Tensor], Tensor]) -> Plan:
        args, kwargs, made = _converted(call, make, "meta" if make is _on_meta else "cpu")
        probe = standing_for(call, args, kwargs, made)
        return self.plan_of(settled(func(*args, **kwargs), probe, call.tensors), probe)

    def _packed(self, call: Call) -> tuple[Tensor, Tensor]:
        """Packed rows; how many there are of each step is counted in host memory everywhere."""
        kwargs = {name: _bare(value) for name, value in call.kwargs.items()}
        data, batches = _PACK(*map(_bare, call.args), **kwargs)
        return device_tensor(Spec.like(data), None, self._device), batches

    def _real(self, call: Call) -> Any:
        args, kwargs, made = _converted(call, _value, "cpu")
        result = kernel_for(call.func, args)(*args, **kwargs)
        plan = self._plans.get(call.key)
        if call.func in _CASTS and isinstance(plan, Spec):
            result = result.to(plan.dtype)  # the dtype that this device gives, see _cast
        probe = standing_for(call, args, kwargs, made)
        return self._wrap(settled(result, probe, call.tensors), call, made)

    def _wrap(self, result: Any, call: Call, made: list[Tensor]) -> Any:
        if isinstance(result, Tensor):
            for tensor, value in zip(call.tensors, made, strict=False):
                if value is result and _crosses(tensor, call):
                    result = value.clone()
                elif value is result:
                    return self._refreshed(tensor, value)
            if call.device is not None and call.device.type == "cpu":
                return result
            spec = Spec.like(result)
            keep = result.device.type == "cpu" and small(spec)
            return device_tensor(spec, result if keep else None, self._device)
        if isinstance(result, (list, tuple)):
            return [self._wrap(item, call, made) for item in result]
        return result

    def _refreshed(self, tensor: Tensor, value: Tensor) -> Tensor:
        if isinstance(tensor, DeviceTensor):
            become(tensor, device_tensor(Spec.like(value), value, self._device))
        return tensor

    def _told(self, call: Call, value: Any) -> Any:
        """A known value, unless it would keep a loop going for too long."""
        ended = self._loops.ended(value)
        if ended is None:
            return value
        self._assumed(call, ended)
        return ended.result()

    def _assume(self, call: Call) -> Any:
        assumption = assumption_for(call)
        if assumption is None:
            raise Unseen(f"the result of {call.func.name()} depends on values that are not known")
        assumption = self._loops.broken(assumption)
        if assumption.text:
            self._assumed(call, assumption)
        result = assumption.result()
        if type(result) is DeviceTensor:  # written in place, to where only the data knows
            result.lose()
            return result
        return self._wrap(result, call, [])


def _writes_own(call: Call) -> bool:
    """Whether an argument that the call gives back was written; ``type_as`` may just pass it on.

    Not all schemas say so: ``_copy_from`` is to be a kernel, and kernels pass nothing on.
    """
    known = facts(call.func)
    return bool(known.returned) or known.composite is None


def _written(call: Call) -> list[DeviceTensor]:
    """Tensors of the device whose values the call writes."""
    known = facts(call.func)
    if not known.written:
        return []
    given = dict(zip(known.argument_names, call.args, strict=False)) | call.kwargs
    written = tree_leaves([given.get(name) for name in known.written])
    return [tensor for tensor in written if isinstance(tensor, DeviceTensor)]


def asks_for(call: Call, dtype: torch.dtype) -> bool:
    """Whether a cast names ``dtype``, or takes a tensor of another one and so must want it."""
    named = any(value is dtype for value in (*call.args, *call.kwargs.values()))
    return named or call.tensors[0].dtype != dtype


def _meta_differs(call: Call) -> bool:
    """Whether the CPU kernel must be asked, since its meta function answers otherwise."""
    name = call.func.name()
    if name in CPU_ALWAYS:
        return True
    return name in CPU_IF_PERMUTED and not all(t.is_contiguous() for t in call.tensors)


def _products(call: Call) -> int:
    """Multiplications of a convolution, at stride 1; 0 for what is no convolution."""
    name = call.func.name()
    if "conv" not in name:
        return 0
    x, weight = call.tensors[0], call.tensors[2 if "backward" in name else 1]
    return x.numel() // max(weight.shape[1], 1) * weight.numel()


def _crosses(tensor: Tensor, call: Call) -> bool:
    """Whether the call's device argument asks for the other side of the bus."""
    if call.device is None:
        return False
    return (call.device.type == "cpu") == isinstance(tensor, DeviceTensor)


def _all_small(plan: Plan) -> bool:
    match plan:
        case Spec():
            return small(plan)
        case _Same(_, spec):
            return small(spec)
        case list():
            return all(_all_small(item) for item in plan)
        case _Constant():
            return True


def _on_meta(tensor: Tensor) -> Tensor:
    if isinstance(tensor, DeviceTensor):
        return tensor.spec.on_meta()
    if tensor.dim() == 0 or tensor.device.type == "meta":
        return tensor
    return Spec.like(tensor).on_meta()


def _bare(value: Any) -> Any:
    return value.spec.on_meta() if isinstance(value, DeviceTensor) else value


def _zeros(tensor: Tensor) -> Tensor:
    if isinstance(tensor, DeviceTensor):
        return tensor.spec.zeros() if tensor.value is None else tensor.value.clone()
    return tensor


def _value(tensor: Tensor) -> Tensor:
    if not isinstance(tensor, DeviceTensor):
        return tensor
    assert tensor.value is not None, "only called where every value is known"
    return tensor.value


def _converted(
    call: Call, make: Callable[[Tensor], Tensor], device: str
) -> tuple[tuple[Any, ...], dict[str, Any], list[Tensor]]:
    """The call's arguments with its tensors replaced, one replacement per tensor."""
    made: dict[int, Tensor] = {}

    def convert(value: Any) -> Any:
        if isinstance(value, Tensor):
            require_strides(value, call.func.name())
            if id(value) not in made:
                made[id(value)] = make(value)
            return made[id(value)]
        if isinstance(value, torch.device):
            return torch.device("cpu" if value.type == "cpu" else device)
        if isinstance(value, torch.Generator):
            return None
        return value

    args: tuple[Any, ...] = tree_map(convert, call.args)
    kwargs: dict[str, Any] = tree_map(convert, call.kwargs)
    if device == "meta":
        kwargs.pop("pin_memory", None)
        if call.device is not None and call.device.type == "cpu":
            kwargs = {k: torch.device("meta") if k == "device" else v for k, v in kwargs.items()}
            args = tuple(torch.device("meta") if isinstance(a, torch.device) else a for a in args)
    return args, kwargs, [made[id(tensor)] for tensor in call.tensors]


def _first_line(error: BaseException) -> str:
    """What is missing, without the dispatcher's guesses at why and its list of backends."""
    return str(error).strip().split("\n", 1)[0].partition(" This could be because")[0]

"""What one call returns when it runs whole, as a native kernel would: values or just specs.

Strides follow one convention everywhere: a leaf returns those that the CPU kernel gives, since
later calls (``contiguous``, ``view``) depend on them.
"""

from collections.abc import Callable, Mapping
from contextlib import nullcontext, suppress
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves

from opcheck.trace.calls.noted import Noted
from opcheck.trace.calls.signature import Call
from opcheck.trace.device.host_copies import HostCopy, host_copy
from opcheck.trace.device.sparse import SPARSE, SparseTensor, sparse_tensor
from opcheck.trace.device.tensors import DeviceTensor, Spec, device_tensor, replace_storage
from opcheck.trace.outputs.decided import decided
from opcheck.trace.outputs.device_only import kernel_for
from opcheck.trace.outputs.finite import is_kept, most_elements, taken_as_finite
from opcheck.trace.outputs.loops import Loops
from opcheck.trace.outputs.meta_kernels import PROBE_LIMIT, bare, probed, replaced, value_of
from opcheck.trace.outputs.plan import (
    Constant,
    Plan,
    Same,
    View,
    all_small,
    canonical,
    plan_of,
    small,
    standing_for,
)
from opcheck.trace.outputs.unknown import (
    Assumption,
    OtherLayout,
    assumption_for,
    require_strides,
    taken_to_be,
)
from opcheck.trace.running import distributed
from opcheck.trace.torch_internals.dispatcher import facts
from opcheck.trace.torch_internals.modes import switched_off

_PACK: Any = torch.ops.aten._pack_padded_sequence.default
_CASTS = frozenset(
    getattr(getattr(torch.ops.aten, name), overload)
    for name, overload in (
        ("_to_copy", "default"), ("to", "dtype"), ("to", "device"), ("to", "dtype_layout"),
        ("to", "other"), ("type_as", "default"),
    )
)  # fmt: skip
"""Overloads that change a tensor's dtype."""
_UNSCALE: Any = torch.ops.aten._amp_foreach_non_finite_check_and_unscale_.default
_FOUND = "found_inf"
"""Its argument that says whether a gradient is not finite: they are taken to be, or a
``GradScaler`` would leave the optimizer's step out."""
_NUMBERS = frozenset({bool, int, float, complex})


class KernelResults:
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
        self.noted = Noted()
        """Who notes what code runs; nobody, unless it is told."""
        self.follows_sparse = False
        """Whether sparse tensors are followed by their values, which an emulated device cannot."""
        self._plans: dict[tuple[Any, ...], Plan | None] = {}
        self.learned: dict[tuple[Any, ...], Plan] = {}
        """What composites were seen to return that meta refuses; may be handed to another run."""

    def run(self, call: Call) -> Any:
        """Give the outputs of the call, on the traced device or, if it says so, on the host.

        Raises:
            Unseen: nothing here can tell what it returns.
            Exception: whatever torch raises for arguments that the operator refuses.
        """
        with switched_off() if call.modes else nullcontext():
            return self._run(call)

    def _run(self, call: Call) -> Any:
        if not self.follows_sparse:
            for tensor in call.tensors:
                if type(tensor) is SparseTensor:
                    require_strides(tensor, call.func.name())
        if call.func is _PACK:
            return self._packed(call)
        if call.func.namespace == distributed.NAMESPACE:
            return distributed.collected(call.func, call.args)
        key = call.key
        if key in self._plans:
            plan = self._plans[key]
        else:
            try:
                plan = self._plans[key] = self._cast(call, self._plan(call))
            except Exception as error:
                return self._by_values(call, error)
        if call.known and (plan is None or all_small(plan, most_elements(call))):
            with suppress(NotImplementedError):  # the host has no kernel, or none for this dtype
                return self._bounded(call, self._real(call))
        if plan is None:
            return self._assume(call)
        if isinstance(plan, Spec) and small(plan):
            known = decided(call, plan)
            if known is not None:
                return self._wrap(known, call, [])
        return self._finite(plan, call)

    def _finite(self, plan: Plan, call: Call) -> Any:
        """What is planned, with its values where it asks if numbers are finite: all are."""
        result = self.replay(plan, call)
        if isinstance(plan, Spec | Same) and isinstance(result, DeviceTensor):
            mask = taken_as_finite(call, result.spec)
            if mask is not None:
                return self._refreshed(result, mask)
        return result

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
        plan = self.learned[call.key] = self._plans[call.key] = plan_of(result, call)
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
            case Same(index, spec):
                tensor = call.tensors[index]
                if _crosses(tensor, call):
                    return self._output(spec, call)
                if isinstance(tensor, DeviceTensor) and _writes_own(call):
                    tensor.lose()
                    offset = int(tensor.storage_offset())
                    replace_storage(tensor, device_tensor(spec, None, self._device, offset))
                return tensor
            case View(index, spec, start, absolute):
                base = call.tensors[index]
                if not isinstance(base, DeviceTensor) or _crosses(base, call):
                    return self._output(spec, call)
                begins = 0 if absolute else int(base.storage_offset())
                return device_tensor(spec, None, self._device, begins + start)
            case Constant(value):
                return value
            case list():
                return [self._again(item, call) for item in plan]

    def _output(self, spec: Spec, call: Call) -> Tensor:
        if call.device is not None and call.device.type == "cpu":
            if spec.numel > PROBE_LIMIT * 4:
                return spec.on_meta()
            return host_copy(spec) if call.func in _CASTS else spec.zeros()
        return device_tensor(spec, None, self._device)

    def _plan(self, call: Call) -> Plan | None:
        """What this signature returns; None where that depends on values."""
        if assumption_for(call) is not None:
            return None
        if call.key in self.learned:
            return self.learned[call.key]
        with self.noted.ours():
            return probed(call)

    def _packed(self, call: Call) -> tuple[Tensor, Tensor]:
        """Packed rows; how many there are of each step is counted in host memory everywhere.

        Rows whose lengths are not known have the most that they can.
        """
        rows, lengths, batch_first = map(bare, call.args)
        if type(lengths) is HostCopy:
            self._assumed(call, Assumption(lambda: None))
            lengths = torch.full(lengths.shape, rows.shape[int(batch_first)])
        data, batches = _PACK(rows, lengths, batch_first)
        return device_tensor(Spec.like(data), None, self._device), batches

    def _real(self, call: Call) -> Any:
        args, kwargs, made = replaced(call, value_of, "cpu")
        with self.noted.theirs():
            result = kernel_for(call.func, args)(*args, **kwargs)
        plan = self._plans.get(call.key)
        if call.func in _CASTS and isinstance(plan, Spec):
            result = result.to(plan.dtype)  # the dtype that this device gives, see _cast
        probe = standing_for(call, args, kwargs, made)
        return self._wrap(canonical(result, probe, call.tensors), call, made)

    def _wrap(self, result: Any, call: Call, made: list[Tensor]) -> Any:
        if isinstance(result, Tensor):
            for tensor, value in zip(call.tensors, made, strict=False):
                if value is result and _crosses(tensor, call):
                    result = value.clone()
                elif value is result:
                    written = any(map(is_made_up, call.tensors))
                    return self._refreshed(
                        tensor, value.as_subclass(HostCopy) if written else value
                    )
            if call.device is not None and call.device.type == "cpu":
                return result
            if result.layout in SPARSE and self.follows_sparse:
                return sparse_tensor(result, self._device)
            require_strides(result, call.func.name())
            spec = Spec.like(result)
            keep = result.device.type == "cpu" and (small(spec) or is_kept(spec, result))
            kept = result if keep else None
            return device_tensor(spec, kept, self._device, int(result.storage_offset()))
        if isinstance(result, (list, tuple)):
            return [self._wrap(item, call, made) for item in result]
        return result

    def _refreshed(self, tensor: Tensor, value: Tensor) -> Tensor:
        if isinstance(tensor, DeviceTensor):
            replace_storage(tensor, device_tensor(Spec.like(value), value, self._device))
        return tensor

    def read_on_host(self, value: Any) -> Any:
        """A value that Python reads on the host, unless it would keep a loop going for too long."""
        ended = self._loops.ended(value)
        return value if ended is None else ended.result()

    def _bounded(self, call: Call, value: Any) -> Any:
        """A known value, unless it would keep a loop going for too long."""
        ended = self._loops.ended(value)
        if ended is None:
            if any(map(is_made_up, call.tensors)) and assumption_for(call) is not None:
                said = taken_to_be(value) if type(value) in _NUMBERS else ""
                self._assumed(call, Assumption(lambda: value, said))
            return value
        self._assumed(call, ended)
        return ended.result()

    def _assume(self, call: Call) -> Any:
        assumption = assumption_for(call)
        assert assumption is not None  # what has none has a plan
        assumption = self._loops.broken(assumption)
        if not assumption.holds:
            self._assumed(call, assumption)
        result = assumption.result()
        if type(result) is DeviceTensor:  # written in place, to where only the data knows
            result.lose()
            return result
        return self._wrap(result, call, [])


def is_made_up(tensor: Tensor) -> bool:
    """Whether its values are there, and depend on data that a trace does not have."""
    return type(value_of(tensor)) is HostCopy


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
    left = (_FOUND,) if call.func is _UNSCALE else ()
    written = tree_leaves([given.get(name) for name in known.written if name not in left])
    return [tensor for tensor in written if isinstance(tensor, DeviceTensor)]


def asks_for(call: Call, dtype: torch.dtype) -> bool:
    """Whether a cast names ``dtype``, or takes a tensor of another one and so must want it."""
    named = any(value is dtype for value in (*call.args, *call.kwargs.values()))
    return named or call.tensors[0].dtype != dtype


def _crosses(tensor: Tensor, call: Call) -> bool:
    """Whether the call's device argument asks for the other side of the bus."""
    if call.device is None:
        return False
    return (call.device.type == "cpu") == isinstance(tensor, DeviceTensor)

"""The emulated device: PyTorch's dispatcher with just one target's kernels, answered on the host.

What runs where is not decided here: C++ looks each call up in its own tables, and one of the
functions below is reached only where the target registers a kernel, or where nothing else is there.
"""

import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import is_traceable_wrapper_subclass
from torch.utils._pytree import tree_leaves, tree_map_only

from opcheck.emulate import compiled, launches
from opcheck.emulate.computing import Shapes, Values
from opcheck.emulate.errors import Backward, Wording
from opcheck.emulate.kept_calls import KeptCalls
from opcheck.emulate.memory import Memory, bytes_on_device
from opcheck.emulate.overload import CAST, Judge, Objection, Overload
from opcheck.emulate.presented import presented
from opcheck.emulate.record import Record
from opcheck.emulate.refusals import not_emulated
from opcheck.lang.sentence import Sentence
from opcheck.model.emulation import Site
from opcheck.model.launches import KernelCode
from opcheck.model.matrix import SupportMatrix
from opcheck.model.report import Reason
from opcheck.model.trace import Compilation, Phase
from opcheck.model.verdict import Confidence, Verdict
from opcheck.resolve import kernels
from opcheck.resolve import resolution as codes
from opcheck.resolve.resolution import Resolution
from opcheck.trace.calls.call_site import from_stack
from opcheck.trace.calls.modules import Followed
from opcheck.trace.calls.signature import Call, take_apart
from opcheck.trace.device.philox import DeviceGenerator
from opcheck.trace.device.tensors import DeviceTensor, Spec, device_tensor
from opcheck.trace.outputs.kernel_results import asks_for
from opcheck.trace.outputs.unknown import Assumption, OtherLayout
from opcheck.trace.running import eager
from opcheck.trace.torch_internals.autocast_casts import Reached
from opcheck.trace.torch_internals.dispatcher import at_key, overload_named, run_composite
from opcheck.trace.torch_internals.modes import switched_off

_CPU = torch._C.DispatchKey.CPU


class _Quiet(threading.local):
    """How deep this thread is inside a kernel of the vendor's."""

    depth = 0


class Device:
    """What the kernels of one emulated device do when they are called."""

    def __init__(
        self,
        matrix: SupportMatrix,
        device: torch.device,
        *,
        values: bool,
        stop: bool,
        least: Confidence = Confidence.LOW,
    ) -> None:
        self.matrix = matrix
        self.torch_device = device
        self._process = os.getpid()
        self.backward = Backward()
        self.memory = Memory(device)
        self.record = Record(self._site, lambda: self.memory.most)
        self.assumed = False
        """Whether Python was given a number that is not known without data."""
        self.modules: Followed | None = None
        """Follows calls of modules; None where nothing does."""
        self.kept: KeptCalls | None = None
        """Keeps the calls that are refused, leave the device or run with a catch, if wanted."""
        self.state = presented(matrix, device, self.memory, self.note_at)
        """What ``torch.npu`` answers from."""
        self._stop = stop
        self._judge = Judge(matrix.target.chip, str(device), least)
        self._reached = Reached()
        self._wording = Wording(matrix, str(device))
        self._quiet = _Quiet()
        self._overloads: dict[str, Overload] = {}
        self._casts = {getattr(torch, a): getattr(torch, b) for a, b in matrix.casts.items()}
        self._shapes = Shapes(self.memory, self._casts, self._assumed, self._blanked)
        self._values = Values(self.memory, self._casts) if values else None

    def overload(self, name: str) -> Overload:
        """What the target has of one overload."""
        found = self._overloads.get(name)
        if found is None:
            found = self._overloads[name] = Overload.of(overload_named(name), self.matrix)
        return found

    def native(self, name: str, args: Any, kwargs: Any) -> Any:
        """Run a kernel that the target registers."""
        __tracebackhide__ = True
        self._refuse_forked()
        overload = self.overload(name)
        if self._quiet.depth:
            return self._run(overload, args, kwargs, self._apart(overload, args, kwargs))
        self.record.kernel_ran(name)
        call = self._apart(overload, args, kwargs)
        self._reached.note(call)
        objections = self._judge.before(overload, call)
        if objections:
            self._keep(overload, call)
        refused = self._refused_by(overload, objections)
        there = bytes_on_device(call.tensors) if overload.conditions else 0
        result = self._run(overload, args, kwargs, call)
        if not refused:
            late = self._judge.after(overload, result)
            if late and not objections:
                self._keep(overload, call)
            self._note_result(call, result)
            refused = self._refused_by(overload, late)
            objections += late
        self._caution(overload, objections)
        reason = next((o.reason for o in objections if o.verdict is Verdict.FALLBACK), None)
        if reason is None:
            self.record.stayed()
        else:
            self.record.left(name, reason, there + bytes_on_device(result))
        return result

    def missing(self, name: str, args: Any, kwargs: Any) -> Any:
        """Do what the vendor's runtime does with an overload that it has no kernel for."""
        __tracebackhide__ = True
        self._refuse_forked()
        overload = self.overload(name)
        call = self._apart(overload, args, kwargs)
        if self._quiet.depth:
            return self._run(overload, args, kwargs, call)
        self._reached.note(call)
        self.record.lacked(name)
        self._keep(overload, call)
        if not overload.on_host:
            error = self._wording.no_kernel(overload)
            self.refuse(overload.name, Reason(*self._lacking(overload)), error, by_condition=False)
            return self._run(overload, args, kwargs, call)
        self._refused_by(overload, self._judge.before(overload, call))
        there = bytes_on_device(call.tensors)  # the call may resize what it writes to
        result = self._run(overload, args, kwargs, call)
        self._note_result(call, result)
        text = Sentence(kernels.ON_HOST, vendor=self.matrix.target.vendor, op=name)
        self.record.left(name, Reason(codes.HOST_FALLBACK, text), there + bytes_on_device(result))
        self._wording.fell_back(overload)
        return result

    def composite(self, name: str, args: Any, kwargs: Any) -> Any:
        """Look a composite's conditions up, then let it run as what it runs as."""
        __tracebackhide__ = True
        overload = self.overload(name)
        assert overload.composite is not None, "registered for composites alone"
        if self._quiet.depth or _calls_anew(args, kwargs):
            return run_composite(overload.func, overload.composite, args, kwargs)
        # modes and transforms that are at work would see what is looked up
        with torch._C._DisableTorchDispatch(), torch._C._DisableFuncTorch():
            call = self._apart(overload, args, kwargs)
        if not torch.is_autocast_enabled(self.torch_device.type):
            self._object(overload, call, self._judge.before(overload, call))
            return run_composite(overload.func, overload.composite, args, kwargs)
        with self._reached.watched(casting=True) as reached:  # what it runs as may be cast
            result = run_composite(overload.func, overload.composite, args, kwargs)
        self._object(overload, call, self._judge.cast(overload, call, reached))
        return result

    def _object(self, overload: Overload, call: Call, objections: tuple[Objection, ...]) -> None:
        if objections:
            self._keep(overload, call)
        self._refused_by(overload, objections)
        self._caution(overload, objections)

    @contextmanager
    def quiet(self) -> Iterator[None]:
        """Count nothing inside: it happens inside a kernel of the vendor's."""
        self._quiet.depth += 1
        try:
            yield
        finally:
            self._quiet.depth -= 1

    def is_quiet(self) -> bool:
        """Whether what is called now happens inside a kernel of the vendor's."""
        return bool(self._quiet.depth)

    @property
    def generator(self) -> DeviceGenerator:
        """What the device draws random numbers from."""
        return self.state.generator

    @property
    def computes(self) -> bool:
        """Whether every tensor has its values."""
        return self._values is not None

    def collective(self, name: str, resolution: Resolution) -> None:
        """Note a collective, or refuse it where the vendor's backend does not have it."""
        __tracebackhide__ = True
        self._refuse_forked()
        if self._quiet.depth:
            return
        if resolution.verdict is Verdict.UNSUPPORTED:
            by_dtype = resolution.code == codes.NO_DTYPE
            limited = by_dtype or resolution.code == codes.NO_REDUCTION
            (self.record.kernel_ran if limited else self.record.lacked)(name)
            reason = Reason(resolution.code, resolution.text)
            error = (TypeError if by_dtype else RuntimeError)(resolution.text)
            self.refuse(name, reason, error, by_condition=limited)
            return
        self.kernel_ran(name)
        if resolution.verdict is Verdict.UNKNOWN:
            self.record.caution(name, Reason(resolution.code, resolution.text), resolution.verdict)

    def met_compiled(self, how: Compilation, module: str = "") -> None:
        """Refuse what the target's back ends do not compile; else note that it runs as written."""
        __tracebackhide__ = True
        self._refuse_forked()
        compiled.met(self, eager.as_set(how))

    def met_launch(self, code: KernelCode, given: Mapping[str, Any], grid: tuple[Any, ...]) -> None:
        """Refuse a kernel of the model's own as the target does; else note that nothing runs it."""
        __tracebackhide__ = True
        self._refuse_forked()
        site = self._site()
        where = f"{site.file}:{site.line}" if site.file else site.module or "(the model)"
        launches.met(self, code, given, grid, where)

    def kernel_ran(self, op: str) -> None:
        """Count a kernel of the vendor's that is not reached through the dispatcher."""
        if not self._quiet.depth:
            self.record.kernel_ran(op)
            self.record.stayed()

    def _run(self, overload: Overload, args: Any, kwargs: Any, call: Call) -> Any:
        if overload.facts.view:
            result = self._viewed(overload, args, kwargs)
            return result if result is args[0] else self._cast(overload, call, result)
        if overload.op.base == "set_":
            return self.memory.point(args[0], *args[1:], **kwargs)
        try:
            given = (*args, *kwargs.values())
            surely = self._values is None  # else the numbers say whether any are drawn
            with self.state.drawing(given, surely=surely) if overload.random else nullcontext():
                return self._computed(overload, args, kwargs, call)
        except OtherLayout:
            raise not_emulated(overload.name) from None

    def _computed(self, overload: Overload, args: Any, kwargs: Any, call: Call) -> Any:
        if self._values is not None:
            try:
                with switched_off() if call.modes else nullcontext():
                    return self._values.run(overload, args, kwargs, call)
            except NotImplementedError as error:
                text = str(error).partition("\n")[0]
                self.record.note(
                    Sentence(
                        "{op} gives zeros here: nothing computes it ({text})",
                        op=overload.name,
                        text=text,
                    )
                )
        try:
            result = self._shapes.run(overload, args, kwargs, call)
        except Exception:  # meta refuses what the composite takes, or does not know what it gives
            if overload.facts.composite is None:
                raise
            with self.quiet():
                return run_composite(overload.func, overload.facts.composite, args, kwargs)
        if self._values is not None:
            tree_map_only(Tensor, self.memory.give_values, (result, args, kwargs))
        return result

    def _viewed(self, overload: Overload, args: Any, kwargs: Any) -> Any:
        """Views share the storage itself: what makes them for every device makes them here."""
        with self.quiet():
            if overload.facts.composite is not None:
                return run_composite(overload.func, overload.facts.composite, args, kwargs)
            return at_key(overload.func, _CPU, *args, **kwargs)

    def _cast(self, overload: Overload, call: Call, result: Any) -> Any:
        """Give a cast that ran as its parts the dtype that the device's own cast gives."""
        given = self._casts.get(result.dtype) if overload.name in CAST else None
        if given is None or not asks_for(call, result.dtype):
            return result
        with self.quiet():
            return result.to(given)

    def _apart(self, overload: Overload, args: Any, kwargs: Any) -> Call:
        call = take_apart(overload.func, args, kwargs, self._proxy)
        if call.device is not None and call.device.index and call.device.type != "cpu":
            self.state.index(call.device)  # C++ would ask for the guard of a device there is not
        return call

    def _proxy(self, tensor: Tensor) -> DeviceTensor:
        """What stands for a device tensor where the tracer's rooms are asked."""
        value = self.memory.host(tensor) if self._values is None else None
        spec, offset = Spec.like(tensor), int(tensor.storage_offset())
        made = device_tensor(spec, value, self.torch_device, offset)
        made.origin = tensor
        return made

    def _refused_by(self, overload: Overload, objections: tuple[Objection, ...]) -> bool:
        """Refuse the call if there is a reason to; the first one is told."""
        for objection in objections:
            if objection.verdict is Verdict.UNSUPPORTED:
                error = self._wording.refusal(overload, objection.reason)
                self.refuse(overload.name, objection.reason, error, by_condition=True)
                return True
        return False

    def _keep(self, overload: Overload, call: Call) -> None:
        if self.kept is not None:
            self.kept.add(overload, call, self._site(), self.record.now)

    def _note_result(self, call: Call, result: Any) -> None:
        if self.kept is not None:
            self.kept.gave(call, result)

    def _caution(self, overload: Overload, objections: tuple[Objection, ...]) -> None:
        """Warn as the vendor does, and note what runs otherwise than on the host, or may not."""
        for objection in objections:
            if objection.verdict is not Verdict.UNSUPPORTED:
                self._wording.caution(overload, objection.reason)
            if objection.verdict in (Verdict.NATIVE, Verdict.UNKNOWN):
                self.record.caution(overload.name, objection.reason, objection.verdict)

    def refuse(self, op: str, reason: Reason, error: Exception, *, by_condition: bool) -> None:
        """Count a call that is refused; raise the error where refusals end the run."""
        self.record.refused(op, reason, error, by_condition)
        if self._stop:
            raise error

    def _refuse_forked(self) -> None:
        """Raise as device runtimes do in a process that was forked while the device was open."""
        if os.getpid() != self._process:
            name = self.torch_device.type.upper()
            raise RuntimeError(
                f"Cannot re-initialize {name} in forked subprocess. To use {name} with "
                "multiprocessing, you must use the 'spawn' start method"
            )

    def _lacking(self, overload: Overload) -> tuple[str, str]:
        """Reason code and sentence for an overload that nothing runs."""
        code, text = codes.NO_KERNEL, kernels.NOWHERE
        if self.matrix.fallback.to_cpu:
            code, text = codes.NO_KERNEL_ANYWHERE, kernels.NOT_ON_HOST
        return code, Sentence(text, vendor=self.matrix.target.vendor, op=overload.name)

    def _assumed(self, call: Call, assumption: Assumption) -> None:
        if assumption.steers:
            self.assumed = True
            self.note_at(
                "reads a value that depends on data in a backward pass; {said} here"
                if self.record.now is Phase.BACKWARD
                else "reads a value that depends on data; {said} here",
                "reads a value that depends on data at {text}; {said} here",
                assumption.text,
            )

    def _blanked(self) -> None:
        if not self._quiet.depth:
            self.note_at(
                "brings values to the host that are not followed; zeros here",
                "brings values to the host that are not followed at {text}; zeros here",
            )

    def note_at(self, nowhere: str, somewhere: str, said: str = "") -> None:
        """Note what happens, with the line of the user's code where that is known."""
        site = self._site()
        template = somewhere if site.file else nowhere
        self.record.note(Sentence(template, text=f"{site.file}:{site.line}", said=said))

    def _site(self) -> Site:
        module = self.modules.current if self.modules else ""
        return Site(module, *from_stack(2, None))


def _calls_anew(*given: Any) -> bool:
    """Whether tensors are among them that make calls of what they hold, as DTensors do."""
    return any(map(is_traceable_wrapper_subclass, tree_leaves(given)))

"""What the tree of calls and the counting of kernels share: answering for the device.

Inference runs under a dispatch mode, which is left wherever C++ runs a composite, and below
autograd (``torch._C._AutoDispatchBelowAutograd``, checked on 2.13.0), so that composites arrive
whole without inference tensors, whose version counters break some models. Training runs above it
and under no mode: what arrives is what autograd asks of a device.
"""

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from types import CodeType
from typing import Any

import torch
from torch import Tensor
from torch._ops import OpOverload
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

from opcheck.kernel_code.launching import listening
from opcheck.lang.sentence import Sentence
from opcheck.model.launches import KernelCode, Language, Launch
from opcheck.model.trace import (
    DEVICE_NAMED,
    NOT_SEEN,
    SHAPE_ASSUMED,
    VALUE_ASSUMED,
    Compilation,
    CompiledRegion,
    Composite,
    Gap,
    Phase,
)
from opcheck.model.work import VIEWING
from opcheck.trace.calls import flex_attention
from opcheck.trace.calls.call_site import Site, from_stack
from opcheck.trace.calls.launches import launch_of
from opcheck.trace.calls.modules import ModuleStack
from opcheck.trace.calls.signature import Call, take_apart
from opcheck.trace.device.alias import module_answers, taken_for, there
from opcheck.trace.device.checkpoints import checkpoints_of
from opcheck.trace.device.generators import generators_of
from opcheck.trace.device.sparse import SPARSE, SparseTensor
from opcheck.trace.device.state import answering
from opcheck.trace.device.tensors import DeviceTensor, adopt, live
from opcheck.trace.outputs.half_transforms import in_half
from opcheck.trace.outputs.kernel_results import KernelResults
from opcheck.trace.outputs.unknown import Assumption, UnknownResult, read_as
from opcheck.trace.running import distributed, eager, parallel
from opcheck.trace.running.eager import OtherAsDevice, not_compiled, numbers_read
from opcheck.trace.torch_internals.autocast import cast_again, casts_around
from opcheck.trace.torch_internals.dispatcher import resolving_lazy, run_composite
from opcheck.trace.torch_internals.kernels import Kernels
from opcheck.trace.torch_internals.modes import as_found

_TO_LAYOUT = torch.ops.aten.to.dtype_layout
_TO_DEVICE = torch.ops.aten.to.device
"""What ``torch.tensor(..., device=...)`` calls, unless it lifts: then it is the other, with only
a device. Users' own ``x.to(device)`` gives a dtype and a layout as well."""
_FORWARD = torch.ops.aten._unpack_dual.default
"""What takes a dual tensor apart; below autograd, where inference is, it has no tangent."""
NOT_FORWARD = (
    "forward-mode derivatives of torch.autograd.forward_ad and torch.func.linearize are not"
    " followed; those of torch.func.jvp are, and opcheck emulate runs all of them"
)
_LIKE_FIRST = (
    "calls {op} of an extension that was not built; what it gives is taken to be like its first "
    "tensor"
)
_RESHAPE_ALIAS = torch.ops.aten._reshape_alias.default

_NO_RESULT = object()
"""What an operator that fails in backward gives: C++ refuses it, which ends the backward.

An exception would end the process: while it unwinds, C++ asks Python for the stream that was
current before, and does not expect that to fail with an exception set. Checked on 2.13.0.
"""


@contextmanager
def _lifting() -> Iterator[None]:
    """Have ``torch.tensor(..., device=...)`` move its data through the dispatcher.

    ``torch._C._set_only_lift_cpu_tensors``, as torch's own FakeTensorMode does; checked on 2.13.0.
    """
    before = torch._C._only_lift_cpu_tensors()
    torch._C._set_only_lift_cpu_tensors(True)
    try:
        yield
    finally:
        torch._C._set_only_lift_cpu_tensors(before)


class _Inner(threading.local):
    """How deep this thread is inside composites that are run here."""

    depth = 0


class Engine(TorchDispatchMode):
    """Runs a model on the traced device; a subclass decides what to keep of each call."""

    supports_higher_order_operators = True

    def __init__(
        self,
        device: torch.device,
        casts: Mapping[torch.dtype, torch.dtype],
        modules: ModuleStack,
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # torch leaves it untyped
        self.device = device
        self.modules = modules
        modules.met_compiled = self._met_compiled
        self.gaps: dict[Gap, None] = {}
        self.compiled: dict[CompiledRegion, None] = {}
        """What was to be compiled."""
        self.launches: Counter[Launch] = Counter()
        """Kernels of the model's own, and how often each was launched."""
        self.notes: dict[str, None] = {}
        """What a reader is to know of how the run was recorded."""
        self._steered = True
        self.leaves = KernelResults(device, casts, self._note_assumption)
        self._last_assumption: Assumption | None = None
        self.until: CodeType | None = None
        """What the search for user frames ends at."""
        self.refused: Exception | None = None
        """The last error that an operator raised for its arguments, unless they were assumed."""
        self.assumptions = 0
        """How many answers rested on an assumption so far."""
        self.other_as_device = False
        """Whether hard-coded devices of CUDA and other vendors are taken for the traced one."""
        self.training = False
        """Whether the run has gradients."""
        self.phase = Phase.FORWARD
        """What a training step is at."""
        self.device_kernels = Kernels()
        """The device's; may be shared by engines that run in turn."""
        self._inner = _Inner()
        self._casts_inside = False
        """Whether autocast has to be let in again where the call being answered is run inside."""
        self._backward_error: Exception | None = None

    @property
    def device_type(self) -> str:
        """What tensors say they are on."""
        return (DeviceTensor.shown or self.device).type

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        # torch 2.13 wraps __torch_dispatch__ so that Dynamo is imported (a second) on first use.
        return False

    @contextmanager
    def running(self, until: CodeType | None = None) -> Iterator[None]:
        """Answer for the device inside the block; ``until`` ends the search for user frames."""
        self.until = until
        self._backward_error = None
        with ExitStack() as stack:
            note = partial(self.gap_here, code=NOT_SEEN)
            for each in (
                torch.set_grad_enabled(self.training), as_found(), _lifting(),
                not_compiled(self._met_compiled), listening(self._met_launch), numbers_read(),
                parallel.followed(self.device), there(self.device, self._met_other),
                generators_of(self.device, note), checkpoints_of(self.device, note),
                flex_attention.followed(self.called_by_python), eager.no_inference_tensors(),
            ):  # fmt: skip
                stack.enter_context(each)
            if self.other_as_device:
                stack.enter_context(module_answers("cuda"))
                stack.enter_context(OtherAsDevice(self.device, self._met_other))
            if not self.training:
                stack.enter_context(torch._C._AutoDispatchBelowAutograd())
            stack.enter_context(self.modules.watching())
            stack.enter_context(self._kernels_here())
            stack.enter_context(answering(self))
            stack.enter_context(live(gradients=self.training))
            if not self.training:
                stack.enter_context(self)
            try:
                yield
            except Exception:
                if self._backward_error is None:
                    raise
                raise self._backward_error from None

    def __torch_dispatch__(
        self,
        func: Any,
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Answer one call that this mode is given."""
        by_cpp = isinstance(func, OpOverload)  # which keeps what was excluded before
        before = self._casts_inside
        self._casts_inside = by_cpp and casts_around(self.device)
        try:
            with self.leaves.noted.ours():
                return self._answered(func, types, args, kwargs)
        finally:
            self._casts_inside = before

    def _answered(
        self, func: Any, types: Sequence[type], args: tuple[Any, ...], kwargs: Any
    ) -> Any:
        theirs = self.leaves.noted.theirs
        if parallel.hands_on(types):
            if self.training or not parallel.goes_apart(func):
                return NotImplemented
            with self, theirs():  # as autograd would, were it on
                return func.decompose(*args, **(kwargs or {}))
        if not isinstance(func, OpOverload):
            with theirs():
                return self.higher_order(func, args, dict(kwargs or {}))
        args, kwargs = taken_for(self.device, args, kwargs or {})
        if func is _TO_LAYOUT and tuple(kwargs) == ("device",):
            func, args, kwargs = _TO_DEVICE, (args[0], kwargs["device"], args[0].dtype), None
        if func is _FORWARD:
            raise UnknownResult(NOT_FORWARD)
        if func.namespace == distributed.FULLY_SHARDED:
            with self, theirs():
                return distributed.taken_apart(func, args, dict(kwargs or {}))
        call = take_apart(func, args, kwargs, self.adopt)
        if self.casting:
            call = replace(call, key=(*call.key, torch.get_autocast_dtype(self.device.type)))
        if self.compiled and not self._inner.depth and (at := eager.compiled_at(self.until)):
            call = replace(call, modes=(*call.modes, *at), key=(*call.key, at))
        if not call.ours and (call.device is None or call.device.type != self.device.type):
            with resolving_lazy() if call.lazy else nullcontext(), theirs():
                return func(*call.args, **call.kwargs)
        try:
            return self.answer(call)
        except Exception as error:
            if not isinstance(error, UnknownResult):
                self.refused = None if self.assumptions else error
            if self._inner.depth or torch._C._current_graph_task_id() == -1:
                raise
            self._backward_error = self._backward_error or error
            return _NO_RESULT

    def _kernels_here(self) -> AbstractContextManager[None]:
        return self.device_kernels.registered(self.called_by_dispatcher, implicit=not self.training)

    def called_by_dispatcher(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Answer a call that the dispatcher brought to the device."""
        if func is _RESHAPE_ALIAS and self.device_type in VIEWING:
            func, args = torch.ops.aten.view.default, args[:2]
        before, self._casts_inside = self._casts_inside, False
        try:
            with self.leaves.noted.ours():
                return self._answered(func, (), args, kwargs)
        finally:
            self._casts_inside = before

    @property
    def casting(self) -> bool:
        """Whether autocast casts what the call being answered runs as."""
        return self._casts_inside or torch.is_autocast_enabled(self.device.type)

    def answer(self, call: Call) -> Any:
        """Give the outputs of a call that involves the device."""
        raise NotImplementedError

    def inside(self, func: Any, kind: Composite, args: Any, kwargs: Any) -> Any:
        """Run the composite kernel of ``func``, answering for what it calls; adopt its results."""
        self._inner.depth += 1
        try:
            inside = cast_again(self.device) if self._casts_inside else nullcontext()
            half = in_half(func, args, kwargs)
            with self.resolving(kind), inside, self.leaves.noted.theirs():
                result = half() if half is not None else run_composite(func, kind, args, kwargs)
        finally:
            self._inner.depth -= 1
        return tree_map(partial(self._adopted, (args, kwargs)), result)

    def resolving(self, kind: Composite) -> AbstractContextManager[None]:
        """How C++ takes lazy conjugates in a composite kernel of this kind: it resolves them."""
        return resolving_lazy()

    def higher_order(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Give the outputs of a higher-order operator."""
        raise NotImplementedError

    def called_by_python(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Answer a higher-order operator before autograd and the dispatcher see it."""
        raise NotImplementedError

    def begin(self, phase: Phase) -> None:
        """Take what follows as of ``phase``."""
        self.phase = phase

    def stepped(self, optimizer: torch.optim.Optimizer) -> None:
        """Take note that a training step is over, all that it keeps being there still."""

    def taken_apart(
        self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], run: Callable[[], Any]
    ) -> Any:
        """Have autograd take a composite apart, and give what it returns."""
        return run()

    def kernel_ran(self, op: str) -> None:
        """Take note of a call of a kernel that the target is known to run here."""
        raise NotImplementedError

    def quiet(self) -> AbstractContextManager[None]:
        """Take no note of what this thread asks for inside the block."""
        raise NotImplementedError

    def adopt(self, bare: Tensor) -> DeviceTensor:
        """Take a bare tensor, made by a C++ kernel or on meta, as ours; without its values."""
        return adopt(bare, self.device)

    def _adopted(self, given: Any, value: Any) -> Any:
        """A result as one of ours; a bare one that views an argument has its values."""
        if isinstance(value, DeviceTensor):
            return self.adopt(value)
        if isinstance(value, SparseTensor):
            return value
        if isinstance(value, Tensor) and value.layout in SPARSE:
            return value  # made by C++: what it was made of is recorded, its values are not there
        if not isinstance(value, Tensor) or value.device.type != self.device.type:
            return value
        viewed = (tensor for tensor in tree_leaves(given) if isinstance(tensor, DeviceTensor))
        return adopt(value, self.device, viewed)

    def site(self) -> Site:
        """The user's line that made the call being answered."""
        return from_stack(2, self.until)

    def gap_here(self, reason: str, code: str) -> None:
        """Note something that was not seen at the user's line being run."""
        self.gap(Gap(self._here(), reason, code))

    def _here(self) -> str:
        """The user's line being run, or the module where there is none."""
        file, line = from_stack(2, self.until)
        return f"{file}:{line}" if file else self.modules.current or "(the model)"

    def gap(self, gap: Gap) -> None:
        """Note something that was not seen."""
        self.gaps[gap] = None

    def note(self, text: str) -> None:
        """Note how something was recorded that was seen whole."""
        self.notes[text] = None

    @contextmanager
    def not_steered(self) -> Iterator[None]:
        """Have Python read values inside the block that decide nothing of what is recorded."""
        self._steered = False
        try:
            yield
        finally:
            self._steered = True

    def _note_assumption(self, call: Call, assumption: Assumption) -> None:
        self._last_assumption = assumption
        self.assumptions += 1
        if not (assumption.steers and self._steered):
            return
        if self.phase is not Phase.OPTIMIZER:  # which asks if all is finite
            text = "reads a value that depends on data; {said} here"
            self.gap_here(Sentence(text, said=assumption.text), VALUE_ASSUMED)

    def _met_other(self, device_type: str) -> None:
        if device_type == "cuda":
            text = "names a CUDA device; traced as if it said '{device}'"
            self.gap_here(Sentence(text, device=self.device_type), DEVICE_NAMED)
        else:
            text = "names the device '{other}'; traced as if it said '{device}'"
            self.gap_here(Sentence(text, other=device_type, device=self.device_type), DEVICE_NAMED)

    def _met_compiled(self, how: Compilation, module: str = "") -> None:
        where = module or self._here()
        self.compiled[CompiledRegion(where, eager.as_set(how))] = None

    def _met_launch(
        self, code: KernelCode, given: Mapping[str, Any], grid: tuple[Any, ...]
    ) -> None:
        where = self._here()
        self.launches[launch_of(code, given, grid, where, self.phase)] += 1
        if code.language is not Language.TRITON:
            self.gap(Gap(where, Sentence(_LIKE_FIRST, op=code.operator), SHAPE_ASSUMED))
        for name, value in given.items():
            if isinstance(value, DeviceTensor) and (code.writes is None or name in code.writes):
                value.lose()

    def note_read(self, value: Any) -> None:
        """Python reads ``value`` on the host in place of values that the trace does not have."""
        self.gap_here(read_as(value), VALUE_ASSUMED)

    def took_assumption(self) -> bool:
        """Whether the last answer rested on an assumption; asking forgets it."""
        taken, self._last_assumption = self._last_assumption is not None, None
        return taken

"""The tree of calls: every signature once, with what it becomes inside PyTorch."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from itertools import islice
from types import CodeType
from typing import Any

import torch
from msgspec.structs import replace
from torch import Tensor
from torch.utils._python_dispatch import _get_current_dispatch_mode
from torch.utils._pytree import tree_leaves, tree_map

from opcheck.lang.sentence import Sentence
from opcheck.model.trace import SHAPE_ASSUMED, Composite, Node, OpName, Phase, Use, Value
from opcheck.trace.calls.call_site import NOWHERE, Site
from opcheck.trace.calls.engine import Engine
from opcheck.trace.calls.flex_attention import BY_AUTOGRAD
from opcheck.trace.calls.higher_order import branches
from opcheck.trace.calls.modules import ModuleStack, first_said, raise_if_bug, reason_of
from opcheck.trace.calls.signature import Call, named_arguments, take_apart, to_value
from opcheck.trace.device.sparse import SparseTensor
from opcheck.trace.device.tensors import DeviceTensor, copy_memory_tag, device_tensor
from opcheck.trace.outputs.unknown import OtherLayout, UnknownResult, is_asked_for
from opcheck.trace.running.model_state import dense_copy
from opcheck.trace.torch_internals.autocast_casts import Reached, handed_on
from opcheck.trace.torch_internals.autograd import Forwards, differentiated
from opcheck.trace.torch_internals.dispatcher import ALIASES, OverloadFacts, facts, known_to_cpu
from opcheck.trace.torch_internals.modes import Modes, of_gradients


@dataclass(slots=True)
class _Draft:
    """A node while the trace is being made."""

    op: OpName
    arguments: tuple[tuple[str, Value], ...]
    composite: Composite | None = None
    cpu_kernel: bool = True
    children: dict[int, int] | None = None
    outputs: tuple[Value, ...] = ()
    note: str = ""
    data_dependent: bool = False
    modes: Modes = ()

    def node(self) -> Node:
        """The finished value."""
        children = None if self.children is None else tuple(self.children.items())
        return Node(
            self.op, self.arguments, self.outputs, self.composite, self.cpu_kernel,
            children, self.note, self.data_dependent, self.modes,
        )  # fmt: skip


class CallTreeRecorder(Engine):
    """Records uses of nodes; a composite is taken apart the first time its signature is seen."""

    def __init__(
        self,
        device: torch.device,
        casts: Mapping[torch.dtype, torch.dtype],
        modules: ModuleStack,
    ) -> None:
        super().__init__(device, casts, modules)
        self.leaves.follows_sparse = True
        self._drafts: list[_Draft] = []
        self._index: dict[tuple[Any, ...], int] = {}
        self._open: list[Counter[int]] = []
        self._expanding: list[int] = []
        self._quiet = self._quiet_from = 0
        """How often it is quiet, and how many composites were open where it fell so."""
        self._unfinished: dict[int, tuple[OtherLayout, dict[int, int]]] = {}
        """Draft of a composite that met a tensor without strides -> what it had called by then."""
        self._forwards = Forwards()
        self._autocast = Reached()
        self._apart: Counter[tuple[Node, str, Site, Phase]] = Counter()
        self._uses: dict[tuple[int, str, Site, Phase], int] = {}
        self._counts: list[int] = []
        self.sequence: list[int] = []
        self.differentiated: dict[int, set[str]] = {}
        """Node -> arguments that calls in the forward of a step need gradients of."""
        self.told: Callable[[CallTreeRecorder], None] | None = None
        """Called whenever a use was recorded."""

    @property
    def nodes(self) -> tuple[Node, ...]:
        """Every distinct call, as it stands."""
        return self.nodes_from(0)

    def nodes_from(self, start: int) -> tuple[Node, ...]:
        """The distinct calls beside the first ``start``."""
        return tuple(draft.node() for draft in self._drafts[start:])

    @property
    def uses(self) -> tuple[Use, ...]:
        """Every use, in order of first call."""
        return self.uses_from(0)

    def uses_from(self, start: int) -> tuple[Use, ...]:
        """The uses beside the first ``start``."""
        if start == len(self._uses):
            return ()
        return tuple(
            Use(node, module, file, line, count, phase)
            for ((node, module, (file, line), phase), count) in zip(
                islice(self._uses, start, None), self._counts[start:], strict=True
            )
        )

    @property
    def apart(self) -> tuple[tuple[Node, Use], ...]:
        """Composites that autograd took apart, each with its use, whose number says nothing."""
        return tuple(
            (node, Use(0, module, file, line, count, phase))
            for (node, module, (file, line), phase), count in self._apart.items()
        )

    @contextmanager
    def running(self, until: CodeType | None = None) -> Iterator[None]:
        """Answer inside the block; backward stays on this thread, which numbers its nodes."""
        with torch.autograd.set_multithreading_enabled(False), super().running(until):
            yield

    def answer(self, call: Call) -> Any:
        """Run the call whole and record it."""
        self._autocast.note(call)
        index = self._index.get(call.key)
        if index is None:
            index = len(self._drafts)
            result = self._first(call)
            self._note_gradients(index, call)
            return result
        self._note_gradients(index, call)
        result = self.leaves.run(call)
        if self.took_assumption():
            self._drafts[index].data_dependent = True
        self._record(index)
        return result

    def _note_gradients(self, index: int, call: Call) -> None:
        """Note what the gradient of a call of the model's is wanted of."""
        if self.training and self.phase is Phase.FORWARD and not (self._open or self._quiet):
            names = differentiated(facts(call.func).argument_names, call.args, call.kwargs)
            if names:
                self.differentiated.setdefault(index, set()).update(names)

    def _first(self, call: Call) -> Any:
        """Answer a signature that was not seen before."""
        known = facts(call.func)
        draft = _Draft(
            known.name,
            named_arguments(known.argument_names, call.args, call.kwargs),
            known.composite,
            known.cpu_kernel,
            modes=call.modes,
        )
        index = self._index[call.key] = len(self._drafts)
        self._drafts.append(draft)
        self._expanding.append(index)
        try:
            instead = self._expand(call, known, draft)
        finally:
            self._expanding.pop()
        unfinished = self._unfinished.pop(id(draft), None)
        try:
            result = self.leaves.run(call)
            if instead is not None and self.casting and _dtypes(instead) != _dtypes(result):
                result = self.leaves.learn(call, instead)  # what it runs as was cast
        except Exception as error:  # Unseen, or meta refuses what the composite takes
            if instead is None:
                instead = self._guess(call, draft, error)
            if instead is None:
                met, called = unfinished or (error, {})
                if is_asked_for(met, call):  # it is not known what it gives
                    draft.children = called or draft.children
                    self._record(index)
                    raise met from None
                self._forget(call.key, index)
                raise
            result = self.leaves.learn(call, instead)
        draft.data_dependent = self.took_assumption() or draft.data_dependent
        draft.outputs = _values(result)
        self._record(index)
        return result

    def _guess(self, call: Call, draft: _Draft, error: Exception) -> Any:
        """For an operator of which only the schema is known: results like its first tensor."""
        returns = call.func._schema.returns
        known = isinstance(error, UnknownResult) and call.tensors and draft.op.namespace != "aten"
        if not known or any(str(r.type) != "Tensor" for r in returns):
            return None
        text = "{op} has no shape rule here; its result is taken to be like its input"
        self.gap_here(Sentence(text, op=str(draft.op)), SHAPE_ASSUMED)
        first = next((t for t in call.tensors if isinstance(t, DeviceTensor)), None)
        if first is None:
            return None
        made = [device_tensor(first.spec, None, self.device) for _ in returns]
        return made[0] if len(made) == 1 else made

    def _forget(self, key: tuple[Any, ...], index: int) -> None:
        """Drop a call that did not happen; later drafts may already refer to earlier ones."""
        del self._index[key]
        if index == len(self._drafts) - 1:
            self._drafts.pop()

    def taken_apart(
        self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], run: Callable[[], Any]
    ) -> Any:
        """Have autograd take a composite apart, and note with what it was called."""
        call = take_apart(func, args, kwargs, self.adopt)
        if self._quiet or self._open or not call.ours:
            return run()
        place = self.modules.current, self.site()
        if place[1] == NOWHERE and self.phase is Phase.BACKWARD:
            place = self._forwards.gone_back_to()
        with self._autocast.watched(self.casting) as reached:
            result = run()
        known = facts(func)
        given = named_arguments(known.argument_names, call.args, call.kwargs)
        node = Node(known.name, handed_on(given, reached), composite=known.composite)
        node = replace(node, modes=call.modes) if call.modes else node
        self._apart[node, *place, self.phase] += 1
        return result

    def kernel_ran(self, op: str) -> None:
        """Record a call of which no more than the overload is known."""
        index = self._index.get((op,))
        if index is None:
            index = self._index[(op,)] = len(self._drafts)
            draft = _Draft(OpName.parse(op), (), cpu_kernel=known_to_cpu(op), children={})
            self._drafts.append(draft)
        self._record(index)

    @contextmanager
    def quiet(self) -> Iterator[None]:
        """Record nothing of what this thread asks for inside the block.

        What composites in it run as is kept: elsewhere they may be called again.
        """
        self._quiet_from = self._quiet_from if self._quiet else len(self._open)
        self._quiet += 1
        try:
            yield
        finally:
            self._quiet -= 1

    def _record(self, index: int) -> None:
        if self._open:
            heard = not self._quiet or len(self._open) > self._quiet_from
            if heard and index not in self._expanding:
                self._open[-1][index] += 1  # what a kernel asks of itself adds nothing
            return
        module, site = self._place()
        if self._quiet:
            return
        self.used(index, module, site)
        if self.told is not None:
            self.told(self)

    def used(self, index: int, module: str, site: Site) -> None:
        """Count a use of a node."""
        key = (index, module, site, self.phase)
        use = self._uses.get(key)
        if use is None:
            use = self._uses[key] = len(self._uses)
            self._counts.append(0)
        self._counts[use] += 1
        self.sequence.append(use)

    @property
    def keys(self) -> list[tuple[int, str, Site, Phase]]:
        """Of each use its node, module, line and phase."""
        return [*self._uses]

    @property
    def occupied(self) -> bool:
        """Whether calls are taken for what a composite runs, or for nothing."""
        return bool(self._open or self._quiet)

    def _place(self) -> tuple[str, Site]:
        """The module that runs and the user's line; in backward, those of the call gone back to."""
        place = self.modules.current, self.site()
        if not self.training or self.phase is Phase.OPTIMIZER:
            return place
        if place[1] == NOWHERE and self.phase is Phase.BACKWARD:
            place = self._forwards.gone_back_to()
        self._forwards.note(place)  # also in backward, which may compute something again
        return place

    def _expand(self, call: Call, known: OverloadFacts, draft: _Draft) -> Any:
        """Run the composite kernel on copies and keep what it calls; give what it returns."""
        if known.composite is None or call.func in ALIASES:
            draft.children = {}
            return None
        args, kwargs = _copies((call.args, call.kwargs))
        children: Counter[int] = Counter()
        self._open.append(children)
        try:
            with self._autocast.watched(self.casting) as reached:
                result = self.inside(call.func, known.composite, args, kwargs)
            draft.arguments = handed_on(draft.arguments, reached)
        except NotImplementedError as error:
            if not children and _only_raises(error):
                draft.composite, draft.children = None, {}
                return None
            draft.note = reason_of(error)
            return None
        except Exception as error:  # the kernel's own failure, told in the note
            raise_if_bug(error)
            draft.note = reason_of(error)
            if known.view and any(isinstance(t, SparseTensor) for t in call.tensors):
                draft.children, draft.note = {}, ""  # C++ looks where its parts are, which is here
            elif isinstance(error, OtherLayout) and is_asked_for(error, call):
                self._unfinished[id(draft)] = error, dict(children)
            return None
        finally:
            self._open.pop()
        draft.children = dict(children)
        draft.data_dependent = any(self._drafts[child].data_dependent for child in children)
        return result

    def higher_order(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Record the operator, and run what it holds as its children."""
        draft = _Draft(_named(func), _tensors(args), Composite.EXPLICIT)
        index = len(self._drafts)
        self._drafts.append(draft)
        children: Counter[int] = Counter()
        self._open.append(children)
        try:
            with nullcontext() if _get_current_dispatch_mode() is self else self:
                result = branches(self, func, args, kwargs)
        except NotImplementedError as error:
            text = "higher-order operator {op}: {said}"
            raise UnknownResult(Sentence(text, op=func.name(), said=first_said(error))) from error
        finally:
            self._open.pop()
        draft.children = dict(children)
        draft.outputs = _values(result)
        self._record(index)
        return result

    def called_by_python(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Record the operator; with gradients, what it holds is recorded beside it."""
        if not self.training:
            return self.higher_order(func, args, kwargs)
        if not (self._quiet or self._open):
            tensors = [value for value in args if isinstance(value, Tensor)]
            node = Node(
                _named(func), _tensors(args), composite=Composite.EXPLICIT,
                modes=of_gradients(tensors),
            )  # fmt: skip
            self._apart[node, self.modules.current, self.site(), self.phase] += 1
        self.note(BY_AUTOGRAD)
        return branches(self, func, args, kwargs)


def _named(func: Any) -> OpName:
    return OpName("higher_order", func.name())


def _tensors(args: tuple[Any, ...]) -> tuple[tuple[str, Value], ...]:
    """The tensors among what a higher-order operator is given, by place: it has no schema."""
    return tuple((f"arg{i}", to_value(a)) for i, a in enumerate(args) if isinstance(a, Tensor))


def _only_raises(error: NotImplementedError) -> bool:
    """A composite kernel that exists to say "replace me", not one that met a missing kernel."""
    return "not implemented" in str(error)


def _dtypes(result: Any) -> list[torch.dtype]:
    return [value.dtype for value in tree_leaves(result) if isinstance(value, Tensor)]


def _values(result: Any) -> tuple[Value, ...]:
    value = to_value(result)
    return value if isinstance(value, tuple) else (value,)


def _copies(arguments: Any) -> Any:
    """Copies of the call's device tensors, so that taking it apart mutates nothing."""
    made: dict[int, DeviceTensor] = {}

    def copy(value: Any) -> Any:
        if type(value) is not DeviceTensor:
            return value
        if id(value) not in made:
            kept = None if value.value is None else value.value.clone()
            offset = int(value.storage_offset())
            if kept is not None and (offset or kept.stride() != value.spec.stride):
                assert value.value is not None, "it was cloned just now"
                kept = dense_copy(value.value, offset)
            made[id(value)] = device_tensor(value.spec, kept, value.place, offset)
            copy_memory_tag(made[id(value)], value)
        return made[id(value)]

    return tree_map(copy, arguments)

"""What a stand-in asks a target for: recorded as the model itself was, and compared with it."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any

import torch
from msgspec import Struct
from msgspec.structs import replace
from torch import Tensor
from torch._ops import OpOverload
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

from opcheck.errors import OpcheckError
from opcheck.lang.sentence import Sentence
from opcheck.model.matrix import SupportMatrix
from opcheck.model.plan import Remedy
from opcheck.model.trace import Composite, Node, Phase, Trace, Use, Value
from opcheck.resolve.resolution import NO_KERNEL, Resolution
from opcheck.resolve.walk import Walk
from opcheck.rewrite.call import Call, call_of, on_meta
from opcheck.rewrite.remedies import needed
from opcheck.trace import trace_model
from opcheck.trace.calls.signature import meta_of, named_arguments, to_value
from opcheck.trace.run import dtypes
from opcheck.trace.running.device_in_place import casting_device
from opcheck.trace.running.training import Differentiated, Registrations
from opcheck.trace.torch_internals.dispatcher import facts, overload_named
from opcheck.trace.torch_internals.kernels import Kernels


class Runs(Struct, frozen=True):
    """What one call of a stand-in asks a target for; everything is the target's own."""

    overloads: tuple[str, ...]
    """Sorted."""
    backward: tuple[str, ...]
    """Those of its gradients, where they were recorded; sorted."""
    calls: int
    """Kernels called in the forward, each as often as it is."""
    memory: int
    """Bytes that are made beside the result, if none is given back before the end."""
    options: tuple[Remedy, ...] = ()
    """What its own calls need the vendor's help for, by which they stay on the device."""


class Lacking(Struct, frozen=True):
    """Why a target does not run all of a stand-in."""

    text: str
    node: Node
    """The call that stands in the way most."""
    nodes: tuple[Node, ...]
    """Those that its children are among."""


class Recorder:
    """Records stand-ins for one device type; each signature once for all targets."""

    def __init__(
        self,
        device_type: str,
        casts: Mapping[str, str],
        registrations: Registrations | None = None,
        autocast: Mapping[str, Collection[str]] = MappingProxyType({}),
    ) -> None:
        """``registrations``: of the targets, whose gradients depend on them; None: for forwards."""
        self._device_type = device_type
        self._casts = casts
        self._autocast = autocast
        self._training = None if registrations is None else Differentiated(registrations)
        self._done: dict[tuple[str, Any], Trace | str] = {}
        self._kernels: Kernels | None = None

    @contextmanager
    def registered(self) -> Iterator[None]:
        """Leave what recordings register as it is between them in the block, which is faster."""
        kernels = Kernels()
        with kernels.kept(), casting_device(self._device_type, self._autocast):
            self._kernels = kernels
            try:
                yield
            finally:
                self._kernels = None

    def trace(
        self,
        name: str,
        function: Callable[..., Any],
        node: Node,
        given: Callable[[Call], Call] = lambda call: call,
        needs: frozenset[str] = frozenset(),
    ) -> Trace | str:
        """The calls of a stand-in for one recorded call; a sentence where it cannot be run.

        Args:
            name: of the stand-in.
            function: the stand-in.
            node: the recorded call.
            given: gives the call that the stand-in is given.
            needs: arguments that gradients are wanted of, which are then recorded too.
        """
        key = (name, (node.op, node.arguments, needs))
        if key not in self._done:
            call = given(self.call(node))
            self._done[key] = self.recorded(function, *_requiring(call, needs))
        return self._done[key]

    def met(self, function: Callable[..., Any], call: Call, like: Node) -> Node | None:
        """The first call of a stand-in that is of the overload of ``like``, found in milliseconds.

        None tells nothing: a stand-in need not get along with tensors that have no values, and
        under gradients, or after casts that give other dtypes, what it calls is not seen here as
        a device sees it. What it is made of is left out, but for its own ``out=`` form.
        """
        if self._training is not None or like.modes:
            return None
        watching = _Watching(str(like.op), dtypes(self._casts))
        try:
            with torch._C._AutoDispatchBelowAutograd(), watching:
                function(*call.args, **call.kwargs)
        except _MetError as found:
            children = like.children if like.composite is Composite.NON_FUNCTIONAL else ()
            given = {"arguments": found.arguments, "outputs": found.outputs}
            return replace(like, **given, children=children)
        except Exception:
            return None  # it is recorded then, which says why
        return None

    def call(self, node: Node) -> Call:
        """The recorded call again, without values.

        Raises:
            ValueError: the trace does not keep all that it was given.
        """
        return call_of(overload_named(str(node.op)), node, on_meta)

    def recorded(
        self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> Trace | str:
        """What a function asks for, gradients included where an argument requires one."""
        needed = any(isinstance(t, Tensor) and t.requires_grad for t in tree_leaves((args, kwargs)))
        try:
            trace = trace_model(
                function, args, kwargs,
                device_type=self._device_type, casts=self._casts, autocast=self._autocast,
                inputs_given=True,
                training=self._training if needed else None,
                device_kernels=self._kernels,
            )  # fmt: skip
        except OpcheckError as error:
            return Sentence("it cannot be run for this call: {text}", text=error.message)
        except Exception as error:
            what = " ".join(str(error).split())[:160]
            return Sentence(
                "it cannot be run for this call: {text}", text=f"{type(error).__name__}: {what}"
            )
        if trace.gaps:
            return Sentence("it cannot be followed: {text}", text=trace.gaps[0].reason)
        return trace


class _MetError(Exception):
    """The call that was looked for was made."""

    def __init__(
        self, arguments: tuple[tuple[str, Value], ...], outputs: tuple[Value, ...]
    ) -> None:
        super().__init__()
        self.arguments = arguments
        self.outputs = outputs


class _Watching(TorchDispatchMode):
    """Ends what runs inside of it with the first call of one overload."""

    def __init__(self, op: str, casts: Collection[torch.dtype]) -> None:
        """``casts``: dtypes that a device gives others for, where nothing is found any more."""
        super().__init__()  # type: ignore[no-untyped-call]  # torch leaves it untyped
        self._op = op
        self._casts = casts

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # or Dynamo is imported on first use, as of torch 2.13.0

    def __torch_dispatch__(
        self,
        func: Any,
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Run the call on meta; raise it where it is the one."""
        result = func(*args, **(kwargs or {}))
        if any(isinstance(t, Tensor) and t.dtype in self._casts for t in tree_leaves(result)):
            raise TypeError  # the device gives another dtype
        if not isinstance(func, OpOverload) or func.name() != self._op:
            return result
        names = facts(func).argument_names
        given = dict(zip(names, args, strict=False)) | dict(kwargs or {})
        values = {name: _value(value) for name, value in given.items()}
        arguments = named_arguments(names, (), given)
        outputs = _value(result)
        raise _MetError(
            tuple((name, values[name]) for name, _ in arguments),
            outputs if isinstance(outputs, tuple) else (outputs,),
        )


def _value(value: Any) -> Value:
    """An argument as a trace keeps it; tensors on meta stand for those of the device."""
    if isinstance(value, Tensor) and value.device.type == "meta":
        return meta_of(value)
    if isinstance(value, list | tuple):
        return tuple(map(_value, value))
    return to_value(value)


def _requiring(call: Call, needs: frozenset[str]) -> tuple[tuple[Any, ...], Mapping[str, Any]]:
    """The arguments of a call; those named require gradients."""
    names = [argument.name for argument in call.func._schema.arguments]
    given = dict(zip(names, call.args, strict=False))
    for name in needs:
        tree_map(requiring, given.get(name, call.kwargs.get(name)))
    return call.args, call.kwargs


def requiring(value: Any) -> Any:
    """A tensor that requires a gradient, where it can have one."""
    if isinstance(value, Tensor) and (value.is_floating_point() or value.is_complex()):
        return value.requires_grad_()
    return value


def held(
    trace: Trace,
    matrix: SupportMatrix,
    remedies: Sequence[Remedy] = (),
    *,
    spotless: bool = False,
) -> Runs | Lacking:
    """What a recorded stand-in runs as, or why the target does not run all of it.

    ``remedies``: of the vendor's, which may keep on the device what it calls. ``spotless`` also
    keeps out what the target runs, with wrong values or slowly.
    """
    walk = Walk(trace.nodes, matrix, trace.torch_version)
    resolutions = [(use, walk.resolution(use.node)) for use in trace.uses]
    bad, options = [], dict[str, Remedy]()
    for use, resolution in resolutions:
        if _fits(resolution, spotless):
            continue
        found = () if spotless else needed(trace.nodes, use.node, walk, remedies)
        options |= {remedy.id: remedy for remedy in found}
        if not found:
            bad.append((use, resolution))
    if bad:
        use, resolution = max(bad, key=lambda pair: (_forward(pair[0]), pair[1].severity))
        return _lacking(trace.nodes, use.node, resolution, _forward(use))
    overloads: dict[bool, set[str]] = {True: set(), False: set()}
    for use, resolution in resolutions:
        overloads[_forward(use)] |= resolution.leaves or {str(trace.nodes[use.node].op)}
    counts: dict[int, int] = {}
    for use in filter(_forward, trace.uses):
        counts[use.node] = counts.get(use.node, 0) + use.count
    kernels = _kernels(trace, walk, counts)
    made = sum(_made(trace.nodes[index]) * count for index, count in kernels.items())
    calls = [use for use in map(trace.uses.__getitem__, trace.sequence) if _forward(use)]
    last = trace.nodes[calls[-1].node] if calls else None
    return Runs(
        tuple(sorted(overloads[True])),
        tuple(sorted(overloads[False])),
        sum(count for index, count in kernels.items() if _computes(trace.nodes[index])),
        max(0, made - (_made(last) if last else 0)),
        tuple(options.values()),
    )


def lacks(
    node: Node,
    like: Lacking,
    matrix: SupportMatrix,
    torch_version: str,
    remedies: Sequence[Remedy] = (),
    *,
    spotless: bool = False,
) -> Lacking | None:
    """Why the target does not run one call of a stand-in, where no shape of its parts tells.

    ``like``: why it does not run one of other shapes, whose parts ``node`` has.
    """
    nodes = (*like.nodes, replace(node, children=()), node)
    walk = Walk(nodes, matrix, torch_version)
    for index in range(len(like.nodes), len(nodes)):
        resolution = walk.resolution(index)
        if nodes[index].children and resolution.code != NO_KERNEL:
            continue
        kept = not spotless and needed(nodes, index, walk, remedies)
        if not _fits(resolution, spotless) and not kept:
            return _lacking(nodes, index, resolution, forward=True)
    return None


def _fits(resolution: Resolution, spotless: bool) -> bool:
    return resolution.verdict.on_device and not (spotless and resolution.harmful)


def _lacking(nodes: Sequence[Node], index: int, resolution: Resolution, forward: bool) -> Lacking:
    needs = "it needs {op}: {said}" if forward else "its backward needs {op}: {said}"
    text = Sentence(needs, op=nodes[index].op, said=resolution.text)
    return Lacking(text, nodes[index], tuple(nodes))


def _forward(use: Use) -> bool:
    return use.phase is Phase.FORWARD


def _kernels(trace: Trace, walk: Walk, counts: Mapping[int, int]) -> Mapping[int, int]:
    """Node -> how often the target itself is asked for it."""
    found: dict[int, int] = {}
    for index, count in counts.items():
        node = trace.nodes[index]
        if not walk.resolution(index).leaves or not node.children:
            found[index] = found.get(index, 0) + count
            continue
        inner = _kernels(trace, walk, dict(node.children))
        for child, times in inner.items():
            found[child] = found.get(child, 0) + times * count
    return found


def _computes(node: Node) -> bool:
    """Whether a call is work for the device: no view, and no memory without values."""
    func = overload_named(str(node.op))
    return not (node.op.base.startswith(_EMPTY) or (func is not None and facts(func).view))


_EMPTY = ("empty", "new_empty")


def _made(node: Node) -> int:
    """Bytes that one call makes anew."""
    func = overload_named(str(node.op))
    if func is None or facts(func).view or func._schema.is_mutable:
        return 0
    return sum(tensor.nbytes for tensor in node.output_tensors())

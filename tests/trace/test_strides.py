"""What a leaf returns has the CPU kernel's strides: where meta's differ, the CPU is asked."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import Any

import pytest
import torch
from torch import Tensor
from torch._ops import OpOverload
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

from opcheck.trace.outputs.meta_kernels import CPU_ALWAYS, CPU_IF_PERMUTED
from opcheck.trace.running.training_step import differentiable
from opcheck.trace.torch_internals.dispatcher import facts, run_composite

pytestmark = pytest.mark.slow

_SAMPLES = 6
"""Per operator; the first ones cover what a layout depends on."""
_GRADIENT_SAMPLES = 1
_RANDOM_STRIDES = frozenset({"aten::empty_like", "aten::new_empty_strided"})


class Compared(TorchDispatchMode):
    """Runs each overload on the CPU and on meta, composites also for what they call."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # torch leaves it untyped
        self.differ: set[str] = set()
        self.differ_permuted: set[str] = set()
        self.compared: set[str] = set()
        self._entered: set[str] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        on_meta = _on_meta((args, kwargs)) if isinstance(func, OpOverload) else None
        given = [t for t in tree_leaves((args, kwargs)) if isinstance(t, Tensor)]
        permuted = not all(t.is_contiguous() for t in given)
        if on_meta is not None and facts(func).composite and func.namespace == "aten":
            self._inside(func, *tree_map(_copied, (args, kwargs)))
        result = func(*args, **kwargs)
        if on_meta is not None:
            self._compare(func, on_meta, result, given, permuted)
        return result

    def _inside(self, func: Any, args: Any, kwargs: Any) -> None:
        kind, name = facts(func).composite, func.name()
        assert kind is not None
        if name in self._entered:  # ``detach`` calls itself above autograd, without an end
            return
        self._entered.add(name)
        try:
            with self:
                run_composite(func, kind, args, kwargs)
        except Exception:  # what this sample's kernel refuses says nothing of strides
            pass
        finally:
            self._entered.remove(name)

    def _compare(
        self, func: Any, on_meta: Any, result: Any, given: list[Tensor], permuted: bool
    ) -> None:
        try:
            expected = func(*on_meta[0], **on_meta[1])
        except Exception:  # meta refuses: the tracer asks the CPU by itself
            return
        self.compared.add(func.name())
        own = {id(t) for t in given}
        pairs = zip(tree_leaves(result), tree_leaves(expected), strict=False)
        for on_cpu, meta in pairs:
            plain = isinstance(on_cpu, Tensor) and on_cpu.layout is torch.strided
            if plain and id(on_cpu) not in own and _strides(on_cpu) != _strides(meta):
                (self.differ_permuted if permuted else self.differ).add(func.name())


def _strides(tensor: Tensor) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Sizes, and strides of the dimensions that have one; an empty tensor has none."""
    empty = tensor.numel() == 0
    pairs = zip(tensor.shape, tensor.stride(), strict=True)
    return tuple(tensor.shape), tuple(s for n, s in pairs if n > 1 and not empty)


def _copied(value: Any) -> Any:
    if not isinstance(value, Tensor) or value.layout is not torch.strided:
        return value
    made = torch.empty_strided(value.shape, value.stride(), dtype=value.dtype)
    return made.copy_(value)


def _on_meta(arguments: Any) -> Any:
    """The arguments on meta; None where one has no strides."""
    made: dict[int, Tensor] = {}

    def convert(value: Any) -> Any:
        if isinstance(value, torch.device):
            return torch.device("meta")
        if not isinstance(value, Tensor) or value.dim() == 0:
            return value
        if id(value) not in made:
            made[id(value)] = torch.empty_strided(
                value.shape, value.stride(), dtype=value.dtype, device="meta"
            )
        return made[id(value)]

    leaves = [v for v in tree_leaves(arguments) if isinstance(v, Tensor)]
    if not all(t.layout is torch.strided for t in leaves):
        return None
    return tree_map(convert, arguments)


def _layouts(value: Any) -> Iterator[Any]:
    """The tensor as it is, and with its dimensions laid out in other orders."""
    yield value
    if isinstance(value, Tensor) and value.dim() > 1 and value.layout is torch.strided:
        yield value.transpose(-1, -2).contiguous().transpose(-1, -2)
        if value.dim() > 2:
            yield value.movedim(1, -1).contiguous().movedim(-1, 1)


def _samples(info: Any) -> Iterator[Any]:
    # not by way of ``sample_inputs``, which looks for a running unittest on the whole stack
    return iter(info.sample_inputs_func(info, "cpu", torch.float32, False))


def _operators() -> Iterator[Callable[[], Any]]:
    from torch.testing._internal.common_methods_invocations import op_db

    for info in op_db:
        if torch.float32 in info.supported_dtypes("cpu"):
            for sample in islice(_samples(info), _SAMPLES):
                for x in _layouts(sample.input):
                    yield partial(info.op, x, *sample.args, **sample.kwargs)


def _gradients() -> Iterator[Callable[[], None]]:
    from torch.testing._internal.common_methods_invocations import op_db

    for info in op_db:
        if torch.float32 in info.supported_dtypes("cpu") and info.supports_autograd:
            for sample in islice(_samples(info), _GRADIENT_SAMPLES):
                if isinstance(sample.input, Tensor):
                    yield partial(_backward, info.op, sample)


def _backward(operator: Callable[..., Any], sample: Any) -> None:
    """Every layout of the input, and as many of the gradients of what comes out."""
    for x in _layouts(sample.input):
        args = [_leaf(value) for value in (x, *sample.args)]
        outputs = differentiable(operator(*args, **sample.kwargs))
        for gradients in zip(*(_layouts(torch.ones_like(o)) for o in outputs), strict=False):
            torch.autograd.backward(outputs, gradients, retain_graph=True)


def _leaf(value: Any) -> Any:
    floating = isinstance(value, Tensor) and value.is_floating_point()
    return value.detach().requires_grad_() if floating else value


@pytest.fixture(scope="module")
def compared() -> Compared:
    seen = Compared()
    for run in _operators():
        with torch.no_grad(), torch._C._AutoDispatchBelowAutograd(), seen:
            try:
                run()
            except Exception:  # a layout that this operator refuses
                continue
    return seen


@pytest.fixture(scope="module")
def compared_backward() -> Compared:
    seen = Compared()
    for run in _gradients():
        with seen:
            try:
                run()
            except Exception:  # as above
                continue
    return seen


def test_enough_overloads_were_compared(compared: Compared) -> None:
    assert len(compared.compared) > 700


def test_plain_tensors_have_metas_strides_but_for_those_listed(compared: Compared) -> None:
    assert compared.differ - CPU_ALWAYS - _RANDOM_STRIDES == set()


def test_permuted_tensors_have_metas_strides_but_for_those_listed(compared: Compared) -> None:
    listed = CPU_ALWAYS | CPU_IF_PERMUTED | _RANDOM_STRIDES
    assert compared.differ_permuted - listed == set()


def test_backward_too_has_metas_strides_but_for_those_listed(compared_backward: Compared) -> None:
    seen = compared_backward
    assert sum("backward" in name for name in seen.compared) > 80
    assert seen.differ - CPU_ALWAYS - _RANDOM_STRIDES == set()
    assert seen.differ_permuted - CPU_ALWAYS - CPU_IF_PERMUTED - _RANDOM_STRIDES == set()

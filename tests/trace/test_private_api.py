"""Private torch API that the room relies on: there, and doing what the docstrings say."""

import functools
import gc
import warnings
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode, _get_current_dispatch_mode

from opcheck.model.trace import Composite
from opcheck.trace.device.module import DeviceModule
from opcheck.trace.device.tensors import Spec, device_tensor, prepare
from opcheck.trace.running.model_state import forget
from opcheck.trace.torch_internals.dispatcher import (
    RAISING,
    composite_kind,
    facts,
    override,
    run_composite,
)
from opcheck.trace.torch_internals.shape_rules import open_sized, without_rule
from tests.trace.look import calls, traced

ATEN = torch.ops.aten


class Seen(TorchDispatchMode):
    """The overloads that reach Python, in order."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # torch leaves it untyped
        self.ops: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.ops.append(func.name())
        return func(*args, **(kwargs or {}))


@pytest.mark.since("2.10")
def test_a_device_is_set_up_from_python_and_has_a_name() -> None:
    from torch.utils import backend_registration

    assert callable(backend_registration._setup_privateuseone_for_python_backend)
    assert prepare("npu") == torch.device("npu", 0)
    assert torch._C._get_privateuse1_backend_name() == "npu"


def test_torch_finds_the_devices_module_and_in_it_a_device_while_a_model_runs() -> None:
    module = torch.get_device_module("npu")
    seen: list[tuple[bool, int]] = []

    def model(x: Tensor) -> Tensor:
        seen.append((module.is_available(), module.device_count()))
        with torch.random.fork_rng(device_type="npu"):
            torch.manual_seed(1)
        return x.exp()

    assert type(module) is DeviceModule
    assert calls(traced(model, torch.ones(2))) == ["aten::exp"]
    assert seen == [(True, 1)]
    assert (module.is_available(), module.device_count()) == (False, 0)


def test_parallel_wrappers_are_left_alone_after_a_trace() -> None:
    traced(torch.exp, torch.ones(2))
    assert nn.DataParallel(nn.Linear(2, 2)).device_ids == []


def test_a_wrapper_has_true_strides_offset_and_device() -> None:
    value = torch.arange(12.0).view(3, 4)[1:, ::2]
    made = device_tensor(Spec.like(value), value, prepare("npu"))
    assert (made.shape, made.stride(), made.storage_offset(), made.device.type) == (
        (2, 2), (4, 2), 4, "npu",
    )  # fmt: skip


def test_a_traced_tensor_has_no_python_key_and_is_one_of_ours() -> None:
    made = device_tensor(Spec.of(torch.float32, (2,), (1,)), None, prepare("npu"))
    assert type(made).__name__ == "DeviceTensor"
    assert not torch._C._dispatch_keys(made).has(torch._C.DispatchKey.Python)
    assert (made.is_leaf, made._is_view(), made.requires_grad) == (True, False, False)


def test_a_flag_makes_any_tensor_a_parameter() -> None:
    made = device_tensor(Spec.of(torch.float32, (2,), (1,)), None, prepare("npu"))
    assert not isinstance(made, nn.Parameter)
    made._is_param = True
    assert isinstance(made, nn.Parameter)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("aten::linear", Composite.IMPLICIT),
        ("aten::select.int", Composite.EXPLICIT),
        ("aten::gelu", Composite.NON_FUNCTIONAL),
        ("aten::gelu.out", None),
        ("aten::nonzero", None),
    ],
)
def test_the_dispatcher_can_be_asked_for_alias_keys(name: str, kind: Composite | None) -> None:
    assert composite_kind(name) is kind


def test_the_dispatcher_says_what_a_cpu_and_backend_select_have() -> None:
    assert facts(ATEN.empty.memory_format).backend_select
    assert not facts(ATEN.add.Tensor).backend_select
    assert facts(ATEN.add.Tensor).cpu_kernel
    assert not facts(ATEN._thnn_fused_lstm_cell.default).cpu_kernel


_ONE = torch.ones(1, 1, 1, 1)
_CONVOLUTION = ([1, 1], [0, 0], [1, 1], False, [0, 0], 1)


@pytest.mark.parametrize(
    ("func", "args"),
    [
        (ATEN.convolution_overrideable, (_ONE, _ONE, None, *_CONVOLUTION)),
        (ATEN.convolution_backward_overrideable, (_ONE, _ONE, _ONE, *_CONVOLUTION, [True] * 3)),
        (ATEN._scaled_dot_product_fused_attention_overrideable, (_ONE, _ONE, _ONE)),
        (
            ATEN._scaled_dot_product_fused_attention_overrideable_backward,
            (*[_ONE] * 5, [True] * 4, *[_ONE] * 4, 1, 1, 0.0, False, _ONE, _ONE),
        ),
    ],
    ids=["convolution", "its gradient", "attention", "its gradient"],
)
def test_a_kernel_that_only_raises_is_no_kernel(func: Any, args: tuple[Any, ...]) -> None:
    assert func.default.name() in RAISING
    with pytest.raises(NotImplementedError, match=r"not implemented|TORCH_LIBRARY_IMPL"):
        func(*args)
    assert (facts(func.default).composite, facts(func.default).cpu_kernel) == (None, False)


@pytest.mark.parametrize(
    ("func", "args", "expected"),
    [
        (ATEN.linear.default, (torch.ones(2, 3), torch.ones(4, 3)), ["aten::t", "aten::matmul"]),
        (ATEN.select.int, (torch.ones(2, 3), 0, 1), ["aten::as_strided"]),
        (ATEN.gelu.default, (torch.ones(2),), ["aten::empty.memory_format", "aten::gelu.out"]),
    ],
    ids=["implicit", "explicit", "non-functional"],
)
def test_a_composite_kernel_can_be_run_by_its_alias_key(
    func: Any, args: tuple[Any, ...], expected: list[str]
) -> None:
    kind = facts(func).composite
    assert kind is not None
    on_meta = tuple(a.to("meta") if isinstance(a, Tensor) else a for a in args)
    with torch.no_grad(), torch._C._AutoDispatchBelowAutograd(), Seen() as seen:
        run_composite(func, kind, on_meta, {})
    assert seen.ops == expected


def test_below_autograd_composites_arrive_whole() -> None:
    x = torch.ones(3, 3)
    with torch.no_grad(), torch._C._AutoDispatchBelowAutograd(), Seen() as seen:
        nn.functional.linear(x, x)
    assert seen.ops == ["aten::linear"]
    with torch.no_grad(), Seen() as seen:
        nn.functional.linear(x, x)
    assert "aten::linear" not in seen.ops


def test_a_kernel_of_python_may_be_registered_over_another() -> None:
    """Torch, which looks for another one before 2.11, is not asked, and nothing is left behind."""
    first, second = (torch.library.Library("aten", "IMPL") for _ in range(2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that a kernel is replaced
        override(first, "erfinv", lambda x: x, "PrivateUse1")
        override(second, "erfinv", lambda x: x, "PrivateUse1")
    second._destroy()
    first._destroy()
    assert "aten/erfinv/PrivateUse1" not in torch.library._impls
    assert not torch._C._dispatch_has_kernel_for_dispatch_key("aten::erfinv", "PrivateUse1")


@pytest.mark.since("2.13")
def test_a_mode_may_skip_dynamo_and_be_found() -> None:
    assert callable(TorchDispatchMode._should_skip_dynamo)
    with Seen() as seen:
        assert _get_current_dispatch_mode() is seen


def test_lifting_makes_torch_tensor_move_its_data_through_the_dispatcher() -> None:
    before = torch._C._only_lift_cpu_tensors()
    torch._C._set_only_lift_cpu_tensors(True)
    try:
        assert torch._C._only_lift_cpu_tensors()
        trace = traced(lambda x: x + torch.tensor([1.0, 2.0], device=x.device), torch.ones(2))
    finally:
        torch._C._set_only_lift_cpu_tensors(before)
    assert calls(trace) == ["aten::to.device", "aten::detach_", "aten::add.Tensor"]


def test_a_function_without_transforms_has_no_interpreter() -> None:
    from torch._functorch.pyfunctorch import temporarily_clear_interpreter_stack

    seen: list[bool] = []

    def inside(x: Tensor) -> Tensor:
        seen.append(torch._C._functorch.peek_interpreter_stack() is not None)
        with temporarily_clear_interpreter_stack():
            seen.append(torch._C._functorch.peek_interpreter_stack() is None)
        return x

    assert torch._C._functorch.peek_interpreter_stack() is None
    torch.vmap(inside)(torch.ones(2))
    assert seen == [True, True]


def test_shape_rules_of_extensions_can_be_found_and_told_open_sizes() -> None:
    @torch.library.custom_op("opcheck_private::keep", mutates_args=())
    def keep(x: Tensor) -> Tensor:
        return x[x > 0]

    assert without_rule(torch.ops.opcheck_private.keep.default)

    @keep.register_fake
    def _(x: Tensor) -> Tensor:
        return x.new_empty(torch.library.get_ctx().new_dynamic_size())

    func = torch.ops.opcheck_private.keep.default
    x = torch.empty(7, device="meta")
    rule = open_sized(func, [x])
    assert rule is not None
    assert (rule(x).shape, without_rule(func)) == ((7,), False)


@pytest.mark.slow
def test_a_tensor_in_a_function_cache_is_reachable_for_the_collector() -> None:
    @functools.lru_cache
    def kept(size: int) -> Any:
        return {"table": [device_tensor(Spec.of(torch.float32, (size,), (1,)), None, device)]}

    @functools.lru_cache
    def other(size: int) -> int:
        return size

    device = prepare("npu")
    kept(3), other(3)  # fills the caches
    gc.collect()
    forget()
    assert (kept.cache_info().currsize, other.cache_info().currsize) == (0, 1)


def test_dynamo_can_be_told_to_run_compiled_code_as_written() -> None:
    with torch.compiler.set_stance("force_eager"):
        assert torch.compile(torch.sin)(torch.zeros(1)).item() == 0


def test_a_mode_makes_every_tensor_subclass_like() -> None:
    """``reshape`` then asks for ``view``, not for its alias: no mode is on where C++ runs."""
    x = torch.ones(2, 3, 4).transpose(0, 1)
    kind = facts(ATEN.reshape.default).composite
    assert kind is not None
    with torch.no_grad(), torch._C._AutoDispatchBelowAutograd(), Seen() as seen:
        run_composite(ATEN.reshape.default, kind, (x, (3, 2, 2, 2)), {})
    assert seen.ops == ["aten::view"]


@pytest.mark.slow
def test_a_storage_keeps_what_python_wrote_on_it_while_a_tensor_uses_it() -> None:
    x = torch.zeros(4)
    first = x[1:]
    x.untyped_storage().__dict__["mark"] = 1
    del x
    gc.collect()
    assert first.view(3, 1).untyped_storage().__dict__ == {"mark": 1}


def test_a_view_of_what_requires_a_gradient_says_so_without_gradients_too() -> None:
    weight = torch.zeros(2, 3, requires_grad=True)
    for mode in (torch.no_grad(), torch.inference_mode()):
        with mode:
            found = [weight.t(), weight.view(6)[1:], weight.detach(), weight.t().reshape(6)]
            assert [tensor.requires_grad for tensor in found] == [True, True, False, False]

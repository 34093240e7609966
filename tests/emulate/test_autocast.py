"""Autocast on a device that Python hosts: compared with torch's own, on the CPU and by lists."""

import gc
import re
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from opcheck.trace.torch_internals.autocast import autocasting
from opcheck.trace.torch_internals.autocast_casts import UPSTREAM, Policy
from tests.emulate.plain_device import on_device, on_host, plain_device

ATEN = torch.ops.aten
BF16, FP16, FP32, FP64 = torch.bfloat16, torch.float16, torch.float32, torch.float64
KEY = "AutocastPrivateUse1"


@pytest.fixture
def device() -> Iterator[None]:
    with plain_device(), autocasting({}) as left_out:
        assert left_out == ()
        yield


class Seen(TorchDispatchMode):
    """Every overload below autograd, with the dtypes that it takes and gives."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # torch leaves it untyped
        self.log: list[tuple[str, tuple[torch.dtype, ...], tuple[torch.dtype, ...]]] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        given = func(*args, **(kwargs or {}))
        self.log.append((func.name(), dtypes((args, kwargs)), dtypes(given)))
        return given


def dtypes(value: Any) -> tuple[torch.dtype, ...]:
    return tuple(v.dtype for v in tree_leaves(value) if isinstance(v, Tensor))


def twice(kind: str, x: Tensor, w: Tensor) -> Tensor:
    with torch.autocast(kind, dtype=BF16):
        return x.mm(w).mm(w)


def without_cache(kind: str, x: Tensor, w: Tensor) -> Tensor:
    with torch.autocast(kind, dtype=BF16, cache_enabled=False):
        return x.mm(w).mm(w)


def two_regions(kind: str, x: Tensor, w: Tensor) -> Tensor:
    with torch.autocast(kind, dtype=BF16):
        x = x.mm(w)
    with torch.autocast(kind, dtype=BF16):
        return x.mm(w)


def one_region_twice(kind: str, x: Tensor, w: Tensor) -> Tensor:
    layer: Any = torch.autocast(kind, dtype=BF16)(lambda x: x.mm(w))
    given: Tensor = layer(layer(x))
    return given


def nested(kind: str, x: Tensor, w: Tensor) -> Tensor:
    with torch.autocast(kind, dtype=BF16):
        with torch.autocast(kind, dtype=BF16):
            x = x.mm(w)
        with torch.autocast(kind, enabled=False):
            x = x.float().mm(w)
        return x.mm(w)


def another_dtype_inside(kind: str, x: Tensor, w: Tensor) -> Tensor:
    """The cache does not know of dtypes: torch's own raises here as well."""
    with torch.autocast(kind, dtype=BF16):
        x.mm(w)
        with torch.autocast(kind, dtype=FP16):
            return x.mm(w)


def cleared(kind: str, x: Tensor, w: Tensor) -> Tensor:
    with torch.autocast(kind, dtype=BF16):
        x = x.mm(w)
        torch.clear_autocast_cache()
        return x.mm(w)


def first_without_gradient(kind: str, x: Tensor, w: Tensor) -> Tensor:
    with torch.autocast(kind, dtype=BF16):
        with torch.no_grad():
            x = x.mm(w)
        return x.mm(w)


def without_gradient(kind: str, x: Tensor, w: Tensor) -> Tensor:
    with torch.no_grad(), torch.autocast(kind, dtype=BF16):
        return x.mm(w).mm(w)


def first_with_gradient(kind: str, x: Tensor, w: Tensor) -> Tensor:
    with torch.autocast(kind, dtype=BF16):
        x.mm(w)
        with torch.no_grad():
            x.mm(w)
        with torch.inference_mode():
            x.mm(w)
        return x.mm(w)


def never_with_gradient(kind: str, x: Tensor, w: Tensor) -> Tensor:
    with torch.inference_mode(), torch.autocast(kind, dtype=BF16):
        return x.mm(w).mm(w)


def no_leaf(kind: str, x: Tensor, w: Tensor) -> Tensor:
    doubled = w * 2
    with torch.autocast(kind, dtype=BF16):
        return x.mm(doubled).mm(doubled)


def view_of_a_weight(kind: str, x: Tensor, w: Tensor) -> Tensor:
    part = w.detach()[:, :].requires_grad_()
    with torch.autocast(kind, dtype=BF16):
        return x.mm(part).mm(part)


def frozen(kind: str, x: Tensor, w: Tensor) -> Tensor:
    with torch.autocast(kind, dtype=BF16):
        return x.mm(w.detach()).mm(w.detach())


def in_float64(kind: str, x: Tensor, w: Tensor) -> Tensor:
    with torch.autocast(kind, dtype=BF16):
        return x.double().mm(w.double())


def layer(kind: str, x: Tensor, w: Tensor) -> Tensor:
    with torch.autocast(kind, dtype=FP16):
        return torch.nn.functional.linear(x, w, w[0])


def region_in_backward(kind: str, x: Tensor, w: Tensor) -> Tensor:
    class Product(torch.autograd.Function):
        @staticmethod
        @torch.amp.custom_fwd(device_type=kind)  # type: ignore[untyped-decorator]  # torch's
        def forward(ctx: Any, x: Tensor, w: Tensor) -> Tensor:
            ctx.save_for_backward(x, w)
            return x.mm(w)

        @staticmethod
        @torch.amp.custom_bwd(device_type=kind)  # type: ignore[untyped-decorator]  # torch's
        def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor]:
            x, w = ctx.saved_tensors
            return grad.mm(w), x.mm(grad)

    product: Any = Product
    with torch.autocast(kind, dtype=BF16):
        given: Tensor = product.apply(x, w)
    return given


PROGRAMS = (
    twice, without_cache, two_regions, one_region_twice, nested, another_dtype_inside, cleared,
    first_without_gradient, without_gradient, first_with_gradient, never_with_gradient, no_leaf,
    view_of_a_weight, frozen, in_float64,
    layer, region_in_backward,
)  # fmt: skip


def outcome(program: Callable[..., Tensor], kind: str) -> Any:
    """All that the program runs, forward and backward, and what comes out."""
    values = [torch.arange(9.0).view(3, 3) / 8, torch.arange(9.0, 0, -1).view(3, 3) / 8]
    x, w = values if kind == "cpu" else map(on_device, values)
    w.requires_grad_()
    with Seen() as seen:
        try:
            given = program(kind, x, w)
            if given.requires_grad:
                given.float().sum().backward()
        except RuntimeError as error:
            return seen.log, str(error)
    results = [v.detach() for v in (given, w.grad) if v is not None]
    return seen.log, [(r if kind == "cpu" else on_host(r)).tolist() for r in results]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_casts_are_those_that_torch_makes_on_the_cpu(
    device: None, program: Callable[..., Tensor]
) -> None:
    expected = outcome(program, "cpu")
    assert len(expected[0]) > 1
    assert outcome(program, "npu") == expected


def test_the_policies_are_those_of_the_installed_torch() -> None:
    """Names from its registrations, policies from the header that it comes with."""
    in_torch = {
        name
        for name in torch._C._dispatch_get_all_op_names()
        if name.startswith("aten::")
        and torch._C._dispatch_has_kernel_for_dispatch_key(name, "AutocastCUDA")
    }
    ours = {(name, policy) for policy, names in UPSTREAM.items() for name in names}
    assert in_torch == {name for name, _ in ours}
    header = Path(torch.__file__).parent / "include/ATen/autocast_mode.h"
    assert ours - set(_lists(header.read_text())) == {
        ("aten::cudnn_convolution", "lower_precision_fp"),
        ("aten::cudnn_convolution_transpose", "lower_precision_fp"),
        ("aten::binary_cross_entropy", "banned"),
    }


def _lists(header: str) -> Iterator[tuple[str, Policy]]:
    for policy in (Policy.LOWER_PRECISION, Policy.FP32, Policy.FP32_SET_OPT_DTYPE, Policy.PROMOTE):
        (body,) = re.findall(rf"FORALL_{policy.upper()}\(_\)(.*?)\n\n", header, re.DOTALL)
        for entry in re.findall(r"_\(([^)]*)\)", body):
            yield "aten::" + ".".join(entry.replace(" ", "").split(",")), policy
    (body,) = re.findall(r"FORALL_DIFFERENT_REDISPATCH_SIGNATURE\(_\)(.*?)\n\n", header, re.DOTALL)
    for name, policy in re.findall(r"\"([\w.]+)\".*?(fp32_append_dtype)", body, re.DOTALL):
        yield "aten::" + name, Policy(policy)


def tensor(dtype: torch.dtype, *shape: int) -> Tensor:
    return on_device(torch.ones(shape or (2, 2), dtype=dtype))


CALLS: tuple[tuple[str, Callable[[], Tensor], torch.dtype], ...] = (
    ("region", lambda: tensor(FP32).mm(tensor(FP16)), BF16),
    ("float32", lambda: tensor(BF16).exp(), FP32),
    ("float64 stays", lambda: tensor(FP64).exp(), FP64),
    ("float32 output", lambda: tensor(BF16).sum(), FP32),
    ("float32 output, position", lambda: tensor(BF16).softmax(0), FP32),
    ("asked for", lambda: tensor(BF16).sum(dtype=BF16), BF16),
    ("asked for, position", lambda: tensor(FP32).softmax(0, FP64), FP64),
    ("integers stay", lambda: tensor(torch.int32).sum(), torch.int64),
    ("norm", lambda: ATEN.norm.Scalar(tensor(BF16)), FP32),
    ("norm in float64", lambda: ATEN.norm.Scalar(tensor(FP64), 1), FP64),
    ("norm of rows", lambda: ATEN.norm.ScalarOpt_dim(tensor(BF16), None, [0]), FP32),
    ("widest", lambda: torch.addcmul(tensor(BF16), tensor(FP32), tensor(BF16)), FP32),
    ("widest of the region", lambda: tensor(BF16, 2).dot(tensor(BF16, 2)), BF16),
    ("not in the lists", lambda: tensor(BF16) * tensor(FP32), FP32),
    ("list", lambda: ATEN.einsum.default("ij,jk", [tensor(FP32), tensor(FP32)]), BF16),
    ("composite", lambda: tensor(FP32).matmul(tensor(FP32, 2)), BF16),
    ("on the host", lambda: torch.ones(2, 2).mm(torch.ones(2, 2)), FP32),
)


@pytest.mark.parametrize(("call", "expected"), [c[1:] for c in CALLS], ids=[c[0] for c in CALLS])
def test_each_policy_gives_its_dtype(
    device: None, call: Callable[[], Tensor], expected: torch.dtype
) -> None:
    with torch.autocast("npu", dtype=BF16):
        assert call().dtype == expected


def test_no_dtype_is_wider_than_two_narrow_ones(device: None) -> None:
    with torch.autocast("npu", dtype=BF16), pytest.raises(RuntimeError) as caught:
        tensor(FP16, 2).dot(tensor(BF16, 2))
    assert str(caught.value) == "Unexpected floating ScalarType in at::autocast::prioritize"


def test_what_is_unsafe_raises_torchs_own_error(device: None) -> None:
    x = tensor(FP32, 2)
    with torch.autocast("npu", dtype=BF16):
        with pytest.raises(RuntimeError) as caught:
            nn.functional.binary_cross_entropy(x, x)
        assert nn.functional.binary_cross_entropy_with_logits(x, x).dtype == FP32
    assert str(caught.value).splitlines()[0] == (
        "torch.nn.functional.binary_cross_entropy and torch.nn.BCELoss are unsafe to autocast."
    )


@pytest.mark.slow
def test_nothing_is_left_when_it_is_taken_back() -> None:
    clear = torch.clear_autocast_cache
    with plain_device():
        for _ in range(2):
            with autocasting({}), torch.autocast("npu", dtype=BF16):
                weight = tensor(FP32).requires_grad_()
                assert tensor(FP32).mm(weight).dtype == BF16
            kept = weakref.ref(weight)
            del weight
            gc.collect()
            assert kept() is None
            assert torch.clear_autocast_cache is clear
            assert not [
                name
                for names in UPSTREAM.values()
                for name in names
                if torch._C._dispatch_has_kernel_for_dispatch_key(name, KEY)
            ]


def test_a_vendors_own_policies_take_the_place_of_torchs() -> None:
    policies = {
        "fp32": ["aten::mm", "aten::not_in_this_torch"], "promote": ["aten::cat"],
        "banned": ["aten::exp"], "fp32_append_dtype": ["aten::reciprocal"],
        "fp32_set_opt_dtype": ["aten::mul.Tensor"],
    }  # fmt: skip
    with plain_device(), autocasting(policies) as left_out, torch.autocast("npu", dtype=BF16):
        assert left_out == (
            "aten::exp", "aten::mul.Tensor", "aten::not_in_this_torch", "aten::reciprocal",
        )  # fmt: skip
        assert tensor(BF16).mm(tensor(BF16)).dtype == FP32
        assert torch.cat([tensor(BF16), tensor(FP32)]).dtype == FP32
        assert torch.cat([tensor(BF16), tensor(BF16)]).dtype == BF16
        assert tensor(BF16).exp().dtype == BF16


def test_a_policy_that_torch_does_not_have_is_refused() -> None:
    with (
        pytest.raises(ValueError, match="'fp8' is not a valid Policy"),
        autocasting({"fp8": ["aten::mm"]}),
    ):
        pass


def test_scaled_gradients_make_a_step_and_skip_one_that_overflows(device: None) -> None:
    weight = tensor(FP32).requires_grad_()
    optimizer = torch.optim.SGD([weight], lr=0.5, foreach=False)
    scaler = torch.amp.GradScaler("npu", init_scale=8.0, growth_interval=1)
    values, scales = [], []
    for size in (1.0, float("inf")):
        with torch.autocast("npu", dtype=FP16):
            loss = tensor(FP32).mm(weight).sum()
        scaler.scale(loss * size).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
        values.append(on_host(weight.detach()).tolist())
        scales.append(scaler.get_scale())
    assert values == [[[0.0, 0.0], [0.0, 0.0]]] * 2
    assert scales == [16.0, 8.0]

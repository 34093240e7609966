"""A traced device that says it is of a type of PyTorch's own: what Python sees and asks."""

import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils import checkpoint as checkpoint_module
from torch.utils.checkpoint import checkpoint

from opcheck.model.trace import Composite, Constant, Phase, Trace
from opcheck.trace import trace_model
from opcheck.trace.device.alias import ALIASED_TYPES
from opcheck.trace.device.checkpoints import RAISES
from opcheck.trace.device.generators import UNCLEAR
from opcheck.trace.device.tensors import DeviceTensor
from opcheck.trace.running.training import Registrations, Training
from opcheck.trace.running.training_step import TrainingStep

EVERY = sorted(ALIASED_TYPES)
X = torch.ones(2, 3)
STEP = Training(TrainingStep(), Registrations(frozenset()))


def traced(function: Callable[..., Any], device_type: str, *args: Any) -> Trace:
    """A trace without gaps: where something fails in it, the gap's reason is the test's failure."""
    trace = trace_model(function, args or (X,), {}, device_type=device_type)
    assert [gap.reason for gap in trace.gaps] == []
    return trace


def operators(trace: Trace) -> list[str]:
    return [str(trace.nodes[use.node].op) for use in trace.uses]


@pytest.mark.parametrize("device_type", EVERY)
def test_a_tensor_says_that_it_is_on_the_device_asked_for(device_type: str) -> None:
    seen: dict[str, Any] = {}

    def model(x: Tensor) -> Tensor:
        seen["device"], seen["index"], seen["text"] = x.device, x.get_device(), repr(x)
        seen.update({name: getattr(x, f"is_{name}", False) for name in (*EVERY, "cpu")})
        return x + 1

    trace = traced(model, device_type)
    assert trace.device_type == device_type
    assert (seen["device"], seen["index"]) == (torch.device(device_type, 0), 0)
    assert f"device='{device_type}:0'" in seen["text"]
    assert [name for name in (*EVERY, "cpu") if seen[name]] == [device_type]
    assert DeviceTensor.shown is None


class Absolute(nn.Module):
    """Its backward calls what its forward does not: ``sgn``, ``cos``, ``div``, ``neg``."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3))

    def forward(self, x: Tensor) -> Tensor:
        return (x * self.weight).abs().sin().log().mean() - (x / self.weight).amax()


@pytest.mark.parametrize("device_type", ["npu", *EVERY])
def test_a_composite_is_taken_apart_in_backward_as_in_forward(device_type: str) -> None:
    """A structured operator runs as its ``.out``, whatever calls it; nothing runs as nothing."""
    trace = trace_model(Absolute(), (X,), {}, device_type=device_type, training=STEP)
    ops = [str(node.op) for node in trace.nodes]
    backward = {ops[use.node] for use in trace.uses if use.phase is Phase.BACKWARD}
    assert {"aten::sgn", "aten::cos", "aten::neg"} <= backward
    structured = [node for node in trace.nodes if node.composite is Composite.NON_FUNCTIONAL]
    parts = {str(node.op): {ops[child] for child, _ in node.children or ()} for node in structured}
    assert [op for op, called in parts.items() if not any(c.endswith("out") for c in called)] == []
    assert parts["aten::sgn"] == {"aten::empty.memory_format", "aten::sgn.out"}


@pytest.mark.parametrize("device_type", EVERY)
@pytest.mark.parametrize("indices", [False, True])
def test_a_function_that_a_flag_chooses_draws_on_the_device(
    device_type: str, indices: bool
) -> None:
    """It is two functions by one name, and both ask for the mode by that name."""
    pool = nn.FractionalMaxPool2d(2, output_size=4, return_indices=indices)
    assert operators(traced(pool, device_type, torch.ones(1, 2, 8, 8))) == [
        "aten::rand", "aten::fractional_max_pool2d",
    ]  # fmt: skip


MAKERS: dict[str, Callable[[Tensor, str], Tensor]] = {
    "zeros-of-its-device": lambda x, _: torch.zeros(2, device=x.device),
    "zeros-by-name": lambda _, name: torch.zeros(2, device=name),
    "zeros-by-index": lambda _, name: torch.zeros(2, device=f"{name}:0"),
    "tensor": lambda _, name: torch.tensor([1.0, 2.0], device=name),
    "arange": lambda x, _: torch.arange(3, device=x.device),
    "to-name": lambda _, name: torch.zeros(2).to(name),
    "to-device": lambda x, _: torch.zeros(2).to(x.device, torch.float16),
    "to-by-keyword": lambda x, _: torch.zeros(2).to(device=x.device),
    "to-other": lambda x, _: torch.zeros(2).to(x),
    "like": lambda x, name: torch.empty_like(x.cpu(), device=name),
    "new": lambda x, _: x.new_zeros(2),
    "new-of-device": lambda x, _: x.cpu().new_zeros(2, device=x.device),
    "in-a-block": lambda _, name: _in_block(name),
    "one-hot": lambda x, _: functional.one_hot(x.long().clamp(0, 1), 3),
}


def _in_block(name: str) -> Tensor:
    with torch.device(name):
        return torch.ones(2)


@pytest.mark.parametrize("device_type", EVERY)
@pytest.mark.parametrize("maker", MAKERS.values(), ids=MAKERS)
def test_what_is_made_there_is_there(
    maker: Callable[[Tensor, str], Tensor], device_type: str
) -> None:
    made: list[torch.device] = []

    def model(x: Tensor) -> Tensor:
        tensor = maker(x, device_type)
        made.append(tensor.device)
        return tensor

    traced(model, device_type)
    assert made == [torch.device(device_type, 0)]


def test_properties_of_a_cuda_device_have_what_code_decides_by() -> None:
    def model(x: Tensor) -> Tensor:
        found = torch.cuda.get_device_properties(x.device)
        modern = (found.major, found.minor) >= (8, 0) and found.warp_size == 32
        amd = found.gcnArchName.startswith("gfx")
        return x.sin() if modern and found.multi_processor_count and not amd else x.cos()

    assert operators(traced(model, "cuda")) == ["aten::sin"]


def test_cuda_is_a_method_and_a_module_too() -> None:
    seen: list[Any] = []

    def model(x: Tensor) -> Tensor:
        seen.extend((torch.cuda.is_available(), torch.cuda.device_count()))
        seen.extend((torch.cuda.current_device(), torch.cuda.get_device_capability()))
        seen.append(torch.cuda.get_device_properties(x.device).total_memory > 0)
        seen.append(torch.accelerator.current_accelerator())
        torch.cuda.synchronize()
        return torch.zeros(2).cuda() + torch.zeros(2).cuda(0)

    before = torch.cuda.is_available
    traced(model, "cuda")
    assert seen == [True, 1, 0, (8, 0), True, torch.device("cuda", 0)]
    assert torch.cuda.is_available is before


@pytest.mark.parametrize("device_type", ["mps", "xpu"])
def test_the_device_s_own_module_says_that_it_is_there(device_type: str) -> None:
    seen: list[bool] = []

    def model(x: Tensor) -> Tensor:
        own: Any = torch.backends.mps if device_type == "mps" else torch.xpu
        seen.extend((own.is_available(), torch.cuda.is_available(), torch.npu.is_available()))  # type: ignore[attr-defined]  # the stand-in's
        return x + 1

    traced(model, device_type)
    assert seen == [True, False, False]


def test_code_takes_the_branch_of_the_device() -> None:
    def model(x: Tensor) -> Tensor:
        if x.device.type == "cpu":
            return x.exp()
        return x.sin() if x.is_cuda else x.cos()

    assert operators(traced(model, "cuda")) == ["aten::sin"]
    assert operators(traced(model, "mps")) == ["aten::cos"]
    assert operators(traced(model, "npu")) == ["aten::cos"]


def test_functions_written_in_python_are_followed_inside() -> None:
    class Attention(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.attention = nn.MultiheadAttention(4, 2, add_zero_attn=True, bias=False)

        def forward(self, x: Tensor) -> Tensor:
            mask = torch.ones(2, 2, dtype=torch.bool, device=x.device)
            attended: Tensor = self.attention(x, x, x, attn_mask=mask)[0]
            return functional.max_pool2d(attended.unflatten(-1, (2, 2)), 2)

    of_cuda = traced(Attention(), "cuda", torch.ones(2, 1, 4))
    of_npu = traced(Attention(), "npu", torch.ones(2, 1, 4))
    assert operators(of_cuda) == operators(of_npu)


@torch.library.custom_op("opcheck_test::made", mutates_args=())
def made(x: Tensor) -> Tensor:
    return torch.empty(x.shape, device=x.device).copy_(x.to(x.device))


@made.register_fake
def _(x: Tensor) -> Tensor:
    return torch.empty_like(x)


made.register_autograd(lambda ctx, grad: grad * torch.full(grad.shape, 2.0, device=grad.device))


class _Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return x * 2

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        return grad + torch.ones(grad.shape, device=grad.device)


class _Python(nn.Module):
    """Python that C++ calls, which names the device that its tensors say they are on."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(3, 3)

    def forward(self, x: Tensor) -> Tensor:
        found = _Doubled.apply(self.inner(x))  # type: ignore[no-untyped-call]
        if x.device.type != "xla":  # of which torch's own checkpoint knows no module
            found = checkpoint(self._again, found, use_reentrant=False)
        made_here = made(found)
        assert isinstance(made_here, Tensor)
        return made_here

    def _again(self, x: Tensor) -> Tensor:
        return x * torch.ones(x.shape[-1], device=x.device)


# not for cuda: torch takes it for prepared in this process from then on, and says so otherwise
@pytest.mark.parametrize("device_type", [name for name in EVERY if name != "cuda"])
@pytest.mark.parametrize("step", [None, STEP])
def test_python_that_cpp_calls_makes_tensors_on_the_device(
    device_type: str, step: Training | None
) -> None:
    """Custom operators, gradients and what is checkpointed: no mode sees them."""
    trace = trace_model(_Python(), (X,), {}, device_type=device_type, training=step)
    assert [gap.reason for gap in trace.gaps] == []
    assert all(node.note == "" for node in trace.nodes)
    backward = [one for one in trace.uses if one.phase == "backward"]
    assert bool(backward) == (step is not None)


def test_a_part_of_a_conditional_makes_tensors_on_the_device() -> None:
    def model(x: Tensor) -> Any:
        return torch.cond(
            x.sum() > 0,
            lambda y: y + torch.ones(3, device=y.device),
            lambda y: y - torch.ones(3, device=y.device),
            (x,),
        )

    assert "higher_order::cond" in operators(traced(model, "xpu"))


def test_autocast_and_events_name_the_device() -> None:
    def model(x: Tensor) -> Tensor:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with torch.autocast("cuda", dtype=torch.bfloat16):
                y = x + 1
        done = torch.Event(device=x.device, blocking=True)
        done.record(torch.cuda.current_stream())
        done.synchronize()
        return y

    traced(model, "cuda")


def test_arguments_name_the_device_asked_for() -> None:
    trace = traced(lambda x: torch.zeros(2, device=x.device), "xla")
    constants = [v for n in trace.nodes for _, v in n.arguments if isinstance(v, Constant)]
    assert {constant.value for constant in constants if constant.kind == "device"} == {"xla"}


@pytest.mark.slow
def test_one_process_traces_for_several_device_types() -> None:
    model = nn.Conv2d(3, 4, 3)
    traces = [traced(model, name, torch.ones(1, 3, 8, 8)) for name in (*EVERY, "npu", *EVERY)]
    assert [trace.device_type for trace in traces] == [*EVERY, "npu", *EVERY]
    assert len({trace.nodes for trace in traces}) == 1


@pytest.mark.slow
def test_without_a_disguise_cuda_stays_what_it_is() -> None:
    trace = trace_model(lambda x: x + torch.zeros(3, device="cuda"), (X,), {}, device_type="npu")
    assert "names a CUDA device" in trace.gaps[0].reason


class _NamesCuda(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return x * 2

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        return grad * torch.ones(grad.shape, device="cuda")


def test_a_gradient_that_names_cuda_is_taken_for_the_device_as_well() -> None:
    class Model(nn.Linear):
        def forward(self, x: Tensor) -> Tensor:
            found: Tensor = _NamesCuda.apply(super().forward(x))  # type: ignore[no-untyped-call]
            return found

    trace = trace_model(Model(3, 3), (X,), {}, device_type="npu", training=STEP)
    assert len(trace.gaps) == 1
    assert "names a CUDA device" in trace.gaps[0].reason
    assert [one for one in trace.uses if one.phase == "optimizer"]


def test_streams_of_cuda_are_followed_on_another_device_and_are_a_gap() -> None:
    """As the modules do that vendors bring for such code: ``torch.cuda`` answers for the device."""

    def model(x: Tensor) -> Tensor:
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            found = x + 1
        torch.cuda.current_stream().wait_stream(stream)
        torch.cuda.synchronize()
        return found.cuda() * 2

    trace = trace_model(model, (X,), {}, device_type="npu")
    first, *_, last = operators(trace)
    assert (first, last) == ("aten::add.Tensor", "aten::mul.Tensor")
    assert ["names a CUDA device" in gap.reason for gap in trace.gaps] == [True]
    assert not torch.cuda.is_available()


def drawn(x: Tensor) -> Any:
    """As samplers draw: by a generator of the device of what they are given."""
    before = torch.Generator()
    generator = torch.Generator(device=x.device).manual_seed(1)
    assert generator.device.type == x.device.type
    assert isinstance(generator, torch.Generator)
    assert isinstance(before, torch.Generator)
    assert torch.Generator("cpu").device.type == "cpu"
    noise = torch.randn(x.shape, generator=generator, device=x.device)
    return x + noise, torch.multinomial(x.softmax(-1), 1, generator=generator)


@pytest.mark.parametrize("device_type", ["npu", "cuda", "mps", "xpu"])
def test_a_generator_of_the_device_can_be_made(device_type: str) -> None:
    assert operators(traced(drawn, device_type)) == [
        "aten::randn.generator", "aten::add.Tensor", "aten::softmax.int", "aten::multinomial",
    ]  # fmt: skip
    assert torch.Generator.__name__ == "Generator"
    assert torch.Generator.__module__ == "torch._C"


def test_a_generator_of_a_tpu_is_a_gap() -> None:
    trace = trace_model(drawn, (X,), {}, device_type="xla")
    assert [gap.reason for gap in trace.gaps] == [UNCLEAR]


@pytest.mark.parametrize("use_reentrant", [False, True])
def test_what_a_tpu_is_to_checkpoint_is_seen_and_said_to_raise(use_reentrant: bool) -> None:
    linear = nn.Linear(3, 3)

    def model(x: Tensor) -> Any:
        return checkpoint(linear, x, use_reentrant=use_reentrant).relu()

    trace = trace_model(model, (X,), {}, device_type="xla")
    assert [gap.reason for gap in trace.gaps] == [RAISES]
    assert operators(trace) == ["aten::linear", "aten::relu"]
    with pytest.raises(AttributeError, match="has no attribute 'xla'"):
        checkpoint_module._get_device_module("xla")  # what torch_xla's users meet


def test_hpu_has_the_module_that_habana_s_package_registers() -> None:
    def model(x: Tensor) -> Tensor:
        module: Any = vars(torch)["hpu"]
        assert module.is_available() and module.device_count() == 1
        return x + torch.zeros(3, device="hpu")

    assert operators(traced(model, "hpu")) == ["aten::zeros", "aten::add.Tensor"]
    assert not hasattr(torch, "hpu")

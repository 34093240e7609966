"""``torch.npu`` and its like: a whole device module, answering for whoever hosts the device."""

import contextlib
import importlib
import subprocess
from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from opcheck.trace.device.dtypes import DTYPES
from opcheck.trace.device.module import _ASKED, DeviceModule
from opcheck.trace.device.state import DeviceState, NoMemoryUse
from opcheck.trace.device.tensors import prepare
from tests.emulate.plain_device import on_device, plain_device
from tests.preloaded import python
from tests.trace.look import calls, traced

CUDA_ONLY = {
    "BFloat16Storage", "BoolStorage", "ByteStorage", "CharStorage", "ComplexDoubleStorage",
    "ComplexFloatStorage", "DoubleStorage", "FloatStorage", "HalfStorage", "IntStorage",
    "LongStorage", "ShortStorage",
    # graphs, pools and allocators of its own
    "CUDAGraph", "CUDAPluggableAllocator", "MemPool", "XPUGraph", "XPUPluggableAllocator",
    "caching_allocator_alloc", "caching_allocator_delete", "caching_allocator_disabled",
    "caching_allocator_enable", "change_current_allocator", "graph", "graph_pool_handle", "graphs",
    "make_graphed_callables", "use_mem_pool", "GreenContext", "host_memory_stats",
    "host_memory_stats_as_nested_dict", "reset_accumulated_host_memory_stats",
    "reset_peak_host_memory_stats", "export_dot", "export_graph_data", "graph_annotations",
    # handles and libraries of the vendor
    "CudaError", "DeferredCudaCallError", "ExternalStream", "check_error", "cudaStatus", "cudart",
    "current_blas_handle", "current_solver_handle", "get_stream_from_external", "has_half",
    "has_magma", "jiterator", "nccl", "nvtx", "profiler", "sparse", "tunable", "get_arch_list",
    "get_gencode_flags", "is_tf32_supported",
    # readings of the hardware
    "clock_rate", "device_memory_used", "list_gpu_processes", "memory_usage", "power_draw",
    "temperature",
}  # fmt: skip
"""Public names of ``torch.cuda`` and ``torch.xpu`` that an emulated device does not offer."""


@pytest.fixture
def npu() -> Iterator[DeviceModule]:
    prepare("npu")
    yield torch.get_device_module("npu")


@pytest.fixture
def state(npu: DeviceModule) -> Iterator[DeviceState]:
    with npu.hosted(opened()) as _:
        yield npu.host


def opened(**fields: Any) -> DeviceState:
    return DeviceState("npu", available=lambda: True, name="Ascend910B2", **fields)


@pytest.mark.parametrize("name", sorted({*torch.cuda.__all__, *torch.xpu.__all__} - CUDA_ONLY))
def test_what_every_accelerator_has_is_there(npu: DeviceModule, name: str) -> None:
    assert getattr(npu, name) is not None
    assert name in dir(npu)


@pytest.mark.parametrize("name", sorted(CUDA_ONLY))
def test_what_is_not_offered_says_so(npu: DeviceModule, name: str) -> None:
    with pytest.raises(AttributeError) as caught:
        getattr(npu, name)
    assert str(caught.value) == (
        f"module 'torch.npu' has no attribute {name!r}; it is emulated by opcheck, which offers "
        "what programs commonly ask a device for"
    )
    assert not hasattr(npu, "_host")


def test_a_host_opens_the_device_and_leaves_nothing_behind(npu: DeviceModule) -> None:
    before = npu.host
    accelerator = {name: getattr(torch.accelerator, name) for name in _ASKED}
    with contextlib.suppress(KeyboardInterrupt), npu.hosted(opened(total_memory=100)):
        seen = (
            npu.is_available(), npu.device_count(), npu.get_device_name(), npu.mem_get_info(),
            torch.accelerator.is_available(),
        )  # fmt: skip
        npu.set_option({"ACL_PRECISION_MODE": "must_keep_origin_dtype"})
        npu.config.allow_internal_format = True
        npu.set_stream(npu.Stream())
        npu.set_per_process_memory_fraction(0.5)
        npu.manual_seed(3)
        raise KeyboardInterrupt
    assert seen == (True, 1, "Ascend910B2", (100, 100), True)
    assert npu.host is before
    assert {name: getattr(torch.accelerator, name) for name in _ASKED} == accelerator
    with npu.hosted(opened()):
        assert npu.host.options == {}
        assert (npu.host.stream, npu.get_per_process_memory_fraction()) == (None, 1.0)
        assert npu.initial_seed() == torch.Generator().initial_seed()
        assert npu.config.allow_internal_format is False
    assert (npu.is_available(), npu.device_count()) == (False, 0)
    assert not torch.accelerator.is_available()


def test_a_trace_is_a_host_without_memory_and_with_a_name(npu: DeviceModule) -> None:
    seen: list[Any] = []

    def model(x: Tensor) -> Tensor:
        kept = npu.get_rng_state()
        npu.set_rng_state(kept.clone())
        with npu.stream(npu.Stream()):
            npu.current_stream().synchronize()
        seen.append((npu.get_device_name(), npu.memory_allocated(), npu.mem_get_info()))
        return x.exp()

    assert calls(traced(model, torch.ones(2))) == ["aten::exp"]
    assert seen == [("npu (emulated)", 0, (64 << 30, 64 << 30))]


@pytest.mark.parametrize("device", [None, 0, "0", "npu", "npu:0", torch.device("cpu").index])
def test_the_only_device_can_be_named_in_every_way(npu: DeviceModule, device: Any) -> None:
    npu.set_device(device)
    with npu.device(device), npu.device_of(torch.ones(1)), npu.device(-1):
        assert npu.current_device() == 0
        assert npu.get_device_properties(device).name == npu.get_device_name(device)


@pytest.mark.parametrize(
    ("device", "error", "text"),
    [
        (1, RuntimeError, "invalid device index 1: torch.npu is emulated here, with one device"),
        ("npu:7", RuntimeError, "invalid device index 7: torch.npu is emulated here, with one "
         "device"),
        ("cpu", ValueError, "Expected a npu device, but got: cpu"),
    ],
)  # fmt: skip
def test_no_other_device_is_there(
    npu: DeviceModule, device: Any, error: type[Exception], text: str
) -> None:
    for function in (npu.set_device, npu.device, npu.synchronize, npu.memory_allocated):
        with pytest.raises(error) as caught:
            function(device)
        assert str(caught.value) == text


def test_memory_is_what_the_host_counts(npu: DeviceModule) -> None:
    memory = NoMemoryUse()
    with npu.hosted(opened(total_memory=1000, memory=memory)):
        memory.allocated, memory.peak = 300, 700
        figures = (
            npu.memory_allocated(), npu.max_memory_allocated(), npu.memory_reserved("npu:0"),
            npu.max_memory_reserved(0), npu.memory_cached(), npu.max_memory_cached(),
        )  # fmt: skip
        assert figures == (300, 700, 300, 700, 300, 700)
        assert npu.mem_get_info() == (700, 1000)
        assert npu.memory_stats() == OrderedDict(
            num_alloc_retries=0,
            num_ooms=0,
            **{
                f"{kind}.all.{moment}": value
                for kind in ("active_bytes", "allocated_bytes", "requested_bytes", "reserved_bytes")
                for moment, value in (("current", 300), ("peak", 700))
            },
        )
        assert npu.memory_stats_as_nested_dict()["active_bytes"] == {
            "all": {"current": 300, "peak": 700}
        }
        assert npu.memory_summary().splitlines()[-1] == "reserved_bytes.all.peak: 700"
        npu.reset_peak_memory_stats()
        assert npu.max_memory_allocated() == 300
        memory.allocated = 2000
        assert npu.mem_get_info() == (0, 1000)


def test_torch_accelerator_asks_the_host(npu: DeviceModule) -> None:
    with npu.hosted(opened(total_memory=1000, memory=NoMemoryUse(300, 700))):
        accelerator = torch.accelerator
        accelerator.synchronize()
        accelerator.empty_cache()
        accelerator.empty_host_cache()
        accelerator.set_device_index(0)
        assert accelerator.current_accelerator(check_available=True) == torch.device("npu")
        assert (accelerator.device_count(), accelerator.current_device_index()) == (1, 0)
        assert accelerator.get_memory_info() == (700, 1000)
        assert accelerator.memory_allocated(torch.device("npu")) == 300
        accelerator.reset_peak_memory_stats()
        assert accelerator.max_memory_allocated() == 300


def test_a_fraction_of_the_memory_is_one(state: DeviceState, npu: DeviceModule) -> None:
    npu.set_per_process_memory_fraction(0.25, "npu")
    assert npu.get_per_process_memory_fraction() == 0.25
    with pytest.raises(ValueError, match=r"^Invalid fraction value: 2. Allowed range: 0~1$"):
        npu.set_per_process_memory_fraction(2)


def _drawn(state: DeviceState) -> Tensor:
    with state.drawing():
        return torch.rand(3)


def test_the_device_draws_its_own_random_numbers(state: DeviceState, npu: DeviceModule) -> None:
    on_host = torch.get_rng_state()
    npu.manual_seed(5)
    kept = npu.get_rng_state()
    first = _drawn(state)
    npu.set_rng_state_all([kept])
    assert torch.equal(_drawn(state), first)
    npu.random.manual_seed_all(5)
    assert torch.equal(_drawn(state), first)
    assert torch.equal(torch.get_rng_state(), on_host)
    assert npu.initial_seed() == 5
    npu.seed_all()
    assert npu.initial_seed() != 5
    assert npu.default_generators == (state.generator,)
    assert state.generator.device == torch.device("npu", 0)


def test_what_takes_no_generator_draws_from_the_device_too(
    state: DeviceState, npu: DeviceModule
) -> None:
    ones = torch.ones(64)
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(5)
        expected = torch.native_dropout(ones, 0.5, True)[0]
    on_host = torch.get_rng_state()
    npu.manual_seed(5)
    drawn: list[Tensor] = []
    with contextlib.suppress(ZeroDivisionError), state.drawing():
        drawn.append(torch.native_dropout(ones, 0.5, True)[0])
        raise ZeroDivisionError
    assert torch.equal(drawn[0], expected)
    assert state.generator.get_offset() == 4
    assert torch.equal(torch.get_rng_state(), on_host)


def test_torch_seeds_the_device_and_forks_its_random_numbers(
    state: DeviceState, npu: DeviceModule
) -> None:
    with torch.random.fork_rng(device_type="npu"):
        torch.manual_seed(11)
        assert npu.initial_seed() == 11
        drawn = _drawn(state)
        torch.manual_seed(11)
    assert npu.initial_seed() == torch.Generator().initial_seed()
    npu.manual_seed(11)
    assert torch.equal(_drawn(state), drawn)


@pytest.mark.parametrize("reentrant", [False, True])
def test_what_is_computed_again_draws_the_same_numbers(state: DeviceState, reentrant: bool) -> None:
    drawn: list[list[float]] = []

    def layer(x: Tensor) -> Tensor:
        drawn.append(_drawn(state).tolist())
        return x.exp()

    with plain_device():
        x = on_device(torch.ones(2)).requires_grad_()
        checkpoint(layer, x, use_reentrant=reentrant).sum().backward()
    assert len(drawn) == 2
    assert drawn[0] == drawn[1]


def test_streams_and_events_have_torchs_own_types_and_do_nothing(npu: DeviceModule) -> None:
    stream, other = npu.Stream(device="npu:0", priority=-1), npu.streams.Stream()
    event, end = npu.Event(enable_timing=True), npu.Event(enable_timing=True, blocking=True)
    assert isinstance(stream, torch.Stream)
    assert isinstance(event, torch.Event)
    with npu.hosted(opened()):
        assert npu.current_stream() == npu.default_stream()
        with npu.stream(stream), npu.StreamContext(None):
            assert npu.current_stream() is stream
            event.record()
            stream.wait_event(event)
            stream.wait_stream(other)
            end.record(stream)
            end.wait(other)
        assert npu.host.stream is None
        npu.set_stream(other)
        assert npu.current_stream(0) is other
    event.synchronize()
    stream.synchronize()
    assert (event.query(), stream.query(), event.elapsed_time(end)) == (True, True, 0.0)
    assert isinstance(stream.record_event(), torch.Event)
    assert stream.device == torch.device("npu", 0)
    assert not npu.is_current_stream_capturing()


def test_a_generator_on_the_device_is_not_possible_from_python(npu: DeviceModule) -> None:
    """When torch lets Python give one, this fails and the limit can go."""
    with pytest.raises(NotImplementedError, match="implement `getNewGenerator`"):
        torch.Generator(device="npu")
    public = {name for name in dir(torch._C._acc.PrivateUse1Hooks) if not name.startswith("_")}
    assert public == {"has_primary_context", "is_built", "is_available"}


def test_autocast_computes_in_what_the_chip_has(npu: DeviceModule) -> None:
    with npu.hosted(opened(amp_dtypes=(torch.float16,))):
        assert (npu.get_amp_supported_dtype(), npu.is_bf16_supported()) == ([torch.float16], False)
        with pytest.warns(UserWarning) as caught:
            asked = torch.autocast("npu", dtype=torch.bfloat16)
        assert str(caught[0].message) == (
            "In npu autocast, but the target dtype is not supported. Disabling autocast.\n"
            "npu Autocast only supports dtypes of torch.float16 currently."
        )
        with asked:
            assert not npu.is_autocast_enabled()
    with npu.hosted(opened()), npu.amp.autocast(dtype=torch.bfloat16):
        assert npu.is_bf16_supported()
        assert (npu.is_autocast_enabled(), npu.get_autocast_dtype()) == (True, torch.bfloat16)
        npu.set_autocast_enabled(False)
        npu.set_autocast_dtype(torch.float16)
        assert not torch.is_autocast_enabled("npu")
        assert torch.get_autocast_dtype("npu") == torch.float16
    assert torch.get_autocast_dtype("npu") == torch.float16
    assert not npu.is_autocast_enabled()


def test_mixed_precision_has_the_device_filled_in(npu: Any) -> None:
    scaler = npu.amp.GradScaler(init_scale=4.0, enabled=True)
    assert isinstance(scaler, torch.amp.GradScaler)
    assert (scaler._device, scaler.get_scale(), scaler.is_enabled()) == ("npu", 4.0, True)
    seen: list[bool] = []

    class Double(torch.autograd.Function):
        @staticmethod
        @npu.amp.custom_fwd(cast_inputs=torch.float16)  # type: ignore[untyped-decorator]  # torch's
        def forward(ctx: Any, x: Tensor) -> Tensor:
            seen.append(npu.is_autocast_enabled())
            return x * 2

        @staticmethod
        @npu.amp.custom_bwd  # type: ignore[untyped-decorator]  # torch's
        def backward(ctx: Any, grad: Tensor) -> Tensor:
            seen.append(npu.is_autocast_enabled())
            return grad * 2

    x = torch.ones(1, requires_grad=True)
    with npu.amp.autocast():
        doubled = Double.apply(x)  # type: ignore[no-untyped-call]  # torch leaves it untyped
        seen.append(npu.is_autocast_enabled())
    doubled.backward()
    assert x.grad is not None
    assert (seen, x.grad.item()) == ([False, True, False], 2.0)


def test_scripts_for_ascend_set_what_they_want_and_read_it_back(
    state: DeviceState, npu: DeviceModule
) -> None:
    assert (npu.is_jit_compile_false(), npu.are_compatible_impl_enabled()) == (True, False)
    npu.set_compile_mode(jit_compile=True)
    npu.set_mm_bmm_format_nd(False)
    npu.use_compatible_impl(True)
    npu.set_option({"ACL_OP_DEBUG_LEVEL": 1})
    npu.config.allow_internal_format = True
    npu.matmul.allow_hf32 = True
    npu.conv.allow_hf32 = False
    npu.set_sync_debug_mode("warn")
    assert (npu.is_jit_compile_false(), npu.get_mm_bmm_format_nd()) == (False, False)
    assert npu.are_compatible_impl_enabled()
    assert state.options["ACL_OP_DEBUG_LEVEL"] == "1"
    assert (npu.config.allow_internal_format, npu.matmul.allow_hf32, npu.conv.allow_hf32) == (
        True, True, False,
    )  # fmt: skip
    assert npu.get_sync_debug_mode() == 1
    with pytest.raises(TypeError, match=r"^npu option must be a dict\.$"):
        npu.set_option("ACL_OP_DEBUG_LEVEL")


def test_ranges_for_a_profiler_are_opened_and_closed(npu: DeviceModule) -> None:
    mstx: Any = npu.mstx
    assert (mstx.range_push("step"), mstx.range_push("forward", None, "mine")) == (0, 1)
    assert (mstx.range_pop(), mstx.range_pop(), mstx.range_pop()) == (1, 0, -1)
    begun = mstx.range_start("copy")
    assert begun != mstx.range_start("copy")
    assert (mstx.range_end(begun), mstx.mark("here")) == (None, None)
    assert mstx.mstx_range("twice")(lambda x: 2 * x)(4) == 8
    assert not hasattr(npu, "cnpx")
    assert not hasattr(DeviceModule("musa"), "cnpx")
    cnpx: Any = DeviceModule("mlu").cnpx
    with cnpx.range("step {}", 3):
        assert cnpx.range_push("inner") == 1
        assert cnpx.range_pop() == 1
    begun = cnpx.range_start("copy")
    assert (cnpx.range_end(begun), cnpx.mark("here"), cnpx.range_pop()) == (None, None, -1)


def test_other_vendors_have_no_options_of_ascend() -> None:
    assert not hasattr(DeviceModule("musa"), "set_compile_mode")
    with pytest.raises(AttributeError, match=r"^module 'torch.musa' has no attribute 'config'"):
        _ = DeviceModule("musa").config
    with pytest.raises(ValueError, match=r"^Expected a musa device, but got: cpu$"):
        DeviceModule("musa").set_device("cpu")


@pytest.mark.parametrize("name", sorted(DTYPES))
def test_tensor_types_go_by_dtype_and_device(npu: DeviceModule, name: str) -> None:
    kind = getattr(npu, name)
    assert (kind.__name__, kind.dtype) == (f"torch.npu.{name}", DTYPES[name])
    assert not isinstance(torch.ones(1, dtype=DTYPES[name]), kind)
    seen: list[bool] = []

    def model(x: Tensor) -> Tensor:
        made = (kind(2, 3), kind([1, 0]), kind(torch.Size((2,))), kind(), x.type(kind))
        seen.extend(isinstance(value, kind) for value in made)
        seen.append([tuple(value.shape) for value in made] == [(2, 3), (2,), (2,), (0,), (2,)])
        return x

    traced(model, torch.ones(2))
    assert seen == [True] * 6


def test_submodules_can_be_imported(npu: DeviceModule) -> None:
    for name in ("amp", "memory", "random", "streams"):
        assert importlib.import_module(f"torch.npu.{name}") is getattr(npu, name)


@pytest.mark.slow
def test_another_device_name_has_a_module_of_that_name() -> None:
    code = (
        "import torch\n"
        "from opcheck.trace.device.tensors import prepare\n"
        "prepare('mlu')\n"
        "import torch.mlu.amp\n"
        "from torch.mlu.random import get_rng_state_all\n"
        "print(torch.mlu.__name__, torch.mlu.amp.GradScaler()._device, len(get_rng_state_all()))\n"
        "torch.mlu.npu\n"
    )
    done = subprocess.run(
        [*python("torch"), "-c", code], capture_output=True, text=True, check=False
    )
    assert done.stdout == "torch.mlu mlu 1\n"
    assert done.stderr.splitlines()[-1].startswith(
        "AttributeError: module 'torch.mlu' has no attribute 'npu'; it is emulated"
    )

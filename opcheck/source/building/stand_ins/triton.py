"""Modules that stand in for Triton where it is not installed: kernels are noted, none is run.

Names of ``triton.language`` are placeholders, as only the compiler would look at them. What Python
computes for a launch is real: ``cdiv``, ``next_power_of_2``, configurations and heuristics.
"""

import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from opcheck.kernel_code.launching import launched, one_of

VERSION = "3.7.1"
"""What the stand-in calls itself: the Triton that torch 2.13 is built with."""
_OPTIONS = frozenset({
    "num_warps", "num_stages", "num_ctas", "num_buffers_warp_spec", "num_consumer_groups",
    "reg_dec_producer", "reg_inc_consumer", "maxnreg", "enable_fp_fusion",
    "launch_cooperative_grid", "launch_pdl", "waves_per_eu", "matrix_instr_nonkdim", "kpack",
    "allow_tf32", "debug", "warmup", "stream", "extern_libs", "ir_override", "grf_mode",
    "threads_per_warp", "warp_size", "multibuffer", "compile_mode", "enable_mixed_cv",
    "tile_mix_cube_loop", "tile_mix_vector_loop", "use_bytecode", "enable_auto_bind_sub_block",
    "enable_hivm_auto_cv_balance", "enable_ubuf_saving", "unit_flag", "sync_solver",
    "set_workspace_multibuffer", "limit_auto_multi_buffer_only_for_local_buffer",
    "limit_auto_multi_buffer_of_local_buffer", "enable_nd2nz_on_vector", "force_simt_only",
})  # fmt: skip
"""Keywords of a launch that are a compiler's, unless the kernel has a parameter of that name."""
_NO_DRIVER = "0 active drivers ([]). There should only be one."


class Name:
    """A name of ``triton.language`` that nothing here looks into."""

    def __init__(self, dotted: str) -> None:
        self.__name__ = dotted.rpartition(".")[2]
        self.__qualname__ = self.__name__
        self._dotted = dotted

    def __getattr__(self, name: str) -> "Name":
        if name.startswith("__"):
            raise AttributeError(name)
        return Name(f"{self._dotted}.{name}")

    def __call__(self, *_: Any, **__: Any) -> "Name":
        """Give another name."""
        return Name(f"{self._dotted}()")

    def __getitem__(self, _: Any) -> "Name":
        return self

    def __or__(self, _: Any) -> "Name":
        return self

    __ror__ = __or__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Name) and self._dotted == other._dotted

    def __hash__(self) -> int:
        return hash(self._dotted)

    def __repr__(self) -> str:
        return self._dotted


class constexpr:  # noqa: N801  # Triton's own name
    """A value that the compiler knows."""

    def __init__(self, value: Any) -> None:
        self.value = getattr(value, "value", value)

    def __class_getitem__(cls, _: Any) -> type["constexpr"]:
        return cls

    def __eq__(self, other: object) -> bool:
        return bool(self.value == getattr(other, "value", other))

    def __hash__(self) -> int:
        return hash(self.value)

    def __index__(self) -> int:
        return int(self.value)

    def __bool__(self) -> bool:
        return bool(self.value)

    def __repr__(self) -> str:
        return f"constexpr[{self.value}]"


class Kernel:
    """What can be launched: ``kernel[grid](...)``."""

    def __init__(self, fn: Any) -> None:
        self.fn = fn
        for name in ("__name__", "__qualname__", "__module__", "__doc__"):
            setattr(self, name, getattr(fn, name, ""))

    @property
    def arg_names(self) -> list[str]:
        """The names of its parameters."""
        found: list[str] = list(self.fn.arg_names)
        return found

    def __getitem__(self, grid: Any) -> Callable[..., None]:
        def launch(*args: Any, **kwargs: Any) -> None:
            __tracebackhide__ = True
            self.run(*args, grid=grid, **kwargs)

        return launch

    def __call__(self, *_: Any, **__: Any) -> Any:
        """Refuse, as Triton does: only kernels call each other in this way."""
        raise RuntimeError("Cannot call @triton.jit'd outside of the scope of a kernel")

    def warmup(self, *_: Any, **__: Any) -> None:
        """Compile nothing."""

    def run(self, *args: Any, grid: Any, **kwargs: Any) -> None:
        """Note a launch."""
        raise NotImplementedError


class JITFunction(Kernel):
    """A function under ``@triton.jit``."""

    def __init__(self, fn: Callable[..., Any], **_: Any) -> None:
        super().__init__(fn)
        code = fn.__code__
        self._names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        self._defaults = _defaults(fn)

    @property
    def arg_names(self) -> list[str]:
        """The names of its parameters."""
        return list(self._names)

    def run(self, *args: Any, grid: Any, **kwargs: Any) -> None:
        """Note a launch with these arguments, or raise for those that do not fit."""
        __tracebackhide__ = True
        given = {**self._defaults, **dict(zip(self._names, args, strict=False))}
        for name, value in kwargs.items():
            if name in self._names:
                given[name] = value
            elif name not in _OPTIONS:
                raise KeyError(f"Keyword argument {name} was specified but unrecognised")
        missing = [name for name in self._names if name not in given]
        if missing or len(args) > len(self._names):
            raise TypeError(
                f"{self.fn.__name__}() is missing {missing}, given {len(args)} by place"
            )
        launched(self.fn, given, grid, {**given, **kwargs})


def _defaults(fn: Callable[..., Any]) -> Mapping[str, Any]:
    code = fn.__code__
    placed = fn.__defaults__ or ()
    names = code.co_varnames[code.co_argcount - len(placed) : code.co_argcount]
    return dict(zip(names, placed, strict=True)) | dict(fn.__kwdefaults__ or {})


class Config:
    """One way to compile a kernel: values of its constants, and options."""

    def __init__(
        self, kwargs: Mapping[str, Any], num_warps: int = 4, num_stages: int = 3,
        num_ctas: int = 1, maxnreg: int | None = None, pre_hook: Any = None, **_: Any,
    ) -> None:  # fmt: skip
        self.kwargs = dict(kwargs)
        self.num_warps, self.num_stages, self.num_ctas = num_warps, num_stages, num_ctas
        self.maxnreg, self.pre_hook = maxnreg, pre_hook

    def all_kwargs(self) -> dict[str, Any]:
        """The constants with the options."""
        options = {
            "num_warps": self.num_warps, "num_stages": self.num_stages,
            "num_ctas": self.num_ctas, "maxnreg": self.maxnreg,
        }  # fmt: skip
        return {**self.kwargs, **{name: v for name, v in options.items() if v is not None}}


class Autotuner(Kernel):
    """A kernel with several configurations, none of which is measured: the first is taken."""

    def __init__(self, fn: Any, configs: Sequence[Config]) -> None:
        super().__init__(fn)
        self.configs = list(configs) or [Config({})]
        self.best_config = self.configs[0]

    def run(self, *args: Any, grid: Any, **kwargs: Any) -> None:
        """Launch with the first configuration."""
        __tracebackhide__ = True
        chosen = self.configs[0]
        if chosen.pre_hook is not None:
            named = dict(zip(self.arg_names, args, strict=False))
            chosen.pre_hook({**named, **kwargs, **chosen.all_kwargs()})
        with one_of(self.configs):
            self.fn.run(*args, grid=grid, **{**chosen.all_kwargs(), **kwargs})


class Heuristics(Kernel):
    """A kernel with constants that Python computes from its arguments."""

    def __init__(self, fn: Any, values: Mapping[str, Callable[[dict[str, Any]], Any]]) -> None:
        super().__init__(fn)
        self.values = dict(values)

    def run(self, *args: Any, grid: Any, **kwargs: Any) -> None:
        """Launch with what the functions give."""
        __tracebackhide__ = True
        named = dict(zip(self.arg_names, args, strict=False))
        for name, function in self.values.items():
            kwargs[name] = function({**named, **kwargs})
        self.fn.run(*args, grid=grid, **kwargs)


def jit(fn: Any = None, **options: Any) -> Any:
    """What ``@triton.jit`` makes of a function."""
    return (lambda given: JITFunction(given)) if fn is None else JITFunction(fn)


def autotune(configs: Sequence[Config], key: Sequence[str] = (), **_: Any) -> Any:
    """What ``@triton.autotune`` makes of a kernel."""
    return lambda fn: Autotuner(fn, configs)


def heuristics(values: Mapping[str, Any]) -> Any:
    """What ``@triton.heuristics`` makes of a kernel."""
    return lambda fn: Heuristics(fn, values)


def cdiv(x: int, y: int) -> int:
    """The quotient, rounded up."""
    return (x + y - 1) // y


def next_power_of_2(n: int) -> int:
    """The smallest power of two that is not less."""
    return int(1 << (n - 1).bit_length()) if n > 0 else 0


def _no_driver(*_: Any, **__: Any) -> Any:
    raise RuntimeError(_NO_DRIVER)


class _Driver:
    """What asks for a device, of which there is none."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self if name == "active" else _no_driver


def _language(dotted: str) -> types.ModuleType:
    """A module of placeholders."""
    module = types.ModuleType(dotted, "Stands in for Triton, which is not installed.")
    module.__path__ = []
    module.__dict__["__getattr__"] = lambda name: _placeholder(dotted, name)
    module.__dict__["constexpr"] = constexpr
    return module


def _placeholder(module: str, name: str) -> Name:
    if name.startswith("__"):
        raise AttributeError(f"{module}.{name}")
    return Name(f"{module}.{name}")


_LANGUAGE = (
    "core", "math", "random", "standard", "semantic", "extra", "extra.libdevice", "extra.cuda",
    "extra.cuda.libdevice", "extra.hip", "extra.hip.libdevice", "extra.intel",
    "extra.intel.libdevice", "extra.cann", "extra.cann.libdevice", "extra.cann.extension",
    "extra.mlu", "extra.mlu.libdevice", "extra.musa", "extra.musa.libdevice", "libdevice",
    "target_info",
)  # fmt: skip
_OTHERS = (
    "runtime.jit", "runtime.autotuner", "runtime.driver", "runtime.errors", "testing", "tools",
    "tools.tensor_descriptor", "compiler", "compiler.compiler", "backends", "backends.compiler",
)  # fmt: skip


def modules() -> Mapping[str, types.ModuleType]:
    """The modules by their dotted names, the package itself first."""
    names = ["triton", "triton.language", *(f"triton.language.{each}" for each in _LANGUAGE)]
    names += ["triton.runtime", *(f"triton.{each}" for each in _OTHERS)]
    made = {name: _language(name) for name in names}
    for name, value in _contents():
        module, _, attribute = name.rpartition(".")
        setattr(made[module], attribute, value)
    for dotted, inner in made.items():
        parent, _, attribute = dotted.rpartition(".")
        if parent and attribute not in vars(made[parent]):
            setattr(made[parent], attribute, inner)
    return made


def _contents() -> Iterator[tuple[str, Any]]:
    """What is no placeholder: dotted name, and the value."""
    values = {
        "jit": jit, "autotune": autotune, "heuristics": heuristics, "Config": Config,
        "JITFunction": JITFunction, "Autotuner": Autotuner, "Heuristics": Heuristics,
        "KernelInterface": Kernel, "cdiv": cdiv, "next_power_of_2": next_power_of_2,
        "reinterpret": lambda tensor, dtype: tensor, "set_allocator": lambda allocator: None,
        "compile": _no_driver,
    }  # fmt: skip
    yield "triton.__version__", VERSION
    for name, value in values.items():
        yield f"triton.{name}", value
        for module in ("runtime", "runtime.jit", "runtime.autotuner"):
            yield f"triton.{module}.{name}", value
    yield "triton.runtime.driver.active", _Driver()
    for name in ("do_bench", "do_bench_cudagraph", "get_dram_gbps", "get_max_tensorcore_tflops"):
        yield f"triton.testing.{name}", _no_driver

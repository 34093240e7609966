"""The installed wheels of LiteRT, asked: what litert-torch lowers, and what calls come to.

``litert_torch.convert`` captures a model, decomposes it by a table, looks up each call that is left
among its lowerings, which write StableHLO, and has passes make TensorFlow Lite's operators of that;
the interpreter of ai-edge-litert runs the file. Not public, and used here: ``fx_infra.decomp`` and
the registry of lowerings of litert-torch 0.10.0, the collection of composites of torch 2.13.0.
"""

import ast
import functools
from collections.abc import Collection, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

NAMESPACES = ("aten", "torchvision", "quantized_decomposed")
_MISSING = "Lowering not found: "
_OF_COMPOSITES = "functools"
"""The module of what PyTorch's table has for composites: a partial of their own decomposition."""
_SIGNATURE = "serving_default"
_LOWERS = ("lower", "lower_by_jax", "lower_by_torchax")


class Wheel:
    """litert-torch and the interpreter of the installed releases."""

    def __init__(self, crashed: Collection[tuple[str, str]] = ()) -> None:
        """``crashed``: overloads and dtypes that ended the process before; not tried again."""
        self.table = hasten()
        self.registered = frozenset(call.name() for call in _registry() if hasattr(call, "name"))
        own = {call.name() for call, run in self.table.items() if not _gives_way(run)}
        self.decomposed = frozenset(own)
        """What is decomposed before anything is looked up."""
        self.converted = self.registered - self.decomposed
        self._crashed = crashed

    def parts(self, call: Any, args: Any, kwargs: Any) -> Any:
        """Run what a call is decomposed into; NotImplemented where nothing takes it apart."""
        if call in self.table:
            return self.table[call](*args, **kwargs)
        return call.decompose(*args, **kwargs) if call._can_decompose() else NotImplemented

    def lowered(self, call: Any, args: Any, kwargs: Any) -> dict[str, Any]:
        """What becomes of one call: where it ends, and why."""
        import torch
        from torch.utils import _pytree as pytree

        if call.name() not in self.converted and call.name() not in self.decomposed:
            return {"stage": "none", "error": "its parts tell"}
        leaves = pytree.tree_leaves((args, kwargs))
        tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
        plain = all(each.layout is torch.strided and not each.is_complex() for each in tensors)
        if not plain:
            return {"stage": "none", "error": "no input of a file"}
        first = str(tensors[0].dtype).removeprefix("torch.") if tensors else "none"
        if (call.name(), first) in self._crashed:
            return {"stage": "runtime", "missing": [], "error": "the process ended"}
        return _lowered(*_module(call, args, kwargs))


def _lowered(module: Any, tensors: tuple[Any, ...]) -> dict[str, Any]:
    import litert_torch

    try:
        content = litert_torch.convert(module, tensors).model_content()
    except Exception as error:  # whatever a lowering or a pass raises
        return _refusal(module, tensors, error)
    try:
        _run(content, tensors)
    except Exception as error:  # whatever the interpreter raises
        return {"stage": "runtime", "missing": [], "error": _line(error)}
    return {"stage": "ok"}


def _refusal(module: Any, tensors: tuple[Any, ...], error: Exception) -> dict[str, Any]:
    """Why a call is not converted: PyTorch captures no graph of it, or what was raised for it."""
    import torch

    try:
        torch.export.export(module, tensors, strict=False)
    except Exception as own:  # whatever the call raises while it is captured
        return {"stage": "capture", "missing": [], "error": _line(own)}
    _, found, name = str(error).partition(_MISSING)
    missing = [name.splitlines()[0].strip()] if found else []
    return {"stage": "conversion", "missing": missing, "error": _line(error)}


def _run(content: bytes, tensors: tuple[Any, ...]) -> None:
    """Load a file and run it once."""
    import torch
    from ai_edge_litert.interpreter import Interpreter

    interpreter = Interpreter(
        model_content=content, num_threads=1, experimental_default_delegate_latest_features=True
    )
    runner = interpreter.get_signature_runner(_SIGNATURE)
    given = {}
    for name, detail in runner.get_input_details().items():
        tensor = tensors[int(name.rpartition("_")[2])].detach()
        plain = tensor.float() if tensor.dtype is torch.bfloat16 else tensor  # numpy has none
        given[name] = plain.numpy().astype(detail["dtype"])
    runner(**given)


def _line(error: BaseException) -> str:
    """The type of an exception, and the first lines that say what went wrong."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    own = [line.rpartition("error: ")[2] for line in lines if "error: " in line] or lines
    return f"{type(error).__name__}: {' / '.join(own[:2])[:300]}"


def _module(call: Any, args: Any, kwargs: Any) -> tuple[Any, tuple[Any, ...]]:
    """A model of one call, and its inputs."""
    import torch
    from torch.utils import _pytree as pytree

    leaves, spec = pytree.tree_flatten((args, kwargs))
    places = [i for i, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]

    class Module(torch.nn.Module):
        def forward(self, *tensors: Any) -> Any:
            given = list(leaves)
            for place, tensor in zip(places, tensors, strict=True):
                given[place] = tensor
            args, kwargs = pytree.tree_unflatten(given, spec)
            return call(*args, **kwargs)

    return Module().eval(), tuple(leaves[place].contiguous() for place in places)


def _registry() -> Mapping[Any, Any]:
    import litert_torch  # noqa: F401  # fills the registry
    from litert_torch.backend.lowerings import registry

    found: Mapping[Any, Any] = registry.global_registry.registered_ops
    return found


def _gives_way(run: Any) -> bool:
    """Whether a decomposition of the library's own is for some calls alone."""
    return getattr(run, "__name__", "") in ("_convolution_decomp", "_conv1d_decomp")


@functools.cache
def hasten() -> Mapping[Any, Any]:
    """Have conversions take half of the time; give the table of decompositions.

    The dispatcher decomposes composites as the table does, which is sooner done; what the library
    decomposes in its own way, or leaves whole, stays as it is.
    """
    import litert_torch  # noqa: F401  # fills the tables
    from litert_torch.fx_infra import decomp

    names = ("torch._export.utils", "torch.export.decomp_utils", "torch.export.exported_program")
    modules: tuple[Any, ...] = tuple(map(import_module, names))
    composites = set(modules[0]._collect_all_valid_cia_ops())
    tables = [dict(decomp._pre_convert_decomp.items()), dict(decomp._pre_lower_decomp.items())]
    whole = {call for call in composites if any(call not in table for table in tables)}
    own = {
        call
        for table in tables
        for call, run in table.items()
        if call in composites and _module_of(run) != _OF_COMPOSITES
    }
    decomp._pre_convert_decomp, decomp._pre_lower_decomp = (
        {call: run for call, run in table.items() if call not in composites - own - whole}
        for table in tables
    )
    for module in modules:
        if hasattr(module, "_collect_all_valid_cia_ops"):
            module._collect_all_valid_cia_ops = lambda: whole | own
    modules[0]._is_preservable_cia_op = functools.cache(modules[0]._is_preservable_cia_op)
    found: Mapping[Any, Any] = decomp._pre_lower_decomp
    return found


def _module_of(run: Any) -> str:
    return str(getattr(run, "__module__", None) or type(run).__module__)


def cited() -> dict[str, str]:
    """Overload -> file and line of the wheel that registers its lowering, by the source."""
    import litert_torch

    root = Path(litert_torch.__file__).parent
    modules = {
        call.name(): run.__module__ for call, run in _registry().items() if hasattr(call, "name")
    }
    found: dict[str, str] = {}
    for path in sorted(root.rglob("*.py")):
        file = path.relative_to(root.parent)
        module = ".".join(file.with_suffix("").parts)
        if module in modules.values():
            for name, line in _lowers(path.read_text(encoding="utf-8")):
                own = (each for each in _overloads(name) if modules.get(each) == module)
                found.update(dict.fromkeys(own, f"{file}:{line}"))
    return found


def _lowers(source: str) -> Iterator[tuple[str, int]]:
    """What a file registers lowerings of, as it writes it, and the lines."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call) or not node.args:
            continue
        name = ast.unparse(node.func).rpartition(".")[2]
        text = ast.unparse(node.args[0])
        if name in _LOWERS and text.startswith("torch.ops."):
            yield text.removeprefix("torch.ops."), node.lineno


def _overloads(name: str) -> Iterator[str]:
    """The overloads that an operator or an overload stands for."""
    import torch

    found: Any = torch.ops
    for part in name.split("."):
        found = getattr(found, part, None)
    if found is None:
        return
    packet = [getattr(found, each) for each in found.overloads()] if hasattr(
        found, "overloads"
    ) else [found]  # fmt: skip
    yield from (call.name() for call in packet)

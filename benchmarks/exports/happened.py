"""Exports models and operators, runs them, and notes what happened; opcheck is not asked.

``python -m benchmarks.exports.happened FOLDER KIND [TARGET]`` writes a file of JSON lines, one an
export. What stands there is not done again. ``KIND`` is ``operator`` or ``model``, and
``dynamic-operator`` or ``dynamic-model`` with the first dimension left open.
"""

import functools
import json
import multiprocessing
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from msgspec import Struct, to_builtins
from torch import nn
from torch.utils import _pytree as pytree

from benchmarks.exports.placed import Placing
from opcheck.exporting.core_ml import CoreMl
from opcheck.exporting.execu_torch import ExecuTorch
from opcheck.exporting.exporter import Exporter
from opcheck.exporting.lite_rt import LiteRt
from opcheck.exporting.onnx_runtime import OnnxRuntime
from opcheck.exporting.open_vino import OpenVino
from opcheck.model.dynamic import DynamicInput
from opcheck.model.exporting import Stage
from tests.zoo import UNCACHED, ZOO

DTYPES = (torch.float32, torch.float16, torch.int64)
OPERATORS = 480
"""So many, drawn by a hash of their names; of some targets the first 360 of them were asked."""
_ORDER = {str(dtype).removeprefix("torch."): place for place, dtype in enumerate(DTYPES)}
"""A run that is broken off has many operators in the first dtype, not a few in each."""
EXPORTERS: Mapping[str, Exporter] = {
    "onnxruntime-cpu": OnnxRuntime(),
    "openvino-cpu": OpenVino(),
    "executorch-portable": ExecuTorch(),
    "executorch-xnnpack": Placing("xnnpack"),
    "executorch-vulkan": Placing("vulkan"),
    "coreml-cpu": CoreMl(),
    "litert-cpu": LiteRt(),
}
"""Target -> what exports for it; the first where none is named."""
OPERATOR, MODEL = "operator", "model"
DYNAMIC_OPERATOR, DYNAMIC_MODEL = "dynamic-operator", "dynamic-model"
DYNAMIC_OPERATORS = 520
"""So many are looked at: not every sample runs with another size."""
_SAMPLES = 12
"""How many samples of an operator are looked through for one that does."""
_SHORTEST = 2
"""Of an open dimension: torch.export takes 0 and 1 for sizes of their own."""
_EXPORTING = ("torch.export.decomp_utils", "torch.export.exported_program")
_ONNX = (
    "torch.onnx._internal.exporter._decomp",
    "torch.onnx._internal.exporter._registration",
)
_CRASHES = (signal.SIGSEGV, signal.SIGFPE, signal.SIGABRT, signal.SIGILL, signal.SIGBUS)
"""What a library's code ends its process with."""
_PLACE = 3
"""Which of an operator's samples is exported: the fourth, or the last where it has fewer."""


Made = tuple[nn.Module, tuple[Any, ...], Mapping[str, Any]]


class Case(Struct, frozen=True):
    """One thing to export."""

    kind: str
    """``operator`` or ``model``, or one of these with an open dimension."""
    name: str
    dtype: str
    make: Callable[[], Made]

    @property
    def key(self) -> str:
        """How it is noted."""
        return f"{self.kind} {self.name} {self.dtype}".strip()

    def marked(
        self, module: nn.Module, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> tuple[DynamicInput, ...]:
        """What has no size of its own in the export.

        Raises:
            LookupError: nothing can be left open.
        """
        if self.kind not in (DYNAMIC_OPERATOR, DYNAMIC_MODEL):
            return ()
        found = opened(module, args, kwargs)
        if not found:
            raise LookupError("no other first size is taken")
        return found


class Call(nn.Module):
    """One call of an operator, whose tensors are the module's inputs."""

    def __init__(self, function: Callable[..., Any], args: Any, kwargs: Any) -> None:
        super().__init__()
        leaves, self._spec = pytree.tree_flatten((args, kwargs))
        self._function, self._leaves = function, leaves
        self._places = [i for i, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]

    @property
    def inputs(self) -> tuple[torch.Tensor, ...]:
        """The tensors of the sample."""
        return tuple(self._leaves[place].detach() for place in self._places)

    def forward(self, *tensors: torch.Tensor) -> Any:
        """Call it on these tensors in place of the sample's; PyTorch's named tuples as tuples."""
        leaves = list(self._leaves)
        for place, tensor in zip(self._places, tensors, strict=True):
            leaves[place] = tensor
        args, kwargs = pytree.tree_unflatten(leaves, self._spec)
        found = self._function(*args, **kwargs)
        return tuple(found) if isinstance(found, tuple) else found


def cases(kind: str) -> Iterator[Case]:
    """Every model of the zoo, with a cache and without, or most of PyTorch's operators.

    Operators come in the dtypes that they take.

    With an open dimension: more of the operators, in float32 or in the dtype that they take.
    """
    if kind in (MODEL, DYNAMIC_MODEL):
        models = {**ZOO, **UNCACHED}
        yield from (Case(kind, name, "", models[name]) for name in sorted(models, key=_drawn))
        return
    from torch.testing._internal.common_methods_invocations import op_db

    named = {
        info.name + (f".{info.variant_test_name}" if info.variant_test_name else ""): info
        for info in op_db
    }
    count = DYNAMIC_OPERATORS if kind == DYNAMIC_OPERATOR else OPERATORS
    chosen = sorted(named, key=_drawn)[:count]
    for name in chosen:
        info = named[name]
        taken = [dtype for dtype in DTYPES if dtype in info.dtypes]
        for dtype in taken[:1] if kind == DYNAMIC_OPERATOR else taken:
            sample = _open_sample if kind == DYNAMIC_OPERATOR else _sample
            make = functools.partial(sample, info, dtype)
            yield Case(kind, name, str(dtype).removeprefix("torch."), make)


def _drawn(name: str) -> str:
    """The place of a name in an order that says nothing: a run that is broken off has of all."""
    return sha256(name.encode()).hexdigest()


def _sample(info: Any, dtype: torch.dtype) -> Made:
    found = list(islice(_calls(info, dtype), _PLACE + 1))
    if not found:
        raise LookupError(f"{info.name} has no samples of {dtype}")
    return found[-1], found[-1].inputs, {}


def _open_sample(info: Any, dtype: torch.dtype) -> Made:
    """The first sample, from the fourth on, whose first dimension may be another."""
    found = list(islice(_calls(info, dtype), _SAMPLES))
    for call in (*found[_PLACE:], *found[:_PLACE]):
        if opened(call, call.inputs, {}):
            return call, call.inputs, {}
    raise LookupError(f"no sample of {info.name} takes another first size")


def _calls(info: Any, dtype: torch.dtype) -> Iterator[Call]:
    torch.manual_seed(0)
    for sample in info.sample_inputs("cpu", dtype, requires_grad=False):
        yield Call(info.op, (sample.input, *sample.args), sample.kwargs)


def opened(
    module: nn.Module, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[DynamicInput, ...]:
    """The first dimension of the first tensor, with those of others that have to go along.

    Nothing where it is shorter than two, or PyTorch takes no other size there.
    """
    sizes = {
        key: value.shape[0]
        for key, value in _given(args, kwargs).items()
        if isinstance(value, torch.Tensor) and value.dim()
    }
    first = next(iter(sizes), None)
    if first is None or sizes[first] < _SHORTEST:
        return ()
    together = [key for key, size in sizes.items() if size == sizes[first]]
    for keys in (together, [first]):
        if all(_takes(module, args, kwargs, keys, grow) for grow in (1, sizes[first])):
            return tuple(DynamicInput(str(key), (0,)) for key in keys)
    return ()


def _takes(
    module: nn.Module,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    keys: Sequence[int | str],
    more: int,
) -> bool:
    """Whether PyTorch runs it with so many rows more."""
    longer = {
        key: torch.cat([value, value[:more]])
        for key, value in _given(args, kwargs).items()
        if key in keys
    }
    try:
        with torch.no_grad():
            module.eval()(
                *(longer.get(place, each) for place, each in enumerate(args)),
                **{name: longer.get(name, each) for name, each in kwargs.items()},
            )
    except Exception:  # whatever the operator says of the size
        return False
    return True


def _given(args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[int | str, Any]:
    """Every input by its position or name."""
    found: dict[int | str, Any] = dict(enumerate(args))
    found.update(kwargs)
    return found


def happened(case: Case, exporter: Exporter) -> dict[str, Any]:
    """Export and run one, as a line."""
    try:
        module, args, kwargs = case.make()
        with torch.no_grad():
            module.eval()(*pytree.tree_map_only(torch.Tensor, torch.clone, tuple(args)), **kwargs)
            marked = case.marked(module, args, kwargs)
    except Exception as error:  # PyTorch itself refuses it: it says nothing of an export
        return {"stage": "none", "error": f"{type(error).__name__}: {error}"[:200]}
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / exporter.file)
        found = exporter.prove(module, args, kwargs, path, marked=marked)
    said: dict[str, Any] = {
        "stage": found.stage.value, "error": found.error, "random": found.random
    }  # fmt: skip
    if isinstance(exporter, Placing) and exporter.calls:
        said |= {"partitions": exporter.partitions, "calls": to_builtins(exporter.calls)}
    return {**said, "sizes": dict(found.sizes)} if marked else said


def kept(target: str) -> None:
    """Have torch.export look once for what it looks for on every call: composites, and a table."""
    exporter = EXPORTERS[target]
    if isinstance(exporter, OpenVino):
        from opcheck.db.importers.openvino.wheel import hasten

        hasten()
        return
    if isinstance(exporter, ExecuTorch):
        _kept_for_executorch(exporter)
        return
    utils, decomp_utils, exported_program = _private("torch._export.utils", *_EXPORTING)
    found = functools.cache(utils._collect_all_valid_cia_ops)
    for module in (utils, decomp_utils, exported_program):
        if hasattr(module, "_collect_all_valid_cia_ops"):
            module._collect_all_valid_cia_ops = lambda: set(found())
    utils._is_preservable_cia_op = functools.cache(utils._is_preservable_cia_op)
    if not isinstance(exporter, OnnxRuntime):
        return
    _decomp, _registration = _private(*_ONNX)
    made = _decomp.create_onnx_friendly_decomposition_table
    table = functools.cache(lambda ops: made(set(ops)))
    _decomp.create_onnx_friendly_decomposition_table = lambda ops: dict(table(frozenset(ops)))
    registry = _registration.ONNXRegistry
    registry.from_torchlib = staticmethod(functools.cache(registry.from_torchlib))


def _kept_for_executorch(exporter: ExecuTorch) -> None:
    """Have exports look once for composites and decompositions, and for Vulkan's patterns.

    With XNNPACK's partitioner, and with none, they preserve the composites alone that it takes
    whole. The dispatcher decomposes the others in the same way, which is much sooner done. Vulkan's
    takes no linear layer whole, and to that the dispatcher gives another view.
    """
    from executorch.exir.program import _program

    names = ("torch._export.utils", "torch.export.decomp_utils", "torch.export.exported_program")
    modules: tuple[Any, ...] = tuple(map(import_module, names))
    composites = set(modules[0]._collect_all_valid_cia_ops())
    preserved, table = composites, dict(_program._default_decomposition_table().items())
    if exporter.chip == "vulkan":
        _kept_patterns()
    else:
        whole, _ = ExecuTorch("xnnpack").partitioners()[0].ops_to_not_decompose(None)
        preserved = composites & set(whole)
        table = {call: run for call, run in table.items() if call not in composites - set(whole)}
    modules[0]._is_preservable_cia_op = functools.cache(modules[0]._is_preservable_cia_op)
    _program._default_decomposition_table = lambda: dict(table)
    for module in modules:
        if hasattr(module, "_collect_all_valid_cia_ops"):
            module._collect_all_valid_cia_ops = lambda: set(preserved)


def _kept_patterns() -> None:
    """Have each pattern of Vulkan's be exported once."""
    from executorch.backends.vulkan.patterns import fusable_patterns

    for entry in fusable_patterns.values():
        entry.get_graphs_fn = entry.get_graphs_fn and functools.cache(entry.get_graphs_fn)


def _private(*names: str) -> tuple[Any, ...]:
    """Modules of torch's own, checked on 2.13.0."""
    return tuple(map(import_module, names))


def noted(path: Path) -> dict[str, dict[str, Any]]:
    """What a file says, by case."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return {said["case"]: said for said in map(json.loads, lines)}


def exported(path: Path, kind: str, target: str) -> None:
    """Export what the file does not have yet; a file beside it names the case that is under way."""
    torch.set_num_threads(1)
    done = noted(path)
    kept(target)
    with path.open("a", encoding="utf-8") as file:
        for case in sorted(cases(kind), key=lambda case: _ORDER.get(case.dtype, 0)):
            if case.key not in done:
                _begun(path).write_text(case.key, encoding="utf-8")
                said = happened(case, EXPORTERS[target])
                file.write(json.dumps({"case": case.key, **said}) + "\n")
                file.flush()


def _begun(path: Path) -> Path:
    return path.with_suffix(".begun")


def _ended(path: Path, number: int) -> None:
    """Note that the case under way ended its process: the runtime's code, as a rule."""
    name = signal.Signals(number).name
    said: dict[str, Any] = {"case": _begun(path).read_text(encoding="utf-8")}
    said |= {"stage": Stage.RUNTIME.value, "error": f"the process ended: {name}", "random": False}
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(said) + "\n")


def main() -> None:
    """Export in a process of its own, and go on behind a case that ends it."""
    folder, kind, *rest = sys.argv[1:]
    path = Path(folder) / f"{kind}s.jsonl"
    target = rest[0] if rest else next(iter(EXPORTERS))
    path.parent.mkdir(parents=True, exist_ok=True)
    making = multiprocessing.get_context("spawn")
    while True:
        worker = making.Process(target=exported, args=(path, kind, target))
        worker.start()
        worker.join()
        code = worker.exitcode or 0
        if -code not in _CRASHES:
            sys.exit(code)
        _ended(path, -code)


if __name__ == "__main__":
    main()

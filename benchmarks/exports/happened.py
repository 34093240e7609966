"""Exports models and operators, runs them, and notes what happened; opcheck is not asked.

``python -m benchmarks.exports.happened FOLDER operator|model [TARGET]`` writes a file of JSON
lines, one an export. What stands there is not done again.
"""

import functools
import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any

import torch
from msgspec import Struct
from torch import nn
from torch.utils import _pytree as pytree

from opcheck.exporting import core_ml, onnx_runtime, open_vino
from tests.zoo import ZOO

DTYPES = (torch.float32, torch.float16, torch.int64)
OPERATORS = 360
"""So many, drawn by a hash of their names."""
EXPORTERS: Mapping[str, Any] = {
    "onnxruntime-cpu": onnx_runtime,
    "openvino-cpu": open_vino,
    "coreml-cpu": core_ml,
}
"""Target -> what exports for it; the first where none is named."""
OPERATOR, MODEL = "operator", "model"
_EXPORTING = ("torch.export.decomp_utils", "torch.export.exported_program")
_ONNX = (
    "torch.onnx._internal.exporter._decomp",
    "torch.onnx._internal.exporter._registration",
)
_PLACE = 3
"""Which of an operator's samples is exported: the fourth, or the last where it has fewer."""


class Case(Struct, frozen=True):
    """One thing to export."""

    kind: str
    """``operator`` or ``model``."""
    name: str
    dtype: str
    make: Callable[[], tuple[nn.Module, tuple[Any, ...], Mapping[str, Any]]]

    @property
    def key(self) -> str:
        """How it is noted."""
        return f"{self.kind} {self.name} {self.dtype}".strip()


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
        """Call it on these tensors in place of the sample's."""
        leaves = list(self._leaves)
        for place, tensor in zip(self._places, tensors, strict=True):
            leaves[place] = tensor
        args, kwargs = pytree.tree_unflatten(leaves, self._spec)
        return self._function(*args, **kwargs)


def cases(kind: str) -> Iterator[Case]:
    """Every model of the zoo, or half of PyTorch's operators in the dtypes that they take."""
    if kind == MODEL:
        yield from (Case(MODEL, name, "", make) for name, make in ZOO.items())
        return
    from torch.testing._internal.common_methods_invocations import op_db

    named = {
        info.name + (f".{info.variant_test_name}" if info.variant_test_name else ""): info
        for info in op_db
    }
    chosen = sorted(named, key=lambda name: sha256(name.encode()).hexdigest())[:OPERATORS]
    for name in chosen:
        info = named[name]
        for dtype in DTYPES:
            if dtype in info.dtypes:
                make = functools.partial(_sample, info, dtype)
                yield Case(OPERATOR, name, str(dtype).removeprefix("torch."), make)


def _sample(info: Any, dtype: torch.dtype) -> tuple[nn.Module, tuple[Any, ...], Mapping[str, Any]]:
    torch.manual_seed(0)
    chosen = None
    for place, sample in enumerate(info.sample_inputs("cpu", dtype, requires_grad=False)):
        chosen = sample
        if place == _PLACE:
            break
    if chosen is None:
        raise LookupError(f"{info.name} has no samples of {dtype}")
    call = Call(info.op, (chosen.input, *chosen.args), chosen.kwargs)
    return call, call.inputs, {}


def happened(case: Case, exporter: Any) -> dict[str, Any]:
    """Export and run one, as a line."""
    try:
        module, args, kwargs = case.make()
        with torch.no_grad():
            module.eval()(*pytree.tree_map_only(torch.Tensor, torch.clone, tuple(args)), **kwargs)
    except Exception as error:  # PyTorch itself refuses it: it says nothing of an export
        return {"stage": "none", "error": f"{type(error).__name__}: {error}"[:200]}
    with tempfile.TemporaryDirectory() as folder:
        found = exporter.prove(module, args, kwargs, str(Path(folder) / exporter.FILE))
    return {"stage": found.stage.value, "error": found.error, "random": found.random}


def kept(target: str) -> None:
    """Have torch.export look once for what it looks for on every call: composites, and a table."""
    if EXPORTERS[target] is open_vino:
        from opcheck.db.importers.openvino.wheel import hasten

        hasten()
        return
    utils, decomp_utils, exported_program = _private("torch._export.utils", *_EXPORTING)
    found = functools.cache(utils._collect_all_valid_cia_ops)
    for module in (utils, decomp_utils, exported_program):
        if hasattr(module, "_collect_all_valid_cia_ops"):
            module._collect_all_valid_cia_ops = lambda: set(found())
    utils._is_preservable_cia_op = functools.cache(utils._is_preservable_cia_op)
    if EXPORTERS[target] is not onnx_runtime:
        return
    _decomp, _registration = _private(*_ONNX)
    made = _decomp.create_onnx_friendly_decomposition_table
    table = functools.cache(lambda ops: made(set(ops)))
    _decomp.create_onnx_friendly_decomposition_table = lambda ops: dict(table(frozenset(ops)))
    registry = _registration.ONNXRegistry
    registry.from_torchlib = staticmethod(functools.cache(registry.from_torchlib))


def _private(*names: str) -> tuple[Any, ...]:
    """Modules of torch's own, checked on 2.13.0."""
    return tuple(map(import_module, names))


def noted(path: Path) -> dict[str, dict[str, Any]]:
    """What a file says, by case."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return {said["case"]: said for said in map(json.loads, lines)}


def main() -> None:
    """Export what the file does not have yet."""
    torch.set_num_threads(1)
    path, kind = Path(sys.argv[1]) / f"{sys.argv[2]}s.jsonl", sys.argv[2]
    target = sys.argv[3] if sys.argv[3:] else next(iter(EXPORTERS))
    path.parent.mkdir(parents=True, exist_ok=True)
    done = noted(path)
    kept(target)
    with path.open("a", encoding="utf-8") as file:
        for case in cases(kind):
            if case.key not in done:
                file.write(
                    json.dumps({"case": case.key, **happened(case, EXPORTERS[target])}) + "\n"
                )
                file.flush()


if __name__ == "__main__":
    main()

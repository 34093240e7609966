"""Projects for the tests: one call of each kind, and every expression of the table."""

from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from opcheck.db.store import Database
from opcheck.model.matrix import SupportMatrix
from opcheck.model.target import TargetSpec
from opcheck.model.trace import Node, OpName, TensorMeta, Value
from opcheck.rewrite.custom.base import Toolchain, of_vendor, toolchains
from opcheck.rewrite.custom.project import Project, project

STUBS = Path(__file__).parent / "stubs"
CHAINS = {chain.name: chain for chain in toolchains()}
_TARGETS = {
    "amd": "amd-mi300x", "apple": "apple-mps", "ascend": "ascend-910b",
    "cambricon": "cambricon-mlu590", "moorethreads": "moorethreads-s4000",
    "nvidia": "nvidia-h100",
}  # fmt: skip
_X = TensorMeta("float32", (4, 3), (3, 1))
_ROW = TensorMeta("float32", (3,), (1,))
_SQUARE = TensorMeta("float32", (3, 3), (3, 1))
CALLS: dict[str, tuple[tuple[str, Value], ...]] = {
    "aten::special_erfcx": (("self", TensorMeta("float16", (4, 3), (1, 4))),),
    "aten::atan2.out": (("self", _X), ("other", _ROW), ("out", _X)),
    "aten::lerp.Scalar": (("self", _X), ("end", _ROW), ("weight", 0.25)),
    "aten::sign": (("self", TensorMeta("int64", (5,), (1,))),),
    "aten::logit": (("self", _X),),
    "aten::mode": (("self", _X), ("dim", 1)),
    "aten::topk": (("self", _X), ("k", 2), ("dim", 1)),
    "aten::grid_sampler_2d": (
        ("input", TensorMeta("float32", (1, 2, 3, 3), (18, 9, 3, 1))),
        ("grid", TensorMeta("float32", (1, 2, 2, 2), (8, 4, 2, 1))),
        ("interpolation_mode", 0), ("padding_mode", 0), ("align_corners", False),
    ),
    "aten::std.correction": (("self", _X), ("dim", (1,)), ("correction", 1)),
    "aten::norm.ScalarOpt_dim": (("self", _X), ("p", 2), ("dim", (1,))),
    "aten::cumsum": (("self", _X), ("dim", 0)),
    "aten::index_add": (
        ("self", _X), ("dim", 0), ("index", TensorMeta("int64", (2,), (1,))),
        ("source", TensorMeta("float32", (2, 3), (3, 1))),
    ),
    "aten::_addmm_activation": (("self", _ROW), ("mat1", _X), ("mat2", _SQUARE)),
    "aten::nll_loss_forward": (
        ("self", _X), ("target", TensorMeta("int64", (4,), (1,))), ("weight", None),
        ("reduction", 1), ("ignore_index", -100),
    ),
}  # fmt: skip
"""A call of each kind: a number, two with broadcasting and a result given, a value beside,
integers, one without an expression, two results, a reduction, optional arguments, a scan, a
scatter, a product, a sort and samples by loops, an optional tensor."""


@cache
def matrix_of(vendor: str) -> SupportMatrix:
    database = Database.open()
    return database.matrix(database.resolve(TargetSpec.parse(_TARGETS[vendor])))


def made(chain: Toolchain, op: str) -> Project:
    node = Node(OpName.parse(op), CALLS.get(op, ()))
    found = project(op, matrix_of(chain.vendors[0]), chain, [node], "net.py:model")
    assert isinstance(found, Project), found
    return found


def written(folder: Path, found: Project, finish: bool = False) -> Path:
    """Put a project into a folder of its name, with what it leaves to write taken as written."""
    for path, text in found.files.items():
        place = folder / found.name / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(without_error(text) if finish else text, encoding="utf-8")
    return folder / found.name


def without_error(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not line.startswith("#error")) + "\n"


def vendors() -> Iterator[str]:
    return iter(sorted({vendor for chain in toolchains() for vendor in chain.vendors}))


def chosen(vendor: str) -> str:
    return of_vendor(vendor)[0].name


def kinds(names: Iterable[str]) -> list[Toolchain]:
    return [CHAINS[name] for name in names]

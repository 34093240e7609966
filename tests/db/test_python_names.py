"""Which release Python names of PyTorch came with, read from wheels and compared with torch."""

import zipfile
from pathlib import Path

import pytest
import yaml

from opcheck.db.importers.shared.python_names import Wheel, dtypes, python_functions, table
from opcheck.db.store import Database
from opcheck.db.versions import version_key

OPERATORS = "torchgen/packaged/ATen/native/native_functions.yaml"
OLD = {
    "torch/version.py": "__version__ = '2.0.1'\ngit_version = 'aaa'\n",
    "torch/__init__.py": "from .functional import *\nfrom math import pi\n_private = 1\n",
    "torch/functional.py": "import torch._C as _C\n__all__ = ['einsum']\n",
    "torch/_tensor.py": "class Tensor:\n    def backward(self): ...\n",
    "torch/_C/__init__.pyi": "class TensorBase:\n    is_cpu: bool\n",
    "torch/_C/_VariableFunctions.pyi": "def fft(): ...\n",
    "torch/nn/__init__.py": "class Linear: ...\n",
    "torch/nn/functional.py": "from torch.nn import Linear\ndef relu(): ...\n",
    "torch/include/c10/core/ScalarType.h": "  _(float, Float)  \\\n",
    OPERATORS: "- func: add.Tensor(Tensor self) -> Tensor\n  variants: function, method\n",
}
NEW = {
    **OLD,
    "torch/version.py": "__version__ = '2.4.0+cpu'\ngit_version = 'bbb'\n",
    "torch/__init__.py": OLD["torch/__init__.py"] + "if pi:\n    def cond(): ...\n",
    "torch/_tensor.py": OLD["torch/_tensor.py"] + "    def dim_order(self): ...\n",
    "torch/_C/__init__.pyi": OLD["torch/_C/__init__.pyi"] + "    is_xpu: bool\n",
    "torch/nn/functional.py": "from torch import cond\ndef relu(): ...\nrms_norm = _c.rms_norm\n",
    "torch/accelerator/__init__.py": "def current_device(): ...\n",
    "torch/include/c10/core/ScalarType.h": "  _(float, Float)  _(c10::Float8_e5m2, Float8_e5m2)\n",
    "torch/testing/__init__.py": "def make_tensor(): ...\n",
    OPERATORS: OLD[OPERATORS]
    + "- func: _int_mm(Tensor self) -> Tensor\n"
    + "- func: mish(Tensor self) -> Tensor\n  python_module: nn\n"
    + "- func: hash.x(Tensor self) -> Tensor\n  variants: method\n",
}
NEWEST = {
    **NEW,
    "torch/version.py": "__version__ = '2.5.0'\ngit_version = 'ccc'\n",
    "torch/accelerator/__init__.py": "def current_device(): ...\ndef memory(): ...\n",
}


def _wheel(folder: Path, name: str, files: dict[str, str]) -> Wheel:
    path = folder / name
    with zipfile.ZipFile(path, "w") as file:
        for inside, text in files.items():
            file.writestr(inside, text)
    return Wheel(path)


def test_names_are_of_the_release_that_brought_them(tmp_path: Path) -> None:
    releases = {"c": NEWEST, "a": OLD, "b": NEW}
    wheels = [_wheel(tmp_path, name, files) for name, files in releases.items()]
    found = yaml.safe_load("\n".join(table(wheels)))
    assert found["torch"] == ["2.0", "2.4", "2.5"]
    assert {name: source["commit"] for name, source in found["sources"].items()} == {
        "torch-2.0.1": "aaa", "torch-2.4.0": "bbb", "torch-2.5.0": "ccc",
    }  # fmt: skip
    assert found["names"] == {
        "torch": {"_int_mm": "2.4", "accelerator": "2.4", "cond": "2.4", "float8_e5m2": "2.4",
                  "testing": "2.4"},
        "torch.Tensor": {"dim_order": "2.4", "hash": "2.4"},
        "torch.accelerator": {"memory": "2.5"},
        "torch.nn.functional": {"rms_norm": "2.4"},
    }  # fmt: skip


def test_functions_of_a_module_are_not_those_of_torch() -> None:
    text = NEW[OPERATORS]
    assert python_functions(text) == (frozenset({"add", "_int_mm"}), frozenset({"add", "hash"}))


def test_dtypes_are_named_as_python_names_them() -> None:
    header = "_(c10::dummy<1>, UInt1) \\\n _(c10::Float8_e5m2, Float8_e5m2)\nf_(a, B)\n"
    assert dtypes(header) == {"uint1", "float8_e5m2"}


@pytest.mark.parametrize("module", ["torch", "torch.Tensor", "torch.nn", "torch.nn.functional"])
def test_the_installed_torch_lacks_what_came_later(module: str, database: Database) -> None:
    import torch

    names = database.tables.names[module]
    assert names
    there = eval(module, {"torch": torch})
    own = version_key(torch.__version__.partition("+")[0])[:2]
    newer = {name for name, since in names.items() if version_key(since) > own}
    assert {name for name in newer if hasattr(there, name)} == set()


def test_what_models_ask_for_is_known(database: Database) -> None:
    names = database.tables.names
    assert names["torch"]["_grouped_mm"] == "2.8"
    assert names["torch"]["accelerator"] == "2.6"
    assert names["torch"]["float8_e8m0fnu"] == "2.7"
    assert names["torch.nn"]["RMSNorm"] == "2.4"
    assert names["torch.nn.attention"]["flex_attention"] == "2.5"
    assert names["torch.nn.functional"]["grouped_mm"] == "2.10"
    assert "is_cpu" not in names["torch.Tensor"]

"""Files with kernels, imported with what stands in for Triton."""

import importlib.util
import sys
import textwrap
from pathlib import Path
from types import ModuleType

import pytest

from opcheck.source.building.stand_ins import triton

HEAD = "import torch\nimport triton\nimport triton.language as tl\n"


def imported(
    text: str, folder: Path, monkeypatch: pytest.MonkeyPatch, name: str = "with_kernels"
) -> ModuleType:
    """The module of a file; Triton is stood in for until the test ends."""
    for dotted, module in triton.modules().items():
        monkeypatch.setitem(sys.modules, dotted, module)
    path = folder / f"{name}.py"
    path.write_text(HEAD + textwrap.dedent(text))
    monkeypatch.syspath_prepend(str(folder))
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, name, made)
    spec.loader.exec_module(made)
    return made

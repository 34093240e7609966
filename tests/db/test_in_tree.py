"""PyTorch's own lists, against figures that others took from the same files."""

import csv
from pathlib import Path

import pytest
import yaml

from opcheck.db.importers.shared import in_tree
from opcheck.db.importers.shared.in_tree import Kernel
from opcheck.errors import DatabaseError

_KEYS = ("CPU", "CUDA", "MPS", "XPU", "MTIA")


@pytest.fixture(scope="module")
def figures(sources: Path) -> dict[str, dict[str, str]]:
    with (sources / "pytorch" / "version-summary.csv").open(encoding="utf-8") as file:
        return {row["torch"]: row for row in csv.DictReader(file)}


def test_kernels_of_every_release_and_key(
    sources: Path, figures: dict[str, dict[str, str]]
) -> None:
    releases = in_tree.releases(sources / "pytorch")
    assert (releases[0], releases[-1]) == ("2.0.1", "2.15.0")
    for release in releases:
        listed = in_tree.declared(sources / "pytorch", release)
        found = {key: len(in_tree.registered(listed, key)) for key in _KEYS}
        assert found == {key: int(figures[release][f"eff_{key}"]) for key in _KEYS}, release
        named = {key: sum(key in o.kernels for o in listed.values()) for key in _KEYS}
        assert named == {key: int(figures[release][f"line_{key}"]) for key in _KEYS}, release


@pytest.mark.parametrize(("key", "name"), [("CUDA", "cuda"), ("MPS", "mps"), ("XPU", "xpu")])
def test_what_the_cpu_has_and_a_device_lacks(key: str, name: str, sources: Path) -> None:
    gaps = yaml.safe_load((sources / "pytorch" / "backend-gaps@2.15.0.yaml").read_text())
    listed = in_tree.declared(sources / "pytorch", "2.15.0")
    composite = {
        n
        for n, o in listed.items()
        if not (o.kernels or o.delegate) or any(k.startswith("Composite") for k in o.kernels)
    }
    here = set(in_tree.registered(listed, "CPU")) - composite
    assert here - set(in_tree.registered(listed, key)) == set(gaps[f"cpu_but_no_{name}"])


def test_the_line_is_the_one_that_names_the_key(sources: Path) -> None:
    import gzip

    path = sources / "pytorch" / "native_functions@2.13.0.yaml.gz"
    lines = gzip.decompress(path.read_bytes()).decode().splitlines()
    for name, kernel in in_tree.kernels(sources / "pytorch", "2.13.0", "CUDA").items():
        line = lines[kernel.line - 1]
        assert "CUDA" in line or line.strip().startswith("Generic: add"), name
        assert kernel.name in line or "Generic" in line, name


LIST = b"""
- func: gelu.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  dispatch:
    CPU: gelu_out_cpu
    CUDA, MPS: gelu_out
    SparseCUDA: gelu_out_sparse
- func: gelu(Tensor self) -> Tensor
  structured_delegate: gelu.out
  dispatch:
    MPS: gelu_mps
- func: add.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
  ufunc_inner_loop:
    Generic: add (AllAndComplex)
    ScalarOnly: add (Bool)
  dispatch:
    MPS: add_out_mps
- func: _coalesce(Tensor self) -> Tensor
  dispatch:
    SparseCUDA: _coalesce_sparse_cuda
- func: linear(Tensor input) -> Tensor
"""


def test_delegates_share_the_kernels_of_their_out_overload() -> None:
    listed = in_tree.read_list(LIST)
    assert in_tree.registered(listed, "CUDA") == {
        "gelu.out": Kernel("gelu_out", 6),
        "gelu": Kernel("gelu_out", 6),
        "add.out": Kernel("ufunc_add_CUDA", 14),
    }
    assert in_tree.registered(listed, "MPS") == {
        "gelu.out": Kernel("gelu_out", 6),
        "gelu": Kernel("gelu_mps", 11),
        "add.out": Kernel("add_out_mps", 17),
    }


def test_delegates_share_no_kernel_under_a_key_without_structured_kernels() -> None:
    assert set(in_tree.registered(in_tree.read_list(LIST), "SparseCUDA")) == {
        "gelu.out",
        "_coalesce",
    }


def test_overloads_that_only_sparse_tensors_have() -> None:
    listed = in_tree.read_list(LIST)
    alone = {name for name, o in listed.items() if o.kernels and in_tree.sparse_alone(o)}
    assert alone == {"_coalesce"}


@pytest.mark.parametrize("text", [b"a: [", b"plain text", b"func: x"])
def test_what_is_no_list_is_an_error(text: bytes) -> None:
    with pytest.raises(DatabaseError, match="not a list of operators"):
        in_tree.read_list(text)


def test_an_unknown_release_names_the_known_ones(sources: Path) -> None:
    with pytest.raises(DatabaseError) as caught:
        in_tree.declared(sources / "pytorch", "9.9.9")
    assert "9.9.9" in caught.value.message
    assert "2.15.0" in caught.value.hint


def test_every_imported_release_has_a_date(sources: Path) -> None:
    for release in in_tree.releases(sources / "pytorch"):
        assert in_tree.list_source(sources / "pytorch", release)["date"] >= "2023-04-24"

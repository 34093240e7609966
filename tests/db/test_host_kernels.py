"""What the host cannot run for a device that hands it whole calls."""

from pathlib import Path

import pytest

from opcheck.db.importers import intel
from opcheck.db.importers.base import load_yaml
from opcheck.db.importers.shared import host_kernels
from opcheck.db.store import Database
from opcheck.model.trace import Node, OpName, TensorMeta, Value
from opcheck.model.verdict import Verdict
from opcheck.resolve.walk import Walk
from tests.db.vendor_checks import matrix


def tensor(dtype: str, *shape: int) -> TensorMeta:
    return TensorMeta(dtype, shape, tuple(1 for _ in shape))


def verdict(database: Database, release: str, op: str, **given: Value) -> tuple[Verdict, str]:
    on = matrix(database, f"intel-max@{release}")
    resolution = Walk([Node(OpName.parse(op), tuple(given.items()))], on, "2.13.0").resolution(0)
    return resolution.verdict, resolution.code


@pytest.mark.parametrize(
    ("release", "op", "argument", "dtype", "expected"),
    [
        ("2.4.1", "grid_sampler_2d", "input", "float16", Verdict.UNSUPPORTED),
        ("2.4.1", "grid_sampler_2d", "input", "bfloat16", Verdict.UNSUPPORTED),
        ("2.4.1", "grid_sampler_2d", "input", "float32", Verdict.FALLBACK),
        ("2.4.1", "grid_sampler_2d_backward", "grad_output", "float16", Verdict.UNSUPPORTED),
        ("2.5.1", "grid_sampler_2d", "input", "float16", Verdict.NATIVE),
        ("2.4.1", "reflection_pad2d", "self", "float16", Verdict.UNSUPPORTED),
        ("2.4.1", "reflection_pad2d", "self", "bfloat16", Verdict.FALLBACK),
        ("2.4.1", "replication_pad2d.out", "self", "float16", Verdict.UNSUPPORTED),
        ("2.6.0", "_upsample_bilinear2d_aa.out", "self", "float16", Verdict.UNSUPPORTED),
        ("2.6.0", "_upsample_bilinear2d_aa.out", "self", "float32", Verdict.FALLBACK),
    ],
)
def test_the_host_has_no_kernel_for_every_dtype(
    release: str, op: str, argument: str, dtype: str, expected: Verdict, database: Database
) -> None:
    given = {argument: tensor(dtype, 1, 2, 4, 4)}
    assert verdict(database, release, f"aten::{op}", **given)[0] is expected


@pytest.mark.parametrize("release", ["2.4.1", "2.5.1", "2.6.0"])
def test_a_call_that_the_host_has_no_kernel_for_fails(release: str, database: Database) -> None:
    op = "aten::_scaled_dot_product_efficient_attention"
    found = verdict(database, release, op, query=tensor("float32", 1, 2, 4, 8))
    assert found == (Verdict.UNSUPPORTED, "no-kernel-even-on-host")


def test_a_composite_runs_on_the_host_as_its_parts(sources: Path) -> None:
    ops = ["aten::linalg_svd", "aten::reflection_pad1d", "aten::_flash_attention_forward"]
    assert host_kernels.missing(sources, "2.4.1", ops) == ("aten::_flash_attention_forward",)


def test_a_host_kernel_may_come_with_a_later_torch(sources: Path) -> None:
    assert host_kernels.missing(sources, "2.7.1", ["aten::_scaled_mm"]) == ("aten::_scaled_mm",)
    assert host_kernels.missing(sources, "2.8.0", ["aten::_scaled_mm"]) == ()


def test_every_release_has_its_dtypes_of_operators_that_the_host_runs(sources: Path) -> None:
    table = load_yaml(Path(host_kernels.__file__).with_name("host_dtypes.yaml"))
    assert tuple(table) == intel.IntelImporter().releases(sources)
    for release, rows in table.items():
        registered = intel.registered(sources, release).items()
        host = {op for op, said in registered if said.get("impl") == ["cpu_fallback"]}
        bases = {OpName.parse(op).base.removesuffix("_") for op in host}
        assert {op for row in rows for op in row["ops"]} <= bases

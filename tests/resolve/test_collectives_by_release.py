"""What a collective becomes by the release of its backend, its reduction and its dtype."""

import pytest

from opcheck.model.verdict import Verdict
from opcheck.resolve.collectives import Sent, collective
from tests.emulate.matrices import matrix_of

HAS = (Verdict.NATIVE, "collective-of-backend")
LACKS = (Verdict.UNSUPPORTED, "reduction-not-supported")
NO_DTYPE = (Verdict.UNSUPPORTED, "dtype-not-sent")
REFUSES = (Verdict.UNSUPPORTED, "no-collective")


@pytest.mark.parametrize(
    ("target", "op", "dtype", "name", "expected"),
    [
        # oneCCL averages by its SYCL kernels alone, which reduce() and other dtypes do not take
        ("intel-max@2.9.1", "reduce_", "float32", "AVG", LACKS),
        ("intel-max@2.9.1", "reduce_", "float32", "SUM", HAS),
        ("intel-max@2.9.1", "allreduce_", "float32", "AVG", HAS),
        ("intel-max@2.9.1", "_reduce_scatter_base_", "int64", "AVG", LACKS),
        ("intel-max@2.9.1", "_reduce_scatter_base_", "int32", "AVG", HAS),
        ("intel-max@2.14.1", "reduce_", "float32", "AVG", HAS),
        # ... and which devices without Xe Link do not take
        ("intel-arc@2.9.1", "_reduce_scatter_base_", "bfloat16", "AVG", LACKS),
        ("intel-arc@2.9.1", "_reduce_scatter_base_", "bfloat16", "SUM", HAS),
        ("google-tpu-v4@r2.0", "reduce_", "float32", "SUM", REFUSES),
        ("google-tpu-v4@r2.0", "allreduce_", "float32", "SUM", HAS),
        ("google-tpu-v4@r2.0", "allreduce_", "float32", "AVG", LACKS),
        ("google-tpu-v4@r2.6", "allreduce_", "float32", "AVG", LACKS),
        ("google-tpu-v4@r2.6", "allreduce_", "float32", "MAX", HAS),
        ("google-tpu-v4@r2.6", "scatter_", "float32", "", REFUSES),
        ("google-tpu-v4@r2.8", "scatter_", "float32", "", HAS),
        ("nvidia-t4@2.2.2", "allreduce_", "int32", "BXOR", LACKS),
        ("nvidia-t4@2.2.2", "allreduce_", "int32", "MAX", HAS),
        ("amd-mi250@2.3.1", "allreduce_", "uint8", "BOR", LACKS),
        # NCCL has no complex numbers: they are viewed as floats from 2.4 on, and summed so
        ("nvidia-a100@2.0.1", "broadcast_", "complex64", "", NO_DTYPE),
        ("nvidia-a100@2.4.1", "broadcast_", "complex64", "", HAS),
        ("nvidia-a100@2.4.1", "allreduce_", "complex64", "SUM", HAS),
        ("nvidia-a100@2.4.1", "allreduce_", "complex64", "MAX", LACKS),
    ],
)
def test_a_release_reduces_and_sends_what_its_code_has(
    target: str, op: str, dtype: str, name: str, expected: tuple[Verdict, str]
) -> None:
    found = collective(f"c10d::{op}", matrix_of(target), Sent(frozenset({dtype}), name))
    assert (found.verdict, found.code) == expected
    assert found.evidence

"""Which back ends of ``torch.compile`` each target has, by release, torch and chip."""

from typing import Any

import pytest

from opcheck.db.compilers import compilers_of
from opcheck.model.matrix import Compiler, CompilerDoes
from opcheck.model.target import Target
from opcheck.model.verdict import Evidence, Method
from tests.emulate.matrices import matrix_of

SOURCE = {"repo": "vendor/code", "ref": "v1", "commit": "c0ffee", "path": "compile.py"}
TABLE: dict[str, Any] = {
    "sources": {"code": SOURCE},
    "everywhere": {"names": ["aot_eager"], "at": ["code:1"]},
    "owned": {"npu": {"vendors": ["ascend"], "at": ["code:2"]}},
    "backends": [
        {
            "vendor": "apple", "names": ["inductor"], "does": "raises", "releases": ["2.6.0"],
            "error": "no", "instead": "aot_eager", "method": "tested", "at": ["code:3"],
        },
        {
            "vendor": "ascend", "names": ["inductor"], "does": "runs", "releases": ["26.1.0"],
            "torch": ["2.7"], "chips": ["910b"], "needs": "triton", "note": "so", "at": ["code:4"],
            "without": {
                "float8_e5m2": {"chips": ["910b"], "releases": ["26.1.0"], "at": ["code:5"]},
                "float64": {"chips": ["950"], "releases": ["26.1.0"], "at": ["code:5"]},
                "int8": {"chips": ["910b"], "releases": ["26.0.0"], "at": ["code:5"]},
            },
        },
    ],
}  # fmt: skip


def at(line: int, method: Method = Method.REGISTERED) -> tuple[Evidence, ...]:
    return (Evidence(method, "vendor/code", "compile.py", line, "c0ffee"),)


EAGER = Compiler(CompilerDoes.RUNS, at(1))
OTHERS = Compiler(CompilerDoes.RAISES, at(2), "Invalid backend: 'npu'")
TRITON = Compiler(
    CompilerDoes.RUNS, at(4), needs="triton", note="so",
    without={"float8_e5m2": at(5, Method.TESTED)},
)  # fmt: skip


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        (Target("ascend", "910b", "26.1.0", "2.7", "npu"), {"inductor": TRITON}),
        (Target("ascend", "910b", "26.1.0", "2.12", "npu"), {}),
        (Target("ascend", "310p", "26.1.0", "2.7", "npu"), {}),
        (Target("ascend", "910b", "26.0.0", "2.7", "npu"), {}),
        (Target("apple", "mps", "2.7.1", "2.7", "mps"), {"npu": OTHERS}),
        (
            Target("apple", "mps", "2.6.0", "2.6", "mps"),
            {
                "npu": OTHERS,
                "inductor": Compiler(
                    CompilerDoes.RAISES, at(3, Method.TESTED), "no", instead="aot_eager"
                ),
            },
        ),
    ],
)
def test_what_is_said_of_other_targets_is_not_said_of_this_one(
    target: Target, expected: dict[str, Compiler]
) -> None:
    assert compilers_of(target, TABLE) == {"aot_eager": EAGER, **expected}


@pytest.mark.parametrize(
    ("target", "backend", "does"),
    [
        ("nvidia-t4", "inductor", "runs"),
        ("nvidia-t4", "npu", "raises"),
        ("apple-mps@2.6.0", "inductor", "raises"),
        ("apple-mps@2.8.0", "inductor", "runs"),
        ("intel-max@2.13.0", "reduce-overhead", "skips"),
        ("google-tpu-v4", "inductor", "raises"),
        ("google-tpu-v4", "openxla", "runs"),
        ("ascend-910b@6.0.0", "inductor", "raises"),
        ("ascend-910b@7.1.0+torch2.5", "inductor", "raises"),
        ("ascend-910b@7.1.0+torch2.6", "inductor", "runs"),
        ("ascend-310p@26.1.0+torch2.7", "inductor", None),
        ("ascend-910b@7.2.0+torch2.7", "npugraph_ex", "raises"),
        ("ascend-910b@7.3.0+torch2.7", "npugraph_ex", "runs"),
        ("cambricon-mlu590@r2.4_develop", "inductor", "raises"),
        ("cambricon-mlu590@r2.3_develop", "inductor", "runs"),
        ("moorethreads-s4000@1.3.0", "inductor", "raises"),
        ("moorethreads-s4000@2.7.1", "musagraphs", "runs"),
        ("hygon-k100", "inductor", None),
    ],
)
def test_the_table_tells_of_real_targets(target: str, backend: str, does: str | None) -> None:
    found = matrix_of(target).compilers.get(backend)
    assert (found and str(found.does)) == does

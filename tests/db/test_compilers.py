"""Which back ends of ``torch.compile`` each target has, by release, torch and chip."""

from typing import Any

import pytest
from msgspec.structs import replace

from opcheck.db.compilers import compilers_of
from opcheck.model.matrix import CompileCondition, Compiler, CompilerDoes
from opcheck.model.predicates import Dtype, OneOf
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
            "supported": {"modes": ["inference"], "chips": ["910b"], "releases": ["26.1.0"]},
        },
        {
            "vendor": "intel", "names": ["inductor"], "does": "runs", "at": ["code:4"],
            "releases": ["2.12.1"], "supported": {"modes": ["train"], "chips": ["max"]},
        },
    ],
    "conditions": [
        {
            "does": "raises", "text": "no", "ops": ["aten::relu"], "at": ["code:6"],
            "vendors": ["ascend"], "names": ["inductor"], "torch": "..2.8", "method": "tested",
            "cases": [[{"subject": "dtype", "argument": "*", "one_of": ["int8"]}]],
        },
        {
            "does": "unclear", "text": "so", "ops": ["*"], "at": ["code:7"], "fullgraph": True,
            "modes": ["train"], "vendors": ["intel"],
        },
    ],
}  # fmt: skip


def at(line: int, method: Method = Method.REGISTERED) -> tuple[Evidence, ...]:
    return (Evidence(method, "vendor/code", "compile.py", line, "c0ffee"),)


BOTH = frozenset({"inference", "train"})
EAGER = Compiler(CompilerDoes.RUNS, at(1), supported=BOTH)
OTHERS = Compiler(CompilerDoes.RAISES, at(2), "Invalid backend: 'npu'")
TRITON = Compiler(
    CompilerDoes.RUNS, at(4), needs="triton", note="so",
    without={"float8_e5m2": at(5, Method.TESTED)},
    supported=frozenset({"inference"}),
    conditions=(
        CompileCondition(
            CompilerDoes.RAISES, "no", frozenset({"aten::relu"}),
            ((Dtype("*", OneOf(frozenset({"int8"}))),),), at(6, Method.TESTED),
        ),
    ),
)  # fmt: skip
UNCLEAR = CompileCondition(
    CompilerDoes.UNCLEAR, "so", frozenset({"*"}), ((),), at(7), True, frozenset({"train"})
)


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


def test_a_condition_that_names_no_backend_holds_for_each() -> None:
    found = compilers_of(Target("intel", "max", "2.12.1", "2.12", "xpu"), TABLE)
    assert found == {
        "aot_eager": replace(EAGER, conditions=(UNCLEAR,)),
        "npu": replace(OTHERS, conditions=(UNCLEAR,)),
        "inductor": Compiler(
            CompilerDoes.RUNS, at(4), supported=frozenset({"train"}), conditions=(UNCLEAR,)
        ),
    }
    arc = compilers_of(Target("intel", "arc", "2.12.1", "2.12", "xpu"), TABLE)
    assert arc["inductor"].supported == frozenset()


@pytest.mark.parametrize(
    ("target", "backend", "supported"),
    [
        ("nvidia-t4@2.3.1", "inductor", {"inference", "train"}),
        ("nvidia-orin", "inductor", set()),
        ("nvidia-p100", "inductor", set()),
        ("nvidia-rtx5090", "inductor", {"inference", "train"}),
        ("amd-mi250@2.0.1", "inductor", set()),
        ("amd-mi300x@2.10.0", "reduce-overhead", {"inference", "train"}),
        ("apple-mps", "inductor", set()),
        ("ascend-910b@7.2.0+torch2.7", "inductor", set()),
        ("google-tpu-v5e", "openxla", {"inference"}),
        ("intel-arc", "inductor", {"inference", "train"}),
        ("moorethreads-s5000", "inductor", set()),
        ("nvidia-tensorrt", "tensorrt", {"inference"}),
        ("hygon-k100", "aot_eager", {"inference", "train"}),
    ],
)
def test_the_table_tells_what_is_supported_where(
    target: str, backend: str, supported: set[str]
) -> None:
    assert matrix_of(target).compilers[backend].supported == supported


@pytest.mark.parametrize(
    ("target", "count"), [("nvidia-t4@2.3.1", 5), ("nvidia-t4", 4), ("nvidia-h100", 2)]
)
def test_the_table_tells_of_calls_that_break_what_is_compiled(target: str, count: int) -> None:
    assert len(matrix_of(target).compilers["inductor"].conditions) == count


@pytest.mark.parametrize(
    ("target", "op", "refused"),
    [
        ("nvidia-a100@2.10.0", "aten::lift", "raises"),
        ("nvidia-a100@2.13.0", "aten::lift", ""),
        ("nvidia-a100@2.10.0", "aten::copysign.Scalar", "wrong"),
        ("nvidia-a100@2.13.0", "aten::copysign.Scalar", ""),
    ],
)
def test_the_table_tells_of_calls_until_a_release_mends_them(
    target: str, op: str, refused: str
) -> None:
    held = matrix_of(target).compilers["inductor"].conditions
    assert "".join(each.does for each in held if op in each.ops) == refused


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

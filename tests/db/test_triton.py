"""Which Triton compiles for each target, by release, torch and chip."""

from typing import Any

import pytest

from opcheck.db.triton import cuda_sources_of, triton_of
from opcheck.model.launches import (
    Limit,
    LimitKind,
    SourceBuilder,
    TritonCompiler,
    TritonOperation,
)
from opcheck.model.target import Target
from opcheck.model.verdict import Evidence, Method
from tests.emulate.matrices import matrix_of

SOURCE = {"repo": "vendor/triton", "ref": "v1", "commit": "c0ffee", "path": "triton.py"}
TABLE: dict[str, Any] = {
    "sources": {"code": SOURCE},
    "cuda_sources": {
        "amd": {"converts": True, "at": ["code:10"]},
        "apple": {"error": "no CUDA", "method": "tested", "at": ["code:11"]},
    },
    "languages": {
        "first": {"names": ["load", "exp"], "at": ["code:1"]},
        "second": {
            "names": ["sort"], "at": ["code:2"],
            "operations": {
                "load": {"dtypes": ["float16"], "refuses": ["float64"], "at": ["code:3"]},
                "dot_scaled": {"texts": {"lhs_format": ["bf16"]}, "at": ["code:4"]},
                "exp": {"refuses": ["int8"], "chips": ["310p"], "at": ["code:12"]},
                "log": {"refuses": ["int8"], "torch": ["2.9"], "at": ["code:12"]},
            },
        },
    },
    "compilers": [
        {"vendor": "apple", "error": "no driver", "method": "tested", "at": ["code:5"]},
        {
            "vendor": "ascend", "package": "triton-ascend", "releases": ["26.1.0"],
            "torch": ["2.7"], "chips": ["910b"], "languages": ["first", "second"],
            "without": {
                "float8_e5m2": {"chips": ["910b"], "at": ["code:6"]},
                "bfloat16": {"chips": ["310p"], "at": ["code:6"]},
                "float16": {"chips": ["910b"], "named": True, "at": ["code:6"]},
            },
            "programs": {"most": 9, "unless": "X=1", "at": ["code:7"]}, "at": ["code:8"],
        },
        {
            "vendor": "ascend", "package": "triton-ascend", "doubt": "is not for it",
            "releases": ["26.1.0"], "at": ["code:9"],
        },
        {"vendor": "nvidia", "package": "triton", "at": ["code:8"]},
    ],
    "limits": [
        {"kind": "grid", "vendors": ["nvidia"], "most": 9, "method": "tested", "at": ["code:14"]},
        {
            "kind": "product", "vendors": ["amd", "nvidia"], "chips": ["a100"], "torch": ["2.6"],
            "least": [1, 2, 3], "dtypes": ["int8"], "at": ["code:15"],
        },
        {"kind": "maths", "vendors": ["nvidia"], "torch": ["2.7"], "at": ["code:1"]},
    ],
    "shared_memory": [
        {"vendor": "nvidia", "chips": ["a100"], "bytes": 9, "stages": 3, "at": ["code:13"]},
    ],
}  # fmt: skip


def at(line: int, method: Method = Method.REGISTERED) -> tuple[Evidence, ...]:
    return (Evidence(method, "vendor/triton", "triton.py", line, "c0ffee"),)


def test_a_compiler_has_what_its_languages_list_and_what_is_said_of_single_functions() -> None:
    found = triton_of(Target("ascend", "910b", "26.1.0", "2.7.1", "npu"), TABLE)
    said = Method.DOCUMENTED
    assert found == TritonCompiler(
        package="triton-ascend",
        evidence=at(8),
        operations={
            "load": TritonOperation(at(3, said), frozenset({"float16"}), frozenset({"float64"})),
            "exp": TritonOperation(at(1)),
            "sort": TritonOperation(at(2)),
            "dot_scaled": TritonOperation(at(4, said), texts={"lhs_format": frozenset({"bf16"})}),
        },
        without={"float8_e5m2": at(6), "float16": at(6)},
        computed=frozenset({"float16"}),
        most_programs=9,
        at_most=at(7, said),
        unless="X=1",
    )


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        (Target("apple", "mps", "2.7.1", "2.7", "mps"),
         TritonCompiler("", at(5, Method.TESTED), error="no driver")),
        (Target("ascend", "310p", "26.1.0", "2.7", "npu"),
         TritonCompiler("triton-ascend", at(9), doubt="is not for it")),
        (Target("ascend", "910b", "26.1.0", "2.8", "npu"),
         TritonCompiler("triton-ascend", at(9), doubt="is not for it")),
        (Target("ascend", "910b", "26.0.0", "2.7", "npu"), None),
        (Target("google", "tpu-v4", "r2.7", "2.7", "xla"), None),
    ],
)  # fmt: skip
def test_the_first_entry_that_fits_a_target_holds(
    target: Target, expected: TritonCompiler | None
) -> None:
    assert triton_of(target, TABLE) == expected


@pytest.mark.parametrize(
    ("target", "package", "has", "lacks", "without"),
    [
        ("nvidia-a100@2.13.0", "triton", "topk", "atomic_poll", "float8_e4m3fn"),
        ("nvidia-h100@2.13.0", "triton", "extra.libdevice.tanh", "atomic_poll", "float8_e4m3fnuz"),
        ("nvidia-h100@2.6.0", "triton", "dot_scaled", "gather", "float8_e5m2fnuz"),
        ("nvidia-h100@2.15.0", "triton", "atomic_poll", "advance", "float8_e5m2fnuz"),
        ("amd-mi250@2.7.1", "triton", "gather", "topk", "float8_e4m3fn"),
        ("intel-arc@2.5.1", "triton-xpu", "load", "topk", "float64"),
        ("nvidia-t4@2.6.0", "triton", "cast", "topk", "bfloat16"),
        ("intel-max@2.10.0", "triton-xpu", "extra.libdevice.tanh", "squeeze", "float8_e4m3fnuz"),
        ("moorethreads-s4000@2.7.1", "FlagTree", "load", "topk", "float8_e4m3fn"),
        ("cambricon-mlu590@r2.3_develop", "FlagTree", "load", "topk", "float8_e5m2"),
        ("hygon-k100", "FlagTree", "load", "topk", "float8_e4m3fn"),
    ],
)
def test_the_table_tells_of_real_targets(
    target: str, package: str, has: str, lacks: str, without: str
) -> None:
    found = matrix_of(target).triton
    assert found is not None
    assert (found.package, found.operation(has) is None, found.operation(lacks)) == (
        package, False, None,
    )  # fmt: skip
    assert without in found.without


@pytest.mark.parametrize("target", ["apple-mps@2.13.0", "google-tpu-v4"])
def test_devices_without_a_back_end_of_triton_raise(target: str) -> None:
    found = matrix_of(target).triton
    assert found is not None
    assert (found.package, found.error) == (
        "", "0 active drivers ([]). There should only be one.",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("target", "word"),
    [("ascend-310p@26.0.0", "Ascend310P3"), ("ascend-910a@26.1.0", "Ascend910B")],
)
def test_chips_that_the_compiler_does_not_know_raise(target: str, word: str) -> None:
    found = matrix_of(target).triton
    assert found is not None
    assert (found.package, found.error) == (
        "triton-ascend",
        f"bishengir-compile: for the --target option: Cannot find option named {word!r}!",
    )


@pytest.mark.parametrize(
    ("target", "refuses"),
    [
        ("nvidia-t4@2.0.1", {"int8"}),  # so a user saw
        ("nvidia-t4@2.5.1", set()),
        ("nvidia-t4@2.6.0", {"int8", "uint8"}),
        ("nvidia-t4@2.15.0", {"int8", "uint8"}),
        ("nvidia-a100@2.6.0", set()),
    ],
)
def test_a_t4_has_no_products_of_int8_since_triton_leaves_them_to_fma(
    target: str, refuses: set[str]
) -> None:
    found = matrix_of(target).triton
    assert found is not None
    product = found.operation("dot")
    assert product is not None
    assert product.refuses == refuses


@pytest.mark.parametrize(
    ("target", "refuses"),
    [("nvidia-t4@2.6.0", {"bfloat16"}), ("nvidia-t4@2.7.1", set()), ("nvidia-a100@2.6.0", set())],
)
def test_a_t4_converts_no_bfloat16_until_llvm_does(target: str, refuses: set[str]) -> None:
    found = matrix_of(target).triton
    assert found is not None
    cast = found.operation("cast")
    assert cast is None or cast.refuses == refuses
    assert found.computed == refuses


@pytest.mark.parametrize(
    ("target", "doubt"),
    [
        ("ascend-910b@26.1.0+torch2.7", ""),
        ("ascend-910b@26.1.0+torch2.12", "is said to be for torch 2.7.1 and 2.9.0 alone"),
        ("ascend-910b@26.1.0+torch2.10", ""),
        ("ascend-910b@26.0.0+torch2.10", ""),
        ("ascend-910b@7.3.0+torch2.9", ""),
        ("nvidia-t4@2.13.0", ""),
    ],
)
def test_what_is_in_doubt_says_why(target: str, doubt: str) -> None:
    found = matrix_of(target).triton
    assert found is not None
    assert found.doubt == doubt


@pytest.mark.parametrize(
    ("target", "name", "dtype", "refused"),
    [
        ("nvidia-a100@2.1.2", "atomic_add", "bfloat16", True),
        ("nvidia-a100@2.7.1", "atomic_add", "bfloat16", True),
        ("nvidia-a100@2.8.0", "atomic_add", "bfloat16", False),
        ("intel-max@2.5.1", "atomic_add", "float16", False),
        ("amd-mi250@2.8.0", "atomic_max", "float16", True),
        ("amd-mi300x@2.8.0", "dot", "float8_e4m3fn", True),
        ("amd-mi300x@2.9.1", "dot", "float8_e4m3fn", False),
        ("amd-mi355@2.8.0", "dot", "float8_e4m3fn", False),
        ("amd-mi300x@2.4.1", "to", "float32", False),
    ],
)
def test_an_operation_refuses_dtypes_by_release_and_chip(
    target: str, name: str, dtype: str, refused: bool
) -> None:
    found = matrix_of(target).triton
    assert found is not None
    operation = found.operation(name)
    assert operation is not None
    assert (dtype in operation.refuses) is refused


@pytest.mark.parametrize("target", ["amd-mi300x@2.11.0", "amd-rx7900xt@2.15.0"])
def test_amd_has_no_float8_with_a_bias_of_15(target: str) -> None:
    found = matrix_of(target).triton
    assert found is not None
    assert "float8e4b15" in found.without


@pytest.mark.parametrize("target", ["ascend-310b", "ascend-910b@6.0.0", "amd-mi250@2.1.2"])
def test_of_others_nobody_has_said_anything(target: str) -> None:
    assert matrix_of(target).triton is None


def test_ascend_s_pages_and_tests_tell_which_dtypes_it_takes() -> None:
    found = matrix_of("ascend-910b@26.1.0+torch2.7").triton
    assert found is not None
    load, add = found.operations["load"], found.operations["atomic_add"]
    assert (load.refuses, load.dtypes) == (
        frozenset({"float64"}),
        frozenset({"bool", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32"}),
    )
    assert "int64" in (add.dtypes or ())
    assert [each.path.rpartition("/")[2] for each in add.evidence] == [
        "atomic_add.md", "test_atomic_add.py",
    ]  # fmt: skip
    assert (found.most_programs, found.unless) == (65535, "TRITON_ALL_BLOCKS_PARALLEL=1")


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        (Target("amd", "mi300x", "2.13.0", "2.13", "cuda"), SourceBuilder(True, at(10), True)),
        (
            Target("apple", "mps", "2.13.0", "2.13", "mps"),
            SourceBuilder(False, at(11, Method.TESTED), error="no CUDA"),
        ),
        (Target("ascend", "910b", "26.1.0", "2.7", "npu"), None),
    ],
)
def test_cuda_c_plus_plus_is_built_turned_into_hip_or_an_error(
    target: Target, expected: SourceBuilder | None
) -> None:
    assert cuda_sources_of(target, TABLE) == expected


@pytest.mark.parametrize(
    ("target", "builds", "converts"),
    [
        ("nvidia-h100", True, False), ("amd-mi300x", True, True), ("hygon-k100", True, True),
        ("ascend-910b", False, False), ("apple-mps", False, False), ("google-tpu-v4", False, False),
        ("cambricon-mlu590", False, False), ("moorethreads-s4000", False, False),
        ("intel-max", False, False),
    ],
)  # fmt: skip
def test_the_table_tells_who_builds_cuda_c_plus_plus(
    target: str, builds: bool, converts: bool
) -> None:
    found = matrix_of(target).cuda_sources
    assert found is not None
    assert (found.builds, found.converts, bool(found.evidence)) == (builds, converts, True)


def test_limits_and_the_shared_memory_of_a_chip_are_known_where_somebody_has_said_them() -> None:
    found = triton_of(Target("nvidia", "a100", "2.6.0", "2.6", "cuda"), TABLE)
    grid = Limit(LimitKind.GRID, at(14, Method.TESTED), most=9)
    product = Limit(LimitKind.PRODUCT, at(15), least=(1, 2, 3), dtypes=frozenset({"int8"}))
    assert found == TritonCompiler(
        "triton", at(8), shared_memory=9, stages=3, kept_in_shared=at(13, Method.TESTED),
        limits=(grid, product),
    )  # fmt: skip
    other = triton_of(Target("nvidia", "t4", "2.6.0", "2.6", "cuda"), TABLE)
    assert other == TritonCompiler("triton", at(8), limits=(grid,))


@pytest.mark.parametrize(
    ("target", "operation", "refuses"),
    [
        ("intel-arc@2.6.0", "dot_scaled", True),
        ("intel-max@2.6.0", "dot_scaled", False),
        ("intel-arc@2.10.0", "device_print", True),
        ("intel-arc@2.11.0", "device_print", False),
    ],
)
def test_a_function_may_be_refused_on_some_chips_alone(
    target: str, operation: str, refuses: bool
) -> None:
    compiler = matrix_of(target).triton
    assert compiler is not None
    found = compiler.operation(operation)
    assert found is not None
    assert ("uint8" in found.refuses) is refuses

"""The vendor's prose: what is understood, and what is left alone."""

import pytest

from opcheck.db.importers.ascend.documents import DtypeNote, Note, RankNote, ValueNote, read_notes

FLOATS = frozenset({"bfloat16", "float16", "float32"})
ALL = frozenset[str]()


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("`input`仅支持bf16，fp16，fp32", [DtypeNote("input", FLOATS, True, ALL)]),
        ("支持bf16，fp16，fp32", [DtypeNote("input", FLOATS, True, ALL)]),
        (
            "Only support fp16，fp32，int64，bool",
            [DtypeNote("input", frozenset({"float16", "float32", "int64", "bool"}), True, ALL)],
        ),
        (
            "`query`、`key`、`value`仅支持bf16、fp16和fp32。所有参数输入均符合以下约束",
            [DtypeNote(name, FLOATS, True, ALL) for name in ("query", "key", "value")],
        ),
        (
            "`input`仅支持bf16，fp16，fp32，不支持double，complex64数据类型",
            [
                DtypeNote("input", FLOATS, True, ALL),
                DtypeNote("input", frozenset({"float64", "complex64"}), False, ALL),
            ],
        ),
        ("不支持double数据类型", [DtypeNote("input", frozenset({"float64"}), False, ALL)]),
        (
            "Ascend 950DT：不支持complex64，complex128",
            [DtypeNote("input", frozenset({"complex64", "complex128"}), False, frozenset({"950"}))],
        ),
        (
            "Atlas A2 训练系列产品、Atlas A3 训练系列产品：`self`仅支持fp32",
            [DtypeNote("self", frozenset({"float32"}), True, frozenset({"910b", "910c"}))],
        ),
        (
            "Atlas A3 训练系列产品额外支持bf16",
            [DtypeNote("input", frozenset({"bfloat16"}), True, frozenset({"910c"}))],
        ),
        (
            "属性`mode`非constant时，`input`仅支持fp32，fp64",
            [DtypeNote("input", frozenset({"float32", "float64"}), True, ALL)],
        ),
        ("`dtype`仅支持fp32", [DtypeNote("dtype", frozenset({"float32"}), True, ALL)]),
        ("`input`仅支持1-8维", [RankNote("input", 8)]),
        ("输入最大支持6维", [RankNote("*", 6)]),
        ("不支持5维度及以上输入", [RankNote("*", 4)]),
        ("当前`log_target`参数仅支持False", [ValueNote("log_target", "True")]),
        ("不支持`sorted=False`场景", [ValueNote("sorted", "False")]),
    ],
)
def test_plain_statements(statement: str, expected: list[Note]) -> None:
    assert list(read_notes([statement])) == expected


@pytest.mark.parametrize(
    "statement",
    [
        "`input`仅支持Named Tensor",
        "int64类型不支持三个`tensor`同时广播",
        "带`dim`场景不支持fp16",
        "当输入`input`为uint8，int8时，输出`out`必须为fp32",
        "`input`为bf16时，`dim`不取`input`轴值为1的维度",
        "`input`仅支持输出fp16，fp32",
        "int16不支持5维以上",
        "可能回退至CPU执行",
        "`approximate`参数仅支持设置为`tanh`",
    ],
)
def test_what_is_not_plain_says_nothing(statement: str) -> None:
    assert list(read_notes([statement])) == []

"""What Ascend's kernels refuse: from op-plugin's list and code, and the kernels' pages and code."""

from collections.abc import Mapping, Sequence
from typing import Any

from opcheck.db.conditions import conditions_by_operator
from opcheck.db.importers.ascend.chips import Socs
from opcheck.db.importers.ascend.kernel_facts import Documented, Lists, facts, lists
from opcheck.db.importers.ascend.page_reader import read_page
from opcheck.db.importers.ascend.plugin_calls import Calls, Reached
from opcheck.db.importers.ascend.plugin_overloads import joined
from opcheck.db.importers.ascend.refusals import Refusals
from opcheck.db.importers.shared.operator_list import Function
from opcheck.db.reading import Citations
from opcheck.model.matrix import DOUBTED, Condition
from opcheck.model.target import Target
from opcheck.model.trace import Node, OpName, TensorMeta
from opcheck.model.verdict import Confidence, Method, Verdict
from opcheck.resolve.conditions import matches

LIST = """\
official:
  - func: roll(Tensor self, SymInt[1] shifts, int[1] dims=[]) -> Tensor
    op_api: all_version
  - func: roll.out(Tensor self, SymInt[1] shifts, int[1] dims=[], *, Tensor(a!) out) -> Tensor(a!)
    op_api: all_version
  - func: roll_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)
    op_api: all_version
  - func: abs(Tensor self) -> Tensor
    op_api: all_version
    gen_opapi:
      structured_inherit: abs.out
  - func: abs.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
    op_api: all_version
    gen_opapi:
      out: {size: self, dtype: self}
      exec: aclnnAbs
  - func: abs_(Tensor(a!) self) -> Tensor(a!)
    op_api: all_version
    gen_opapi:
      structured_inherit: abs.out
  - func: ceil(Tensor self) -> Tensor
    op_api: all_version
    gen_opapi:
      integral_identity_tensor: self
      out: {size: self, dtype: self}
      exec: aclnnCeil
  - func: fmod.Tensor(Tensor self, Tensor other) -> Tensor
    op_api: all_version
    gen_opapi:
      cpu_scalar_h2d: [self]
      cpu_scalar_op: [{param: other, exec: aclnnFmodScalar}]
      out: {size: self, dtype: self}
      exec: aclnnFmod, self, other, out
  - func: softmax(Tensor self, int dim) -> Tensor
    op_api: all_version
    structured_delegate: softmax.out
  - func: softmax.out(Tensor self, int dim, *, Tensor(a!) out) -> Tensor(a!)
    op_api: all_version
  - func: cos(Tensor self) -> Tensor
    acl_op: all_version
"""
CODE = """\
namespace op_api {
at::Tensor roll(const at::Tensor& self, at::IntArrayRef shifts, at::IntArrayRef dims) {
  EXEC_NPU_CMD(aclnnRoll, self, shifts, dims, result);
  return result;
}
at::Tensor& roll_out(const at::Tensor& self, at::IntArrayRef shifts, at::IntArrayRef dims, at::Tensor& out) {
  EXEC_NPU_CMD(aclnnRollOut, self, shifts, dims, out);
  return out;
}
at::Tensor& roll_(at::Tensor& self, const at::Tensor& other) {
  EXEC_NPU_CMD(aclnnInplaceRoll, self, other);
  return self;
}
at::Tensor& softmax_out(const at::Tensor& self, int64_t dim, at::Tensor& out) {
  EXEC_NPU_CMD(aclnnSoftmax, self, dim, out);
  return out;
}
}
"""  # noqa: E501


def _joined() -> dict[str, dict[str, list[tuple[str, int, int]]]]:
    """Overload -> argument -> kernels, with the place and the number of what they get."""
    found = joined(LIST, {"A.cpp": CODE})
    return {
        op.removeprefix("aten::"): {
            name: sorted((one.kernel, one.place, one.count) for one in reached)
            for name, reached in calls.dtypes.items()
        }
        for op, calls in found.items()
    }


def test_overloads_are_joined_to_the_function_with_their_parameters() -> None:
    found = _joined()
    assert found["roll"] == {"self": [("aclnnRoll", 0, 4)]}
    assert found["roll.out"] == {"self": [("aclnnRollOut", 0, 4)]}
    assert found["roll_.Tensor"] == {
        "self": [("aclnnInplaceRoll", 0, 2)], "other": [("aclnnInplaceRoll", 1, 2)]
    }  # fmt: skip
    assert found["softmax"] == found["softmax.out"] == {"self": [("aclnnSoftmax", 0, 3)]}
    assert "cos" not in found


def test_generated_overloads_are_read_from_the_list() -> None:
    found = _joined()
    assert found["abs"] == found["abs.out"] == found["abs_"] == {"self": [("aclnnAbs", 0, 2)]}
    assert found["ceil"] == {}  # whole numbers go to another kernel
    assert found["fmod.Tensor"] == {
        "self": [("aclnnFmod", 0, 3), ("aclnnFmodScalar", 0, 3)], "other": [("aclnnFmod", 1, 3)]
    }  # fmt: skip
    calls = joined(LIST, {"A.cpp": CODE})
    (at,) = calls["aten::ceil"].kernels.values()
    assert at == "op_plugin/config/op_plugin_functions.yaml:21"


def test_lists_of_dtypes_are_those_of_the_whole_file() -> None:
    text = """
static const std::initializer_list<op::DataType> OLD_LIST = {op::DataType::DT_FLOAT};
static const std::initializer_list<DataType> LIST = {
    DataType::DT_FLOAT16, DataType::DT_BF16};
auto x = DataType::DT_DOUBLE;
"""
    assert lists("lab:a.cpp", text) == Lists("lab:a.cpp:2", frozenset({"fp32", "fp16", "bf16"}))
    assert lists("lab:a.cpp", "auto x = DataType::DT_DOUBLE;") is None


PAGE = """\
- <term>Ascend 950PR/Ascend 950DT</term>：不支持
- <term>Atlas A2 训练系列产品/Atlas A2 推理系列产品</term>：支持
## 功能说明
aclnnStatus aclnnRollGetWorkspaceSize(const aclTensor *x, const aclIntArray *dims, aclTensor *out)
## aclnnRollGetWorkspaceSize
- x (aclTensor*, 计算输入): 数据类型支持FLOAT、INT8，shape支持1-8维。
返回161002：1. x的数据类型不在支持的范围之内。
"""


def test_facts_are_of_kernels_whose_prototype_has_the_argument() -> None:
    known = Documented({"aclnnRoll": ("lab:roll.md", read_page(PAGE))}, {}, {}, {})
    whole, short = Reached("aclnnRoll", 0, 3), Reached("aclnnRoll", 0, 2)
    calls = {
        "aten::roll": Calls({"aclnnRoll": "A.cpp:3"}, True, {"self": {whole}}, {}),
        "aten::roll.out": Calls({"aclnnRoll": "A.cpp:7"}, True, {"self": {short}}, {}),
    }
    kernels, overloads = facts(calls, known)
    assert overloads == {"aten::roll": {"at": "A.cpp:3", "arguments": {"self": {"aclnnRoll": "x"}}}}
    assert kernels == {
        "aclnnRoll": {
            "page": "lab:roll.md",
            "runs": ["910b"],
            "not": {"950": 1},
            "arguments": {"x": {"line": 6, "dtypes": ("fp32", "int8"), "refused": 7}},
        }
    }


def _page(**more: Any) -> dict[str, Any]:
    row = {"line": 6, "dtypes": ["fp32", "fp16", "bf16"], "refused": 7}
    found = {"page": "lab:roll.md", "runs": ["910b"], "not": {"950": 1}, "arguments": {"x": row}}
    return {**found, "lists": ["fp32", "int8"], "code": "lab:roll.cpp:9", **more}


def _lines(*pages: Mapping[str, Any], tensors: tuple[str, ...] = ("self",)) -> list[dict[str, Any]]:
    """What is refused of ``aten::roll``, which may call kernels with these pages."""
    return list(_kernels(*pages, tensors=tensors).lines())


def _kernels(*pages: Mapping[str, Any], tensors: tuple[str, ...] = ("self",)) -> Refusals:
    names = [f"aclnnRoll{number}" for number in range(len(pages))]
    call = {"at": "A.cpp:3", "arguments": {"self": dict.fromkeys(names, "x")}}
    said = {"kernels": dict(zip(names, pages, strict=True)), "calls": {"aten::roll": call}}
    socs = Socs(_socs())
    functions = {"roll": Function("roll", tensors, view=False, kind="")}
    paths = {"aten::roll": ("op_api",)}
    return Refusals(said, "26.1.0", paths, socs, functions, _fp64_is_listed)


def _socs() -> dict[str, int]:
    """One SoC of each chip."""
    return {
        "Ascend310B1": 240, "Ascend310P1": 200, "Ascend910A": 100, "Ascend910PremiumA": 100,
        "Ascend910B1": 220, "Ascend910_9391": 250, "Ascend950": 260,
    }  # fmt: skip


def _fp64_is_listed(op: str, argument: str, chip: str) -> frozenset[str]:
    return frozenset({"float64"})


def test_a_dtype_is_refused_that_page_and_code_leave_out() -> None:
    (line,) = _lines(_page())
    assert line == {
        "ops": ["aten::roll"], "kernels": ["aclnnRoll0"], "arguments": ["self"], "chips": ["910b"],
        "not": [
            "fp64", "uint8", "int16", "int32", "int64", "bool", "uint16", "uint32", "uint64",
            "complex64", "complex128",
        ],
        "scalars": True, "stands": True, "at": ["lab:roll.md:7"],
        "checked": {"at": ["lab:roll.cpp:9"]},
    }  # fmt: skip


def test_every_kernel_has_to_leave_it_out() -> None:
    other = _page(lists=["int16", "int32", "int64", "uint8", "bool", "complex64"])
    (line,) = _lines(_page(), other)
    assert line["not"] == ["fp64", "uint16", "uint32", "uint64", "complex128"]
    assert _lines(_page(), _page(**{"runs": [], "not": {}})) == []  # nothing is known of that one
    off = _page(runs=["950"], **{"not": {"910b": 2}})
    assert [(one["chips"], one["kernels"]) for one in _lines(_page(), off)] == [
        (["910b"], ["aclnnRoll0"]), (["950"], ["aclnnRoll1"])
    ]  # fmt: skip


def test_remarks_on_a_chip_are_minded() -> None:
    (line,) = _lines(_page(apart={"910b": ["bool"]}))
    assert "bool" not in line["not"]
    (line,) = _lines(_page(taken={"910b": [{"argument": "x", "not": ["bf16"]}]}))
    assert "bf16" in line["not"]
    (line,) = _lines(_page(taken={"910b": [{"argument": "*", "only": ["bf16"]}]}))
    assert "fp16" in line["not"]


def test_a_check_of_the_code_stands_for_a_return_code() -> None:
    bare = PAGE.rpartition("返回")[0]
    key = ("aclnnRoll", "x")
    known = Documented({key[0]: ("lab:roll.md", read_page(bare))}, {}, {}, {key: "lab:roll.cpp:4"})
    calls = {"aten::roll": Calls({key[0]: "A.cpp:3"}, True, {"self": {Reached(key[0], 0, 3)}}, {})}
    kernels, _ = facts(calls, known)
    row = kernels["aclnnRoll"]["arguments"]["x"]
    assert row == {"line": 6, "dtypes": ("fp32", "int8"), "refused": "lab:roll.cpp:4"}
    (line,) = _lines(_page(arguments={"x": row}))
    assert line["stands"]
    assert line["at"] == ["lab:roll.md:6"]
    assert line["checked"] == {"at": ["lab:roll.cpp:9", "lab:roll.cpp:4"]}


def test_without_a_return_code_or_code_a_page_refuses_nothing() -> None:
    row = {"line": 6, "dtypes": ["fp32"]}
    (line,) = _lines(_page(arguments={"x": row}))
    assert "stands" not in line and line["at"] == ["lab:roll.md:6"]
    assert "fp64" not in line["not"] and "int16" in line["not"]  # a table lists it
    page = _page()
    del page["code"], page["lists"]
    (line,) = _lines(page)
    assert "stands" not in line


TABLE = {"ops": ["aten::roll"], "argument": "self", "chips": ["910b", "910c"]}


def _listed(
    *pages: Mapping[str, Any], told: Sequence[dict[str, Any]] = (), **left_out: Sequence[str]
) -> list[dict[str, Any]]:
    """What the kernels of ``aten::roll`` list of what a table leaves out."""
    return list(_kernels(*pages).listings([{**TABLE, **left_out}], told))


def test_what_a_table_leaves_out_and_page_and_code_list_is_settled() -> None:
    page = _page(lists=["fp32", "bf16", "int8"])
    (line,) = _listed(page, only=["fp32"])
    assert line == {
        "ops": ["aten::roll"], "argument": "self", "chips": ["910b"], "runs": True,
        "method": "documented", "text": "the page of aclnnRoll0 lists it", "at": ["lab:roll.md:6"],
        "dtypes": ["bf16"],  # fp16 is in no list of the code
    }  # fmt: skip
    del page["lists"], page["code"]
    (line,) = _listed(page, only=["fp32", "bf16"])
    assert line["dtypes"] == ["fp16"]


def test_a_doubtful_dtype_and_one_that_another_kernel_leaves_out_stay_unsettled() -> None:
    page = _page(lists=["fp32", "fp16", "bf16"])
    assert _listed({**page, "apart": {"910b": ["bf16", "fp16"]}}, only=["fp32"]) == []
    narrow = {**page, "arguments": {"x": {"line": 8, "dtypes": ["fp32", "bf16"]}}}
    (line,) = _listed(page, narrow, only=["fp32"])
    assert (line["dtypes"], len(line["at"])) == (["bf16"], 2)
    assert _listed(page, {**page, "runs": []}, only=["fp32"]) == []
    told = {**TABLE, "runs": True, "dtypes": ["bf16"]}
    (line,) = _listed(page, told=[told], only=["fp32"])
    assert line["dtypes"] == ["fp16"]


def _inferred(own: list[dict[str, Any]], page: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What a newer page adds to lines of ``aten::roll``."""
    call = {"at": "A.cpp:3", "arguments": {"self": {"aclnnRoll0": "x"}}}
    said = {"kernels": {"aclnnRoll0": page}, "calls": {"aten::roll": call}}
    functions = {"roll": Function("roll", ("self",), view=False, kind="")}
    paths = {"aten::roll": ("op_api",)}
    newer = Refusals(said, "7.3.0", paths, Socs(_socs()), functions, _fp64_is_listed)
    return list(newer.inferred(own))


def test_a_newer_cann_adds_what_the_own_one_does_not_tell() -> None:
    own = _lines(_page(lists=["fp32", "int8", "bool", "int64"]))
    (line,) = _inferred(own, _page())
    assert (line["not"], line["inferred"]) == (["int64", "bool"], True)
    assert _inferred(_lines(_page()), _page()) == []
    doubted = _page(arguments={"x": {"line": 6, "dtypes": ["fp32"]}})
    assert _inferred([], doubted) == []  # a page alone says nothing of an older kernel
    assert _inferred(_lines(doubted), _page())[0]["not"] == _lines(_page())[0]["not"]


def test_what_a_newer_cann_refuses_is_unsupported_and_said_to_be_concluded() -> None:
    (condition,) = _conditions(_inferred([], _page())[0])
    assert (condition.verdict, condition.confidence) == (Verdict.UNSUPPORTED, Confidence.LOW)
    assert {e.method for e in condition.evidence} == {Method.INFERRED}
    assert condition.text.endswith("none takes fewer dtypes or dimensions than the one before")


def _conditions(line: Mapping[str, Any]) -> tuple[Condition, ...]:
    target = Target("ascend", "910b", "26.1.0", "2.7", "npu")
    second = {"ops": ["aten::roll"], "argument": "self", "runs": False, "method": "documented",
              "text": "it too", "at": ["lab:x"], "others_than": ["fp32"]}  # fmt: skip
    release = {"torch": ["2.7"], "refusals": [line], "second_sources": [second]}
    cited = Citations({"lab": {"repo": "acme/lab", "path": "a", "commit": "c"}})
    return conditions_by_operator(target, release, cited)["aten::roll"]


def _bites(condition: Condition, dtype: str, rank: int) -> bool:
    tensor = TensorMeta(dtype, (2,) * rank, (1,) * rank)
    return matches(condition, Node(OpName.parse("aten::roll"), (("self", tensor),))) is not None


def test_what_stands_is_unsupported_by_page_and_code() -> None:
    (condition,) = _conditions(_lines(_page())[0])
    assert condition.verdict is Verdict.UNSUPPORTED
    assert [e.method for e in condition.evidence] == [Method.DOCUMENTED, Method.REGISTERED]
    assert _bites(condition, "bool", 0)
    assert not _bites(condition, "float32", 2)


def test_a_number_of_the_host_is_spared_beside_another_tensor() -> None:
    (condition,) = _conditions(_lines(_page(), tensors=("self", "other"))[0])
    assert _bites(condition, "bool", 1)
    assert not _bites(condition, "bool", 0)


def test_a_page_alone_leaves_it_unknown_whatever_other_pages_say() -> None:
    (condition,) = _conditions(_lines(_page(arguments={"x": {"line": 6, "dtypes": ["fp32"]}}))[0])
    assert (condition.code, condition.verdict) == (DOUBTED, Verdict.UNKNOWN)


def test_dimensions_are_limited_where_page_and_code_say_so() -> None:
    line = {
        "ops": ["aten::roll"], "kernels": ["aclnnRoll"], "arguments": ["self"], "chips": ["910b"],
        "most": 8, "stands": True, "at": ["lab:roll.md:8"], "checked": {"at": ["lab:roll.cpp:20"]},
    }  # fmt: skip
    (condition,) = _conditions(line)
    assert (condition.code, condition.verdict) == ("rank-not-supported", Verdict.UNSUPPORTED)
    assert _bites(condition, "float32", 9)
    assert not _bites(condition, "float32", 8)

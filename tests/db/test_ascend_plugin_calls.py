"""Op-plugin's code, followed from an overload to the kernels that it calls."""

import pytest

from opcheck.db.importers.ascend.cpp_reader import functions
from opcheck.db.importers.ascend.plugin_calls import Calls, Follower, Functions, Reached

_FILE = "Kernel.cpp"
_HEAD = "at::Tensor f(const at::Tensor& self, const at::Tensor& other)"


def _follow(text: str, name: str = "f") -> Calls | None:
    known = Functions({_FILE: list(functions(text))})
    return Follower(known).follow(known.of_file(_FILE, name), ("self", "other"))


def _told(body: str, helpers: str = "") -> dict[str, list[str]]:
    """Arguments that get to kernels on every way, and to which place of which."""
    calls = _follow(f"namespace op_api {{ {helpers} {_HEAD} {{ {body} }} }}")
    assert calls is not None
    return {
        name: sorted(f"{one.kernel}:{one.place}" for one in found)
        for name, found in sorted(calls.dtypes.items())
    }


def test_a_function_is_read_whatever_stands_around_it() -> None:
    text = """
// at::Tensor no(int x) { }
#define CALL(x) \\
    { x; }
struct Other { int no() { return 1; } };
static const std::map<int, int> TABLE = {{1, 2}};
namespace op_api {
at::Tensor f(const at::Tensor& self, std::array<bool, 2> mask, int64_t dim = 0)
{
    return self;
}
}
"""
    (code,) = functions(text)
    assert (code.name, code.line) == ("f", 8)
    assert [(p.name, p.optional) for p in code.parameters] == [
        ("self", False),
        ("mask", False),
        ("dim", True),
    ]


def test_arguments_are_told_by_the_place_where_a_kernel_gets_them() -> None:
    calls = _follow(
        _HEAD + "{\n DO_COMPATIBILITY(aclnnF, acl_op::f(self, other));\n"
        " EXEC_NPU_CMD(aclnnF, self, 1, other.unsqueeze(0), result);\n return result;\n}"
    )
    assert calls == Calls(
        kernels={"aclnnF": "Kernel.cpp:3"},
        every=True,
        dtypes={"self": {Reached("aclnnF", 0, 4)}, "other": {Reached("aclnnF", 2, 4)}},
        ranks={"self": {Reached("aclnnF", 0, 4)}},
    )


@pytest.mark.parametrize(
    "change",
    [
        "at::Tensor x = npu_dtype_cast(self, at::kFloat);",
        "at::Tensor x = self; if (self.scalar_type() == at::kBool) { x = self.to(at::kInt); }",
        "at::Tensor x = flag ? self : self.to(at::kInt);",
        "at::Tensor x; std::tie(x, y) = g(self);",
    ],
)
def test_nothing_is_told_of_an_argument_that_may_be_cast(change: str) -> None:
    assert _told(f"{change} EXEC_NPU_CMD(aclnnF, x, other); return r;") == {"other": ["aclnnF:1"]}


def test_nothing_is_told_where_one_way_leaves_before_the_call() -> None:
    leaves = "if (isComplexType(self.scalar_type())) { return acl_op::f(self, other); }"
    assert _told(f"{leaves} EXEC_NPU_CMD(aclnnF, self, other); return r;") == {}
    call = "for (auto i : dims) { EXEC_NPU_CMD(aclnnF, self, other); }"
    assert _told(f"{call} return r;") == {}
    assert _told("return flag ? g(self, other) : r;", _HELPER) == {}


def test_a_way_for_empty_tensors_does_not_count() -> None:
    leaves = "if (self.numel() == 0) { return r; }"
    body = f"{leaves} EXEC_NPU_CMD(aclnnF, self, other); return r;"
    assert _told(body) == {"other": ["aclnnF:1"], "self": ["aclnnF:0"]}


_HELPER = "at::Tensor g(const at::Tensor& a, const at::Tensor& b) { EXEC_NPU_CMD(aclnnG, b, a); }"


def test_functions_of_the_vendors_own_are_followed() -> None:
    assert _told("return g(self, other);", _HELPER) == {"other": ["aclnnG:0"], "self": ["aclnnG:1"]}
    again = "at::Tensor g(const at::Tensor& a, const at::Tensor& b) { return g(a, b); }"
    known = Functions({_FILE: list(functions(f"{again} {_HEAD} {{ return g(self, other); }}"))})
    assert Follower(known).follow(known.of_file(_FILE, "f"), ("self", "other")) is None


def test_each_branch_counts_and_scalars_of_the_host_go_their_own_way() -> None:
    body = """
    if (other.dim() == 0 && !torch_npu::utils::is_npu(other)) {
        c10::Scalar value = other.item();
        EXEC_NPU_CMD(aclnnFs, self, value, result);
    } else {
        EXEC_NPU_CMD(aclnnF, self, other, result);
    }
    return result;"""
    assert _told(body) == {"other": ["aclnnF:1"], "self": ["aclnnF:0", "aclnnFs:0"]}


def test_an_older_kernel_that_stands_in_for_a_missing_one_counts() -> None:
    body = "DO_COMPATIBILITY(aclnnF, op_api::g(self, other)); EXEC_NPU_CMD(aclnnF, self, other);"
    assert _told(body, _HELPER) == {
        "other": ["aclnnF:1", "aclnnG:0"],
        "self": ["aclnnF:0", "aclnnG:1"],
    }

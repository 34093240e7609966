"""Projects as wholes: what is in them, and what they say."""

import ast
import json

import pytest

from opcheck.rewrite.custom.base import Toolchain, of_vendor, toolchains
from opcheck.rewrite.custom.project import package_name, project
from tests.rewrite.custom.made import CALLS, CHAINS, made, matrix_of
from tests.rewrite.custom.test_expressions import signature_of

each_chain = pytest.mark.parametrize("chain", toolchains(), ids=lambda chain: chain.name)
each_call = pytest.mark.parametrize("op", CALLS)


@each_chain
@each_call
def test_a_project_is_whole(chain: Toolchain, op: str) -> None:
    found = made(chain, op)
    common = {"README.md", "cases.py", "reference.py", f"test_{found.name}.py",
              f"{found.name}/__init__.py"}  # fmt: skip
    assert set(found.files) == common | {path.format(name=found.name) for path in chain.files}
    assert found.name.isidentifier()
    for path, text in found.files.items():
        assert text.endswith("\n")
        assert not any(mark in text for mark in ("{{", "}}" * 2, "{%", "Undefined")), path
        if path.endswith(".py"):
            ast.parse(text, path)
        if path.endswith(".json"):
            assert json.loads(text)[0]["op"] == "".join(map(str.capitalize, found.name.split("_")))


@each_chain
@each_call
def test_what_is_left_to_write_is_said_and_marked_once(chain: Toolchain, op: str) -> None:
    found = made(chain, op)
    marked = [path for path, text in found.files.items() if "TO WRITE" in text]
    readme = found.files["README.md"]
    body = chain.body(signature_of(found.op))
    if body.written:
        assert (found.left, marked) == ("", [])
        assert "**The kernel is written.**" in readme
    else:
        kernel = chain.left.format(name=found.name)
        assert marked == ["README.md", kernel] or marked == [kernel, "README.md"]
        assert found.files[kernel].count("TO WRITE") == 1
        assert f"`{kernel}`" in readme
        assert ", on purpose" in readme
        assert "then take this line away" in found.files[kernel]


@each_chain
def test_what_a_composite_runs_as_with_its_arguments_is_written_as_it_is(chain: Toolchain) -> None:
    assert (made(chain, "aten::_logcumsumexp").left, made(chain, "aten::logcumsumexp").left) == (
        "",
        "",
    )


@pytest.mark.parametrize(
    ("vendor", "names"),
    [
        ("nvidia", ["cuda", "triton"]),
        ("amd", ["hip", "triton"]),
        ("hygon", ["hip"]),
        ("ascend", ["ascend-c", "triton-ascend"]),
        ("cambricon", ["bang-c"]),
        ("moorethreads", ["musa-c"]),
        ("apple", ["metal"]),
        ("intel", ["triton"]),
        ("google", []),
    ],
)
def test_every_vendor_has_its_toolchain_first(vendor: str, names: list[str]) -> None:
    assert [chain.name for chain in of_vendor(vendor)] == names


@pytest.mark.parametrize(
    ("op", "name"),
    [
        ("aten::lerp.Scalar_out", "opcheck_lerp_scalar"),
        ("aten::_fft_r2c", "opcheck_fft_r2c"),
        ("aten::__and__.Tensor", "opcheck_and_tensor"),
        ("aten::put_", "opcheck_put"),
    ],
)
def test_names_are_made_identifiers(op: str, name: str) -> None:
    assert package_name(op) == name


@pytest.mark.parametrize(
    ("op", "told"),
    [
        ("aten::bernoulli", "random numbers"),
        ("aten::equal", "gives is no tensor"),
        ("aten::cat", "a Tensor[]"),
        ("aten::scatter_reduce.two", "reduce is a str"),
        ("aten::linspace", "a Layout?"),
        ("aten::no_such_thing", "no overload"),
    ],
)
def test_what_no_project_can_be_written_for_is_told(op: str, told: str) -> None:
    found = project(op, matrix_of("nvidia"), CHAINS["cuda"], [], "net.py:model")
    assert isinstance(found, str)
    assert told in found


def test_an_older_torch_gets_its_own_optional() -> None:
    assert "std::optional" in made(CHAINS["cuda"], "aten::std.correction").files["csrc/binding.cpp"]
    old = made(CHAINS["musa-c"], "aten::std.correction")
    wanted = matrix_of("moorethreads").target.torch
    assert ("c10::optional" in old.files["csrc/binding.cpp"]) is (
        tuple(map(int, wanted.split("."))) < (2, 5)
    )

"""The checks of vendors' kernels are found, and the page counts them as the database has them."""

import pytest
import yaml

from benchmarks.coverage.__main__ import PAGE
from benchmarks.coverage.find import host_texts, on_host
from benchmarks.coverage.page import CHECKS, Read, cited, counted, page, read_of, vendors
from benchmarks.coverage.source import checks
from benchmarks.measure import ROOT

_SOURCE = """\
// TORCH_CHECK(false, "in a comment");
#define NARROW(x) TORCH_CHECK(x.dim() < 5, "of a macro")
at::Tensor roll(const at::Tensor& self) {
  TORCH_CHECK(
      self.dim() < 8 && f(")"),  // a bracket (
      "at most ", kMost, " dimensions, "
      "but got ", self.dim());
  AT_DISPATCH_FLOATING_TYPES(self.scalar_type(), "roll_npu", [&] {
    run<scalar_t>(self);
  });
}

static void npu_private(const at::Tensor& x)
{
  TORCH_CHECK(x.defined(), "say \\"x\\"");
}
"""


def test_a_check_has_its_lines_its_function_and_its_texts() -> None:
    found = [(c.macro, c.first, c.last, c.function, c.texts) for c in checks(_SOURCE)]
    texts = (")", "at most ", " dimensions, but got ")
    assert found == [
        ("TORCH_CHECK", 4, 7, "roll", texts),
        ("AT_DISPATCH_FLOATING_TYPES", 8, 10, "roll", ("roll_npu",)),
        ("TORCH_CHECK", 15, 15, "npu_private", ('say "x"',)),
    ]


@pytest.mark.slow
def test_what_the_host_says_too_is_known_by_its_text() -> None:
    source = """
    TORCH_CHECK(a, "mat1 and mat2 must have the same dtype, but got ", b, " and ", c);
    TORCH_CHECK(a, "no library says this of any tensor");
    TORCH_CHECK(a, "short");
    """
    texts = host_texts()
    found = [on_host(check, texts | {"short"}) for check in checks(source)]
    assert found == [True, False, False]


def test_checks_are_held_against_the_lines_that_conditions_cite() -> None:
    matrix = {
        "sources": {
            "code": {"repo": "a/b", "commit": "0123456789", "path": "k.cpp"},
            "folder": {"repo": "a/b", "commit": "0123456789", "path": "src/"},
            "older": {"repo": "a/b", "commit": "abcdef"},
            "other": {"repo": "c/d"},
            "thread": {"repo": "a/b"},
        },
        "conditions": [
            {"at": ["code:k.cpp:12", "thread"]},
            {"at": ["other:k.cpp:30"]},
            {},
            {"at": ["folder:x/k.cpp:7", "older:k.cpp:30"]},
        ],
    }
    said = {
        "release": "1", "repo": "a/b", "commit": "0123456789",
        "files": {
            "k.cpp": {"own": ["10-14", 20, 30, 32, "34-36", 38], "host": [40], "private": [50]}
        },
    }  # fmt: skip
    lines = cited(matrix, "a/b", "0123456789")
    assert lines == {"k.cpp": {12}, "src/x/k.cpp": {7}}
    read = Read(
        same={"k.cpp": (30,)},
        internal={"k.cpp": (34,)},
        covered={"k.cpp": {38: "aten::roll dtype"}},
        inexpressible={"k.cpp": {20: "values"}},
    )
    vendor = counted("acme", said, lines, read)
    whole = vendor.whole
    assert (whole.found, whole.host, whole.internal) == (7, 2, 1)
    assert (whole.expressed, whole.inexpressible, whole.unread) == (2, 1, 1)
    assert whole.share == 0.5
    assert vendor.causes == {"values": 1}
    assert "| acme | 1 | `a/b@0123456` | 1 | 7 | 2 | 1 | 2 | 1 | 1 | 50% |" in page([vendor])


def test_what_was_read_is_a_check_that_was_found_and_stands_once() -> None:
    for path in sorted(CHECKS.glob("*.yaml")):
        found = yaml.load(path.read_bytes(), yaml.CSafeLoader)["files"]
        read = read_of(path.stem)
        kinds = (read.same, read.internal, read.covered, read.inexpressible)
        named = [(file, line) for kind in kinds for file, lines in kind.items() for line in lines]
        first = {(file, int(str(span).partition("-")[0]))
                 for file, spans in found.items() for span in spans.get("own", ())}  # fmt: skip
        assert sorted(set(named) - first) == [], path.stem
        assert len(named) == len(set(named)), path.stem


@pytest.mark.slow
def test_the_page_is_what_the_database_makes_of_them() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(vendors(ROOT / "compat_db"))

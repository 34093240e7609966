"""Nests of loops: what they read, and how they are said in a language."""

import ast

import pytest

from opcheck.rewrite.custom.definitions import UntranslatableError
from opcheck.rewrite.custom.families.interface import LOOPS, interface
from opcheck.rewrite.custom.families.loops import HOST, Loops, names_read
from opcheck.rewrite.custom.nests import Language, Names
from opcheck.rewrite.custom.nests_c import OWN, PLAIN, InC
from opcheck.rewrite.custom.nests_triton import lines
from tests.rewrite.custom import samples
from tests.rewrite.custom.test_expressions import signature_of

assert samples.FAMILIES, "torchvision's operators are there once it is imported"
NAMES = Names(("many",), ("by",), ("self", "index"), ("index",), ("result0",))
TEXT = """\
total = 0.0
begin = place // many
for i in range(many):
    total += self[place * many + i] * by
for j in range(begin, index[place]):
    if (j >= 0) & (total > 1):
        total = number(j) / floor(total)
result0 = total"""
each = pytest.mark.parametrize("op", sorted(LOOPS))


@each
def test_what_a_nest_reads_is_handed_to_it(op: str) -> None:
    found, s = LOOPS[op], signature_of(op)
    arguments = {a.name for a in s.arguments}
    assert set(found.tensors) <= arguments
    shapes = {f"shape{number}" for number in range(s.results)}
    assert names_read(found.places) <= arguments | {"shape0"}
    for name, text in {**found.sizes, **found.values}.items():
        assert names_read(text) <= arguments | shapes, text
        assert name not in arguments, f"{name} is an argument in C++ already"
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id in HOST


@each
def test_a_kernel_of_metal_is_given_no_more_than_it_may_be(op: str) -> None:
    k = interface(LOOPS[op], signature_of(op))
    assert len(k.tensors) + len(k.results) + len(k.sizes) + len(k.values) <= 31


def test_a_nest_in_c_is_for_one_place() -> None:
    found = InC(Language(PLAIN, "{0}[{1}]")).lines(TEXT, NAMES)
    assert "\n".join(found) == (
        "T total = T(0.0);\n"
        "const int64_t begin = (place / many);\n"
        "for (int64_t i = 0; i < many; ++i) {\n"
        "  total = (total + (self[((place * many) + i)] * by));\n"
        "}\n"
        "for (int64_t j = begin; j < index[place]; ++j) {\n"
        "  if ((j >= 0) && (total > T(1))) {\n"
        "    total = (T(j) / floor(total));\n"
        "  }\n"
        "}\n"
        "result0_at[place] = total;"
    )


def test_a_nest_in_triton_is_for_a_block_of_places() -> None:
    found = lines(TEXT, NAMES, "tl.int64")
    assert "\n".join(found) == (
        "total = (tl.full([], 0.0, kind)) + tl.zeros([BLOCK], kind)\n"
        "begin = (place // many)\n"
        "for i in range(0, many):\n"
        "    total = (total + (tl.load(self_at + (((place * many) + i)) + nothing, mask=inside, "
        "other=0) * by))\n"
        "for j_step in range(0, tl.max(tl.where(inside, (tl.load(index_at + (place) + nothing, "
        "mask=inside, other=0).to(tl.int64)) - (begin), 0), 0)):\n"
        "    j = (begin) + j_step + nothing\n"
        "    inside_1 = inside & (j < (tl.load(index_at + (place) + nothing, mask=inside, "
        "other=0).to(tl.int64)))\n"
        "    inside_2 = inside_1 & ((j >= 0) & (total > ((1) + nothing).to(kind)))\n"
        "    total = tl.where(inside_2, (((j) + nothing).to(kind) / tl.floor(total)), total)\n"
        "tl.store(result0_at + (place) + nothing, total, mask=inside)"
    )


def test_a_function_that_a_language_lacks_is_named() -> None:
    with pytest.raises(UntranslatableError, match="sqrt"):
        InC(Language(OWN, "{0}[{1}]")).lines("result0 = sqrt(self[place])", NAMES)


def test_who_writes_the_place_itself_is_told_from_who_writes_anywhere() -> None:
    assert Loops("result0 = self[place]").alone
    assert not Loops("if self[place] > 0:\n    result0[place // 2] = self[place]").alone


def test_a_text_keeps_its_depth() -> None:
    assert Loops("    a = 1\n    if a > 0:\n        result0 = a\n").text == (
        "a = 1\nif a > 0:\n    result0 = a"
    )

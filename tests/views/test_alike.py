"""Which reasons are the same but for the operator or the tensor, and how they are then worded."""

import pytest

from opcheck.lang.sentence import Sentence as Told
from opcheck.lang.speech import Language, speaking, tell
from opcheck.model.matrix import Condition, Entry, Fallback, SupportMatrix
from opcheck.model.predicates import Dtype, OneOf
from opcheck.model.target import Target
from opcheck.model.trace import Composite, Node, OpName, TensorMeta, Trace, Use
from opcheck.model.verdict import Confidence, Verdict
from opcheck.resolve.findings import resolve
from opcheck.views.terminal.groups import Sentence, sections, sentence, shared

SHORT = "a tensor is bfloat16, which 910a does not have"


@pytest.mark.parametrize(
    ("text", "op", "expected"),
    [
        (
            "self is bfloat16, which 910a does not have",
            "aten::add.Tensor",
            ("self is bfloat16, which 910a does not have", SHORT, ""),
        ),
        (
            "it runs as aten::view: the result is bfloat16, which 910a does not have",
            "aten::reshape",
            ("the result is bfloat16, which 910a does not have", SHORT, "aten::view"),
        ),
        (
            "self has 9 dimensions, and the vendor's table allows at most 8",
            "aten::fft_fft",
            (
                "self has 9 dimensions, and the vendor's table allows at most 8",
                "a tensor has 9 dimensions, and the vendor's table allows at most 8",
                "",
            ),
        ),
        (
            "ascend registers no kernel for aten::add, so every call runs on the host CPU",
            "aten::add",
            ("ascend registers no kernel for the operator, so every call runs on the host CPU",) * 2
            + ("",),
        ),
        (
            "it runs as a::b: ascend registers no kernel for a::b and has no host fallback",
            "a::c",
            ("ascend registers no kernel for the operator and has no host fallback",) * 2
            + ("a::b",),
        ),
        ("no kernel for aten::add.out", "aten::add", ("no kernel for aten::add.out",) * 2 + ("",)),
        ("no kernel for aten::add.", "aten::add", ("no kernel for the operator.",) * 2 + ("",)),
        ("int64 is sorted slowly", "aten::sort", ("int64 is sorted slowly",) * 2 + ("",)),
        ("", "aten::sort", ("", "", "")),
    ],
)
def test_what_a_sentence_is_about_is_taken_out(
    text: str, op: str, expected: tuple[str, str, str]
) -> None:
    assert sentence(text, op) == Sentence(text, *expected)


def test_the_most_exact_true_wording_is_shown() -> None:
    same = [sentence("self is float64", op) for op in ("a::b", "a::c")]
    assert shared(same) == "self is float64"
    by_operator = [sentence(f"no kernel for {op}", op) for op in ("a::b", "a::c")]
    assert shared(by_operator) == "no kernel for the operator"
    by_tensor = [sentence(f"{name} is float64", "a::b") for name in ("self", "other")]
    assert shared(by_tensor) == "a tensor is float64"


def test_whichever_tensor_is_told_in_chinese_too() -> None:
    template = "{argument} is {actual}, which the kernel does not read: garbage, without an error"
    read = [
        sentence(Told(template, argument=name, actual="int64"), "a::b") for name in ("self", "out")
    ]
    said = shared(read)
    assert said == "a tensor is int64, which the kernel does not read: garbage, without an error"
    with speaking(Language.CHINESE):
        assert tell(said) == "某个张量为 int64，内核不会读取它：结果无意义，且不报错"


BF16 = TensorMeta("bfloat16", (2,), (1,))
ON_910A = Target("ascend", "910a", "26.1.0", "2.12", "npu")


def node(op: str, *arguments: str, children: tuple[int, ...] = ()) -> Node:
    return Node(
        OpName.parse(op),
        tuple((name, BF16) for name in arguments),
        outputs=(BF16,),
        composite=Composite.IMPLICIT if children else None,
        children=tuple((child, 1) for child in children),
    )


def test_what_resolving_says_of_one_cause_becomes_one_block() -> None:
    """The wording is the resolver's own: where it changes, this fails."""
    no_bf16 = Condition(
        "dtype-not-supported",
        Verdict.UNSUPPORTED,
        "{argument} is bfloat16, which {chip} does not have",
        Confidence.HIGH,
        (Dtype("*", OneOf(frozenset({"bfloat16"}))),),
    )
    result = Condition(
        no_bf16.code, no_bf16.verdict, no_bf16.text, no_bf16.confidence,
        (Dtype("return", OneOf(frozenset({"bfloat16"}))),),
    )  # fmt: skip
    nodes = (
        node("aten::add.Tensor", "self", "other"),
        node("aten::view", "self"),
        node("aten::reshape", "input", children=(1,)),
        node("aten::zeros"),
    )
    matrix = SupportMatrix(
        ON_910A,
        {op: Entry(op, ()) for op in ("aten::add.Tensor", "aten::view", "aten::zeros")},
        {"*": (no_bf16, result)},
        Fallback(to_cpu=True, text="", evidence=()),
        {str(n.op): ("2.0", "2.13") for n in nodes},
        {},
    )
    uses = tuple(Use(i, "", "net.py", 1 + i, 4 - i) for i in (0, 2, 3))
    trace = Trace("2.12.0", "npu", "inference", nodes, uses, (0, 1, 2))
    (section,) = sections((resolve(trace, matrix),), verbose=False)
    (block,) = section.blocks
    assert list(block.said) == [(SHORT, ())]
    assert [(row.op, row.runs_as, row.count) for row in block.rows] == [
        ("aten::add.Tensor", (), 4),
        ("aten::reshape", ("aten::view",), 2),
        ("aten::zeros", (), 1),
    ]

"""Operators explained: what several overloads share, and what calls no kernel."""

from msgspec.structs import replace

from opcheck.model.matrix import Condition
from opcheck.model.report import Reason
from opcheck.model.verdict import Confidence, Verdict
from opcheck.views.formats import Page, command_view
from tests.views.samples import EXPLAINED, LISTED

GELU = EXPLAINED[0]
SLOW = Condition("slow", Verdict.NATIVE, "Slow for large inputs.", Confidence.HIGH)


def test_what_all_overloads_share_stands_once_below_them() -> None:
    plain = replace(GELU, evidence=(), implementation=(), registered_in=(), torch_range=None,
                    package="", conditions=(SLOW,))  # fmt: skip
    other = replace(plain, op="aten::gelu.out")
    assert command_view("explain", "text").render((plain, other), Page(100)) == (
        "ascend-910b@26.1.0+torch2.12:\n"
        "\n"
        "  ✔ aten::gelu · native\n"
        "    why       The vendor registers a kernel for aten::gelu.out.\n"
        "\n"
        "  ✔ aten::gelu.out · native\n"
        "    why       The vendor registers a kernel for aten::gelu.out.\n"
        "\n"
        "  All of these\n"
        "    but       caution: Slow for large inputs.\n"
    )


def test_a_way_without_a_kernel_is_said_to_have_none() -> None:
    view = replace(
        GELU,
        op="aten::view_as",
        verdict=Verdict.DECOMPOSED,
        reason=Reason("decomposes", "Runs as others."),
        implementation=(),
        conditions=(),
        evidence=(LISTED,),
        branches=((), ("aten::view",)),
        registered_in=(),
        torch_range=None,
        package="",
    )
    text = command_view("explain", "text").render((view,), Page(100))
    assert text[text.index("    runs as") :] == (
        "    runs as   no kernel is called on the device\n    or as     aten::view\n"
    )

"""What a target does not run as one kernel is no gain, and why."""

from pathlib import Path

from msgspec.structs import replace

from opcheck.commands.fix.better import operators_path, why_not
from opcheck.model.report import Finding
from opcheck.model.verdict import Verdict
from tests.lang.told import in_chinese
from tests.views.betters import BETTERS
from tests.views.samples import STANDARD

FUSED = replace(
    BETTERS["written"].fused[0],
    kernel="aten::scaled_dot_product_attention",
    kernels=("aten::scaled_dot_product_attention", "aten::_scaled_dot_product_flash_attention"),
)
FINDING = replace(STANDARD["mixed"].targets[0].findings[0], op=FUSED.kernel)


def finding(verdict: Verdict, *inside: str) -> Finding:
    use = replace(FINDING.uses[0], decomposed_into=inside)
    return replace(FINDING, verdict=verdict, uses=(use,))


def test_a_kernel_of_its_own_is_a_gain() -> None:
    assert why_not(FUSED, finding(Verdict.NATIVE)) == ""


def test_so_is_one_that_it_runs_as() -> None:
    inside = "aten::_scaled_dot_product_flash_attention"
    assert why_not(FUSED, finding(Verdict.DECOMPOSED, inside)) == ""


def test_parts_are_none() -> None:
    said = "aten::scaled_dot_product_attention runs there as its parts, not as one kernel"
    assert why_not(FUSED, finding(Verdict.DECOMPOSED, "aten::bmm", "aten::_softmax")) == said


def test_what_leaves_the_device_is_none_and_the_finding_says_why() -> None:
    found = finding(Verdict.UNSUPPORTED)
    assert why_not(FUSED, found) == found.reason.text


def test_operators_go_beside_the_program() -> None:
    assert operators_path(Path("out/net.pt2")) == Path("out/net_operators.py")


def test_what_goes_on_meanwhile_is_told_in_chinese() -> None:
    assert in_chinese(["fusing calls of the exported program"]) == ["正在融合导出程序中的调用"]

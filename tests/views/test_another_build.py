"""A model that runs, but not with the package index's wheel of torch: every first line says so."""

import re
from html import unescape

import pytest
import torch
from msgspec.structs import replace

import opcheck
from opcheck.lang.sentence import from_data
from opcheck.lang.speech import Language, speaking
from opcheck.model.report import Finding, Reason, Report, TargetReport
from opcheck.model.verdict import Verdict
from opcheck.views.formats import Page, report_view
from tests.views.samples import CONV, STANDARD, finding, place, report, summary, target

WHEEL = Reason("wheel-without-chip", from_data("its wheel has no kernels for sm_70"))
NOT_THERE = finding(
    "aten::nms", Verdict.UNSUPPORTED, "no-kernel", "It has none.", place("net.py", 3, "")
)
ON = "ascend-910b@26.1.0+torch2.12"


def told(one: TargetReport) -> TargetReport:
    return replace(one, advisories=(WHEEL,))


def first(shown: str) -> str:
    """The line that says whether the model runs, without marks."""
    lines = re.sub(r"<[^>]*>|`|\*", "", shown).splitlines()
    return next(line for line in lines if "910b" in line).strip()


def said(found: Report, name: str, page: Page | None = None) -> str:
    return first(report_view(name).render(found, page or Page(200)))


ONE = report(told(target("910b", (CONV,))), source="net.py:Net")
TWO = report(*ONE.targets, target("910a", (CONV,)), source="net.py:Net")


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("text", f"✔ runs, but only with another build of torch: net.py:Net on {ON}"),
        ("markdown", f"### ✅ runs, but only with another build of torch: net.py:Net on {ON}"),
        ("github", None),
        ("junit", None),
    ],
)
def test_the_first_line_names_the_condition(name: str, line: str | None) -> None:
    shown = report_view(name).render(ONE, Page(200))
    assert "runs, but only with another build of torch" in shown
    assert line is None or said(ONE, name) == line


def test_the_web_page_names_it_behind_the_target() -> None:
    shown = report_view("html").render(ONE, Page())
    assert f"runs on {ON}, but only with another build of torch" in shown


def test_it_is_named_alone_as_well() -> None:
    shown = report_view("text").render(ONE, Page(quiet=True))
    assert shown == f"✔ runs, but only with another build of torch: net.py:Net on {ON}\n"


def test_several_targets_count_those_that_need_it() -> None:
    shown = report_view("text").render(TWO, Page(120))
    assert shown.startswith(
        "net.py:Net: runs on all 2 targets; 1 of these only with another build of torch\n"
    )
    cells = {
        line.split()[1].partition("@")[0]: line for line in shown.splitlines() if "100%" in line
    }
    assert "other build" in cells["ascend-910b"]
    assert "yes" in cells["ascend-910a"]
    assert "| other build |" in report_view("markdown").render(TWO, Page())


def test_chinese_says_it_too() -> None:
    with speaking(Language.CHINESE):
        assert said(ONE, "text") == f"✔ {ON} 上可以运行，但须换用 torch 的其他构建：net.py:Net"
        assert "其中 1 个须换用 torch 的其他构建" in report_view("text").render(TWO, Page(120))
        assert "可以运行，但须换用 torch 的其他构建" in unescape(
            report_view("html").render(ONE, Page())
        )


@pytest.mark.parametrize(
    ("findings", "line"),
    [((NOT_THERE, CONV), "✘ will not run: net.py:Net"), ((), "? cannot tell: net.py:Net")],
)
def test_what_does_not_run_anyway_is_not_called_a_matter_of_builds(
    findings: tuple[Finding, ...], line: str
) -> None:
    found = report(
        told(target("910b", findings, summary(findings))),
        source="net.py:Net",
    )
    assert said(found, "text") == f"{line} on {ON}"


def test_other_advisories_change_no_first_line() -> None:
    assert "another build" not in report_view("text").render(STANDARD["three-targets"], Page())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "another"),
    [
        ("nvidia-v100@2.10.0", False),
        ("nvidia-v100@2.11.0", True),
        ("nvidia-v100@2.14.1", True),
        ("nvidia-p100@2.8.0", True),
        ("nvidia-rtx5090@2.7.1", True),
        ("nvidia-rtx5090@2.8.0", False),
        ("nvidia-t4@2.14.1", False),
    ],
)
def test_chips_that_a_wheel_leaves_out_are_scanned_so(name: str, another: bool) -> None:
    (found,) = opcheck.scan(torch.nn.ReLU(), (torch.zeros(2),), targets=[name]).targets
    assert found.summary.runs is True
    assert found.needs_another_build is another

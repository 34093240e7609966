"""What a page has no room for is counted, and how to see it is told, in each language."""

import re

from msgspec.structs import replace

from opcheck.commands.fleet.answers.values import Difference, Standing, Summary
from opcheck.commands.fleet.values import Ending
from opcheck.commands.fleet.views.text import GROUPS
from opcheck.lang.sentence import from_data
from opcheck.lang.speech import Language, speaking
from opcheck.model.emulation import Disagreement
from opcheck.model.plan import Declined, Tier
from opcheck.model.report import Reason, Report
from opcheck.model.trace import Phase
from opcheck.views.formats import command_view, report_view
from opcheck.views.report.markdown import SHOWN
from opcheck.views.terminal.findings import ROWS
from opcheck.views.terminal.plan import DECLINED
from tests.views.emulations import DISAGREEING
from tests.views.fleets import FLEETS
from tests.views.plans import PLANS
from tests.views.samples import STANDARD


def in_both(command: str, answer: object) -> tuple[str, str]:
    """The page of a command's answer, in English and in Chinese."""
    view = command_view(command, "text")
    with speaking(Language.CHINESE):
        chinese = view.render(answer)
    return view.render(answer), chinese


def counted(pages: tuple[str, str]) -> list[str]:
    """What each page says of things that it leaves out."""
    return [found for page in pages for found in re.findall(r"and \d.*|另有.*", page)]


def test_disagreements_of_a_run() -> None:
    agreement = DISAGREEING.agreement
    assert agreement is not None
    told = tuple(
        Disagreement(f"aten::op_{i}", "native", Phase.FORWARD, 1, 2) for i in range(ROWS + 3)
    )
    found = replace(DISAGREEING, agreement=replace(agreement, disagreements=told))
    assert counted(in_both("emulate", found)) == [
        "and 3 more disagreements; --verbose lists all", "另有 3 处不一致；用 --verbose 列出全部",
    ]  # fmt: skip


def test_groups_of_models_that_changed() -> None:
    diff = FLEETS["diff"]
    assert isinstance(diff, Difference)
    changes = diff.targets[0]
    late = next(one for one in changes.changes if one.after is Standing.NO_ANSWER)
    lost = tuple(
        replace(late, model=f"model-{i}", reason=from_data(f"not over after {i} s"))
        for i in range(GROUPS + 2)
    )
    found = replace(diff, targets=(replace(changes, changes=lost),))
    assert counted(in_both("fleet", found)) == [
        "and 2 more groups; --verbose lists all", "另有 2 组；用 --verbose 列出全部",
    ]  # fmt: skip


def test_models_that_ended_in_every_way() -> None:
    summary = FLEETS["summary"]
    assert isinstance(summary, Summary)
    endings = {ending: count for count, ending in enumerate(Ending, 1)}
    pages = in_both("fleet", replace(summary, endings=endings))
    assert [page.splitlines()[1].strip() for page in pages] == [
        "1 scanned, 2 failed, 3 timed out, 4 out of memory, 5 crashed, 6 lost",
        "1 个已扫描，2 个失败，3 个超时，4 个内存不足，5 个崩溃，6 个丢失",
    ]


def test_ways_that_a_plan_declined() -> None:
    plan = PLANS["stuck"]
    (target,) = plan.targets
    ways = tuple(Declined(f"way-{i}", Tier.SWAP, "no") for i in range(DECLINED + 2))
    findings = tuple(
        replace(finding, declined=ways if finding.declined else ()) for finding in target.findings
    )
    text = report_view("text")
    found = replace(plan, targets=(replace(target, findings=findings),))
    with speaking(Language.CHINESE):
        chinese = text.render(found)
    every = counted((text.render(found), chinese))
    told = {said for said in every if "way" in said or "建议" in said}
    assert told == {
        "and 2 more ways; --verbose lists all", "另有 2 条修改建议；用 --verbose 列出全部",
    }  # fmt: skip


def comments(report: Report) -> tuple[str, str]:
    """A comment on a pull request, in English and in Chinese."""
    view = report_view("markdown")
    with speaking(Language.CHINESE):
        chinese = view.render(report)
    return view.render(report), chinese


def test_facts_and_suggestions_of_a_comment() -> None:
    plan = PLANS["swap"]
    (target,) = plan.targets
    bad = next(finding for finding in target.findings if finding.suggestions)
    evidence = tuple(replace(bad.evidence[0], line=line) for line in range(SHOWN + 2))
    ways = bad.suggestions[:1] * (SHOWN + 4)
    finding = replace(bad, evidence=evidence, suggestions=ways, uses=bad.uses[:1])
    found = replace(plan, targets=(replace(target, findings=(finding,)),))
    assert counted(comments(found)) == [
        "and 2 more facts", "and 4 more suggestions", "另有 2 条依据", "另有 4 条建议",
    ]  # fmt: skip


def test_notes_and_answers_on_sizes_of_a_comment() -> None:
    report = STANDARD["dynamic"]
    one = report.targets[1]
    targets = tuple(
        replace(
            one,
            target=f"{i}{'y' * 3_000}",
            dynamic=one.dynamic[:1] * (i + 1),
            advisories=(Reason("slow", from_data(f"{i} {'z' * 3_000}")),),
        )
        for i in range(90)
    )
    english, chinese = comments(replace(report, targets=targets))
    for noun, told in (("note", r"另有 \d+ 条说明"), ("answer", r"另有 \d+ 条结果")):
        (left,) = re.findall(rf"and (\d+) more {noun}s", english)
        assert re.findall(told, chinese) == [told.replace(r"\d+", left)]
        assert 1 < int(left) < 90

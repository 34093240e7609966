"""What the page says, and that it asks for nothing elsewhere."""

import base64
import hashlib
import re

import pytest
from msgspec.structs import replace

from opcheck.commands.fleet.html import page as fleet_page
from opcheck.lang.speech import Language, speaking
from opcheck.model.report import Partition, Report, Segment
from opcheck.model.verdict import Verdict
from opcheck.views.formats import report_view
from opcheck.views.html.along_the_run import cuts, pieces
from opcheck.views.html.data import SHARED
from opcheck.views.html.template import TEMPLATES
from opcheck.views.order import WORST_FIRST
from opcheck.views.report.html import SCRIPTS, STYLES
from tests.views.html.parsed import Element, embedded, parsed
from tests.views.plans import PLANS
from tests.views.samples import STANDARD, native

REPORTS = {**STANDARD, **{f"plan-{name}": plan for name, plan in PLANS.items()}}
BEST_FIRST = tuple(reversed(WORST_FIRST))
every_report = pytest.mark.parametrize("sample", REPORTS)


def page_of(report: Report) -> Element:
    return parsed(report_view("html").render(report))


def words_of(element: Element) -> str:
    return " ".join(element.text.split())


def hashed(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@every_report
def test_the_verdict_comes_first(sample: str) -> None:
    main = page_of(REPORTS[sample]).one("main")
    first = next(child for child in main.children if isinstance(child, Element))
    assert first.attributes["id"] == "verdict"
    assert words_of(first).startswith(REPORTS[sample].model.source)
    assert words_of(first.one("h1"))


def test_one_target_is_told_in_its_headline_and_in_figures() -> None:
    verdict = page_of(STANDARD["mixed"]).one("section", id="verdict")
    target = STANDARD["mixed"].targets[0]
    assert words_of(verdict.one("h1")) == f"will not run on {target.target}"
    rows = [[words_of(c) for c in row.all("td")] for row in verdict.all("tr")[1:]]
    summary = target.summary
    assert rows == [
        [f"{counts.get(kind, 0):,}" for counts in (summary.operators, summary.calls)]
        for kind in BEST_FIRST
    ]


def test_several_targets_are_rows_in_the_order_asked_for() -> None:
    verdict = page_of(STANDARD["three-targets"]).one("section", id="verdict")
    names = [button.attributes["title"] for button in verdict.all("button", class_="link")]
    assert names == [target.target for target in STANDARD["three-targets"].targets]


@every_report
def test_every_finding_is_embedded_whole(sample: str) -> None:
    report = REPORTS[sample]
    found = embedded(page_of(report))
    assert len(found["findings"]) == sum(len(target.findings) for target in report.targets)
    for finding in found["findings"]:
        assert finding["family"]
        for key in SHARED:
            assert all(0 <= place < len(found["tables"][key]) for place in finding[key])
    ids = {(report.targets[f["target"]].target, f["id"], f["op"]) for f in found["findings"]}
    assert ids == {(t.target, f.id, f.op) for t in report.targets for f in t.findings}
    counts = sorted(f.count for target in report.targets for f in target.findings)
    assert sorted(f["count"] for f in found["findings"]) == counts


@every_report
def test_each_operator_is_in_one_cell_of_the_heat_map(sample: str) -> None:
    report = REPORTS[sample]
    page = page_of(report)
    for index, target in enumerate(report.targets):
        cells = page.all("button", data_target=str(index))
        labels = [c.attributes["aria-label"] for c in cells if "data-family" in c.attributes]
        counted = [re.search(r"of ([\d,]+) operator", label) for label in labels]
        total = sum(int(found[1].replace(",", "")) for found in counted if found)
        assert total == len({finding.op for finding in target.findings})


def test_kinds_of_operators_are_told_in_chinese() -> None:
    ops = (
        "item", "conv2d", "layer_norm", "lstm.input", "linalg_qr", "zeros", "mm", "mse_loss",
        "dropout",
    )  # fmt: skip
    findings = tuple(native(f"aten::{op}") for op in ops)
    target = replace(STANDARD["mixed"].targets[0], findings=findings)
    with speaking(Language.CHINESE):
        page = page_of(replace(STANDARD["mixed"], targets=(target,)))
    heads = page.one("table", class_="heat").all("th", scope="col")
    assert sorted(map(words_of, heads)) == sorted(
        [
            "由 Python 读取",
            "卷积",
            "归一化",
            "循环网络",
            "线性代数",
            "创建",
            "矩阵乘",
            "损失",
            "随机",
        ]
    )


def test_the_run_is_drawn_with_its_cuts() -> None:
    report = STANDARD["mixed"]
    partitions = (Partition(False, 3, ""), Partition(True, 1, "a.b"), Partition(False, 4, "c"))
    target = replace(report.targets[0], partitions=partitions)
    page = page_of(replace(report, targets=(target,)))
    (cut,) = page.one("div", class_="depth").all("rect", class_="f-fallback")
    assert (cut.attributes["x"], cut.attributes["width"]) == ("37.5", "12.5")
    assert cut.one("title").text == "a.b: 1 call"
    assert page_of(report).all("div", class_="depth") == []


def test_where_the_model_would_break_is_drawn_last_and_said() -> None:
    report = STANDARD["mixed"]
    segments = (
        Segment(None, 3, ""),
        Segment(Verdict.UNSUPPORTED, 2, "a.b"),
        Segment(Verdict.FALLBACK, 1, "a.c"),
        Segment(Verdict.UNKNOWN, 2, "d"),
    )
    target = replace(report.targets[0], segments=segments, partitions=(Partition(True, 8, ""),))
    depth = page_of(replace(report, targets=(target,))).one("div", class_="depth")
    drawn = depth.one("svg").all("rect")
    assert [
        (rect.attributes["class"], rect.attributes["x"], rect.attributes["width"]) for rect in drawn
    ] == [
        ("f-native", "0", "100"),
        ("f-fallback", "62.5", "12.5"),
        ("f-unknown", "75.0", "25.0"),
        ("f-unsupported", "37.5", "25.0"),
    ]
    assert depth.one("svg").attributes["aria-label"].endswith(": 2 calls do not run")


@pytest.mark.parametrize(
    ("verdict", "calls", "said"),
    [
        (Verdict.UNSUPPORTED, 1, "1 call does not run"),
        (Verdict.UNSUPPORTED, 1200, "1,200 calls do not run"),
        (Verdict.UNKNOWN, 1, "1 call is unknown"),
        (Verdict.UNKNOWN, 2, "2 calls are unknown"),
    ],
)
def test_how_much_of_the_run_breaks_is_said(verdict: Verdict, calls: int, said: str) -> None:
    segments = (Segment(None, 3, ""), Segment(verdict, calls, ""))
    assert pieces(replace(STANDARD["mixed"].targets[0], segments=segments)) == said


def test_cuts_too_near_to_be_told_apart_are_drawn_as_one() -> None:
    segments = (Segment(Verdict.UNSUPPORTED, 1, "a"), Segment(None, 1, "b")) * 5_000
    (cut, *more) = cuts(replace(STANDARD["mixed"].targets[0], segments=segments))
    assert (cut.start, cut.width, cut.label, more) == (0.0, 100.0, "a: 5,000 calls", [])


@every_report
def test_a_browser_may_ask_for_nothing(sample: str) -> None:
    page = page_of(REPORTS[sample])
    policy = page.one("meta", http_equiv="Content-Security-Policy").attributes["content"]
    script = next(s for s in page.all("script") if "type" not in s.attributes)
    assert policy.split("; ") == [
        "default-src 'none'",
        f"script-src {hashed(script.text)}",
        f"style-src {hashed(page.one('style').text)}",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
    ]


@every_report
def test_nothing_leads_out_of_the_page(sample: str) -> None:
    def check(element: Element) -> None:
        for name, value in element.attributes.items():
            assert not name.startswith("on"), f"{name} would be blocked by the policy"
            assert name not in ("src", "srcset", "style", "action", "ping"), name
            assert name != "href" or value.startswith(("#", "data:")), value
        for child in element.children:
            if isinstance(child, Element):
                check(child)

    page = page_of(REPORTS[sample])
    check(page)
    assert not re.search(r"url\(|@import|https?:", page.one("style").text)
    script = next(s for s in page.all("script") if "type" not in s.attributes)
    assert not re.search(
        r"https?:|fetch\(|XMLHttp|import\(|innerHTML|insertAdjacent|eval", script.text
    )


@every_report
def test_what_was_not_seen_is_said(sample: str) -> None:
    report = REPORTS[sample]
    rest = words_of(page_of(report).one("section", id="rest"))
    for gap in report.trace.gaps:
        assert " ".join(gap.reason.split()) in rest
    for target in report.targets:
        for advisory in target.advisories:
            assert " ".join(advisory.text.split()) in rest


@every_report
def test_ids_are_there_once_and_labels_lead_to_them(sample: str) -> None:
    page = page_of(REPORTS[sample])
    ids = re.findall(r' id="([^"]+)"', report_view("html").render(REPORTS[sample]))
    assert len(ids) == len(set(ids))
    for link in page.all("a"):
        assert link.attributes["href"].removeprefix("#") in ids


@every_report
def test_the_same_report_is_the_same_page(sample: str) -> None:
    text = report_view("html").render(REPORTS[sample])
    assert text == report_view("html").render(REPORTS[sample])
    assert text.endswith("</html>\n")


def test_files_of_the_pages_are_all_in_one_and_ascii() -> None:
    named = {*SCRIPTS, *STYLES, *fleet_page.SCRIPTS, *fleet_page.STYLES}
    assert all((TEMPLATES / name).read_bytes().isascii() for name in named)
    files = (path.relative_to(TEMPLATES).as_posix() for path in TEMPLATES.rglob("*.*"))
    assert {name for name in files if not name.endswith(".html")} == named

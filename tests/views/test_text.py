"""What holds for the text report on every page."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from rich.cells import cell_len

from opcheck.commands.db.terminal import otherwise
from opcheck.lang.speech import Language, speaking
from opcheck.model.emulation import Emulation, Site
from opcheck.model.matrix import Fallback
from opcheck.model.report import Finding, Report, TargetReport
from opcheck.model.trace import Gap
from opcheck.model.verdict import Evidence, Method, Verdict
from opcheck.views.formats import Page, command_view, report_view
from opcheck.views.terminal.compare import of_targets
from opcheck.views.terminal.emulation import Calls
from opcheck.views.terminal.notation import encodable, percent, plural, size, source
from tests.views.emulations import EMULATIONS, NORM, refused, run
from tests.views.samples import CONV, LISTED, SPLIT, STANDARD, summary
from tests.views.samples import target as made
from tests.views.strategies import emulations, reports

ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


@pytest.mark.parametrize(
    ("fallback", "said"),
    [
        (Fallback(True, "", ()), "it runs on the host"),
        (Fallback(False, "", ()), "an error"),
        (Fallback(False, "", (), enable="X=1"), "an error; the host runs it with X=1"),
        (
            Fallback(False, "", (), elsewhere="which PyTorch runs"),
            "not converted, which PyTorch runs",
        ),
    ],
)
def test_the_database_says_what_becomes_of_what_a_target_lacks(
    fallback: Fallback, said: str
) -> None:
    assert otherwise(fallback) == said


def render(sample: str, page: Page) -> str:
    return report_view("text").render(STANDARD[sample], page)


@pytest.mark.parametrize("width", [20, 40, 80, 120])
@pytest.mark.parametrize("sample", STANDARD)
def test_operators_and_places_are_never_broken(sample: str, width: int) -> None:
    text = render(sample, Page(width, verbose=True)).split()
    words = {word.strip(",:") for word in text}
    for target in STANDARD[sample].targets:
        for finding in target.findings:
            assert finding.op in words
            wanted = {f"{use.file}:{use.line}" for use in finding.uses if use.file}
            assert wanted <= words


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("sample", STANDARD)
def test_only_a_single_word_may_run_over(sample: str, width: int) -> None:
    for line in render(sample, Page(width)).splitlines():
        assert cell_len(line) <= width or len(line.split()) == 1 or _one_atom(line)


def _one_atom(line: str) -> bool:
    """A label, or ``in``, before one long name."""
    *head, _ = line.split()
    return head in (["in"], ["where"])


@pytest.mark.parametrize("sample", STANDARD)
def test_colour_changes_nothing_but_colour(sample: str) -> None:
    colored = render(sample, Page(color=True))
    assert ESCAPE.search(colored)
    assert ESCAPE.sub("", colored) == render(sample, Page())
    assert "\x1b" not in render(sample, Page())


@pytest.mark.parametrize("sample", STANDARD)
def test_ascii_page_has_only_the_users_own_other_signs(sample: str) -> None:
    assert render(sample, Page(ascii=True)).replace("算子清单", "").isascii()


def emulated(sample: str, page: Page) -> str:
    return command_view("emulate", "text").render(EMULATIONS[sample], page)


@pytest.mark.parametrize("width", [20, 40, 80, 120])
@pytest.mark.parametrize("sample", EMULATIONS)
def test_operators_and_places_of_a_run_are_never_broken(sample: str, width: int) -> None:
    text = emulated(sample, Page(width, verbose=True)).split()
    words = {word.strip(",:") for word in text}
    found = EMULATIONS[sample]
    calls: list[Calls] = [*found.refusals, *found.host_calls, *found.cautions]
    for item in calls:
        assert item.op in words
        assert {f"{site.file}:{site.line}" for site in item.sites if site.file} <= words
    assert {kernel.op for kernel in found.kernels} <= words


def test_a_text_without_end_is_cut() -> None:
    report = STANDARD["mixed"]
    long = replace(report, model=replace(report.model, source="a" * 10**6))
    assert len(report_view("text").render(long, Page(80))) < 10**5


@pytest.mark.parametrize("sample", EMULATIONS)
def test_colour_of_a_run_changes_nothing_but_colour(sample: str) -> None:
    colored = emulated(sample, Page(color=True))
    assert ESCAPE.search(colored)
    assert ESCAPE.sub("", colored) == emulated(sample, Page())
    assert emulated(sample, Page(ascii=True)).isascii()


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(emulations, st.integers(20, 140), st.booleans())
def test_any_run_can_be_written(found: Emulation, width: int, verbose: bool) -> None:
    text = command_view("emulate", "text").render(found, Page(width, verbose=verbose))
    assert all(c.isprintable() or c == "\n" for c in text)
    first = "✔" if found.runs else "✘"
    assert text.startswith(first)


@pytest.mark.parametrize(
    ("sample", "findings", "line"),
    [
        ("all-native", (CONV,), "✔ 1 native; --verbose lists all"),
        ("all-native", (SPLIT,), "✔ 1 decomposed into native ones; --verbose lists all"),
        (
            "all-native",
            (CONV, SPLIT),
            "✔ 1 native and 1 decomposed into native ones; --verbose lists all",
        ),
        ("compiled", (CONV,), "✔ 1 converted; --verbose lists all"),
        ("compiled", (SPLIT,), "✔ 1 decomposed into converted ones; --verbose lists all"),
        (
            "compiled",
            (CONV, SPLIT),
            "✔ 1 converted and 1 decomposed into converted ones; --verbose lists all",
        ),
    ],
)
def test_what_runs_is_one_line(sample: str, findings: tuple[Finding, ...], line: str) -> None:
    (target,) = STANDARD[sample].targets
    found = replace(target, findings=findings, kernels=None, summary=summary(findings))
    text = report_view("text").render(replace(STANDARD[sample], targets=(found,)))
    assert [each for each in text.splitlines()[1:] if each.startswith("✔")] == [line]


def test_an_error_outside_of_every_module_has_its_line_alone() -> None:
    ended = EMULATIONS["ended"]
    site = Site("", "net.py", 7)
    text = command_view("emulate", "text").render(replace(ended, error_site=site), Page(120))
    where = next(line for line in text.splitlines() if "net.py" in line)
    assert where == '  File "net.py", line 7'


@pytest.mark.parametrize("sample", EMULATIONS)
def test_lines_of_a_run_end_clean(sample: str) -> None:
    text = emulated(sample, Page())
    assert text.endswith("\n")
    assert not text.endswith("\n\n")
    assert not re.search(r"[ \t]\n", text)
    assert "\n\n\n" not in text


def test_a_long_error_is_cut_unless_asked_for() -> None:
    error = "\n".join(f"line {i}" for i in range(6))
    found = run(refusals=(replace(refused("aten::mul.Tensor", 2, NORM), error=error),))
    text, whole = (
        command_view("emulate", "text").render(found, Page(verbose=v)) for v in (False, True)
    )
    assert text[text.index("    error") : text.index("\nKernels")] == (
        "    error     line 0\n"
        "              line 1\n"
        "              line 2\n"
        "              line 3\n"
        "              and 2 more lines; --verbose lists all\n"
    )
    assert all(f"line {i}\n" in whole for i in range(6))


def test_an_error_that_only_repeats_the_reason_is_not_shown_twice() -> None:
    plain = refused("aten::mul.Tensor", 2, NORM)
    found = run(refusals=(replace(plain, error=f"RuntimeError: {plain.reason.text}"),))
    text = command_view("emulate", "text").render(found)
    assert text[text.index("  aten::mul.Tensor ·") : text.index("\nKernels")] == (
        "  aten::mul.Tensor · 2 calls\n"
        "    where     final_norm\n"
        "    why       The result has dtype complex64, which aten::mul.Tensor does not\n"
        "              take on 910a.\n"
    )


def test_an_early_end_counts_what_was_refused_before() -> None:
    found = replace(EMULATIONS["ended"], refusals=(refused("aten::mul.Tensor", 2, NORM),))
    assert (
        command_view("emulate", "text")
        .render(found, Page(120))
        .startswith(
            "✘ ended early, 1 operator refused: examples/rope/model.py:build on an emulated"
        )
    )


@pytest.mark.parametrize("sample", STANDARD)
def test_lines_end_clean(sample: str) -> None:
    text = render(sample, Page())
    assert text.endswith("\n")
    assert not text.endswith("\n\n")
    assert not re.search(r"[ \t]\n", text)
    assert "\n\n\n" not in text


def test_operators_of_one_reason_show_evidence_of_their_own() -> None:
    (target,) = STANDARD["alike"].targets
    apart = tuple(
        replace(finding, evidence=(*(replace(fact, line=i) for fact in finding.evidence), LISTED))
        for i, finding in enumerate(target.findings, 1)
        if finding.verdict is Verdict.FALLBACK
    )
    report = replace(STANDARD["alike"], targets=(replace(target, findings=apart),))
    text = report_view("text").render(report)
    assert text[text.index("  host-fallback") : text.index("\n✔")] == (
        "  host-fallback · 2 operators · 9 calls\n"
        "    why       ascend registers no kernel for the operator, so every call runs on\n"
        "              the host CPU\n"
        "\n"
        "    torchvision::nms · 5 calls\n"
        "      detect/boxes.py:54 in roi_heads\n"
        "      registered: Ascend/op-plugin@cd46cfb op_plugin_functions.yaml:6 and 1 more\n"
        "      source\n"
        "    torchvision::roi_align · 4 calls\n"
        "      detect/boxes.py:55 in roi_heads\n"
        "      registered: Ascend/op-plugin@cd46cfb op_plugin_functions.yaml:7 and 1 more\n"
        "      source\n"
    )


def test_environment_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    before = render("mixed", Page(color=True))
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "TERM", "COLORTERM"):
        monkeypatch.setenv(name, "33")
    assert render("mixed", Page(color=True)) == before


def test_control_characters_are_spelled_out() -> None:
    report = STANDARD["empty"]
    odd = replace(report, model=replace(report.model, source="a\x1b[31mb\x07[bold]c"))
    first = report_view("text").render(odd).splitlines()[0]
    assert first == r"? cannot tell: a\x1b[31mb\x07[bold]c on ascend-910b@26.1.0+torch2.12"


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(reports, st.integers(20, 140), st.booleans())
def test_any_report_can_be_written(report: Report, width: int, verbose: bool) -> None:
    text = report_view("text").render(report, Page(width, verbose=verbose))
    assert all(c.isprintable() or c == "\n" for c in text)
    for target in report.targets:
        assert target.summary.runs is not False or "not" in text


@pytest.mark.parametrize(
    ("width", "header", "first"),
    [
        (120, "target runs share fallback moved parts breaks", "ascend-910b@26.1.0+torch2.12"),
        (80, "target runs share fallback moved parts breaks", "ascend-910b"),
        (60, "target runs share fallback moved parts", "ascend-910b"),
        (20, "target runs share fallback moved parts", "ascend-910b"),
    ],
)
def test_a_narrow_table_has_shorter_names_then_fewer_columns(
    width: int, header: str, first: str
) -> None:
    lines = report_view("text").render(STANDARD["three-targets"], Page(width)).splitlines()
    start = next(i for i, line in enumerate(lines) if line.split()[:1] == ["target"])
    assert lines[start].split() == header.split()
    assert lines[start + 1].split()[1] == first


def test_short_names_in_a_table_say_of_which_release() -> None:
    on_910b, on_910a, _ = STANDARD["three-targets"].targets
    older = replace(on_910b, target="ascend-910b@7.3.0+torch2.7", sdk="7.3.0", torch="2.7")
    report = replace(STANDARD["three-targets"], targets=(on_910b, on_910a, older))
    text = report_view("text").render(report, Page(40))
    table = text.split("\n\n")[1].splitlines()
    assert [line.split()[1] for line in table[1:4]] == [
        "ascend-910b@26.1.0+torch2.12",
        "ascend-910a",
        "ascend-910b@7.3.0+torch2.7",
    ]
    assert "  releases: ascend@26.1.0+torch2.12" in table


def test_a_line_of_all_targets_but_a_few_names_those() -> None:
    chips = ("910a", "910b", "910c", "310p", "950")
    found = [made(chip, (CONV,)) for chip in chips]

    def about(*some: TargetReport) -> str:
        return " ".join(word for word, _ in of_targets(some, found))

    assert about(*found) == "every target:"
    assert about(*found[1:]) == "every target but ascend-910a:"
    assert about(found[0], found[1]) == "ascend-910a, ascend-910b:"
    with speaking(Language.CHINESE):
        assert about(*found[1:]) == "所有目标，但不含 ascend-910a:"


def test_a_table_leaves_out_what_no_target_has() -> None:
    native = STANDARD["all-native"].targets[0]
    report = replace(STANDARD["all-native"], targets=(native, replace(native, chip="other")))
    header = report_view("text").render(report).splitlines()[2]
    assert header.split() == ["target", "runs", "share"]


def first_lines(report: Report) -> str:
    return report_view("text").render(report, Page(100)).partition("\n\n")[0]


def test_first_lines_name_what_runs_on_the_host() -> None:
    on_910b = STANDARD["three-targets"].targets[0]
    assert first_lines(replace(STANDARD["three-targets"], targets=(on_910b,))) == (
        "✔ runs: yolov8n.pt2 on ascend-910b@26.1.0+torch2.12\n"
        "  1 operator on the host, torchvision::nms at ultralytics/utils/ops.py:312 (The target "
        "registers no\n"
        "  kernel for torchvision::nms and sends it to the host CPU, with a …)"
    )


def test_first_lines_name_the_first_gap() -> None:
    report = STANDARD["all-native"]
    (target,) = report.targets
    open_ended = replace(target, summary=replace(target.summary, runs=None))
    gaps = (Gap("", "a reason " * 20), Gap("net.py:4", "another"))
    found = replace(report, targets=(open_ended,), trace=replace(report.trace, gaps=gaps))
    assert first_lines(found) == (
        "? cannot tell: yolov8n.pt2 on ascend-910b@26.1.0+torch2.12\n"
        "  2 gaps, first the model itself (a reason a reason a reason a reason a reason a reason a "
        "reason a\n"
        "  reason a reason a reason a …)"
    )


def test_first_lines_are_one_where_nothing_breaks() -> None:
    assert first_lines(STANDARD["all-native"]) == (
        "✔ runs: yolov8n.pt2 on ascend-910b@26.1.0+torch2.12"
    )


def test_verbose_shows_what_is_summarised() -> None:
    short, long = render("many", Page()), render("many", Page(verbose=True))
    shown = [len(set(re.findall(r"aten::operator_\d+", text))) for text in (short, long)]
    assert shown == [60, 300]
    assert short.count("and 80 more operators; --verbose lists all") == 3


def test_reasons_of_their_own_are_cut_as_well_and_counted() -> None:
    (target,) = STANDARD["many"].targets
    apart = tuple(
        replace(finding, reason=replace(finding.reason, text=f"{i} {finding.reason.text}"))
        for i, finding in enumerate(target.findings)
    )
    report = replace(STANDARD["many"], targets=(replace(target, findings=apart),))
    text = report_view("text").render(report)
    assert len(set(re.findall(r"aten::operator_\d+", text))) == 60
    assert text.count("and 80 more findings; --verbose lists all") == 3


@pytest.mark.parametrize(
    ("rate", "text"),
    [(1, "100%"), (0.9999, "99.9%"), (0.9412, "94.1%"), (0.57, "57.0%"), (0.0, "0.0%")],
)
def test_percent(rate: float, text: str) -> None:
    assert percent(rate) == text


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.0 KiB"),
        (13_107_200, "12.5 MiB"),
        (2**30 - 1, "1.0 GiB"),
        (3 * 2**50, "3072.0 TiB"),
    ],
)
def test_size(count: int, text: str) -> None:
    assert size(count) == text


def test_plural() -> None:
    assert [plural(n, "call") for n in (0, 1, 1200)] == ["0 calls", "1 call", "1,200 calls"]


def test_source_of_evidence() -> None:
    full = Evidence(Method.REGISTERED, "a/b", "x/y.yaml", 12, "0123456789abcdef")
    assert source(full, verbose=False) == "a/b@0123456 y.yaml:12"
    assert source(full, verbose=True) == "a/b@0123456789abcdef x/y.yaml:12"
    assert source(Evidence(Method.DISPATCHER, "a/b"), verbose=False) == "a/b"


@pytest.mark.parametrize(
    ("encoding", "fits"),
    [("utf-8", True), ("ascii", False), ("gbk", False), ("latin-1", False), ("nonsense", False)],
)
def test_signs_fit_an_encoding(encoding: str, fits: bool) -> None:
    assert encodable(encoding) is fits

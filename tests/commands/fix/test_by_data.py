"""Places that depend on values: which statement it is, and what is to be written there."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from opcheck.commands.fix.by_data import WHILE_LOOP, by_data, varying_places
from opcheck.model.dynamic import Site, SiteKind, SiteTaken, SizeRule, Taking
from opcheck.model.padding import FixedCode
from opcheck.model.report import TargetReport
from opcheck.model.verdict import Confidence, Evidence, Method
from tests.views.samples import STANDARD

SOURCE = """\
def forward(x, n):
    while x.sum() > 100:
        x = x / 2
    for _ in range(int(n)):
        x = x + 1
    for _ in range(3):
        if x.max() > 9:
            break
        x = x + 1
    if x.min() < 0:
        x = x.abs()
    assert x.max() < 5
    return x.mean() if (x > 1).any() else float(x.sum())


def other(x):
    return x.item()
"""
LOOP, CHOICE, READ = (
    "the number of rounds depends on values: torch.while_loop keeps the loop on the device; it is "
    "not written for you, since no run proves it for every number; whether the target has it is "
    "not in the database",
    "Python decides by a value: torch.where computes both sides and chooses, torch.cond runs one; "
    "it is not written for you",
    "Python reads a value: keep it as a tensor, or read it once behind the model",
)
CODES = (
    FixedCode(("aten::nonzero",), "count = 1\nfound = x", "aten::nonzero_static", 6, 6),
    FixedCode(("aten::nonzero",), "found = x", "aten::sort.stable", 6, 6),
    FixedCode(("aten::bincount",), "found = x", "aten::scatter_add", 6, 5),
)


def report(*sites: Site) -> TargetReport:
    taken = (SiteTaken(site, Taking.FINE, "why", Confidence.LOW, ()) for site in sites)
    return replace(STANDARD["mixed"].targets[0], dynamic=tuple(taken))


def read_at(line: int, file: str = "net.py") -> Site:
    return Site(SiteKind.DATA_READ, "aten::item", "", file, line, 1, "a value")


def sized(op: str) -> Site:
    return Site(SiteKind.DATA_SIZE, op, "", "net.py", 3, 1, "a size")


@pytest.mark.parametrize(
    ("line", "advice"),
    [(2, LOOP), (4, LOOP), (7, LOOP), (10, CHOICE), (12, CHOICE), (13, CHOICE), (17, READ)],
)
def test_a_read_is_told_by_its_statement(
    line: int, advice: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("net.py").write_text(SOURCE)
    (place,) = varying_places(report(read_at(line)), (), (), "net.py:net")
    assert (place.advice, place.code) == (advice, None)


def test_a_loop_of_the_targets_own_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("net.py").write_text(SOURCE)
    fact = Evidence(Method.REGISTERED, "pytorch/xla", "fori_loop.py", 37)
    rule = SizeRule(
        frozenset({SiteKind.DATA_READ}), frozenset({WHILE_LOOP}), Taking.FINE,
        "it becomes a loop of the graph", Confidence.MEDIUM, (fact,),
    )  # fmt: skip
    (place,) = varying_places(report(read_at(2)), (), (), "net.py:net", (rule,))
    assert place.advice.endswith("for every number; there it becomes a loop of the graph")
    assert place.evidence == (fact,)


@pytest.mark.parametrize("text", ["def (", None])
def test_a_file_that_cannot_be_read_has_no_statements(
    text: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if text is not None:
        Path("net.py").write_text(text)
    (place,) = varying_places(report(read_at(1)), (), (), "net.py:net")
    assert place.advice == READ


@pytest.mark.parametrize(
    ("there", "needs", "is_there"),
    [
        (["aten::nonzero_static", "aten::sort.stable"], "aten::nonzero_static", True),
        (["aten::sort.stable"], "aten::sort.stable", True),
        ([], "aten::sort.stable", False),
    ],
)  # fmt: skip
def test_what_the_target_has_is_chosen(there: list[str], needs: str, is_there: bool) -> None:
    (place,) = varying_places(report(sized("aten::nonzero")), CODES, there, "net.py:net")
    assert place.code is not None
    assert (place.code.needs, place.there) == (needs, is_there)


@pytest.mark.parametrize("op", ["aten::bincount", "torchvision::nms"])
def test_what_is_not_proved_is_not_shown(op: str) -> None:
    (place,) = varying_places(report(sized(op)), CODES, (), "net.py:net")
    assert place.code is None
    assert place.advice == "nothing is known that gives it in a fixed size"


def test_what_is_counted_is_told() -> None:
    with_count, without = (
        varying_places(report(sized("aten::nonzero")), CODES, there, "net.py:net")[0].advice
        for there in (["aten::nonzero_static"], [])
    )
    assert with_count == (
        "write it in a fixed size: found[:count] is what the call gives, on 6 inputs"
    )
    assert without == "write it in a fixed size, which gives the same on 6 inputs"


def test_overloads_are_named_once() -> None:
    sites = sized("aten::nonzero"), sized("aten::bincount"), sized("aten::nonzero"), read_at(1)
    assert by_data(report(*sites)) == ("aten::nonzero", "aten::bincount")

"""Probes of the host and of an emulated device, and of a host that breaks."""

from pathlib import Path

import pytest

from opcheck.commands.db import answer as db_answer
from opcheck.commands.probe import answer as probe_answer
from opcheck.commands.probe.views.text import probe_page
from opcheck.db.audit.audit import audit
from opcheck.db.probe_overlay import overlay_text
from opcheck.db.store import Database
from opcheck.errors import ExitCode, UsageError
from opcheck.model.predicates import Dtype, OneOf, Rank, Size
from opcheck.model.probe import (
    Finished,
    Noted,
    Observed,
    Outcome,
    Probe,
    ProbeHead,
    ProbeJob,
    ProbeRequest,
    Sample,
    Unit,
)
from opcheck.model.target import TargetSpec
from opcheck.model.trace import Phase, TensorMeta
from opcheck.model.verdict import Method, Verdict
from opcheck.resolve.probe import compared, distinct
from opcheck.sandbox.parent.probe import Prober
from opcheck.sandbox.parent.probe_journal import Journal
from opcheck.views.formats import Page
from tests.app.stand_in import StandIn, run
from tests.preloaded import python
from tests.views.probes import PROBES

TARGET = TargetSpec("ascend-910b", "26.1.0", "2.12")
BREAKING = """
import os, time, torch

LIBRARY = torch.library.Library("aten", "IMPL")
STATE = {"calls": 0, "negated": False}

def erfinv(x):
    if x.dtype is torch.float64:
        os.abort()
    if x.dtype is torch.bfloat16:
        time.sleep(900)
    raise RuntimeError("no such dtype here\\nand more")

def expm1(x):
    STATE["calls"] += 1
    return torch.full_like(x, STATE["calls"])

def neg(x):
    STATE["negated"] = True
    return x.mul(-1)

def sinc(x):
    if STATE["negated"]:
        os.abort()
    return x.clone()

for name, kernel in (("erfinv", erfinv), ("expm1", expm1), ("neg", neg), ("sinc", sinc)):
    LIBRARY.impl(name, kernel, "CPU")
"""


def overlaid(folder: Path, target: TargetSpec) -> Database:
    """The database with a probe on top, of which nothing is wrong."""
    database = Database.open(overlays=(folder,))
    assert [p for p in audit(database).problems if p.file.startswith(folder.name)] == []
    database.matrix(database.resolve(target))
    return database


# --- the host ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> tuple[Probe, ProbeRequest]:
    """A probe of the host."""
    into = tmp_path_factory.mktemp("host") / "probe"
    request = ProbeRequest(
        "cpu", operators=("neg", "i0"), dtypes=("float32", "int64"), samples=2,
        into=str(into),
    )  # fmt: skip
    return probe_answer.probe(request), request


@pytest.mark.slow
def test_the_host_does_what_it_does(host: tuple[Probe, ProbeRequest]) -> None:
    found, request = host
    assert (found.device, found.target, found.failures, found.differs) == ("cpu", None, (), ())
    assert found.overloads == {Outcome.WORKS: sum(found.overloads.values())}
    assert found.samples >= 6
    database = overlaid(Path(request.into), TargetSpec("cpu"))
    entries = database.matrix(database.resolve(TargetSpec("cpu"))).entries
    assert {"aten::neg", "aten::i0"} <= entries.keys()
    assert {e.evidence[0].method for e in entries.values()} == {Method.TESTED}


@pytest.mark.slow
def test_what_was_run_is_not_run_again(host: tuple[Probe, ProbeRequest]) -> None:
    found, request = host
    journal, overlay = Path(found.journal), Path(found.overlay)
    lines, text = journal.read_text(), overlay.read_text()
    phases: list[str] = []
    assert probe_answer.probe(request, phases.append) == found
    assert phases == ["looking for the device"]
    assert (journal.read_text(), overlay.read_text()) == (lines, text)


@pytest.mark.slow
def test_a_probe_that_was_killed_goes_on_where_it_was(host: tuple[Probe, ProbeRequest]) -> None:
    found, request = host
    journal = Path(found.journal)
    whole = journal.read_text()
    journal.write_text("".join(whole.splitlines(keepends=True)[:3]) + whole.splitlines()[3][:40])
    assert probe_answer.probe(request) == found
    assert journal.read_text() == whole


@pytest.mark.slow
def test_another_probe_is_not_mixed_in(host: tuple[Probe, ProbeRequest], tmp_path: Path) -> None:
    path = tmp_path / "probe.jsonl"
    head = ProbeHead("npu", "ascend-910b", False, 3, True, "npu:0", "2.13.0")
    Journal(path, head).__exit__(None, None, None)
    with pytest.raises(UsageError, match="is of another probe: npu:0"):
        Journal(path, ProbeHead("npu", "ascend-910b", False, 4, True, "npu:0", "2.13.0"))
    Journal(path, head, restart=True).__exit__(None, None, None)
    path.write_text("nothing\n")
    with pytest.raises(UsageError, match="no journal of a probe"):
        Journal(path, head)


# --- an emulated device --------------------------------------------------------------------------


@pytest.mark.slow
def test_an_emulated_device_agrees_with_its_list(tmp_path: Path) -> None:
    """Works, falls back and raises are all among what it does."""
    request = ProbeRequest(
        "", TARGET, True, ("erfinv", "i0", "cumsum", "add", "fft_fft"),
        ("float32", "float64", "bool"), samples=2, into=str(tmp_path / "probe"),
    )  # fmt: skip
    found = probe_answer.probe(request)
    assert found.differs == ()
    assert found.compared > 10
    assert {Outcome.WORKS, Outcome.FALLS_BACK} <= found.overloads.keys()
    database = overlaid(tmp_path / "probe", TARGET)
    (diff,) = db_answer.database_diff(TARGET, None, (request.into,)).diffs
    assert (diff.added, diff.removed) == ((), ())
    plain = Database.open()
    listed = plain.matrix(plain.resolve(TARGET)).entries
    now = database.matrix(database.resolve(TARGET)).entries
    assert now.keys() == listed.keys()
    shown = {op for op, entry in now.items() if entry.evidence[0].method is Method.TESTED}
    assert {"aten::add.Tensor", "aten::cumsum"} <= shown


# --- a host that breaks --------------------------------------------------------------------------


LOADED = ("opcheck.runtime.probe.run", "torch.testing._internal.common_methods_invocations")
"""What each of ten processes would load anew."""


@pytest.fixture
def breaking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ProbeJob:
    """A plugin that puts kernels of its own in the place of the host's."""
    (tmp_path / "breaking.py").write_text(BREAKING, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return ProbeJob("cpu", "breaking", backward=False)


@pytest.mark.slow
def test_what_ends_a_process_is_named_and_the_rest_is_run(breaking: ProbeJob) -> None:
    units = [Unit("erfinv", d) for d in ("float64", "bfloat16", "float32")]
    found = list[Finished]()
    Prober(breaking, 6, python(*LOADED)).run([*units, Unit("expm1", "float32")], found.append)
    calls = {f"{each.sample.unit}": each.observed[-1] for each in found}
    assert {name: (c.op, c.outcome) for name, c in calls.items()} == {
        "erfinv float64": ("aten::erfinv", Outcome.CRASHES),
        "erfinv bfloat16": ("aten::erfinv", Outcome.HANGS),
        "erfinv float32": ("aten::erfinv", Outcome.RAISES),
        "expm1 float32": ("aten::expm1", Outcome.WRONG),
    }
    assert calls["erfinv float64"].text == "was ended by SIGABRT"
    assert calls["erfinv float32"].text == "RuntimeError: no such dtype here"
    assert "not close" in calls["expm1 float32"].text


@pytest.mark.slow
def test_a_crash_that_another_sample_prepared_names_it(breaking: ProbeJob) -> None:
    units = [Unit(op, "float32") for op in ("neg", "abs", "sinc")]
    found = list[Finished]()
    Prober(breaking, 60, python(*LOADED)).run(units, found.append)
    (call,) = (o for each in found for o in each.observed if o.outcome is Outcome.CRASHES)
    assert call.op == "aten::sinc"
    assert call.text == "was ended by SIGABRT, after neg float32 0 forward"


# --- what is made of it --------------------------------------------------------------------------


def observed(op: str, dtype: str, outcome: Outcome, *, size: int = 3, text: str = "") -> Observed:
    tensor = TensorMeta(dtype, (size,), (1,))
    return Observed(
        op, (("self", tensor),), Phase.FORWARD, outcome, text, registered=True, composite=False
    )


def test_reality_is_held_against_the_list() -> None:
    database = Database.open()
    matrix = database.matrix(database.resolve(TARGET))
    calls = [
        observed("aten::abs", "float32", Outcome.WORKS),
        observed("aten::abs", "float16", Outcome.RAISES),
        observed("aten::i0.out", "float32", Outcome.FALLS_BACK),
        observed("aten::i0.out", "float32", Outcome.WORKS),
    ]
    noted = [Noted(line, call) for line, call in enumerate([*calls, calls[0]], 2)]
    agreeing, differs = compared(distinct(noted), matrix, "2.13.0")
    assert [each.line for each in agreeing] == [2, 4]
    assert [(d.line, d.listed) for d in differs] == [(3, Verdict.NATIVE), (5, Verdict.FALLBACK)]


@pytest.mark.slow
def test_a_failure_is_told_of_a_dtype_or_of_a_call(tmp_path: Path) -> None:
    """And whatever an error says stays text."""
    database = Database.open()
    target = database.resolve(TARGET)
    calls = [
        observed("aten::abs", "float32", Outcome.WORKS),
        observed("aten::abs", "float64", Outcome.RAISES, text='RuntimeError: "{x}": \\ \x1b[1m'),
        observed("aten::abs", "float32", Outcome.WRONG, size=7, text="off by 3"),
        observed("aten::neg", "float32", Outcome.HANGS, text="gave no answer within 9 s"),
    ]
    noted = [Noted(line, call) for line, call in enumerate(calls, 2)]
    head = ProbeHead("npu", str(target), False, 3, True, "npu:0", "2.13.0")
    text = overlay_text(head, target, noted, noted, {}, "probe.jsonl", "2026-11-21")
    (tmp_path / "probe.yaml").write_text(text, encoding="utf-8")
    conditions = overlaid(tmp_path, TARGET).matrix(target).conditions
    ours = {
        (op, c.code): list(c.predicates)
        for op in ("aten::abs", "aten::neg")
        for c in conditions[op]
        if c.evidence and c.evidence[0].path == "probe.jsonl"
    }
    assert ours == {
        ("aten::abs", "raises"): [Dtype("self", _one("float64"))],
        ("aten::abs", "wrong-values"): [
            Dtype("self", _one("float32")), Rank("self", _one("1")), Size("self", _one("7")),
        ],
        ("aten::neg", "hangs"): [Dtype("self", _one("float32"))],
    }  # fmt: skip


def _one(value: str) -> OneOf:
    return OneOf(frozenset({value}))


def test_a_unit_goes_on_after_its_last_sample(tmp_path: Path) -> None:
    head = ProbeHead("cpu", "", False, 3, True, "cpu", "2.13.0")
    one, two = Unit("add", "float32"), Unit("neg", "float32")
    with Journal(tmp_path / "a.jsonl", head) as journal:
        journal.add(Finished(Sample("add", "float32", 0, Phase.FORWARD), ()))
        journal.add(Finished(Sample("neg", "float32", 1, Phase.BACKWARD), ()))
        journal.done([one])
        assert journal.left([one, two]) == [Unit("neg", "float32", after="1 backward")]
    with Journal(tmp_path / "a.jsonl", head) as journal:
        assert journal.left([one, two]) == [Unit("neg", "float32", after="1 backward")]


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        (ProbeRequest(""), "no device was given"),
        (ProbeRequest("toaster"), "no device is called 'toaster'"),
        (ProbeRequest("npu", emulate=True), "nothing says what to emulate"),
        (ProbeRequest("cuda", TARGET), "ascend-910b is a npu device, and --device says cuda"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_what_cannot_be_tried(request_: ProbeRequest, message: str, no_process: None) -> None:
    with pytest.raises(UsageError, match=message):
        probe_answer.probe(request_)


def test_the_command_asks_for_what_was_said(capsys: pytest.CaptureFixture[str]) -> None:
    rooms = StandIn()
    line = (
        "probe --device npu -t ascend-910b --op add --op fft_* --dtype float32 --samples 5 "
        "--forward-only --into out --restart --timeout 7"
    )
    assert run(line.split(), rooms) == ExitCode.PASS
    assert rooms.asked == [
        ProbeRequest(
            "npu", TargetSpec("ascend-910b"), False, ("add", "fft_*"), ("float32",), 5, False, 7.0,
            "out", True,
        )
    ]  # fmt: skip
    page = capsys.readouterr().out
    assert "1 overload" in page
    assert "aten::erfinv" in page


@pytest.mark.parametrize(
    "line", ["probe --dtype float31", "probe --samples 0", "probe --timeout x"]
)
def test_a_command_line_that_is_not_understood(line: str) -> None:
    assert run(line.split(), StandIn()) == ExitCode.USAGE


def test_the_page_says_where_the_list_is_otherwise() -> None:
    page = probe_page(PROBES["npu"], Page(100))
    assert "Otherwise than listed" in page
    assert "aten::sum.dim_IntList" in page
    assert "every call fared" not in page
    assert "no list of the host" in probe_page(PROBES["cpu"], Page(100))

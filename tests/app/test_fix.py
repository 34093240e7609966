"""``opcheck fix`` on the command line, and on a model of a user's."""

import warnings
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from opcheck.commands.fix import answer as fix_answer
from opcheck.commands.fix.values import FixKind, FixRequest
from opcheck.errors import ExitCode, UsageError
from opcheck.model.plan import Label
from opcheck.model.request import CallSpec, ModelSpec, ScanRequest, TrainingSpec
from opcheck.model.target import TargetSpec
from opcheck.views.formats import Page, command_view
from tests.app.stand_in import StandIn, run
from tests.views.fixes import FIXES, NOT_DONE


def test_fix_asks_for_everything_that_was_said() -> None:
    rooms = StandIn()
    line = (
        "fix proved -t ascend-310p@26.0.0 --shim shim.py --allow tolerance --write "
        "--input ids=1x128:int64 --db a --max-age 90 --timeout 2.5 --memory 4 --trust"
    )
    assert run(line.split(), rooms) == ExitCode.PASS
    assert rooms.asked == [
        FixRequest(
            ScanRequest(
                ModelSpec("proved", ("ids=1x128:int64",), trust=True, timeout=2.5, memory=4.0),
                (TargetSpec("ascend-310p", "26.0.0"),),
                databases=("a",),
                max_age=90,
            ),
            FixKind.SHIM,
            "shim.py",
            Label.TOLERANCE,
            True,
        )
    ]


def test_fix_asks_for_the_step_and_the_calls_that_were_said() -> None:
    rooms = StandIn()
    line = "fix proved -t ascend-310p --shim s.py --schemas a.yaml"
    for more in ("--train --step optimizer=sgd", "--inputs net.py:sets", "--decode"):
        assert run(f"{line} {more}".split(), rooms) == ExitCode.PASS
    scans = [asked.scan for asked in rooms.asked if isinstance(asked, FixRequest)]
    assert [scan.model.step for scan in scans] == [TrainingSpec("sgd"), None, None]
    assert [scan.model.calls for scan in scans] == [
        CallSpec(), CallSpec("net.py:sets"), CallSpec(decode=True)
    ]  # fmt: skip
    assert {scan.model.schemas for scan in scans} == {("a.yaml",)}


@pytest.mark.parametrize("name", ["json", "text"])
@pytest.mark.parametrize("sample", FIXES)
def test_stdout_is_the_answer_and_nothing_else(
    name: str, sample: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    line = f"fix {sample} -t ascend-310p --shim s.py --format {name}"
    assert run(line.split(), StandIn()) == (ExitCode.GATE if sample in NOT_DONE else ExitCode.PASS)
    assert capsys.readouterr().out == command_view("fix", name).render(FIXES[sample], Page(100))


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("fix", ExitCode.USAGE),
        ("fix proved -t ascend-310p", ExitCode.USAGE),
        ("fix proved --shim s.py", ExitCode.USAGE),
        ("fix proved -t ascend-310p -t ascend-910b --shim s.py", ExitCode.USAGE),
        ("fix proved -t ascend-310p --shim s.py --allow all", ExitCode.USAGE),
        ("fix missing.pt2 -t ascend-310p --shim s.py", ExitCode.MODEL),
        ("fix no-database -t ascend-310p --shim s.py", ExitCode.DATABASE),
    ],
)
def test_exit_codes(line: str, code: ExitCode, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(line.split(), StandIn()) == code
    assert capsys.readouterr().out == ""


# --- the rooms themselves ------------------------------------------------------------------------

NET = """\
import torch


class Net(torch.nn.Module):
    def forward(self, x):
        return torch.isin(x, torch.tensor([1, 2], device=x.device)), x.float().std(-1)


def model():
    return Net(), torch.arange(12).reshape(3, 4)
"""


ROUNDED = """\
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)

    def forward(self, x):
        return self.linear(x).std(-1).exp()


def model():
    return Net(), torch.arange(12.0).reshape(3, 4)
"""


def request(shim: str, allow: Label = Label.EXACT, write: bool = False) -> FixRequest:
    target = TargetSpec("moorethreads-s4000", "1.0.0")
    return FixRequest(
        ScanRequest(ModelSpec("net.py:model"), (target,)), FixKind.SHIM, shim, allow, write
    )


@pytest.fixture
def net(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("net.py").write_text(NET, encoding="utf-8")
    return tmp_path


@pytest.mark.slow
def test_a_shim_is_written_once_the_emulated_device_has_proved_it(net: Path) -> None:
    exact = fix_answer.fix(request("shim.py"))
    assert [way.replaces for way in exact.followed] == ["aten::isin.Tensor_Tensor"]
    assert [(rest.replaces, "--allow tolerance" in rest.reason) for rest in exact.left] == [
        ("aten::std.correction", True)
    ]
    assert exact.proof is not None
    assert (exact.proof.gone, exact.proof.runs) == (("aten::isin.Tensor_Tensor",), False)
    assert exact.proof.remaining == ("aten::std.correction",)

    whole = fix_answer.fix(request("shim.py", Label.TOLERANCE, write=True))
    assert whole.proof is not None
    assert (whole.proof.holds, whole.proof.runs, whole.proof.remaining) == (True, True, ())
    assert whole.files == ("shim.py",)
    text = Path("shim.py").read_text(encoding="utf-8")
    assert "opcheck.rewrite" not in text
    assert sorted(path.name for path in net.iterdir() if path.suffix == ".py") == [
        "net.py",
        "shim.py",
    ]


def test_a_file_that_is_there_is_left_alone(net: Path) -> None:
    Path("shim.py").write_text("mine", encoding="utf-8")
    with pytest.raises(UsageError, match="is there already"):
        fix_answer.fix(request("shim.py"))
    assert Path("shim.py").read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize("path", ["no/such/folder/shim.py", "."])
def test_a_place_that_cannot_be_written_to_is_told_before_any_work(net: Path, path: str) -> None:
    with pytest.raises(UsageError):
        fix_answer.fix(request(path, write=True))


@pytest.mark.slow
def test_a_wrong_kernel_is_not_written(net: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _spoil(monkeypatch, ".any(-1)", ".all(-1)")
    found = fix_answer.fix(request("shim.py"))
    assert found.proof is not None
    assert not found.holds
    assert (found.files, Path("shim.py").exists()) == ((), False)
    assert not list(net.glob(".opcheck-*"))


@pytest.mark.slow
def test_values_and_gradients_beyond_the_stated_figure_are_not_written(
    net: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("net.py").write_text(ROUNDED, encoding="utf-8")
    right = fix_answer.fix(request("shim.py", Label.TOLERANCE))
    assert right.proof is not None
    assert right.proof.forward is not None
    assert right.proof.backward is not None
    assert (right.proof.forward.holds, right.proof.backward.holds) == (True, True)
    assert (right.proof.backward.results, right.files) == (3, ("shim.py",))
    assert right.report is not None
    ways = [w for f in right.report.targets[0].findings for w in f.suggestions]
    followed = [w.proof for w in ways if w.rule == "std-by-deviations"]
    assert followed == [right.proof]

    before = Path("shim.py").read_bytes()
    for old, new, wrong in (
        (".sqrt()", ".sqrt() * 1.001", "forward"),
        ("wide - mean.detach()", "(wide - mean).detach() + 0 * wide", "backward"),
    ):
        with monkeypatch.context() as patch:
            _spoil(patch, old, new)
            found = fix_answer.fix(request("shim.py", Label.TOLERANCE, write=True))
        assert found.proof is not None
        compared = getattr(found.proof, wrong)
        assert not compared.holds
        assert compared.allowed < compared.difference
        assert (found.holds, found.files, Path("shim.py").read_bytes()) == (False, (), before)


TRAINED = """\
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)
        self.drop = torch.nn.Dropout(0.5)

    def forward(self, x):
        return self.drop(self.linear(x)).std(-1).exp()


def model():
    return Net(), torch.arange(12.0).reshape(3, 4)


def sets():
    return [(torch.rand(3, 4),), (torch.rand(2, 5, 4),)]


def loss(output):
    return output.square().sum()
"""


@pytest.mark.slow
def test_a_training_step_is_fixed_and_proved_whole(
    net: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("net.py").write_text(TRAINED, encoding="utf-8")
    asked = request("shim.py", Label.TOLERANCE)
    step = TrainingSpec.parse(["optimizer=sgd", "loss=net.py:loss", "wrap=ddp"])
    asked = replace(asked, scan=replace(asked.scan, model=replace(asked.scan.model, step=step)))
    right = fix_answer.fix(asked)
    assert right.trained
    assert right.proof is not None
    assert right.proof.forward is not None
    assert right.proof.backward is not None
    assert (right.proof.forward.results, right.proof.backward.results) == (1, 4)
    assert (right.holds, right.files) == (True, ("shim.py",))
    assert "one process" in right.proof.note
    with monkeypatch.context() as patch:
        _spoil(patch, "wide - mean.detach()", "(wide - mean).detach() + 0 * wide")
        wrong = fix_answer.fix(replace(asked, write=True))
    assert wrong.proof is not None
    assert wrong.proof.backward is not None
    assert (wrong.holds, wrong.proof.backward.holds, wrong.files) == (False, False, ())


@pytest.mark.slow
def test_every_set_of_inputs_is_compared(net: Path) -> None:
    Path("net.py").write_text(TRAINED, encoding="utf-8")
    asked = request("shim.py", Label.TOLERANCE)
    asked = replace(
        asked,
        scan=replace(asked.scan, model=replace(asked.scan.model, calls=CallSpec("net.py:sets"))),
    )
    found = fix_answer.fix(asked)
    assert found.proof is not None
    assert found.proof.forward is not None
    assert (found.holds, found.proof.forward.results) == (True, 2)


@pytest.mark.parametrize("options", [{"step": TrainingSpec()}, {"calls": CallSpec("net.py:sets")}])
def test_a_program_is_of_one_call(net: Path, options: dict[str, Any]) -> None:
    asked = replace(request("fixed.pt2"), kind=FixKind.GRAPH)
    with pytest.raises(UsageError) as caught:
        model = replace(asked.scan.model, **options)
        fix_answer.fix(replace(asked, scan=replace(asked.scan, model=model)))
    assert "--shim" in caught.value.hint


def _spoil(patch: pytest.MonkeyPatch, old: str, new: str) -> None:
    """Have shims say one thing for another."""
    from opcheck.rewrite import shim

    real = shim.shim

    def spoiled(*args: object) -> shim.Shim:
        made = real(*args)  # type: ignore[arg-type]
        assert old in made.text
        return shim.Shim(made.text.replace(old, new), made.registered, made.skipped)

    patch.setattr(shim, "shim", spoiled)


@pytest.mark.slow
def test_a_shim_that_is_no_such_file_is_told(net: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("broken.py").write_text("1 / 0", encoding="utf-8")
    Path("empty.py").write_text("", encoding="utf-8")
    for file, told in {
        "broken.py": "ZeroDivisionError",
        "empty.py": "has no list LIBRARIES",
        "none.py": "No such file",
    }.items():
        line = f"emulate net.py:model -t moorethreads-s4000@1.0.0 --shim {file}"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert run(line.split()) == ExitCode.MODEL
        assert told in capsys.readouterr().err


NOT_MENDED = """
import torch
class Net(torch.nn.Module):
    def forward(self, x):
        return torch.view_as_complex(x) * 2
def net():
    return Net(), (torch.ones(3, 2),)
"""


@pytest.mark.slow
@pytest.mark.parametrize("how", ["--shim shim.py", "--diff"])
def test_where_nothing_was_mended_no_tick_is_shown(
    how: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("net.py").write_text(NOT_MENDED, encoding="utf-8")
    line = f"fix net.py:net -t ascend-910a@26.1.0 {how}"
    assert run(line.split()) == ExitCode.GATE
    out, err = capsys.readouterr()
    assert "nothing could be changed" in " ".join((out + err).split())
    assert "✔" not in out + err
    assert not Path("shim.py").exists()

"""``opcheck upgrade`` on the command line, and on a real model."""

from pathlib import Path

import pytest

from opcheck.commands.upgrade import answer as upgrade_answer
from opcheck.commands.upgrade.values import MoveKind
from opcheck.errors import ExitCode, UsageError
from opcheck.model.request import ModelSpec, ScanRequest
from opcheck.model.target import TargetSpec
from opcheck.views.formats import Page, command_view
from tests.app.stand_in import StandIn, run
from tests.views.upgrades import UPGRADES


def test_upgrade_asks_for_everything_that_was_said() -> None:
    rooms = StandIn()
    line = (
        "upgrade moves -t ascend-310p@26.0.0+torch2.7 --input ids=1x128:int64 --db a --db b "
        "--max-age 90 --timeout 2.5 --memory 4 --trust --format json"
    )
    assert run(line.split(), rooms) == ExitCode.PASS
    assert rooms.asked == [
        ScanRequest(
            ModelSpec("moves", ("ids=1x128:int64",), trust=True, timeout=2.5, memory=4.0),
            (TargetSpec("ascend-310p", "26.0.0", "2.7"),),
            databases=("a", "b"),
            max_age=90,
        )
    ]


@pytest.mark.parametrize("name", ["json", "text"])
@pytest.mark.parametrize("sample", UPGRADES)
def test_stdout_is_the_answer_and_nothing_else(
    name: str, sample: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    line = f"upgrade {sample} -t ascend-310p --format {name}"
    assert run(line.split(), StandIn()) == ExitCode.PASS
    answer = command_view("upgrade", name).render(UPGRADES[sample], Page(100))
    assert capsys.readouterr().out == answer


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("upgrade", ExitCode.USAGE),
        ("upgrade moves", ExitCode.USAGE),
        ("upgrade moves -t ascend-310p -t ascend-910b", ExitCode.USAGE),
        ("upgrade moves -t Ascend!", ExitCode.USAGE),
        ("upgrade moves -t ascend-310p --exact", ExitCode.USAGE),
        ("upgrade no-such-kind -t ascend-310p", ExitCode.USAGE),
        ("upgrade missing.pt2 -t ascend-310p", ExitCode.MODEL),
        ("upgrade no-database -t ascend-310p", ExitCode.DATABASE),
        ("upgrade stuck -t ascend-310p", ExitCode.PASS),
    ],
)
def test_exit_codes(line: str, code: ExitCode, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(line.split(), StandIn()) == code
    assert bool(capsys.readouterr().out) is (code == ExitCode.PASS)


@pytest.mark.parametrize("targets", [(), ("all",), ("ascend",), ("ascend-910b", "ascend-310p")])
def test_a_move_starts_at_one_target(targets: tuple[str, ...]) -> None:
    specs = tuple(map(TargetSpec.parse, targets))
    with pytest.raises(UsageError, match=r"target| may be "):
        upgrade_answer.upgrade(ScanRequest(ModelSpec("torchvision:resnet18"), specs))


MODEL = """
import torch

class Spectrum(torch.nn.Module):
    def forward(self, x):
        return torch.special.i0(torch.fft.rfft2(x).real)

net = Spectrum()
"""


@pytest.mark.slow
def test_a_release_that_has_the_operator_is_named(tmp_path: Path) -> None:
    """``aten::_fft_r2c`` came with 6.0.0; no release has ``aten::i0``."""
    file = tmp_path / "spectrum.py"
    file.write_text(MODEL, encoding="utf-8")
    target = TargetSpec.parse("ascend-910b@5.0.0+torch2.1")
    found = upgrade_answer.upgrade(ScanRequest(ModelSpec(f"{file}:net", ("8x8",)), (target,)))
    gone = {
        blocked.finding.op: {kind: str(there) for kind, there in blocked.gone.items()}
        for blocked in found.blocked
    }
    assert gone == {
        "aten::fft_rfft2": {
            MoveKind.RELEASE: "ascend-910b@6.0.0+torch2.1",
            MoveKind.CHIP: "ascend-310b@26.1.0+torch2.12",
        },
        "aten::special_i0": {},
    }
    assert found.best is not None
    assert str(found.best.target) == "ascend-910b@6.0.0+torch2.1"
    assert [blocked.finding.op for blocked in found.stuck] == ["aten::special_i0"]

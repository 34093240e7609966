"""``opcheck choose`` on the command line, and on a real model."""

from pathlib import Path

import pytest

from opcheck.commands.choose import answer as choose_answer
from opcheck.commands.choose.values import Criterion, Fit, Way
from opcheck.errors import ExitCode
from opcheck.model.request import ModelSpec, ScanRequest, TrainingSpec
from opcheck.model.target import TargetSpec
from opcheck.views.formats import Page, command_view
from tests.app.stand_in import StandIn, run
from tests.views.choosings import CHOOSINGS


def test_choose_asks_for_everything_that_was_said() -> None:
    rooms = StandIn()
    line = (
        "choose many -t ascend -t nvidia-a100 --input ids=1x128:int64 --train --db a --db b "
        "--rules mine --max-age 90 --timeout 2.5 --memory 4 --trust --format json"
    )
    assert run(line.split(), rooms) == ExitCode.PASS
    assert rooms.asked == [
        ScanRequest(
            ModelSpec(
                "many",
                ("ids=1x128:int64",),
                step=TrainingSpec.parse(()),
                trust=True,
                timeout=2.5,
                memory=4.0,
            ),
            (TargetSpec("ascend"), TargetSpec("nvidia-a100")),
            databases=("a", "b"),
            max_age=90,
            rules=("mine",),
        )
    ]


@pytest.mark.parametrize("name", ["json", "text"])
@pytest.mark.parametrize("sample", CHOOSINGS)
def test_stdout_is_the_answer_and_nothing_else(
    name: str, sample: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    assert run(["choose", sample, "--format", name], StandIn()) == ExitCode.PASS
    answer = command_view("choose", name).render(CHOOSINGS[sample], Page(100))
    assert capsys.readouterr().out == answer


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("choose", ExitCode.USAGE),
        ("choose many -t Ascend!", ExitCode.USAGE),
        ("choose many --exact", ExitCode.USAGE),
        ("choose many --format html", ExitCode.USAGE),
        ("choose many --decode --train", ExitCode.USAGE),
        ("choose no-such-kind", ExitCode.USAGE),
        ("choose missing.pt2", ExitCode.MODEL),
        ("choose no-database", ExitCode.DATABASE),
        ("choose many", ExitCode.PASS),
    ],
)
def test_exit_codes(line: str, code: ExitCode, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(line.split(), StandIn()) == code
    assert bool(capsys.readouterr().out) is (code == ExitCode.PASS)


MODEL = """
import torch

class Spectrum(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.mix = torch.nn.Linear(64, 64)

    def forward(self, x):
        return torch.special.i0(self.mix(x))

net = Spectrum()
"""


@pytest.mark.slow
def test_one_trace_answers_for_every_target(tmp_path: Path) -> None:
    file = tmp_path / "spectrum.py"
    file.write_text(MODEL, encoding="utf-8")
    names = ("nvidia-a100", "ascend-910b", "nvidia-t4", "hygon-z100")
    specs = tuple(map(TargetSpec.parse, names))
    found = choose_answer.choose(ScanRequest(ModelSpec(f"{file}:net", ("8x64",)), specs))
    places = {f"{one.vendor}-{one.chip}": one for one in found.choices}
    assert list(places) == ["nvidia-a100", "nvidia-t4", "ascend-910b", "hygon-z100"]
    assert [one.place for one in found.choices] == [1, 2, 3, 4]
    a100, ascend, z100 = (places[n] for n in ("nvidia-a100", "ascend-910b", "hygon-z100"))
    assert (a100.way, a100.fit) == (Way.ITSELF, Fit.EVERY)
    assert a100.need.weights == (64 * 64 + 64) * 4
    assert a100.best is not None
    assert a100.best.name == "A100 80GB SXM"
    assert (ascend.way, ascend.criterion, ascend.host_calls) == (Way.HOST, Criterion.WAY, 1)
    assert (z100.way, z100.fit, z100.seconds) == (Way.ITSELF, Fit.UNKNOWN, None)
    assert found.dtypes == {"float32": 2 * 8 * 64 * 64}

"""``opcheck fix --custom-op``: what is asked for, and a project for a model of a user's."""

from pathlib import Path

import pytest

from opcheck.commands.fix import answer as fix_answer
from opcheck.commands.fix.values import FixKind, FixRequest
from opcheck.errors import ExitCode, UsageError
from opcheck.model.plan import Label, Tier
from opcheck.model.request import ModelSpec, ScanRequest
from opcheck.model.target import TargetSpec
from tests.app.stand_in import StandIn, run

NET = """\
import torch


class Net(torch.nn.Module):
    def forward(self, x):
        return torch.special.erfcx(x), torch.special.airy_ai(x), torch.neg(x)


def model():
    return Net(), torch.ones(4, 8)
"""


def request(name: str, into: str = "", **more: object) -> FixRequest:
    scan = ScanRequest(ModelSpec("net.py:model"), (TargetSpec("ascend-910b", "6.0.0"),))
    return FixRequest(scan, FixKind.CUSTOM, into, operator=name, **more)  # type: ignore[arg-type]


def test_it_asks_for_everything_that_was_said() -> None:
    rooms = StandIn()
    line = "fix custom -t nvidia-h100 --custom-op erfcx --into made --toolchain triton --write"
    assert run(line.split(), rooms) == ExitCode.PASS
    assert rooms.asked == [
        FixRequest(
            ScanRequest(ModelSpec("custom"), (TargetSpec("nvidia-h100"),)),
            FixKind.CUSTOM, "made", Label.EXACT, True, "erfcx", "triton",
        )
    ]  # fmt: skip


@pytest.mark.parametrize(
    "line",
    [
        "fix custom -t nvidia-h100 --custom-op erfcx --shim s.py",
        "fix custom -t nvidia-h100 --shim s.py --into made",
        "fix custom -t nvidia-h100 --shim s.py --toolchain triton",
        "fix custom -t nvidia-h100 --into made",
    ],
)
def test_what_does_not_go_together_is_told(line: str) -> None:
    assert run(line.split(), StandIn()) == ExitCode.USAGE


@pytest.fixture
def net(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("net.py").write_text(NET, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    "name", ["aten::special_erfcx", "special_erfcx", "aten::special_erfcx.out"]
)
def test_a_project_is_written_for_every_way_to_name_it(net: Path, name: str) -> None:
    found = fix_answer.fix(request(name))
    (way,) = found.followed
    assert (way.op, way.replaces) == ("aten::special_erfcx", "aten::special_erfcx.out")
    assert (way.rule, way.tier) == ("custom-operator", Tier.CUSTOM)
    assert found.files == tuple(sorted(found.files))
    assert {Path(file).parts[0] for file in found.files} == {"opcheck_special_erfcx"}
    assert (found.proof, found.holds) == (None, True)
    assert "nothing has built or run it" in found.unproven
    assert "left to write" not in found.unproven
    cases = Path("opcheck_special_erfcx/cases.py").read_text(encoding="utf-8")
    assert "dict(self=tensor((4, 8), (8, 1), torch.float32))" in cases


def test_what_is_left_to_write_is_told(net: Path) -> None:
    found = fix_answer.fix(request("special_airy_ai", "made"))
    assert "left to write: Compute() in op/op_kernel/opcheck_special_airy_ai.cpp" in found.unproven


@pytest.mark.parametrize(
    ("name", "more", "told"),
    [
        ("aten::relu", {}, "the model does not call aten::relu"),
        ("neg", {}, "the target runs neg as it is"),
        ("not a name", {}, "the model does not call"),
        ("special_erfcx", {"toolchain": "cuda"}, "cuda builds nothing for ascend-910b"),
    ],
)
def test_what_cannot_be_written_is_told(
    net: Path, name: str, more: dict[str, str], told: str
) -> None:
    with pytest.raises(UsageError, match=told):
        fix_answer.fix(request(name, **more))
    assert [path.name for path in net.iterdir() if path.name != "__pycache__"] == ["net.py"]


def test_a_folder_that_is_there_is_left_alone(net: Path) -> None:
    Path("made").mkdir()
    with pytest.raises(UsageError, match="is there already"):
        fix_answer.fix(request("special_erfcx", "made"))
    assert not list(Path("made").iterdir())
    fix_answer.fix(request("special_erfcx", "made", write=True))
    assert Path("made/README.md").exists()


def test_a_vendor_without_a_toolchain_is_told_before_any_work(net: Path) -> None:
    asked = FixRequest(
        ScanRequest(ModelSpec("missing.py:model"), (TargetSpec("google-tpu-v4"),)),
        FixKind.CUSTOM,
        operator="x",
    )
    with pytest.raises(UsageError, match="a TPU runs what XLA compiles"):
        fix_answer.fix(asked)

"""Scripts of findings, run as a process: on the host, and on the emulated device."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from opcheck.commands.repro import answer as repro_answer
from opcheck.commands.repro.arguments import read_arguments
from opcheck.commands.repro.script import script
from opcheck.commands.repro.values import Argument, Repro, ReproRequest
from opcheck.commands.scan import answer as scan_answer
from opcheck.errors import ExitCode, UsageError
from opcheck.lang.speech import Language, speaking
from opcheck.model.request import ModelSpec, ScanRequest, TrainingSpec
from opcheck.model.target import Target, TargetSpec
from opcheck.model.trace import Constant, OpName, TensorMeta
from opcheck.views.formats import report_view
from tests.app.stand_in import StandIn, run
from tests.preloaded import python
from tests.views.samples import STANDARD

ROOT = Path(__file__).parents[3]
MODEL = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(10, 6)

    def forward(self, ids):
        x = self.table(ids).transpose(0, 1)
        y = torch.special.i0(x[:, ::2])
        z = torch.cat([y, y]).to(torch.bfloat16).cumsum(0)
        return torch.gather(z.float(), 0, ids.clamp(max=2)[:, :1, None].expand(-1, 2, 6)).sum()

net = Net()
"""
OLD = TargetSpec("ascend-910a", "26.1.0")
INPUTS = ("ids=4x3:int64",)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("repro") / "net.py"
    file.write_text(MODEL, encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def report(model: Path) -> Path:
    """What a scan of the model for an old chip says."""
    found = scan_answer.scan(ScanRequest(ModelSpec(f"{model}:net", INPUTS), (OLD,)))
    path = model.with_name("report.json")
    path.write_text(report_view("json").render(found), encoding="utf-8")
    return path


def asked(report: Path, finding: str) -> str:
    return repro_answer.repro(ReproRequest(ScanRequest(ModelSpec(str(report)), ()), finding))


def played(folder: Path, text: str, *options: str) -> subprocess.CompletedProcess[str]:
    """The script run as a user runs it."""
    path = folder / "repro.py"
    path.write_text(text, encoding="utf-8")
    return subprocess.run(
        [*python("torch"), str(path), *options],
        capture_output=True, text=True, check=False, cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip


def results(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("result ")]


@pytest.mark.slow
def test_every_finding_runs_on_the_host_and_as_told_on_the_device(
    report: Path, tmp_path: Path
) -> None:
    """What is unsupported raises, what is not gives the values of the host."""
    findings = json.loads(report.read_text(encoding="utf-8"))["targets"][0]["findings"]
    told = [f for f in findings if f["verdict"] != "native"]
    assert {f["verdict"] for f in told} >= {"unsupported", "fallback"}
    for finding in told:
        text = asked(report, finding["id"])
        emulated = played(tmp_path, text, "--emulate")
        assert emulated.returncode == (finding["verdict"] == "unsupported"), emulated.stderr
        if emulated.returncode:
            assert not results(emulated.stdout)
            on_host = played(tmp_path, text, "--device", "cpu")
            assert (on_host.returncode, on_host.stderr) == (0, ""), finding["op"]
            assert results(on_host.stdout), finding["op"]


@pytest.mark.slow
def test_the_vendor_s_own_words_are_shown(report: Path, tmp_path: Path) -> None:
    refused = played(tmp_path, asked(report, "aten::cumsum"), "--emulate")
    assert "bfloat16, which 910a does not have" in refused.stderr
    host = played(tmp_path, asked(report, "aten::special_i0"), "--emulate")
    assert "'aten::i0.out' is not currently supported on the NPU backend" in host.stderr
    assert results(host.stdout) == [
        "result 0: torch.float32 (3, 2, 6) on npu:0",
        "result 0: largest difference to the CPU 0.0",
    ]


@pytest.mark.slow
def test_a_dtype_that_is_changed_on_the_way_is_made_there(tmp_path: Path) -> None:
    model = f"{ROOT / 'examples' / 'rotary_attention.py'}:model"  # it makes float64 on the device
    target = TargetSpec("ascend-910b", "26.1.0")
    text = repro_answer.repro(ReproRequest(ScanRequest(ModelSpec(model), (target,)), "aten::polar"))
    done = played(tmp_path, text, "--emulate")
    assert done.returncode == 1, done.stdout
    assert "abs is float64, which the vendor's tables of native APIs leave out" in done.stderr


@pytest.mark.slow
def test_the_device_s_plugin_is_asked_for_first(report: Path, tmp_path: Path) -> None:
    done = played(tmp_path, asked(report, "aten::cumsum"))
    assert done.returncode == 1
    assert done.stderr.rstrip().endswith("No module named 'torch_npu'")
    assert "torch_npu is not installed" in done.stdout


@pytest.mark.slow
def test_strides_are_those_of_the_model(model: Path, report: Path) -> None:
    scan = ScanRequest(ModelSpec(f"{model}:net", INPUTS), (OLD,))
    traced = repro_answer.repro(ReproRequest(scan, "aten::special_i0"))
    assert '"self": tensor(torch.float32, (3, 2, 6), (6, 36, 1), device),' in traced
    read = asked(report, "aten::special_i0")
    assert '"self": tensor(torch.float32, (3, 2, 6), (12, 6, 1), device),' in read
    assert ("no strides" in read, "no strides" in traced) == (True, False)


@pytest.mark.slow
def test_a_finding_of_the_backward_is_its_overload(model: Path, tmp_path: Path) -> None:
    scan = ScanRequest(ModelSpec(f"{model}:net", INPUTS, step=TrainingSpec.parse(())), (OLD,))
    text = repro_answer.repro(ReproRequest(scan, "aten::embedding_dense_backward"))
    head = text.partition("import argparse")[0].replace("\n# ", " ")
    assert " · in backward" in head
    assert played(tmp_path, text, "--device", "cpu").returncode == 0


def test_nothing_of_the_model_is_in_it(model: Path, report: Path) -> None:
    for text in (asked(report, "aten::gather"), asked(report, "aten::embedding")):
        assert str(model) not in text
        assert "net" not in text.lower().replace("opcheck", "")


def test_comments_are_in_the_language_of_the_run(report: Path) -> None:
    with speaking(Language.CHINESE):
        text = asked(report, "aten::cumsum")
    assert "# 报告不含步长" in text
    compile(text, "repro.py", "exec")


@pytest.mark.parametrize(
    ("finding", "message"),
    [
        ("aten::relu", "has no finding 'aten::relu'"),
        ("000", "has no finding '000'"),
        ("", "has no finding ''"),
    ],
)
def test_a_finding_that_is_not_there(report: Path, finding: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        asked(report, finding)
    assert "aten::cumsum, unsupported" in caught.value.hint


@pytest.mark.slow
def test_the_beginning_of_an_id_will_do(report: Path) -> None:
    findings = json.loads(report.read_text(encoding="utf-8"))["targets"][0]["findings"]
    for finding in findings:
        assert asked(report, finding["id"][:8]) == asked(report, finding["id"])


def test_a_finding_of_several_targets_wants_one(model: Path) -> None:
    targets = (TargetSpec("ascend-910a"), TargetSpec("ascend-310p"))
    with pytest.raises(UsageError, match="a finding on several targets: ascend-910a"):
        repro_answer.repro(
            ReproRequest(ScanRequest(ModelSpec(f"{model}:net", INPUTS), targets), "aten::cumsum")
        )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("self: bfloat16[6,2,6]", "self: bfloat16[6,2,6]; import os"),
        ("self: bfloat16[6,2,6]", "self\\n: bfloat16[6]"),
        ("self: bfloat16[6,2,6]", "__import__('os'): bfloat16[6]"),
        ("self: bfloat16[6,2,6]", "self: evil[6]"),
    ],
)
def test_a_report_brings_no_code(report: Path, tmp_path: Path, old: str, new: str) -> None:
    text = report.read_text(encoding="utf-8")
    assert old in text
    path = tmp_path / "report.json"
    path.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(UsageError):
        asked(path, "aten::cumsum")


def test_a_report_brings_no_code_in_its_sentences(report: Path, tmp_path: Path) -> None:
    text = report.read_text(encoding="utf-8")
    path = tmp_path / "report.json"
    path.write_text(text.replace("bfloat16 needs", "\\nraise SystemExit(7)\\n"), encoding="utf-8")
    assert played(tmp_path, asked(path, "aten::cumsum"), "--device", "cpu").returncode == 0


def test_arguments_are_read_as_they_are_shown() -> None:
    shown = (
        "self: float32[1,3]", "other: int64[] (host)", "xs=[float32[2], None, [1, 2]]", "dim=-1",
        "p=0.5", "training=True", "mode=reflect", "dtype=float16", "device=npu:0", "eq=ab,bc->ac",
        "memory_format=channels_last", "scale=inf", "empty=[]",
    )  # fmt: skip
    assert read_arguments(shown) == (
        Argument("self", TensorMeta("float32", (1, 3), (3, 1))),
        Argument("other", TensorMeta("int64", (), (), host=True)),
        Argument("xs", (TensorMeta("float32", (2,), (1,)), None, (1, 2))),
        Argument("dim", -1),
        Argument("p", 0.5),
        Argument("training", True),
        Argument("mode", "reflect"),
        Argument("dtype", Constant("dtype", "float16")),
        Argument("device", Constant("device", "npu:0")),
        Argument("eq", "ab,bc->ac"),
        Argument("memory_format", Constant("memory_format", "channels_last")),
        Argument("scale", float("inf")),
        Argument("empty", ()),
    )


@pytest.mark.parametrize("target", ["nvidia-tensorrt", "cambricon-mlu370"])
def test_what_no_script_can_call(target: str, tmp_path: Path) -> None:
    """A graph compiler's call, and an operator that stands for a library's function."""
    file = tmp_path / "net.py"
    file.write_text(
        "import torch\nfrom flash_attn import flash_attn_func\n"
        "class Net(torch.nn.Module):\n"
        "    def forward(self, q):\n        return flash_attn_func(q, q, q)\n"
        "net = Net()\n",
        encoding="utf-8",
    )
    scan = ScanRequest(ModelSpec(f"{file}:net", ("1x8x2x16:float16",)), (TargetSpec(target),))
    with pytest.raises(UsageError, match=r"compiles whole graphs|no operator that a script"):
        repro_answer.repro(ReproRequest(scan, "flash_attn::flash_attn_func"))


def test_the_command_writes_what_it_is_given(capsys: pytest.CaptureFixture[str]) -> None:
    rooms = StandIn()
    line = "repro net.py:net aten::gelu -t ascend-910b --input 8x8 --db a --timeout 2"
    assert run(line.split(), rooms) == ExitCode.PASS
    assert capsys.readouterr().out == "import torch\n"
    scan = ScanRequest(
        ModelSpec("net.py:net", ("8x8",), timeout=2.0),
        (TargetSpec("ascend-910b"),),
        databases=("a",),
    )
    assert rooms.asked == [ReproRequest(scan, "aten::gelu")]


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("", "#     python SCRIPT.py                # on mps"),
        ("torch_npu", "#     python SCRIPT.py                # on npu, after import torch_npu"),
    ],
)
def test_a_script_says_what_it_runs_on(module: str, line: str) -> None:
    (found,) = (f for f in STANDARD["mixed"].targets[0].findings if f.op == "torchvision::nms")
    device = "npu" if module else "mps"
    text = script(
        Repro(
            Target("vendor", "chip", "1.0", "2.13", device), OpName.parse(found.op), found, (),
            strides=True, emulated=False, module=module, package=module.replace("_", "-"),
            torch_version="2.13.0", opcheck_version="0.1.0",
        )
    )  # fmt: skip
    assert [each for each in text.splitlines() if "SCRIPT.py" in each] == [
        line,
        "#     python SCRIPT.py --device cpu   # on the host",
    ]
    compile(text, "repro.py", "exec")

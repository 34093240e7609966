"""``opcheck fix --dynamic``: sizes that vary padded to few, proved, and written."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from opcheck.commands.fix import answer as fix_answer
from opcheck.commands.fix.padded import Padding
from opcheck.commands.fix.values import FixKind, FixRequest
from opcheck.errors import UsageError
from opcheck.model.dynamic import Taking, dynamic_inputs
from opcheck.model.request import CallSpec, ModelSpec, ScanRequest, TrainingSpec
from opcheck.model.target import TargetSpec
from tests.app.stand_in import Outcome, outcome

pytestmark = pytest.mark.slow

NET = """\
import torch
from torch import nn


class Words(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(50, 8)
        self.block = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)

    def forward(self, ids, mask):
        return self.block(self.words(ids), src_key_padding_mask=~mask)


class Mean(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(50, 8)

    def forward(self, ids):
        return self.words(ids).mean(1)


def net():
    return Words(), (torch.arange(32).view(2, 16), torch.ones(2, 16, dtype=torch.bool))


def mean():
    return Mean(), torch.arange(16).view(1, 16)
"""


@pytest.fixture(autouse=True)
def nets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "net.py").write_text(NET)
    return tmp_path


def run(line: str) -> Outcome:
    """Run one command line; its pages are one line."""
    made = outcome(line.split())
    text = made.stdout if "json" in line else " ".join(made.stdout.split())
    return Outcome(made.exit_code, text, " ".join(made.stderr.split()))


def request(source: str, target: str, path: str = "", **model: object) -> FixRequest:
    spec = ModelSpec(source, dynamic=dynamic_inputs(["ids:1"]), **model)  # type: ignore[arg-type]  # a few of its fields
    return FixRequest(ScanRequest(spec, (TargetSpec.parse(target),)), FixKind.WRAPPER, path)


def padding(source: str, target: str, path: str = "") -> Padding:
    return fix_answer.pad(request(source, target, path))


def test_a_wrapper_is_written_that_a_program_imports() -> None:
    found = padding("net.py:net", "google-tpu-v4", "padded.py")
    assert found.holds
    assert found.files == ("padded.py",)
    assert (found.shapes_before, found.shapes_after) == (16, 4)
    assert found.taken is not None
    assert found.taken.how is Taking.RECOMPILES
    assert found.taken.evidence[0].source == "pytorch/xla"
    code = (
        "import net, padded\n"
        "model, (ids, mask) = net.net()\n"
        "model = padded.wrapped(model.eval())\n"
        "print([tuple(model(ids[:, :n], mask[:, :n]).shape) for n in (3, 16)])\n"
    )
    made = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (made.returncode, made.stdout) == (0, "[(2, 3, 8), (2, 16, 8)]\n"), made.stderr


def test_padding_that_changes_values_writes_nothing() -> None:
    made = run("fix net.py:mean -t google-tpu-v4 --dynamic ids:1 --wrapper padded.py")
    assert made.exit_code == 10
    assert "padding changes what the model gives, so nothing was written" in made.stdout
    assert "with ids:1 = 1 padded to ids:1 = 2, and may be by" in made.stdout
    assert not Path("padded.py").exists()


def test_a_target_that_takes_every_size_has_no_gain() -> None:
    found = padding("net.py:net", "nvidia-a100")
    assert found.holds
    assert found.files == ()
    assert found.taken is not None
    assert found.taken.how is Taking.FINE


def test_the_answer_as_json_has_every_check() -> None:
    line = "fix net.py:mean -t habana-gaudi2 --dynamic ids:1 --buckets ids:1=8,16 --format json"
    made = run(line)
    assert made.exit_code == 10
    found = json.loads(made.stdout)
    assert found["schema"] == "opcheck.padding/1"
    assert found["axes"] == [
        {"name": "ids:1", "members": ["ids:1"], "buckets": [8, 16], "smallest": 1}
    ]
    assert [check["sizes"] for check in found["checks"]] == [
        f"ids:1 = {size}" for size in (1, 4, 7, 9, 12, 15)
    ]
    assert not any(check["holds"] for check in found["checks"])


def test_in_chinese_nothing_is_english() -> None:
    made = run("fix net.py:mean -t google-tpu-v4 --dynamic ids:1 --lang zh")
    text = made.stdout.replace(" ", "")
    assert "填充会改变模型的结果，因此没有写入任何文件" in text
    assert "ids:1以0填充" in text


VALUES = """\
import torch
from torch import nn


class Boxes(nn.Module):
    def forward(self, x):
        places = torch.nonzero(x > 0)
        kept = x[x > 0]
        while x.sum() > 100:
            x = x / 2
        return x * 2, places.sum() * 0, kept.sum() * 0


def net():
    return Boxes(), torch.rand(8, 4)
"""


@pytest.mark.parametrize(
    ("target", "needs"),
    [("nvidia-a100", "aten::nonzero_static"), ("google-tpu-v4", "aten::sort.stable")],
)
def test_places_that_depend_on_values_are_named(target: str, needs: str) -> None:
    Path("values.py").write_text(VALUES)
    made = run(f"fix values.py:net -t {target} --dynamic x:0 --format json")
    assert made.exit_code == 0
    places = json.loads(made.stdout)["places"]
    assert [(one["file"], one["line"], one["op"]) for one in places] == [
        ("values.py", 7, "aten::nonzero"),
        ("values.py", 8, "aten::index.Tensor"),
        ("values.py", 9, "aten::is_nonzero"),
    ]
    code = places[0]["code"]
    assert (code["needs"], code["there"], code["draws"], code["right"]) == (needs, True, 6, 6)
    assert places[2]["code"] is None
    assert "torch.while_loop" in places[2]["advice"]


def test_a_model_that_generates_is_told_of_its_librarys_cache() -> None:
    config = {
        "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 32,
        "intermediate_size": 48, "num_hidden_layers": 1, "num_attention_heads": 4,
        "num_key_value_heads": 2, "vocab_size": 50,
    }  # fmt: skip
    Path("config.json").write_text(json.dumps(config))
    made = run("fix config.json -t google-tpu-v4 --dynamic input_ids:1 --buckets 8,16")
    assert made.exit_code == 0
    assert 'generate(..., cache_implementation="static") keeps the cache at one' in made.stdout
    assert "transformers/models/llama/modeling_llama.py:" in made.stdout
    assert "output.past_key_values is DynamicCache, which cannot be cut" in made.stdout


def test_a_saved_program_of_one_size_takes_no_other() -> None:
    import runpy

    import torch

    model, args = runpy.run_path("net.py")["net"]()
    torch.export.save(torch.export.export(model.eval(), args), "saved.pt2")
    found = padding("saved.pt2", "google-tpu-v4")
    assert not found.holds
    assert "the model itself takes no size that is padded to ids:1 = 2" in found.run.reason


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--dynamic ids:1 --shim s.py", "--dynamic writes a wrapper, and --shim changes the model"),
        ("--dynamic ids:1 --better", "--dynamic writes a wrapper, and --better changes the model"),
        ("--diff --buckets 8,16", "--buckets goes with --dynamic"),
        ("--wrapper padded.py", "--wrapper goes with --dynamic"),
        ("--dynamic ids:1 --wrapper padded.pt2", "a module of Python's has another name"),
        ("--dynamic nope:1", "the model is given no tensor named 'nope'"),
        ("--dynamic ids", "is not the name of an input"),
    ],
)
def test_what_does_not_go_together_is_refused(options: str, said: str) -> None:
    made = run(f"fix net.py:net -t google-tpu-v4 {options}")
    assert made.exit_code == 2
    assert said in made.stderr


def test_a_training_step_and_several_calls_are_refused() -> None:
    with pytest.raises(UsageError) as caught:
        fix_answer.pad(request("net.py:net", "google-tpu-v4", step=TrainingSpec()))
    assert "not for a training step" in caught.value.message
    with pytest.raises(UsageError) as caught:
        fix_answer.pad(request("net.py:net", "google-tpu-v4", calls=CallSpec(decode=True)))
    assert "is for one call of the model" in caught.value.message

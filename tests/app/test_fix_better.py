"""``opcheck fix --better``: calls fused into kernels that the target has, proved, and written."""

import json
import runpy
import subprocess
from pathlib import Path

import pytest
import yaml

from opcheck.commands.fix import answer as fix_answer
from opcheck.commands.fix.fused import Better
from opcheck.commands.fix.values import FixKind, FixRequest
from opcheck.errors import TraceError, UsageError
from opcheck.model.request import CallSpec, ModelSpec, ScanRequest, TrainingSpec
from opcheck.model.target import TargetSpec
from opcheck.rewrite.fusing.base import fusions
from tests.app.stand_in import Outcome, outcome
from tests.console import ROOT
from tests.preloaded import python

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("libraries_are_loaded")]

GPT = """\
import math

import torch
from torch import nn
from torch.nn import functional as F


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.out, self.drop = nn.Linear(32, 96), nn.Linear(32, 32), nn.Dropout(0.1)
        self.register_buffer("seen", torch.tril(torch.ones(16, 16)).view(1, 1, 16, 16))

    def forward(self, x):
        batch, many, width = x.shape
        heads = [t.view(batch, many, 4, 8).transpose(1, 2) for t in self.qkv(x).split(32, dim=2)]
        query, key, value = heads
        scores = (query @ key.transpose(-2, -1)) * (1.0 / math.sqrt(key.size(-1)))
        scores = scores.masked_fill(self.seen[:, :, :many, :many] == 0, float("-inf"))
        found = self.drop(F.softmax(scores, dim=-1)) @ value
        return self.out(found.transpose(1, 2).contiguous().view(batch, many, width))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.attention = nn.LayerNorm(32), Attention()
        self.up, self.down = nn.Linear(32, 128), nn.Linear(64, 32)

    def forward(self, x):
        x = x + self.attention(self.norm(x))
        gate, value = self.up(x).chunk(2, dim=-1)
        return x + self.down(F.silu(gate) * value)


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(50, 32)
        self.blocks = nn.ModuleList([Block(), Block()])

    def forward(self, ids):
        x = self.words(ids)
        for block in self.blocks:
            x = block(x)
        return x @ self.words.weight.T


def gpt():
    return GPT(), torch.arange(32).view(2, 16)


def vit():
    from transformers import ViTConfig, ViTModel

    config = ViTConfig(hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
                       intermediate_size=64, image_size=32, patch_size=8,
                       attn_implementation="eager")
    return ViTModel(config), torch.randn(1, 3, 32, 32)


def plain():
    return nn.Linear(4, 4), torch.randn(2, 4)
"""
LLAMA = {
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 64,
    "intermediate_size": 96, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "vocab_size": 50, "torch_dtype": "bfloat16", "use_cache": False,
}  # fmt: skip


@pytest.fixture(autouse=True)
def nets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "net.py").write_text(GPT)
    (tmp_path / "config.json").write_text(json.dumps(LLAMA))
    return tmp_path


def run(*line: str) -> Outcome:
    """Run one command line; its pages are one line."""
    made = outcome(line)
    text = made.stdout if "json" in line else " ".join(made.stdout.split())
    return Outcome(made.exit_code, text, " ".join(made.stderr.split()))


def better(
    source: str, target: str, path: str = "", rules: tuple[str, ...] = (), **model: object
) -> Better:
    spec = ModelSpec(source, **model)  # type: ignore[arg-type]  # a few of its fields
    scan = ScanRequest(spec, (TargetSpec.parse(target),), rules=rules)
    return fix_answer.fuse(FixRequest(scan, FixKind.GRAPH, path))


def places(found: Better) -> dict[str, list[str]]:
    return {one.rule: list(one.modules) for one in found.fused}


def test_a_llama_has_its_norms_and_rotations_fused_on_ascend() -> None:
    found = better("config.json", "ascend-910b", "llama.pt2")
    assert found.holds
    assert places(found) == {
        "rms-norm-npu": [
            "model.layers.0.input_layernorm", "model.layers.0.post_attention_layernorm",
            "model.layers.1.input_layernorm", "model.layers.1.post_attention_layernorm",
            "model.norm",
        ],
        "rotary-npu": [f"model.layers.{i}.self_attn" for i in (0, 0, 1, 1)],
        "swiglu-npu": ["model.layers.0.mlp", "model.layers.1.mlp"],
    }  # fmt: skip
    assert found.left == ()
    assert {one.rule: (one.calls_before, one.calls_after) for one in found.fused} == {
        "rms-norm-npu": (30, 5),
        "rotary-npu": (20, 4),
        "swiglu-npu": (8, 4),
    }
    assert all(fact.source == "Ascend/op-plugin" for one in found.fused for fact in one.evidence)
    assert found.files == ("llama.pt2", "llama_operators.py")
    after = json.loads(run("scan", "llama.pt2", "-t", "ascend-910b", "--format", "json").stdout)
    verdicts = {one["op"]: one["verdict"] for one in after["targets"][0]["findings"]}
    called = ("npu::npu_rms_norm", "npu::npu_rotary_mul", "npu::npu_swiglu")
    assert [verdicts[op] for op in called] == ["native"] * 3


def test_a_gpt_has_its_attention_and_its_gates_fused() -> None:
    found = better("net.py:gpt", "ascend-910b", "gpt.pt2")
    assert found.holds
    assert places(found) == {
        "swiglu-npu": ["blocks.0", "blocks.1"],
        "attention-torch": ["blocks.0.attention", "blocks.1.attention"],
    }
    assert found.left == ()
    assert found.check is not None
    assert (found.check.results, found.check.draws) == (1, 3)
    assert found.bytes_saved > 0
    assert found.calls_saved == 8
    code = (
        "import torch, gpt_operators\n"
        "import net\n"
        "program = torch.export.load('gpt.pt2')\n"
        "calls = {str(n.target) for n in program.graph.nodes if n.op == 'call_function'}\n"
        "assert 'npu.npu_swiglu.default' in calls, calls\n"
        "assert 'aten.softmax.int' not in calls, calls\n"
        "print(tuple(program.module()(torch.arange(32).view(2, 16)).shape))\n"
    )
    loaded = subprocess.run(
        [*python("torch"), "-c", code], capture_output=True, text=True, check=False
    )
    assert (loaded.returncode, loaded.stdout) == (0, "(2, 16, 50)\n"), loaded.stderr


@pytest.mark.parametrize(
    "target", ["nvidia-a100", "cambricon-mlu590", "moorethreads-s5000", "apple-mps"]
)
def test_a_vision_transformer_has_its_attention_fused(target: str) -> None:
    found = better("net.py:vit", target)
    assert found.holds
    assert found.files == ()
    assert list(places(found)) == ["attention-torch"]
    assert len(found.fused[0].modules) == 2
    assert found.newly_off == ()


def test_gates_are_fused_into_the_kernel_of_moore_threads() -> None:
    found = better("net.py:gpt", "moorethreads-s5000", "gpt.pt2")
    assert found.holds
    assert [one.kernel for one in found.fused] == [
        "aten::_fused_swiglu_forward", "aten::scaled_dot_product_attention",
    ]  # fmt: skip
    assert "import torch_musa" in Path("gpt_operators.py").read_text()


def test_a_release_without_the_kernel_has_nothing_fused_into_it() -> None:
    found = better("net.py:gpt", "ascend-910b@5.0.0")
    assert "swiglu-npu" not in places(found)


def test_a_model_with_nothing_to_fuse_passes() -> None:
    made = run("fix", "net.py:plain", "-t", "ascend-910b", "--better", "--graph", "net.pt2")
    assert made.exit_code == 0
    assert "nothing to fuse was found" in made.stdout
    assert not Path("net.pt2").exists()


def test_a_saved_program_is_fused_as_the_model_that_it_is_of() -> None:
    import torch

    net = runpy.run_path("net.py")
    model, ids = net["gpt"]()
    torch.export.save(torch.export.export(model.eval(), (ids,)), "saved.pt2")
    found = better("saved.pt2", "ascend-910b")
    assert found.holds
    assert list(places(found)) == ["swiglu-npu", "attention-torch"]


LAYERS = """\
import torch
from torch import nn
from torch.nn import functional as F


class Norm(nn.Module):
    def __init__(self, eps):
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.rand(32)), eps

    def forward(self, hidden):
        \"\"\"Norm the rows.\"\"\"
        wide = hidden.to(torch.float32)
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.eps)
        return self.weight * wide.to(hidden.dtype)


class Gate(nn.Module):
    def forward(self, x):
        gate, value = x.chunk(2, dim=-1)
        return F.silu(gate) * value


class Head(nn.Module):
    def forward(self, x):
        gate, value = x.chunk(2, dim=-1)
        return F.silu(gate) * value + 1


def net():
    layers = Norm(1e-5), nn.Linear(32, 64), Gate(), Norm(1e-6), Head()
    return nn.Sequential(*layers), torch.rand(4, 32)
"""


def diff(source: str, *, write: bool = False) -> Better:
    scan = ScanRequest(ModelSpec(source), (TargetSpec.parse("ascend-910b"),))
    return fix_answer.fuse(FixRequest(scan, FixKind.DIFF, write=write))


def test_classes_whose_whole_forward_is_one_kernel_are_written_anew() -> None:
    before = LAYERS.splitlines()
    Path("layers.py").write_text(LAYERS)
    found = diff("layers.py:net", write=True)
    assert found.holds
    assert found.files == ("layers.py",)
    assert set(found.layers) == {"layers.py:11 Norm", "layers.py:19 Gate"}
    assert places(found) == {"rms-norm-npu": ["0", "3"], "swiglu-npu": ["2"]}
    assert [(one.module, one.reason) for one in found.left] == [
        ("4", "it is not the whole forward of a class in your files; use --graph")
    ]
    after = Path("layers.py").read_text().splitlines()
    rest = iter(after)
    assert all(line in rest for line in before)  # in their order
    assert "            return _norm_by_npu(x=hidden, weight=self.weight, eps=self.eps)" in after
    assert "            return _halves_by_npu(x=x)" in after
    scanned = json.loads(
        run("scan", "layers.py:net", "-t", "ascend-910b", "--format", "json").stdout
    )
    counts = {one["op"]: one["count"] for one in scanned["targets"][0]["findings"]}
    assert (counts["npu::npu_rms_norm"], counts["npu::npu_swiglu"]) == (2, 1)


def test_a_diff_of_fused_classes_goes_to_stdout_and_changes_nothing() -> None:
    Path("layers.py").write_text(LAYERS)
    made = outcome(["fix", "layers.py:net", "-t", "ascend-910b", "--better", "--diff"])
    assert made.exit_code == 0
    assert Path("layers.py").read_text() == LAYERS
    assert "fused, and proved" in " ".join(made.stderr.split())
    assert made.stdout.startswith("--- a/layers.py\n+++ b/layers.py\n")
    applied = subprocess.run(
        ["patch", "-p1"], input=made.stdout, capture_output=True, text=True, check=False
    )
    assert applied.returncode == 0, applied.stderr
    assert "return _halves_by_npu(x=x)" in Path("layers.py").read_text()


def test_sources_of_a_library_and_saved_files_are_not_written() -> None:
    with pytest.raises(UsageError) as caught:
        diff("config.json")
    assert "--diff changes source files of yours" in caught.value.message
    found = diff("net.py:vit")
    assert (found.files, found.layers, found.text) == ((), (), "")


RULE = """\
import torch
from torch import Tensor

from opcheck.rewrite.fusing.base import Found, Fusion


def _written(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return (x @ weight.T + bias).{last}


def fused(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return torch.nn.functional.linear(x, weight, bias)


class Linear(Fusion):
    \"\"\"A product and a sum become one linear.\"\"\"

    name = "{name}"
    summary = "Use linear"
    kernels = ("aten::linear", "aten::addmm")
    tolerance = 8.0
    variants = (_written,)
    replace = staticmethod(fused)

    def example(self):
        return {{"x": torch.ones(2, 3), "weight": torch.ones(4, 3), "bias": torch.ones(4)}}
"""
SPELLED = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.randn(4, 8)), nn.Parameter(torch.randn(4))

    def forward(self, x):
        return (x @ self.weight.T + self.bias).{last}


def net():
    return Net(), torch.randn(2, 8)
"""


def test_a_fusion_of_ones_own_is_used_and_proved(tmp_path: Path) -> None:
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "own.py").write_text(RULE.format(last="clone()", name="own-linear"))
    (tmp_path / "spelled.py").write_text(SPELLED.format(last="clone()"))
    found = better("spelled.py:net", "ascend-910b", rules=("rules",))
    assert found.holds
    assert places(found) == {"own-linear": [""]}


def test_a_wrong_fusion_of_ones_own_writes_nothing(tmp_path: Path) -> None:
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "own.py").write_text(RULE.format(last="relu()", name="own-linear"))
    (tmp_path / "spelled.py").write_text(SPELLED.format(last="relu()"))
    line = "fix spelled.py:net -t ascend-910b --better --graph net.pt2 --rules rules"
    made = run(*line.split())
    assert made.exit_code == 10
    assert "the proof failed, so nothing was written" in made.stdout
    assert not Path("net.pt2").exists()


def test_a_fusion_has_a_name_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "own.py").write_text(RULE.format(last="clone()", name="rotary-npu"))
    with pytest.raises(UsageError) as caught:
        better("net.py:gpt", "ascend-910b", rules=("rules",))
    assert "two rules are called 'rotary-npu'" in caught.value.message


def test_a_program_with_an_operator_that_is_not_here_cannot_be_proved() -> None:
    import torch

    with torch.library._scoped_library("strange", "FRAGMENT") as library:
        library.define("twice(Tensor x) -> Tensor")
        library.impl("twice", lambda x: x * 2, "CompositeExplicitAutograd")

        class Net(torch.nn.Module):
            def forward(self, x: torch.Tensor) -> torch.Tensor:
                found: torch.Tensor = torch.ops.strange.twice(x)
                return found

        torch.export.save(torch.export.export(Net(), (torch.ones(2),)), "strange.pt2")
    with pytest.raises(TraceError) as caught:
        better("strange.pt2", "ascend-910b")
    assert "its program cannot be run with calls fused" in caught.value.message


def test_a_training_step_and_several_calls_are_refused() -> None:
    with pytest.raises(UsageError) as caught:
        better("net.py:gpt", "ascend-910b", step=TrainingSpec())
    assert "has no training mode" in caught.value.message
    with pytest.raises(UsageError) as caught:
        better("net.py:gpt", "ascend-910b", calls=CallSpec(decode=True))
    assert "exports one call" in caught.value.message


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--better --custom-op aten::add.Tensor", "--better fuses calls of an exported program"),
        ("--better --shim s.py", "--better fuses calls of an exported program"),
        ("--better --graph other.py", "is not named like one"),
    ],
)
def test_better_goes_with_a_graph_or_a_diff(options: str, said: str) -> None:
    made = run(*f"fix net.py:gpt -t ascend-910b {options}".split())
    assert made.exit_code == 2
    assert said in made.stderr


def test_vendors_operators_have_the_signatures_of_the_vendors_list() -> None:
    text = (ROOT / "compat_db" / "schemas" / "torch_npu.yaml").read_text(encoding="utf-8")
    known = yaml.safe_load(text)["operators"]
    asked = {op.name: op.signature for one in fusions() for op in one.operators}
    ours = {op: signature for op, signature in asked.items() if op.startswith("npu::")}
    assert len(ours) == 3
    assert ours == {op: known[op]["signature"] for op in ours}

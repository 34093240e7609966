"""``opcheck fix --patch``: layers of an installed library become ones of subclasses."""

import subprocess
from importlib.util import find_spec
from pathlib import Path

import pytest
from msgspec.structs import replace

from opcheck.commands.fix import answer as fix_answer
from opcheck.commands.fix.patch import Classes, patch, why_left
from opcheck.commands.fix.suggestions import PlacedSuggestion
from opcheck.commands.fix.values import Fix, FixKind, FixRequest
from opcheck.errors import ExitCode, UsageError
from opcheck.model.jobs import LayerClass
from opcheck.model.plan import Label, Suggestion, Tier
from opcheck.model.report import Place
from opcheck.model.request import ModelSpec, ScanRequest
from opcheck.model.target import TargetSpec
from opcheck.rewrite.source.changing import Form
from tests.app.stand_in import run
from tests.preloaded import python

pytestmark = pytest.mark.usefixtures("libraries_are_loaded")
LIBRARIES = ("torch", *(name for name in ("timm", "transformers") if find_spec(name)))
needs_timm = pytest.mark.skipif(not find_spec("timm"), reason="no timm here")
NET = """\
import torch
from timm.models.swin_transformer import WindowAttention


class Own(torch.nn.Module):
    def forward(self, x):
        return x @ x.mT


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = torch.nn.ModuleList([WindowAttention(8, 2, window_size=2)])
        self.own = Own()

    def forward(self, x):
        for block in self.blocks:
            x = x + block(x)
        return self.own(x)


def build():
    return Net(), (torch.randn(3, 4, 8),)
"""
USE = """\
import torch, net, layers
model, (x,) = net.build()
state, wanted = model.state_dict(), model(x)
assert layers.patch(model) is model
model.load_state_dict(state)
torch.testing.assert_close(model(x), wanted, rtol=0.01, atol=0.01)
print(type(model.blocks[0]).__name__, type(model.own).__name__)
"""


def fixed(path: str, allow: Label) -> Fix:
    target = TargetSpec("ascend-310b", "26.1.0")
    scan = ScanRequest(ModelSpec("net.py:build"), (target,))
    return fix_answer.fix(FixRequest(scan, FixKind.PATCH, path, allow))


@pytest.mark.slow
@needs_timm
def test_layers_of_a_library_are_patched_proved_and_load_what_was_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("net.py").write_text(NET, encoding="utf-8")
    found = fixed("layers.py", Label.TOLERANCE)
    assert found.files == ("layers.py",)
    assert [(way.replaces, way.places) for way in found.followed] == [
        ("aten::matmul", ("blocks.*",))
    ]
    assert [(rest.replaces, rest.reason) for rest in found.left] == [
        ("aten::matmul", "own is a layer of yours; use --diff")
    ]
    assert found.proof is not None
    assert found.proof.how == "emulated"
    assert found.proof.forward is not None
    assert found.proof.forward.holds
    assert found.proof.backward is not None
    assert found.proof.backward.holds
    done = subprocess.run(
        [*python(*LIBRARIES), "-c", USE], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.stdout.strip() == "PatchedWindowAttention Own", done.stderr[-2000:]


TINY = """\
import torch
from transformers import BertConfig, BertModel, LlamaConfig, LlamaModel
from transformers.models.bert.modeling_bert import BertSelfAttention

IDS = torch.arange(12).reshape(2, 6)


class Wrapped(torch.nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, *given):
        return self.inner(*given)[0]


def bert():
    config = BertConfig(vocab_size=40, hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
                        intermediate_size=32, max_position_embeddings=32)
    mask = torch.tensor([[1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 0, 0]])
    return Wrapped(BertModel(config)).eval(), (IDS, mask)


def llama():
    config = LlamaConfig(vocab_size=40, hidden_size=16, num_hidden_layers=2, intermediate_size=32,
                         num_attention_heads=4, num_key_value_heads=2, use_cache=False)
    return LlamaModel(config).eval(), (IDS,)


def layer():
    config = BertConfig(hidden_size=16, num_attention_heads=2, attn_implementation="sdpa")
    return Wrapped(BertSelfAttention(config)).eval(), (torch.randn(2, 5, 16),)
"""
SEEN = """\
import sys, torch, net, layers
from torch.overrides import TorchFunctionMode
from transformers import PreTrainedModel

class Seen(TorchFunctionMode):
    asked = 0

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.asked += func is torch.nn.functional.scaled_dot_product_attention
        return func(*args, **(kwargs or {}))

def run():
    with Seen() as seen:
        found = model(*given)
    return found if isinstance(found, torch.Tensor) else found[0], seen.asked

model, given = getattr(net, sys.argv[1])()
kinds, state, (wanted, before) = [type(m) for m in model.modules()], model.state_dict(), run()
assert layers.patch(layers.patch(model)) is model
model.load_state_dict(state)
found, after = run()
torch.testing.assert_close(found, wanted)
same = kinds == [type(m) for m in model.modules()]
names = {m.config._attn_implementation for m in model.modules() if isinstance(m, PreTrainedModel)}
print(before > 0, after, same, *names)
"""


@pytest.mark.slow
@pytest.mark.skipif(not find_spec("transformers"), reason="no transformers here")
@pytest.mark.parametrize(
    ("model", "told"),
    [("bert", "True 0 True layers"), ("llama", "True 0 True layers"), ("layer", "True 0 False")],
)
def test_attention_of_transformers_is_registered_where_a_model_looks_it_up(
    model: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("net.py").write_text(TINY, encoding="utf-8")
    target = TargetSpec("ascend-950", "26.1.0")
    scan = ScanRequest(ModelSpec(f"net.py:{model}"), (target,))
    found = fix_answer.fix(FixRequest(scan, FixKind.PATCH, "layers.py", Label.TOLERANCE))
    assert found.files == ("layers.py",)
    assert [way.replaces for way in found.followed] == ["aten::scaled_dot_product_attention"]
    assert found.proof is not None
    assert found.proof.how == "emulated"
    for kind in (found.proof.forward, found.proof.backward):
        assert kind is not None
        assert kind.holds
    done = subprocess.run(
        [*python(*LIBRARIES), "-c", SEEN, model],
        capture_output=True, text=True, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert done.stdout.strip() == told, done.stderr[-2000:]


def test_a_file_that_cannot_be_imported_is_refused() -> None:
    request = FixRequest(ScanRequest(ModelSpec("net.py:build"), ()), FixKind.PATCH, "my-file.py")
    with pytest.raises(UsageError, match=r"--patch my-file\.py: no module is called so"):
        patch(request, None, print, print)  # type: ignore[arg-type]  # it is not asked


def test_a_patch_is_one_way_of_several(capsys: pytest.CaptureFixture[str]) -> None:
    line = "fix net.py:build -t ascend-310b --patch layers.py --diff"
    assert run(line.split()) == ExitCode.USAGE
    assert "--diff, --patch at once" in capsys.readouterr().err


FORM = {"torch.roll": Form("def roll(x):\n    return x\n", "roll")}
IN_LIBRARY = LayerClass("timm.layers", "Own", "timm", "1.0")


@pytest.mark.parametrize(
    ("module", "classes", "calls", "said"),
    [
        ("own", {"own": (IN_LIBRARY,)}, FORM, ""),
        ("own", {}, FORM, "own is no layer whose class is known; use --shim"),
        ("", {}, FORM, "the model itself is no layer whose class is known; use --shim"),
        (
            "own", {"own": (replace(IN_LIBRARY, users=True),)}, FORM,
            "own is a layer of yours; use --diff",
        ),
        (
            "own", {"own": (replace(IN_LIBRARY, version=""),)}, FORM,
            "own is of a class that no module can name, or of a library without a version; use "
            "--shim",
        ),
        (
            "own", {"own": (IN_LIBRARY,)}, {},
            "some-rule stands for no call that is known by how users write it; use --shim",
        ),
    ],
)  # fmt: skip
def test_what_no_patch_changes_is_left_with_its_reason(
    module: str, classes: Classes, calls: dict[str, Form], said: str
) -> None:
    way = Suggestion("some-rule", Tier.SWAP, Label.EXACT, "aten::roll", "Do otherwise")
    place = Place(module, "net.py", 1, (), (), 1)
    assert str(why_left(PlacedSuggestion("aten::roll", place, way), classes, calls)) == said

"""Every kind of source with its weights: values everywhere, the file's own where it has any."""

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves

from opcheck.errors import SourceError
from opcheck.source.base import RANDOM_WEIGHTS, Loaded, LoadOptions
from opcheck.source.building.ready import load_live
from opcheck.source.inputs import InputSpec
from opcheck.source.load import load
from tests.lang.told import in_chinese
from tests.source.pt2_files import archive_of, document_of, export

pytestmark = [
    pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:builtin type swigvarlink:DeprecationWarning"),
]

WEIGHTS = LoadOptions(weights=True)
TRUSTED = LoadOptions(weights=True, trust=True)
SMALL: dict[str, Any] = {
    "hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32,
}  # fmt: skip


class Net(nn.Module):
    """Tied layers, statistics, a buffer outside the state_dict and a constant."""

    once: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 300, 5)
        self.norm = nn.BatchNorm2d(300)
        self.wide = nn.Linear(300, 300)
        self.tied = nn.Linear(300, 300)
        self.tied.weight = self.wide.weight
        self.register_buffer("once", torch.tensor([2.0]), persistent=False)
        self.constant = torch.tensor([0.5])

    def forward(self, x: Tensor) -> Tensor:
        y = self.norm(self.stem(x)).mean((2, 3))
        out: Tensor = self.tied(self.wide(y)) * self.once + self.constant
        return out


def net() -> Net:
    torch.manual_seed(5)
    made = Net().eval()
    with torch.no_grad():
        made.norm.running_var.uniform_(1, 2)  # type: ignore[union-attr]  # it tracks
    return made


IMAGE = torch.linspace(0, 1, 192).reshape(1, 3, 8, 8)


def run(loaded: Loaded) -> Tensor:
    """The first output of a run, after every tensor was seen to be on the CPU."""
    assert isinstance(loaded.module, nn.Module)
    inputs = tree_leaves((loaded.args, dict(loaded.kwargs)))
    held = (*loaded.module.parameters(), *loaded.module.buffers(), *inputs)
    assert {t.device.type for t in held if isinstance(t, Tensor)} <= {"cpu"}
    with torch.no_grad():
        made = loaded.module(*loaded.args, **loaded.kwargs)
    outputs = made.to_tuple() if hasattr(made, "to_tuple") else made
    first: Tensor = next(t for t in tree_leaves(outputs) if isinstance(t, Tensor))
    return first


def twice(text: str, options: LoadOptions = WEIGHTS) -> Loaded:
    """What loads, after it was seen to compute finite numbers, the same after another load."""
    loaded = load(text, options)
    torch.manual_seed(11)
    torch.testing.assert_close(run(loaded), run(load(text, options)), rtol=0, atol=0)
    assert run(loaded).isfinite().all()
    return loaded


def without_gradients(module: Any, *args: Any, **kwargs: Any) -> list[str]:
    """Names of the parameters that a backward pass leaves without a gradient."""
    made = module(*args, **kwargs)
    floats = [t for t in tree_leaves(made) if isinstance(t, Tensor) and t.requires_grad]
    sum(t.sum() for t in floats).backward()  # type: ignore[union-attr]  # there are some
    return [name for name, weight in module.named_parameters() if weight.grad is None]


def as_exported(path: Path) -> Path:
    return export(path, net(), (IMAGE,))


def until_2_7(path: Path) -> Path:
    """The same program in the layout that torch wrote until 2.7."""
    program = document_of(as_exported(path.with_suffix(".new")))
    kept = net()
    constants = {"once": kept.once, "constant": kept.constant}
    members: dict[str, str | bytes] = {"serialized_exported_program.json": json.dumps(program)}
    for name, value in (
        ("serialized_state_dict.pt", kept.state_dict()),
        ("serialized_constants.pt", constants),
        ("serialized_example_inputs.pt", ((IMAGE,), {})),
    ):
        saved = io.BytesIO()
        torch.save(value, saved)
        members[name] = saved.getvalue()
    return archive_of(path, members)


def as_scripted(path: Path) -> Path:
    torch.jit.trace(net(), IMAGE).save(str(path))
    return path


def as_pickled(path: Path) -> Path:
    torch.save(net(), path)
    return path


@pytest.mark.parametrize(
    ("write", "name"),
    [(as_exported, "m.pt2"), (until_2_7, "m.pt2"), (as_scripted, "m.pt"), (as_pickled, "m.pt")],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_file_gives_the_weights_that_it_holds(
    write: Callable[[Path], Path], name: str, tmp_path: Path
) -> None:
    options = LoadOptions((InputSpec.parse("x=1x3x8x8"),), trust=True, weights=True)
    loaded = twice(str(write(tmp_path / name)), options)
    assert loaded.notes == ()
    (made,) = tree_leaves(loaded.module(IMAGE))
    torch.testing.assert_close(made, net()(IMAGE))
    assert without_gradients(loaded.module, IMAGE) == []


def test_an_exported_program_keeps_tied_weights_and_its_sample_inputs(tmp_path: Path) -> None:
    loaded = load(str(as_exported(tmp_path / "m.pt2")), WEIGHTS)
    assert loaded.module.wide.weight is loaded.module.tied.weight  # type: ignore[attr-defined]
    torch.testing.assert_close(loaded.args, (IMAGE,))


def test_an_exported_program_without_its_weights_says_that_they_are_random(tmp_path: Path) -> None:
    program = json.dumps(document_of(as_exported(tmp_path / "whole.pt2")))
    path = archive_of(tmp_path / "m.pt2", {"m/models/model.json": program})
    loaded = twice(str(path))
    assert loaded.notes == (RANDOM_WEIGHTS,)
    assert in_chinese(loaded.notes) == ["权重为随机值：模型来源没有权重"]
    assert loaded.module.norm.running_var.eq(1).all()  # type: ignore[attr-defined]
    assert run(loaded).std() > 0


def test_an_exported_program_with_other_weights_is_damaged(tmp_path: Path) -> None:
    path = as_exported(tmp_path / "m.pt2")
    with zipfile.ZipFile(path) as archive:
        members: dict[str, str | bytes] = {n: archive.read(n) for n in archive.namelist()}
    config = next(name for name in members if name.endswith("weights_config.json"))
    payloads = json.loads(members[config])
    payloads["config"]["wide.bias"] = payloads["config"]["norm.num_batches_tracked"]
    members[config] = json.dumps(payloads).encode()
    with pytest.raises(SourceError) as caught:
        load(str(archive_of(path, members)), WEIGHTS)
    told = "wide.bias is float32[300] in the graph, and torch.int64[] is stored"
    assert told in caught.value.message


@pytest.mark.parametrize("kind", ["weights", "sample_inputs"])
def test_a_pickle_in_an_exported_program_is_not_run(kind: str, tmp_path: Path) -> None:
    whole = as_exported(tmp_path / "whole.pt2")
    touched = tmp_path / "touched"
    bomb = f"cpathlib\nPath.touch\n(cpathlib\nPath\n(S'{touched}'\ntRtR.".encode()
    program = json.dumps(document_of(whole))
    members: dict[str, str | bytes] = {"m/models/model.json": program}
    members |= {f"m/data/{kind}/model.pt": bomb}
    run(load(str(archive_of(tmp_path / "m.pt2", members)), WEIGHTS))
    assert not touched.exists()


def test_a_pickle_is_refused_without_trust(tmp_path: Path) -> None:
    with pytest.raises(SourceError) as caught:
        load(str(as_pickled(tmp_path / "m.pt")), WEIGHTS)
    assert caught.value.hint.startswith("--trust reads it")


PYTHON = """
import torch
from torch import nn

class Raw(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(300, 300))
        self.gamma = nn.Parameter(torch.empty(300))
        self.register_buffer("cache", torch.empty(300, 300))
    def forward(self, x):
        return (x @ self.weight) * self.gamma + self.cache[0]

class Lazy(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.LazyLinear(300)
    def forward(self, x):
        return self.head(x)

def raw():
    return Raw(), torch.full((400, 300), 2.0)

def half():
    made = Raw()
    nn.init.xavier_uniform_(made.weight)
    return made, torch.full((400, 300), 2.0)

def lazy():
    return Lazy(), torch.rand(400, 300)

def on_meta():
    with torch.device("meta"):
        layers = nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.Flatten(), nn.Linear(32, 300)
        return nn.Sequential(*layers), torch.rand(1, 3, 4, 4)

whole = nn.Linear(300, 300)
"""


@pytest.mark.parametrize(
    ("name", "notes"),
    [
        ("raw", (RANDOM_WEIGHTS,)),
        ("half", ("the source has no values for gamma, cache (2): they are made up",)),
        ("lazy", ()),
        (
            "on_meta",
            (
                "given in training mode, run in evaluation mode: 1 (BatchNorm2d) may compute "
                "otherwise",
                RANDOM_WEIGHTS,
            ),
        ),
        ("whole", ("no inputs given: 1x300:float32, as the module (Linear) wants",)),
    ],
)
def test_a_python_file(name: str, notes: tuple[str, ...], tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text(PYTHON)
    loaded = twice(f"{path}:{name}")
    assert loaded.notes == notes
    assert run(loaded).std() > 0
    assert without_gradients(loaded.module, *loaded.args) == []


@pytest.mark.slow
def test_a_python_file_runs_once(tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    define = 'torch.library.Library("opcheck_test_once", "DEF").define("f(Tensor x) -> Tensor")'
    path.write_text(f"import torch\nlibrary = {define}\nmodel = torch.nn.Linear(3, 4)\n")
    assert run(load(f"{path}:model", WEIGHTS)).shape == (1, 4)


def test_inputs_keep_the_values_that_a_factory_gave_them(tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text(PYTHON)
    (given,) = load(f"{path}:raw", WEIGHTS).args
    assert given.eq(2).all()


def test_large_inputs_without_values_get_them() -> None:
    specs = ("x=400x300", "ids=2000x1000:int64", "mask=400x300:bool", "n=3")
    options = LoadOptions(tuple(map(InputSpec.parse, specs)), weights=True)

    class Mixed(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table = nn.Embedding(10, 1)

        def forward(self, x: Tensor, ids: Tensor, mask: Tensor, n: int) -> Tensor:
            looked: Tensor = self.table(ids)
            return x.where(mask, 0.0).mean() + looked.mean() + n

    loaded = load_live(Mixed(), None, options)
    made = dict(loaded.kwargs)
    assert abs(float(made["x"].std()) - 1) < 0.1
    assert (int(made["ids"].min()), int(made["ids"].max())) == (0, 9)
    assert made["mask"].all()
    assert run(loaded).isfinite()


def test_a_live_module_keeps_its_weights_and_is_left_as_it_is() -> None:
    module = net().train()
    before = {name: value.clone() for name, value in module.state_dict().items()}
    loaded = load_live(module, IMAGE, WEIGHTS)
    copied = loaded.module
    assert isinstance(copied, Net)
    assert (module.training, copied.training) == (True, False)
    assert copied.wide.weight is copied.tied.weight is not module.wide.weight
    assert without_gradients(copied.train(), *loaded.args) == []
    assert all(weight.grad is None for weight in module.parameters())
    torch.testing.assert_close(module.state_dict(), before, rtol=0, atol=0)


def config_at(path: Path, **config: Any) -> str:
    (path / "config.json").write_text(json.dumps({**SMALL, **config}))
    return f"hf:{path}"


@pytest.mark.slow
@pytest.mark.parametrize("safe", [True, False])
def test_transformers_reads_the_weights_beside_a_config(safe: bool, tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(5)
    saved = transformers.BertModel(transformers.BertConfig(**SMALL, vocab_size=2100)).eval()
    saved.save_pretrained(tmp_path)
    if not safe:
        (tmp_path / "model.safetensors").unlink()
        torch.save(saved.state_dict(), tmp_path / "pytorch_model.bin")
    loaded = twice(f"hf:{tmp_path}")
    assert loaded.notes == ("built as BertModel, which the config names",)
    torch.testing.assert_close(run(loaded), saved(**loaded.kwargs)[0])


@pytest.mark.slow
def test_transformers_says_which_weights_are_missing(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    config = transformers.BertConfig(**SMALL, vocab_size=2100)
    config.num_labels = 5
    transformers.BertModel(config).save_pretrained(tmp_path)
    written = json.loads((tmp_path / "config.json").read_text())
    text = config_at(tmp_path, **{**written, "architectures": ["BertForSequenceClassification"]})
    assert twice(text).notes == (
        "built as BertForSequenceClassification, which the config names",
        "the weights beside the config lack classifier.bias, classifier.weight (2): "
        "they are random",
    )


@pytest.mark.slow
def test_weights_that_were_cut_are_refused(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    config = transformers.BertConfig(**SMALL, vocab_size=2100)
    transformers.BertModel(config).save_pretrained(tmp_path)
    with (tmp_path / "model.safetensors").open("r+b") as stream:
        stream.truncate(200_000)
    with pytest.raises(SourceError) as caught:
        load(f"hf:{tmp_path}", WEIGHTS)
    assert "SafetensorError" in caught.value.message
    assert caught.value.hint.startswith("were the weights beside the config copied completely?")


@pytest.mark.slow
@pytest.mark.parametrize(
    "config",
    [
        {"model_type": "bert", "vocab_size": 2100},
        {"model_type": "llama", "vocab_size": 2100, "torch_dtype": "bfloat16"},
        {"model_type": "t5", "d_model": 32, "d_kv": 8, "d_ff": 32, "num_layers": 1, "num_heads": 2},
        {"model_type": "vit", "image_size": 160},
        {"model_type": "mamba", "vocab_size": 2100, "state_size": 4},
        {"model_type": "mixtral", "num_key_value_heads": 2, "num_local_experts": 4,
         "vocab_size": 2100},
        {"model_type": "llava", "text_config": {"model_type": "llama", **SMALL},
         "vision_config": {**SMALL, "image_size": 56, "patch_size": 14}, "image_token_index": 7},
    ],
    ids=lambda config: config["model_type"],
)  # fmt: skip
def test_transformers_from_a_config_alone(config: dict[str, Any], tmp_path: Path) -> None:
    loaded = twice(config_at(tmp_path, **config))
    assert loaded.notes[1:] == (RANDOM_WEIGHTS,)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "least"),
    [
        ("timm:resnet18", 62),
        ("torchvision:mobilenet_v2", 158),
        ("torchvision:ssdlite320_mobilenet_v3_large", 0),
        ("ultralytics:yolov8n.yaml", 183),
    ],
)
def test_libraries_initialise_their_models(text: str, least: int) -> None:
    loaded = twice(text)
    assert loaded.notes == (RANDOM_WEIGHTS,)
    if least:
        module: Any = loaded.module
        with_gradients = len(list(module.parameters())) - len(
            without_gradients(module.train(), *loaded.args)
        )
        assert with_gradients == least


@pytest.mark.slow
def test_weights_that_have_no_room_are_refused_before_they_are_made(tmp_path: Path) -> None:
    sizes = {"hidden_size": 16384, "num_hidden_layers": 126, "num_attention_heads": 128}
    text = config_at(
        tmp_path, model_type="llama", intermediate_size=53248, vocab_size=128256, **sizes
    )
    with pytest.raises(SourceError) as caught:
        load(text, WEIGHTS)
    assert "needs 1748.2 GiB for its weights" in caught.value.message
    assert "without --values only shapes are followed" in caught.value.hint

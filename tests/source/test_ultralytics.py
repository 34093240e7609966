"""An ultralytics YAML is data: nothing in it is evaluated, unpickled or downloaded."""

import inspect
import pickle
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from opcheck.errors import SourceError
from opcheck.source import ultralytics_grammar as layers
from opcheck.source.base import LoadOptions
from opcheck.source.kinds import ultralytics_model
from opcheck.source.load import load, select

PACKAGED = sorted((ultralytics_model.packaged() or Path()).rglob("*.yaml"))
ROWS = "[[-1, 1, Conv, [8, 3, 2]]]"
HEAD = "[[-1, 1, Classify, [nc]]]"
MODEL = {"nc": "2", "backbone": ROWS, "head": HEAD}


def write(folder: Path, changed: Mapping[str, str]) -> Path:
    path = folder / "model.yaml"
    path.write_text("".join(f"{key}: {text}\n" for key, text in {**MODEL, **changed}.items()))
    return path


class Touch:
    """Writes the canary when it is unpickled."""

    def __init__(self, canary: Path) -> None:
        self.canary = canary

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.write_text, (self.canary, "ran")


def test_the_package_is_there() -> None:
    assert len(PACKAGED) > 50


@pytest.mark.parametrize("path", PACKAGED, ids=lambda path: path.stem)
def test_every_model_of_the_package_is_accepted_as_it_stands(path: Path) -> None:
    plain = yaml.safe_load(path.read_text())
    given = ultralytics_model.read(path)
    if path.stem == "yolo11-cls-resnet18":
        assert plain["backbone"][0][3][2] == "DEFAULT"
        plain["backbone"][0][3][2] = None  # weights, which would be downloaded
    assert given == plain
    assert ultralytics_model.find(path.name) == path


def test_a_model_is_found_as_the_library_finds_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, found in [
        ("yolov8n.yaml", "yolov8.yaml"),
        ("yolov8x6.yaml", "yolov8-p6.yaml"),
        ("yolov5nu.yaml", "yolov5.yaml"),
        ("v8/yolov8s-seg.yaml", "yolov8-seg.yaml"),
    ]:
        path = ultralytics_model.find(name)
        assert path is not None
        assert path.name == found
        assert select(f"ultralytics:{name}").path(f"ultralytics:{name}") is None
    own = Path("yolov8.yaml")
    own.write_text("nc: 1")
    assert ultralytics_model.find("yolov8n.yaml") == own
    assert select("ultralytics:yolov8n.yaml").path("ultralytics:yolov8n.yaml") == own


@pytest.mark.slow
@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("activation", "__import__('os').system('touch {canary}')"),
        ("activation", "nn.SiLU() if open('{canary}', 'w') else 0"),
        ("activation", "nn.Module().__class__.__base__.__subclasses__()[open('{canary}', 'w')]"),
        ("activation", "nn.LeakyReLU(open('{canary}', 'w').fileno())"),
        ("activation", "nn.utils.rnn.torch.save(1, '{canary}')"),
        ("backbone", "[[-1, 1, torch_safe_load, [\"'{pickle}'\"]]]"),
        ("backbone", "[[-1, 1, load_checkpoint, [\"'{pickle}'\"]]]"),
        ("head", "[[-1, 1, torch_load, [\"'{pickle}'\"]], [-1, 1, Classify, [nc]]]"),
        ("head", "[[-1, 1, Path, [\"'{canary}'\"]], [-1, 1, Classify, [nc]]]"),
    ],
)
def test_nothing_that_stands_in_a_file_runs(tmp_path: Path, key: str, text: str) -> None:
    canary, saved = tmp_path / "canary", tmp_path / "saved.pt"
    saved.write_bytes(pickle.dumps(Touch(canary)))
    filled = text.replace("{canary}", str(canary)).replace("{pickle}", str(saved))
    path = write(tmp_path, {key: filled if key != "activation" else yaml.dump(filled).strip()})
    before = sorted(tmp_path.iterdir())
    with pytest.raises(SourceError) as caught:
        load(f"ultralytics:{path}", LoadOptions())
    assert sorted(tmp_path.iterdir()) == before
    assert f"{path}:" in caught.value.message
    assert "--trust" in caught.value.hint


@pytest.mark.slow
def test_an_activation_is_made_where_it_is_one(tmp_path: Path) -> None:
    path = write(tmp_path, {"activation": "torch.nn.LeakyReLU(0.2, inplace=True)"})
    text = repr(load(f"ultralytics:{path}", LoadOptions()).module)
    assert "LeakyReLU(negative_slope=0.2, inplace=True)" in text


@pytest.mark.slow
def test_a_wrapped_model_of_torchvision_has_no_weights_downloaded(tmp_path: Path) -> None:
    row = "[[-1, 1, TorchVision, [512, resnet18]]]"
    path = write(tmp_path, {"backbone": row})
    assert load(f"ultralytics:{path}", LoadOptions()).module is not None


@pytest.mark.parametrize(
    ("key", "text", "expected"),
    [
        ("backbone", "[[-1, 1, nn.modules, []]]", "a layer of ultralytics or torch.nn"),
        ("backbone", "[[-1, 1, nn.DataParallel, []]]", "a layer of ultralytics or torch.nn"),
        ("backbone", "[[-1, 1, torchvision.ops.boxes, []]]", "a layer of ultralytics or torch.nn"),
        ("backbone", "[[-1, 1, DetectionModel, [x.yaml]]]", "a layer of ultralytics or torch.nn"),
        ("backbone", "[[-1, 1, Conv, [d, 3]]]", "a number or a word of the layer, found 'd'"),
        ("backbone", "[[-1, 1, Conv, ['[' , 3]]]", "a number or a word of the layer"),
        ("backbone", "[[-1, 1, Conv, ['((((1))))']]]", "a number or a word of the layer"),
        ("backbone", "[[-1, 1, Conv, [{a: 1}]]]", "a number or a word of the layer"),
        ("backbone", "[[-1, 1, Conv, [2026-01-01]]]", "a number or a word of the layer"),
        ("backbone", "[[-1, 1, Conv, [.inf]]]", "a number from"),
        ("backbone", "[[-1, 1, Conv, [100000000]]]", "a number from"),
        ("scales", f"{{n: [{'9' * 400}, 0.25, 1024]}}", "a number from"),
        ("backbone", "[[-1, 1000000000, Conv, [8]]]", "a whole number from 0 to 1024"),
        ("backbone", f"[{', '.join(['[-1, 1024, Conv, [8]]'] * 5)}]", "at most 4096 layers"),
        ("backbone", f"[{', '.join(['[-1, 1, Conv, [8]]'] * 600)}]", "at most 512 layers"),
        ("backbone", "[[-1, 1, TorchVision, [512, fasterrcnn_resnet50_fpn]]]", "that classifies"),
        ("backbone", "[[-1, 1, TorchVision, [512, resnet18, '../x']]]", "the name of weights"),
        ("backbone", "[]", "a list of 1 or more"),
        ("scales", "{n: [1000000, 1, 1024]}", "a number from 0 to 64"),
        ("nc", "1000000000", "a whole number from 1 to 100000"),
        ("nc", "true", "a whole number"),
        ("text_model", "clip:/tmp/x.pt", "one of clip"),
        ("activation", "nn.SiLU()()", "an activation of torch.nn"),
        ("activation", "nn.Sequential(1)", "an activation of torch.nn"),
    ],
)
def test_a_file_is_refused_before_the_library_is_loaded(
    tmp_path: Path, key: str, text: str, expected: str
) -> None:
    path = write(tmp_path, {key: text})
    with pytest.raises(SourceError, match=re.escape(expected)):
        select(f"ultralytics:{path}").check(f"ultralytics:{path}", LoadOptions())


def test_trust_leaves_the_file_to_the_library(tmp_path: Path) -> None:
    path = write(tmp_path, {"backbone": "[[-1, 1, MyOwn, [8]]]"})
    select(f"ultralytics:{path}").check(f"ultralytics:{path}", LoadOptions(trust=True))


def test_keys_that_the_library_does_not_know_are_left_out(tmp_path: Path) -> None:
    path = write(tmp_path, {"anchors": "[1, 2]", "scale": "x", "yaml_file": "y"})
    assert sorted(ultralytics_model.read(path)) == ["backbone", "head", "nc"]


@pytest.mark.slow
def test_the_layers_are_those_of_the_library() -> None:
    from torch import nn
    from torchvision import ops
    from ultralytics.nn import tasks

    def modules(module: Any, within: str) -> set[str]:
        found = {name: value for name, value in vars(module).items() if inspect.isclass(value)}
        return {
            name
            for name, value in found.items()
            if issubclass(value, nn.Module) and value.__module__.startswith(within)
        }

    assert modules(tasks, "ultralytics.nn.modules") == layers.OWN
    for prefix, module in (("nn.", nn), ("torchvision.ops.", ops)):
        named = {name.removeprefix(prefix) for name in layers.LAYERS if name.startswith(prefix)}
        assert named <= modules(module, "")
    assert modules(nn, "torch.nn.modules.activation") - layers.ACTIVATIONS == {"MultiheadAttention"}
    # what an argument names is looked up among the variables of this function first
    variables = set(tasks.parse_model.__code__.co_varnames)
    assert variables >= layers.SETTINGS
    assert not layers.WORDS & variables


@pytest.mark.slow
def test_models_that_may_be_wrapped_download_no_backbone() -> None:
    from torchvision import models

    allowed = re.compile(layers.TORCHVISION_MODELS)
    names = [name for name in models.list_models() if allowed.fullmatch(name)]
    assert len(names) > 60
    for name in names:
        builder = models.get_model_builder(name)
        assert "weights_backbone" not in inspect.signature(builder).parameters

"""Folders of sentence-transformers: the modules after the model are part of what is scanned."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from opcheck.errors import SourceError
from opcheck.model.trace import Gap
from opcheck.source.base import Loaded, LoadOptions
from opcheck.source.inputs import InputSpec
from opcheck.source.kinds.transformers_config import TransformersConfig
from opcheck.source.sentence_folder import Part, parts_after

pytest.importorskip("transformers")

from opcheck.source.building.huggingface.sentence_pipeline import pipeline

BERT = {
    "architectures": ["BertForMaskedLM"], "model_type": "bert", "hidden_size": 8,
    "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16, "vocab_size": 50,
}  # fmt: skip
HOME = "sentence_transformers.models"
WIDTH = 8


def write(folder: Path, *parts: tuple[str, dict[str, Any]]) -> Path:
    """A folder as the library saves it; the path of its config."""
    listed = [{"idx": 0, "name": "0", "path": "", "type": f"{HOME}.Transformer"}]
    for place, (kind, config) in enumerate(parts, 1):
        inside = folder / f"{place}_{kind}"
        inside.mkdir()
        (inside / "config.json").write_text(json.dumps(config))
        home = "" if "." in kind else f"{HOME}."
        entry = {"idx": place, "name": str(place), "path": inside.name, "type": f"{home}{kind}"}
        listed.append(entry)
    (folder / "modules.json").write_text(json.dumps(listed))
    (folder / "config.json").write_text(json.dumps(BERT))
    return folder / "config.json"


def children(found: Loaded) -> list[str]:
    assert isinstance(found.module, torch.nn.Module)
    return [type(part).__name__ for part in found.module.children()]


POOLING = ("Pooling", {"word_embedding_dimension": WIDTH, "pooling_mode_mean_tokens": True})


def test_the_whole_pipeline_is_loaded_with_a_mask_as_the_tokenizer_gives(tmp_path: Path) -> None:
    dense = {"in_features": WIDTH, "out_features": 3, "activation_function": "torch.nn.Tanh"}
    write(tmp_path, POOLING, ("Dense", dense), ("LayerNorm", {"dimension": 3}), ("Normalize", {}))
    options = LoadOptions(weights=True)
    found = TransformersConfig().load(str(tmp_path), options)
    assert children(found) == [
        "BertModel", "Pooling", "Dense", "LayerNorm", "Normalize",
    ]  # fmt: skip
    assert {name: tuple(value.shape) for name, value in found.kwargs.items()} == {
        "input_ids": (1, 128),
        "attention_mask": (1, 128),
    }
    with torch.no_grad():
        made = found.module(**found.kwargs)
    assert made.shape == (1, 3)
    assert torch.linalg.vector_norm(made).item() == pytest.approx(1)
    assert found.unseen == ()


def test_inputs_of_the_users_have_no_mask_of_another_size(tmp_path: Path) -> None:
    write(tmp_path, POOLING)
    options = LoadOptions((InputSpec.parse("input_ids=2x5:int64"),), weights=True)
    found = TransformersConfig().load(str(tmp_path), options)
    assert [*found.kwargs] == ["input_ids"]
    with torch.no_grad():
        assert found.module(**found.kwargs).shape == (2, WIDTH)


def test_a_module_that_is_not_known_is_a_gap_and_never_silently_left_out(tmp_path: Path) -> None:
    write(tmp_path, POOLING, ("my_package.Own", {}), ("Normalize", {}))
    found = TransformersConfig().load(str(tmp_path), LoadOptions())
    assert children(found) == ["BertModel", "Pooling"]
    text = (
        "a pipeline of sentence-transformers goes on with my_package.Own, which is not known here"
    )
    assert found.unseen == (Gap("2", text),)


def test_a_folder_without_modules_is_the_model_alone(tmp_path: Path) -> None:
    path = write(tmp_path)
    (tmp_path / "modules.json").unlink()
    assert parts_after(path) == ()
    found = TransformersConfig().load(str(tmp_path), LoadOptions())
    assert type(found.module).__name__ == "BertForMaskedLM"


@pytest.mark.parametrize(
    ("listed", "message"),
    [
        ("{}", "want a list of modules with name, type and path below it, not dict"),
        ("[1]", "want a list of modules with name, type and path below it, not 1"),
        ('[{"name": "0", "type": "x.Transformer", "path": "/etc"}]',
         "want a list of modules with name, type and path below it, not /etc"),
        ('[{"name": "0", "type": "x.Transformer", "path": "a/../../b"}]',
         "want a list of modules with name, type and path below it, not a/../../b"),
        ("[]", "does not begin with a transformers model"),
        ('[{"name": "0", "type": "sentence_transformers.models.BoW", "path": ""}]',
         "does not begin with a transformers model"),
    ],
)  # fmt: skip
def test_a_broken_list_of_modules(listed: str, message: str, tmp_path: Path) -> None:
    path = write(tmp_path)
    (tmp_path / "modules.json").write_text(listed)
    with pytest.raises(SourceError) as caught:
        parts_after(path)
    assert caught.value.message == f"{tmp_path}/modules.json: {message}"


@pytest.mark.parametrize(
    ("kind", "config", "said"),
    [
        ("Pooling", {"pooling_mode": "median"},
         "pooling_mode='median', want cls, max, mean, mean_sqrt_len_tokens, weightedmean, "
         "lasttoken"),
        ("Dense", {"in_features": 0}, "in_features=0, want a number above zero"),
        ("LayerNorm", {}, "dimension=None, want a number above zero"),
    ],
)  # fmt: skip
def test_a_module_whose_config_lacks_what_it_is_made_of(
    kind: str, config: dict[str, Any], said: str
) -> None:
    with pytest.raises(SourceError) as caught:
        pipeline(torch.nn.Identity(), [Part("1", kind, config)])
    assert caught.value.message == f"the config of module 1 ({kind}) says {said}"


MODES = ("cls", "max", "mean", "mean_sqrt_len_tokens", "weightedmean", "lasttoken")
MASK = torch.tensor([[0, 1, 1, 1, 0], [1, 1, 1, 1, 1], [1, 0, 0, 0, 0]])


def pooled(mode: str, dtype: torch.dtype) -> Any:
    torch.manual_seed(0)
    tokens = torch.randn(3, 5, WIDTH, dtype=dtype)
    made, _ = pipeline(torch.nn.Identity(), [Part("1", "Pooling", {"pooling_mode": mode})])
    *_, part = made.children()
    return tokens, part({"token_embeddings": tokens, "attention_mask": MASK})["sentence_embedding"]


@pytest.mark.parametrize(
    ("mode", "rows"),
    [
        ("cls", [[1], [0], [0]]), ("max", [[1, 2, 3], [0, 1, 2, 3, 4], [0]]),
        ("mean", [[1, 2, 3], [0, 1, 2, 3, 4], [0]]), ("lasttoken", [[3], [4], [0]]),
    ],
)  # fmt: skip
def test_which_tokens_a_pooling_takes(mode: str, rows: list[list[int]]) -> None:
    tokens, found = pooled(mode, torch.float32)
    picked = [tokens[sentence, row] for sentence, row in enumerate(rows)]
    means = [part.amax(0) if mode == "max" else part.mean(0) for part in picked]
    torch.testing.assert_close(found, torch.stack(means))


@pytest.mark.library
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_pooling_is_the_librarys(mode: str, dtype: torch.dtype) -> None:
    library = pytest.importorskip("sentence_transformers.sentence_transformer.modules")
    tokens, found = pooled(mode, dtype)
    own = library.Pooling(WIDTH, pooling_mode=mode)
    expected = own({"token_embeddings": tokens, "attention_mask": MASK})["sentence_embedding"]
    assert torch.equal(found, expected)

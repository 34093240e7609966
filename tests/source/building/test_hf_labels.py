"""Labels that a transformers model computes its own loss from."""

import json
from pathlib import Path
from typing import Any

import pytest

from opcheck.errors import UsageError
from opcheck.source.base import LoadOptions
from opcheck.source.inputs import InputSpec
from opcheck.source.kinds.exported_program import ExportedProgram
from opcheck.source.load import load

SMALL: dict[str, Any] = {
    "hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32,
    "vocab_size": 50,
}  # fmt: skip
BERT = {"model_type": "bert", **SMALL}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("config", "note"),
    [
        ({"model_type": "llama", **SMALL}, "labels 1x128:int64"),
        ({**BERT, "architectures": ["BertForMaskedLM"]}, "labels 1x128:int64"),
        ({**BERT, "architectures": ["BertForSequenceClassification"]}, "labels 1:int64"),
        ({**BERT, "architectures": ["BertForTokenClassification"]}, "labels 1x128:int64"),
        ({**BERT, "architectures": ["BertForQuestionAnswering"]},
         "start_positions 1:int64, end_positions 1:int64"),
        ({"model_type": "vit", **SMALL, "image_size": 32, "patch_size": 8}, "labels 1:int64"),
    ],
)  # fmt: skip
def test_labels_are_made_that_the_loss_takes(
    tmp_path: Path, config: dict[str, Any], note: str
) -> None:
    (tmp_path / "config.json").write_text(json.dumps(config))
    loaded = load(str(tmp_path), LoadOptions(train=True, own_loss=True))
    assert loaded.notes[-1] == f"trained on its own loss, of {note}"
    assert loaded.kwargs.keys() >= {part.split()[0] for part in note.split(", ")}


@pytest.mark.slow
def test_labels_are_neither_made_for_another_loss_nor_in_place_of_the_users(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "llama", **SMALL}))
    assert "labels" not in load(str(tmp_path), LoadOptions(train=True)).kwargs
    given = (InputSpec.parse("input_ids=1x4:int64"), InputSpec.parse("labels=1x4:int64"))
    loaded = load(str(tmp_path), LoadOptions(given, train=True, own_loss=True))
    assert loaded.kwargs["labels"].shape == (1, 4)
    assert not loaded.notes[-1].startswith("trained")


@pytest.mark.slow
def test_a_model_without_a_loss_is_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps({**BERT, "architectures": ["BertModel"]}))
    loaded = load(str(tmp_path), LoadOptions(train=True, own_loss=True))
    assert loaded.notes == ("built as BertModel, which the config names",)


def test_an_exported_program_is_not_trained() -> None:
    with pytest.raises(UsageError, match=r"net\.pt2: an exported program has no training mode"):
        ExportedProgram().check("net.pt2", LoadOptions(train=True))

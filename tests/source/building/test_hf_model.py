"""Choosing the class that a transformers config stands for."""

from types import SimpleNamespace
from typing import Any

import pytest

from opcheck.errors import SourceError
from opcheck.source.building.huggingface.transformers_model import chosen_for


class Config:
    """A config of a model whose class does not load."""

    model_type = "late"


class Late(dict[Any, Any]):
    """Knows the config, and fails when its class is asked for."""

    def __getitem__(self, key: Any) -> Any:
        raise ImportError("LateModel requires the torchaudio library")


def test_class_that_does_not_load_is_one_clear_message() -> None:
    library = SimpleNamespace(AutoModel=SimpleNamespace(_model_mapping=Late({Config: None})))
    with pytest.raises(SourceError) as error:
        chosen_for(library, Config())
    assert error.value.message == (
        "transformers cannot load its model for the config type 'late': "
        "LateModel requires the torchaudio library"
    )

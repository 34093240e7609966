"""Labels for a transformers model that is trained, so that it computes its own loss."""

from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import Tensor

from opcheck.lang.sentence import Sentence
from opcheck.source.building.example import Inputs, Signature
from opcheck.source.building.failures import brief
from opcheck.source.building.guess import probe
from opcheck.source.building.huggingface.transformers_inputs import image_shape, look

_SPANS = ("start_positions", "end_positions")
_OF_WHOLE = ("SequenceClassification", "ImageClassification", "AudioClassification",
             "VideoClassification", "MultipleChoice", "NextSentencePrediction")  # fmt: skip
"""In names of classes whose label is one for the whole input."""
_SPOKEN = 16
"""Tokens of what is said in a sound."""


def with_labels(model: Any, inputs: Inputs, *, weights: bool) -> tuple[Inputs, str]:
    """Add what the model computes its loss from, and a note; as it is where it takes no labels.

    What fits is found by trying on the model's shapes; ``weights``: whether it has its own.
    """
    if not (hasattr(model, "config") and hasattr(model, "main_input_name")):
        return inputs, ""  # no model of transformers
    args, kwargs = inputs
    names = Signature.of(model).names
    if args or any(name in kwargs for name in ("labels", *_SPANS)):
        return inputs, ""
    problem = "no labels that opcheck can make fit it"
    for labels in _candidates(model, names, kwargs):
        before = getattr(model.config, "problem_type", None)
        given = {**kwargs, **labels}
        try:
            output = probe(model, weights=weights, **given)
        except Exception as error:  # the library's forward: these are not for it
            if not _selects(error):
                model.config.problem_type = before  # set by the first labels that it sees
                problem = brief(error)
                continue
        else:
            if _loss(output) is None:
                continue
        shown = ", ".join(f"{name} {_described(value)}" for name, value in labels.items())
        return (args, given), Sentence("trained on its own loss, of {list_parts}", list_parts=shown)
    if "labels" not in names:
        return inputs, ""
    return inputs, Sentence(
        "its own loss was not computed ({text}): give its labels with --input", text=problem
    )


def _candidates(
    model: Any, names: tuple[str, ...], kwargs: Mapping[str, Any]
) -> Iterator[dict[str, Any]]:
    """Labels in the forms that transformers has, the likeliest for the class first."""
    if all(name in names for name in _SPANS) and "labels" not in names:
        yield dict.fromkeys(_SPANS, torch.zeros(1, dtype=torch.int64))
    if "labels" not in names:
        return
    one = torch.zeros(1, dtype=torch.int64)
    spoken = {"labels": torch.ones(1, _SPOKEN, dtype=torch.int64)}
    if "CTC" in type(model).__name__:
        yield spoken
    ids = kwargs.get("decoder_input_ids", kwargs.get("input_ids"))
    of_tokens = []
    if isinstance(ids, Tensor):
        classified = "TokenClassification" in type(model).__name__
        of_tokens = [{"labels": torch.zeros_like(ids) if classified else ids.clone()}]
    of_whole = [{"labels": one}]
    whole = any(word in type(model).__name__ for word in _OF_WHOLE)
    yield from (*of_whole, *of_tokens) if whole else (*of_tokens, *of_whole)
    classes = look(model.config, "num_labels") or 2
    yield {"labels": torch.zeros(1, classes)}
    yield spoken
    if "pixel_values" in kwargs:
        rows, columns = image_shape(model.config)[-2:]
        yield {"labels": torch.zeros(1, rows, columns, dtype=torch.int64)}
        yield {"labels": torch.zeros(1, rows, columns)}
        box = torch.full((1, 4), 0.5)
        yield {"labels": [{"class_labels": one, "boxes": box}]}


def _selects(error: Exception) -> bool:
    """Whether a loss got as far as selecting by values, which its shapes do not tell."""
    return "aten::masked_select" in str(error)


def _loss(output: Any) -> Any:
    found = output.get("loss") if isinstance(output, Mapping) else None
    return found if isinstance(found, Tensor) and found.dim() == 0 else None


def _described(value: Any) -> str:
    if isinstance(value, Tensor):
        shape = "x".join(map(str, value.shape))
        return f"{shape}:{str(value.dtype).removeprefix('torch.')}"
    return "one box" if isinstance(value, list) else type(value).__name__

"""Which layers a model of the user's own leaves in training mode."""

import pytest
import torch
from torch import nn

from opcheck.source.base import LoadOptions
from opcheck.source.building.ready import in_training, load_live, mode_note


def _model() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, 4, 1), nn.BatchNorm2d(4), nn.BatchNorm2d(4, track_running_stats=False),
        nn.Dropout(0.1), nn.Dropout(0.0), nn.LSTM(4, 4, 2, dropout=0.5), nn.LSTM(4, 4),
    )  # fmt: skip


def test_layers_that_compute_otherwise_in_training_are_named() -> None:
    assert in_training(_model(), "python") == ("1 (BatchNorm2d)", "3 (Dropout)", "5 (LSTM)")


def test_none_are_named_in_evaluation_mode_or_of_a_library() -> None:
    assert in_training(_model().eval(), "python") == ()
    assert in_training(_model(), "torchvision") == ()


@pytest.mark.slow
def test_a_source_tells_them_though_it_gives_evaluation_mode() -> None:
    model = nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.1))
    loaded = load_live(model, None)
    assert loaded.in_training == ("1 (Dropout)",)
    assert isinstance(loaded.module, nn.Module)
    assert not loaded.module.training
    assert model.training


class Asks(nn.Module):
    """Code of the user's that reads the mode."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.sin() if self.training else x.cos()


def test_a_note_says_that_evaluation_mode_is_what_is_run() -> None:
    said = "given in training mode, run in evaluation mode: {} may compute otherwise"
    assert mode_note(Asks(), "python") == (said.format("(the model) (Asks)"),)
    assert mode_note(_model(), "live") == (said.format("1 (BatchNorm2d) and 2 more"),)


def test_no_note_is_due_where_both_modes_are_one_or_none_was_chosen() -> None:
    assert mode_note(nn.Sequential(nn.Linear(2, 2), nn.ReLU()), "python") == ()
    assert mode_note(Asks().eval(), "python") == ()
    assert mode_note(Asks(), "transformers") == ()
    assert mode_note(torch.jit.script(nn.Linear(2, 2)), "torchscript") == ()


def test_a_source_gives_the_note_unless_the_model_is_to_be_trained() -> None:
    (note,) = load_live(Asks(), torch.ones(2)).notes
    assert note.startswith("given in training mode")
    assert load_live(Asks(), torch.ones(2), LoadOptions(train=True)).notes == ()

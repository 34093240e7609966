"""Which layers a model of the user's own leaves in training mode."""

from torch import nn

from opcheck.source.building.modes import in_training
from opcheck.source.live import load_live


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


def test_a_source_tells_them_though_it_gives_evaluation_mode() -> None:
    model = nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.1))
    loaded = load_live(model, None)
    assert loaded.in_training == ("1 (Dropout)",)
    assert isinstance(loaded.module, nn.Module)
    assert not loaded.module.training
    assert model.training

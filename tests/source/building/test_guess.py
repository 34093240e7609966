"""Inputs told by the first layer, tried on the model's own shapes."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from opcheck.errors import SourceError
from opcheck.source.building.example import Signature
from opcheck.source.building.guess import guess


class Text(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(50, 16)
        self.layer = nn.TransformerEncoderLayer(16, 2, batch_first=True)

    def forward(self, ids: Tensor, mask: Tensor | None = None) -> Tensor:
        return self.layer(self.embedding(ids))  # type: ignore[no-any-return]  # of nn.Module


class Late(nn.Module):
    """Registers its last layer first."""

    def __init__(self) -> None:
        super().__init__()
        self.head = nn.Linear(8, 2)
        self.stem = nn.Conv2d(3, 8, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.stem(x).mean((2, 3)))  # type: ignore[no-any-return]  # of nn.Module


class Pair(nn.Module):
    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        return a + b


def mnist() -> nn.Module:
    return nn.Sequential(nn.Conv2d(1, 4, 3), nn.Flatten(), nn.Linear(4 * 26 * 26, 10))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "shape", "dtype", "note"),
    [
        (lambda: nn.Conv2d(5, 2, 3), [1, 5, 224, 224], torch.float32,
         "no inputs given: 1x5x224x224:float32, as the module (Conv2d) wants"),
        (mnist, [1, 1, 28, 28], torch.float32,
         "no inputs given: 1x1x28x28:float32, as 0 (Conv2d) wants"),
        (lambda: nn.Linear(7, 2).half(), [1, 7], torch.float16,
         "no inputs given: 1x7:float16, as the module (Linear) wants"),
        (lambda: nn.Sequential(nn.Flatten(), nn.Linear(784, 10)), [1, 784], torch.float32,
         "no inputs given: 1x784:float32, as 1 (Linear) wants"),
        (lambda: nn.Conv1d(2, 3, 5), [1, 2, 128], torch.float32,
         "no inputs given: 1x2x128:float32, as the module (Conv1d) wants"),
        (lambda: nn.Conv3d(2, 3, 5), [1, 2, 16, 112, 112], torch.float32,
         "no inputs given: 1x2x16x112x112:float32, as the module (Conv3d) wants"),
        (lambda: nn.LSTM(6, 4), [32, 1, 6], torch.float32,
         "no inputs given: 32x1x6:float32, as the module (LSTM) wants"),
        (lambda: nn.GRU(6, 4, batch_first=True), [1, 32, 6], torch.float32,
         "no inputs given: 1x32x6:float32, as the module (GRU) wants"),
        (Text, [1, 128], torch.int64,
         "no inputs given: 1x128:int64, as embedding (Embedding) wants"),
        (Late, [1, 3, 224, 224], torch.float32,
         "no inputs given: 1x3x224x224:float32, as stem (Conv2d) wants"),
    ],
)  # fmt: skip
def test_the_first_layer_tells(
    make: Callable[[], nn.Module], shape: list[int], dtype: torch.dtype, note: str
) -> None:
    module = make().eval()
    ((made,), kwargs), said = guess(module, Signature.of(module))
    assert (list(made.shape), made.dtype, kwargs, said) == (shape, dtype, {}, note)


@pytest.mark.parametrize(
    ("module", "message"),
    [
        (Pair(), "cannot infer inputs for this model; it takes (a, b)"),
        (nn.ReLU(), "cannot infer inputs for this model (no layer tells its input); "
         "it takes (input)"),
    ],
)  # fmt: skip
def test_else_the_inputs_are_asked_for(module: nn.Module, message: str) -> None:
    with pytest.raises(SourceError) as caught:
        guess(module, Signature.of(module))
    assert caught.value.message == message
    assert "--input" in caught.value.hint


@pytest.mark.parametrize("size", [None, "8", -1, 2.5])
def test_a_layer_in_name_alone_tells_nothing(size: object) -> None:
    """As parts of a damaged TorchScript file may be."""

    class Named(nn.Module):
        original_name = "Linear"

        def __init__(self) -> None:
            super().__init__()
            if size is not None:
                self.in_features = size

        def forward(self, x: Tensor) -> Tensor:
            return x

    with pytest.raises(SourceError, match="no layer tells its input"):
        guess(Named(), Signature(("x",), ("x",)))

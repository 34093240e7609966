"""What users and PyTorch's own tests saw running on Apple's GPUs."""

from functools import partial

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812  # as everybody writes it

from tests.user_controls.control import FALLS_BACK, Control, Learned
from tests.user_controls.models import IDS, encoder, gpt2, whisper

X = torch.linspace(-1, 1, 24).view(2, 3, 4)
SQUARE = torch.linspace(-1, 1, 16).view(4, 4)
PLACES = torch.zeros(2, 3, 4, dtype=torch.int64)
TESTS = "pytorch/pytorch:test/test_mps.py"
MPS = "apple-mps"


class Weighted(nn.Module):
    """A loss of what is learned."""

    def __init__(self) -> None:
        super().__init__()
        self.start = nn.Parameter(X[0])
        self.loss = nn.BCELoss(torch.ones(4))

    def forward(self, target: torch.Tensor) -> object:
        return self.loss(torch.sigmoid(self.start), target)


APPLE = (
    Control(
        "MPS: BatchNorm3d, trained", MPS, TESTS, nn.BatchNorm3d(3), (torch.ones(2, 3, 2, 2, 2),),
        train=True,
    ),
    Control("MPS: norm, infinite", MPS, TESTS, lambda x: torch.norm(x, float("inf")), (SQUARE,)),
    Control(
        "MPS: vector_norm, any power", MPS, TESTS,
        lambda x: torch.linalg.vector_norm(x, ord=3.5, dim=1), (X,),
    ),
    Control(
        "MPS: LayerNorm in half precision", MPS, TESTS, nn.LayerNorm(16).half(),
        (torch.ones(1, 2, 16).half(),),
    ),
    Control(
        "MPS: instance_norm, trained", MPS, TESTS,
        Learned(lambda x: F.instance_norm(x), X), train=True,
    ),
    Control("MPS: BCELoss, trained", MPS, TESTS, Weighted(), (torch.ones(3, 4),), train=True),
    Control(
        "MPS: CrossEntropyLoss, trained", MPS, TESTS,
        Learned(F.cross_entropy, X[0].half()), (torch.ones(3, dtype=torch.int64),), train=True,
    ),
    Control(
        "MPS: log_softmax, trained", MPS, TESTS,
        Learned(lambda x: F.log_softmax(x, 0), X), train=True,
    ),
    Control("MPS: eq of int64", MPS, TESTS, torch.eq, (IDS, IDS)),
    Control("MPS: argmax of int64", MPS, TESTS, lambda x: torch.argmax(x, dim=1), (IDS,)),
    Control(
        "MPS: index_select", MPS, TESTS, lambda x, at: torch.index_select(x, -1, at),
        (X, torch.tensor([2, 3, 0], dtype=torch.int32)),
    ),
    Control(
        "MPS: Embedding with a largest norm", MPS, TESTS, nn.Embedding(96, 5, max_norm=1.0), (IDS,)
    ),
    Control(
        "MPS: gather, trained", MPS, TESTS,
        Learned(lambda x, at: torch.gather(x, 1, at), X), (PLACES,), train=True,
    ),
    Control(
        "MPS: scatter that multiplies", MPS, TESTS,
        lambda x, at: torch.scatter(x, 1, at, x, reduce="multiply"), (X, PLACES),
    ),
    Control(
        "MPS: triu, trained", MPS, TESTS, Learned(lambda x: torch.triu(x, 1), X), train=True
    ),
    Control("MPS: inverse", MPS, TESTS, torch.linalg.inv, (torch.eye(6),)),
    Control(
        "MPS: eye of booleans", MPS, TESTS,
        lambda x: torch.eye(2, 3, dtype=torch.bool, device=x.device), (X,),
    ),
    Control(
        "MPS: view_copy, trained", MPS, TESTS,
        Learned(lambda x: torch.view_copy(x, (2, 2)), torch.ones(4)), train=True,
    ),
    Control("MPS: diagonal_copy", MPS, TESTS, torch.diagonal_copy, (SQUARE,)),
    Control(
        "MPS: a transpose, copied", MPS, TESTS, lambda x: x.t().contiguous(),
        (torch.ones(456, 789),),
    ),
    Control(
        "MPS: svd", f"{MPS}@2.9.1", "HatPdotS/TorchRef#25", torch.linalg.svd, (SQUARE,),
        seen=FALLS_BACK,
    ),
    Control(
        "M2: Whisper, of torch 2.0", f"{MPS}@2.0.1", "openai/whisper#382", whisper,
        (torch.ones(2, 8, 32), IDS), build=True,
    ),
    Control(
        "M4: Whisper in half precision", f"{MPS}@2.13.0", "meizhong986/WhisperJAV#227",
        partial(whisper, torch.float16), (torch.ones(2, 8, 32).half(), IDS), build=True,
    ),
    Control(
        "M3: T5 in bfloat16", f"{MPS}@2.4.1", "huggingface/parler-tts#6",
        lambda: encoder("T5EncoderModel", d_model=32, d_kv=8, d_ff=64, num_layers=1, num_heads=4)
        .bfloat16(), (IDS,), build=True,
    ),
    Control(
        "M1: GPT, trained", f"{MPS}@2.4.1", "rasbt/LLMs-from-scratch#324", gpt2, (IDS,),
        train=True, build=True,
    ),
)  # fmt: skip

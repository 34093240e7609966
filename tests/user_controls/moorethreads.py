"""What the vendor's tests saw running on Moore Threads' GPUs."""

import torch
import torchvision
from torch import nn
from torch.nn import functional as F  # noqa: N812  # as everybody writes it

from tests.user_controls.control import Control, Learned
from tests.user_controls.models import IDS, IMAGE, MASK, encoder, vision

X = torch.linspace(-1, 1, 24).view(2, 3, 4)
PICTURE = torch.linspace(-1, 1, 96).view(1, 2, 6, 8)
VOLUME = torch.linspace(-1, 1, 128).view(1, 2, 4, 4, 4)
ROI = torch.tensor([[0.0, 0.0, 0.0, 4.0, 4.0]])
TESTS = "MooreThreads/torch_musa:tests/unittest/operator/test_"
S4000, S80 = "moorethreads-s4000@2.7.1", "moorethreads-s80@2.7.1"
AT = torch.tensor([0, 1, 1])


class Unpooled(nn.Module):
    """Pools a volume and puts the values back where they were."""

    def __init__(self) -> None:
        super().__init__()
        self.pool = nn.MaxPool3d(2, 2, return_indices=True)
        self.back = nn.MaxUnpool3d(2, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        values, places = self.pool(x)
        found: torch.Tensor = self.back(values, places)
        return found


class Spoken(nn.Module):
    """What connects times with tokens."""

    def __init__(self) -> None:
        super().__init__()
        self.scores = nn.Parameter(torch.ones(12, 2, 5))

    def forward(self, tokens: torch.Tensor, times: torch.Tensor, sizes: torch.Tensor) -> object:
        return F.ctc_loss(self.scores.log_softmax(2), tokens, times, sizes)


MOORE_THREADS = (
    Control("MUSA: rsqrt", S4000, f"{TESTS}activation.py", torch.rsqrt, (X.abs().half(),)),
    Control("MUSA: addmv", S4000, f"{TESTS}addmv.py", torch.addmv, (X[0, :, 0], X[0], X[0, 0])),
    Control(
        "MUSA: batch_norm_stats", S4000, f"{TESTS}batch_norm_ops.py",
        lambda x: torch.batch_norm_stats(x, 1e-5), (PICTURE,),
    ),
    Control(
        "MUSA: bucketize", S80, f"{TESTS}bucketize.py", torch.bucketize,
        (X.int(), torch.tensor([2.0, 4.0])),
    ),
    Control("MUSA: conj_physical", S4000, f"{TESTS}conj.py", torch.conj_physical,
            (torch.complex(X, X),)),
    Control(
        "MUSA: CTCLoss, trained", S4000, f"{TESTS}ctc.py", Spoken(),
        (torch.ones(2, 3, dtype=torch.int64), torch.tensor([12, 12]), torch.tensor([3, 2])),
        train=True,
    ),
    Control(
        "MUSA: Dropout, trained", S4000, f"{TESTS}dropout.py",
        Learned(lambda x: F.dropout(x, 0.5, training=True), X.bfloat16()), train=True,
    ),
    Control(
        "MUSA: expm1", S4000, f"{TESTS}expm1.py", torch.expm1,
        (PICTURE.to(memory_format=torch.channels_last),),
    ),
    Control(
        "MUSA: _foreach_erfc", S4000, f"{TESTS}foreach.py",
        lambda x: torch._foreach_erfc([x, x[0]]), (X,),
    ),
    Control("MUSA: lgamma", S4000, f"{TESTS}gamma_op.py", torch.lgamma, (X.half(),)),
    Control("MUSA: GRU, trained", S4000, f"{TESTS}gru.py", nn.GRU(4, 8, 2), (X,), train=True),
    Control(
        "MUSA: index_put", S4000, f"{TESTS}index.py",
        lambda x, at, new: torch.index_put(x, (at, at), new), (X > 0, AT, torch.ones(3, 4) > 0),
    ),
    Control("MUSA: lerp", S80, f"{TESTS}lerp.py", torch.lerp, (X, X + 1, X)),
    Control(
        "MUSA: cross_entropy, trained", S4000, f"{TESTS}loss.py",
        Learned(F.cross_entropy, X[0]), (torch.tensor([0, 1, 3]),), train=True,
    ),
    Control("MUSA: MaxUnpool3d", S4000, f"{TESTS}max_unpool3d.py", Unpooled(), (VOLUME,)),
    Control("MUSA: nonzero", S4000, f"{TESTS}nonzero.py", torch.nonzero, (X.bfloat16(),)),
    Control("MUSA: AvgPool2d", S4000, f"{TESTS}pool2d.py", nn.AvgPool2d(2), (PICTURE,)),
    Control(
        "MUSA: randperm", S4000, f"{TESTS}randperm.py",
        lambda x: torch.randperm(8, device=x.device, dtype=torch.int32), (X,),
    ),
    Control("MUSA: RMSNorm", S4000, f"{TESTS}rms_norm.py", nn.RMSNorm(4).half(), (X.half(),)),
    Control(
        "MUSA: scatter", S4000, f"{TESTS}scatter.py",
        lambda x, at: torch.scatter(x, 0, at, x), (X[0].char(), torch.tensor([[0, 1, 2]])),
    ),
    Control(
        "MUSA: sort", S4000, f"{TESTS}sort.py",
        lambda x: torch.sort(x, stable=True, dim=1, descending=True), (X.short(),),
    ),
    Control(
        "MUSA: roi_align", S4000, f"{TESTS}torchvision_op.py",
        lambda x, roi: torchvision.ops.roi_align(x, roi, 2), (PICTURE, ROI),
    ),
    Control(
        "MUSA: unique", S4000, f"{TESTS}unique.py",
        lambda x: torch.unique(x, return_counts=True), (X.char(),),
    ),
    Control(
        "MUSA: ResNet, trained", S4000,
        "MooreThreads/torch_musa:tests/integration/vision/resnet/test_resnet_train.py",
        lambda: vision("resnet18"), (IMAGE,), train=True, build=True,
    ),
    Control(
        "MUSA: BERT, trained", S4000,
        "MooreThreads/torch_musa:tests/integration/nlp/bert/test_bert_train.py",
        lambda: encoder("BertForSequenceClassification"), (IDS, MASK), train=True, build=True,
    ),
)  # fmt: skip
